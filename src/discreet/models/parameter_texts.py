"""Parameters of models as people write them: `bins=4` or `naive-bayes(select=auto)`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

from discreet.errors import ParameterError

GIVEN = ("self", "schema", "epsilon", "random_state")
"""Parameters that are set elsewhere: by the data set, the grid or other options."""


def parameters_of(family: Any) -> list[str]:
    """The names of a model's own parameters."""
    return [name for name in inspect.signature(family.__init__).parameters if name not in GIVEN]


def read_settings(settings: Sequence[str], family: Any, name: str) -> dict[str, Any]:
    """Read parameters from texts such as bins=4; the error for a wrong name lists the right ones.

    >>> from discreet.models import MODELS
    >>> read_settings(["select=auto", "bins=8"], MODELS["naive-bayes"], "naive-bayes")
    {'select': 'auto', 'bins': 8}
    """
    own, found = parameters_of(family), {}
    for setting in settings:
        parameter, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or parameter not in own:
            has = ", ".join(f"{each}=..." for each in own) or "no parameters"
            raise ParameterError(f"{setting!r}; {name} has: {has}")
        if parameter in found:
            raise ParameterError(f"{setting!r}: {parameter} is set twice; set it once")
        found[parameter] = _value(value)
    return found


def _value(text: str) -> Any:
    """A number, a truth value, None, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None}.get(text.casefold(), text)


def read_weights(texts: Sequence[str]) -> str | dict[str, float]:
    """Weights of classes as people write them: `balanced`, or a number for each of some classes.

    >>> read_weights(["balanced"]), read_weights(["yes=10", "no = 1"])
    ('balanced', {'yes': 10.0, 'no': 1.0})
    """
    if list(texts) == ["balanced"]:
        return "balanced"
    found: dict[str, float] = {}
    for text in texts:
        label, equals, number = (part.strip() for part in text.rpartition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = float("nan")
        if not equals or not label or not weight > 0:
            raise ParameterError(f"class weight {text!r}; need 'balanced' alone, or CLASS=NUMBER, such as yes=10")
        if label in found:
            raise ParameterError(f"class weight {text!r}: {label} has a weight already; give one")
        found[label] = weight
    return found


def split_names(text: str) -> list[str]:
    """Split a list at its commas, except at those inside parentheses.

    >>> split_names("svm, naive-bayes(select=auto, bins=8),")
    ['svm', 'naive-bayes(select=auto, bins=8)']
    """
    depth, entries = 0, [""]
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += letter
    return [entry.strip() for entry in entries if entry.strip()]


def canonical(text: str) -> str:
    """Write a model with its parameters in one way, so that equal settings have equal texts.

    >>> canonical("naive-bayes( bins = 8,select=auto)"), canonical("svm()"), canonical("svm")
    ('naive-bayes(bins=8,select=auto)', 'svm', 'svm')
    """
    name, opened, rest = text.strip().partition("(")
    if not opened:
        return name
    if not rest.endswith(")"):
        raise ParameterError(f"{text!r}; need a model, or a model with parameters such as naive-bayes(select=auto)")
    settings = sorted("=".join(part.strip() for part in each.split("=", 1)) for each in split_names(rest[:-1]))
    return f"{name.strip()}({','.join(settings)})" if settings else name.strip()


def configured(text: str, families: dict[str, Any]) -> Any:
    """Return the family that a text such as naive-bayes(select=auto) names, with these parameters set.

    >>> from discreet.models import MODELS
    >>> configured("svm", MODELS).__name__, configured("naive-bayes(select=auto)", MODELS).keywords
    ('LinearSVM', {'select': 'auto'})
    """
    name, opened, rest = canonical(text).partition("(")
    if name not in families:
        raise ParameterError(f"model {name!r} is not known; need some of: {', '.join(sorted(families))}")
    if not opened:
        return families[name]
    return partial(families[name], **read_settings(split_names(rest[:-1]), families[name], name))
