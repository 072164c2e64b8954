"""What is audited: a class or function by name, a callable of this process, or a recipe that names it in a file."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import FileError, ParameterError
from discreet.schema import Schema
from discreet.storage.envelope import read_json

FORMS = ("auto", "array", "frame", "records")
"""How a target gets its table: as the schema suggests, an array, a pandas frame, or a list of labelled records."""
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_CALL = re.compile(rf"({_NAME.pattern})\(\)")
_ENTRIES = {"target", "parameters", "schema", "form", "claim", "delta", "adjacency", "python", "about"}


@dataclass(frozen=True)
class Target:
    """What is run.

    Attributes
    ----------
    name : "module:Class", "module:function", or words for a callable.
    call : a callable of this process: makes estimators, or is a function of (X, y) or of a table; None if the name is
        imported.
    parameters : what it is made or called with, as plain data; see `discreet.audit.runner`.
    form : how it gets its table, one of `FORMS`.
    python : the interpreter of its environment; None for this one.
    megabytes : the most memory its process may take; None for no limit.
    """

    name: str
    call: Callable[..., Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    form: str = "auto"
    python: str | None = None
    megabytes: int | None = None

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ParameterError(f"form={self.form!r}; need one of {', '.join(FORMS)}")
        if self.call is None and not _NAME.fullmatch(self.name):
            raise ParameterError(
                f"target {self.name!r}; need module:Class, module:function, or a recipe: a file that ends in .json"
            )


@dataclass(frozen=True)
class Recipe:
    """A target with all that an audit of it needs; None where the caller decides. `given` are the pairs of neighbours
    if the target has its own."""

    target: Target
    schema: Schema | None = None
    claim: float | None = None
    delta: float | None = None
    adjacency: str | None = None
    given: tuple[Any, ...] = ()


def as_recipe(target: str | Callable[..., Any] | Target, **changes: Any) -> Recipe:
    """The recipe of a name, file or callable; changes that are None leave it as it is."""
    given = {name: value for name, value in changes.items() if value is not None}
    if isinstance(target, Target):
        return Recipe(replace(target, **given))
    if callable(target):
        if given.get("python"):
            raise ParameterError("python: a callable runs in this process; name the target as module:Class instead")
        return Recipe(Target(getattr(target, "__qualname__", type(target).__name__), call=target, **given))
    if not isinstance(target, str):
        raise ParameterError(f"target: got {type(target).__name__}; need a name, a callable or a recipe")
    if target.endswith(".json"):
        return _read(Path(target), given)
    return Recipe(Target(target, **given))


_KINDS: dict[str, tuple[Any, str]] = {
    "target": (str, 'a text, such as "module:Class"'),
    "parameters": (dict, "names with their values"),
    "schema": (dict | str | None, "a schema, or the name of a file with one"),
    "form": (str, "a text"),
    "python": (str, "the path of an interpreter"),
    "claim": (int | float | None, "a number"),
    "delta": (int | float | None, "a number"),
    "adjacency": (str | None, "add-remove or replace-one"),
}
"""What the entries of a recipe are."""


RECIPE = (
    'is JSON, but no recipe: need an object such as {"target": "module:Class", "claim": 1}, with any of: '
    + ", ".join(sorted(_ENTRIES))
)


def _read(path: Path, given: dict[str, Any]) -> Recipe:
    """A recipe file: {"target": "module:Class", "parameters": {…}, "schema": {…} or a file, "claim": 1, …}."""
    try:
        content = read_json(path)
    except FileError as error:
        if not str(error).startswith(f"{path} is JSON"):
            raise
        raise ParameterError(f"{path} {RECIPE}") from None
    unknown = sorted(set(content) - _ENTRIES)
    if unknown or "target" not in content:
        what = f"has an unknown entry {unknown[0]!r}" if unknown else "has no entry 'target'"
        raise ParameterError(f"{path} {what}; a recipe has: {', '.join(sorted(_ENTRIES))}")
    for name, (kinds, words) in _KINDS.items():
        if name in content and (not isinstance(content[name], kinds) or isinstance(content[name], bool)):
            raise ParameterError(f"{path}: {name} is {type(content[name]).__name__}; need {words}")
    parameters: dict[str, Any] = {**content.get("parameters", {}), **given.pop("parameters", {})}
    own: dict[str, Any] = {name: content[name] for name in ("form", "python") if name in content}
    schema = content.get("schema")
    if isinstance(schema, str):
        schema = Schema.load(path.parent / schema)
    elif schema is not None:
        schema = Schema.from_dict(schema)
    claim, delta = (None if content.get(name) is None else float(content[name]) for name in ("claim", "delta"))
    made = Target(content["target"], parameters=parameters, **{**own, **given})
    return Recipe(made, schema, claim, delta, content.get("adjacency"))


def parse_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Parameters from texts such as "epsilon=1", "bounds=(0, 1)", "accountant=module:Class()" or JSON.

    >>> parse_parameters(["epsilon=1", "bounds=(0, 1)", "kind=linear", "made=a.b:C()"])
    {'epsilon': 1, 'bounds': {'tuple': [0, 1]}, 'kind': 'linear', 'made': {'call': 'a.b:C'}}
    """
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise ParameterError(f"--with {text}; need name=value, for instance --with epsilon=1")
        found[name] = _parsed(value)
    return found


def _parsed(text: str) -> Any:
    call = _CALL.fullmatch(text.strip())
    if call:
        return {"call": call[1]}
    for read in (json.loads, ast.literal_eval):
        try:
            return _plain(read(text))
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return text


def _plain(value: Any) -> Any:
    """Plain data that JSON can carry; a tuple is marked as one."""
    if isinstance(value, tuple):
        return {"tuple": [_plain(each) for each in value]}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError
