"""A script of a few lines that repeats a finding with the target alone: discreet need not be installed."""

from __future__ import annotations

import math
import re
from typing import Any

from discreet.audit.events import Event, Single
from discreet.audit.neighbours import Pair
from discreet.audit.runs import is_feature
from discreet.audit.tables import Table, probes
from discreet.audit.target import Target
from discreet.schema import Schema

MOST = 20_000
"""The longest script that is written: a longer one, such as a score of many numbers needs, nobody would read."""
REPEATED = 2000
"""The most runs on each table that a script makes."""
_PREDICTED = re.compile(r"(predict|predict_proba|decision_function)(?:\[(\d+)\])?")

HEAD = """\
# Repeats a finding: seen in {more} of {of} runs on the {table} table, in {less} of {other} on the other.
{imports}
import numpy as np
from numpy import inf, nan

{points}

def number(get):
    try:
        return float(get())
    except (AttributeError, IndexError, KeyError, TypeError):
        return nan


def run(X, y):
    return {call}


def seen(X, y):
{body}


first = {first}
second = {second}
for X, y in (first, second):
    print(sum(bool(seen(X, y)) for _ in range({runs})), "of {runs} runs")
"""


def script(
    target: Target, schema: Schema, pair: Pair, event: Event | str, counts: tuple[tuple[int, int], tuple[int, int]]
) -> str:
    """The script; "" for a callable of this process, and for tables or targets that no few lines can make.

    Parameters
    ----------
    event : an event about numbers, or a feature of runs.
    counts : how often the event was seen: times and runs on the first table, and on the second.
    """
    names = [] if isinstance(event, str) else event.names
    if isinstance(event, Single) and is_feature(event.name) and event.value == 1:
        event = event.name[1:-1]
    elif any(map(is_feature, names)):
        return ""
    if target.call is not None or target.form not in ("auto", "array") or "categorical" in pair.first.kinds:
        return ""
    module = target.name.partition(":")[0]
    given = "".join(f", {name}={_literal(value)}" for name, value in target.parameters.items())
    called = target.name.replace(":", ".")
    is_function = _is_about_output(event)
    call = f"{called}(X, y{given})" if is_function else f"{called}({given.removeprefix(', ')}).fit(X, y)"
    body = _feature_body(event) if isinstance(event, str) else _event_body(event)
    if (
        not body or module.partition(".")[0] == "discreet"
    ):  # ours need a schema: the command that made the report is shorter
        return ""
    swapped = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
    (more, of), (less, other) = counts[::-1] if swapped else counts
    text = HEAD.format(
        more=more,
        of=of,
        less=less,
        other=other,
        table="second" if swapped else "first",
        imports="\n".join(f"import {each}" for each in sorted({module, *_modules(given)})),
        points=""
        if "points" not in body
        else f"points = np.array({[list(row) for row, _ in probes(schema).records]})\n",
        call=call,
        body=body,
        first=_arguments(pair.first),
        second=_arguments(pair.second),
        runs=min(REPEATED, of),
    )
    return text if len(text) <= MOST else ""


def _is_about_output(event: Event | str) -> bool:
    names = [event] if isinstance(event, str) else event.names
    return all(each.removeprefix("sum of ").startswith("output") for each in names)


def _event_body(event: Event) -> str:
    """The lines that read the numbers of an event off one run."""
    held = "output" if _is_about_output(event) else "model"
    lines = [f"    {held} = run(X, y)", "    v = {"]
    lines += [f"        {name!r}: number(lambda: {_access(name)})," for name in event.names]
    return "\n".join([*lines, "    }", f"    return {event.code()}"])


def _feature_body(feature: str) -> str:
    """The lines that look for a feature in one run; "" for features that a few lines cannot look for."""
    raised = re.match(r"raises (\w+)", feature)
    if raised:
        lines = ["    try:", "        run(X, y)", "    except Exception as error:"]
        return "\n".join([*lines, f"        return type(error).__name__ == {raised[1]!r}", "    return False"])
    shape = re.fullmatch(r"(.+): \S+ of shape (\(.*\))", feature)
    text = re.fullmatch(r"(.+) = (['\"].*['\"])", feature)
    if shape and not _PREDICTED.fullmatch(shape[1]):
        test = f"np.shape({_rooted(shape[1])}) == {shape[2]}"
    elif text and "…" not in text[2]:
        test = f"{_rooted(text[1])} == {text[2]}"
    else:
        return ""
    return f"    {'output' if feature.startswith('output') else 'model'} = run(X, y)\n    return {test}"


def _access(name: str) -> str:
    """The number of a name as an expression; in names, the places of an array are counted through all its axes."""
    if name == "size of its pickle":
        return "len(__import__('pickle').dumps(model))"
    path = name.removeprefix("sum of ")
    predicted = _PREDICTED.fullmatch(path)
    flat = re.fullmatch(r"(.*)\[(\d+)\]", path)
    whole = f"model.{predicted[1]}(points)" if predicted else _rooted(path if path != name or not flat else flat[1])
    if path != name:
        return f"np.sum({whole})"
    return f"np.ravel({whole})[{flat[2]}]" if flat else whole


def _rooted(path: str) -> str:
    return path if path.startswith("output") else f"model.{path}"


def _literal(value: Any) -> str:
    """A parameter as code; see `runner` for how tuples and calls are written as plain data."""
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return "(" + "".join(f"{_literal(each)}, " for each in value["tuple"]) + ")"
    if isinstance(value, dict) and "call" in value:
        inner = ", ".join(f"{name}={_literal(each)}" for name, each in value.get("with", {}).items())
        return f"{value['call'].replace(':', '.')}({inner})"
    return repr(value)


def _modules(given: str) -> set[str]:
    """The modules that calls among the parameters need: "a.b" for a.b.C(…)."""
    return set(re.findall(r"\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.[A-Za-z_]\w*\(", given))


def _arguments(table: Table) -> str:
    rows = [f"[{', '.join(map(_value, values))}]" for values, _ in table.records]
    labels = [repr(label) for _, label in table.records]
    if not rows:
        return f"np.empty((0, {len(table.names)})), np.empty(0, dtype={table.label_kind!r})"
    many = len(rows) > 1 and len({*rows}) == 1 and len({*labels}) == 1
    X, y = (f"[{each[0]}] * {len(each)}" if many else f"[{', '.join(each)}]" for each in (rows, labels))
    return f"np.array({X}, dtype=float), np.array({y})"


def _value(value: Any) -> str:
    return "nan" if value is None or (isinstance(value, float) and math.isnan(value)) else repr(value)
