"""The tables and calls of a script as code: what the runner makes of a pair, written out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from discreet.audit import runner
from discreet.audit.tables import Table
from discreet.audit.target import Target


def form_of(target: Target, table: Table, takes: str) -> str:
    """How the target gets its table: "array", "frame" or "records"."""
    if target.form != "auto":
        return target.form
    return "frame" if "categorical" in table.kinds or takes == runner.TABLE else "array"


def call(target: Target, table: Table, takes: str) -> str:
    """The lines of one run; `fit` need not return the model."""
    called = target.name.replace(":", ".")
    given = [f"{name}={_literal(value)}" for name, value in target.parameters.items()]
    if takes == runner.ESTIMATOR:
        return f"    model = {called}({', '.join(given)})\n    model.fit(X, y)\n    return model"
    if takes == runner.PAIR:
        return f"    return {called}({', '.join(['X', 'y', *given])})"
    whole = {
        "records": "X",
        "frame": f"X.assign(**{{{table.target!r}: y}})",
        "array": "np.column_stack([each.astype(float if y.dtype.kind in 'biuf' else object) for each in (X, y)])",
    }
    return f"    return {called}({', '.join([whole[form_of(target, table, takes)], *given])})"


def arguments(table: Table, form: str) -> str:
    """X and y, as the runner makes them."""
    labels = [_number(label) if isinstance(label, float) else repr(label) for _, label in table.records]
    X = points(table, form)
    if form == "records":
        return f"{X}, None"
    if not labels:
        return f"{X}, np.empty(0, dtype={table.label_kind!r})"
    kinds = {type(label) for _, label in table.records}
    kind = "" if kinds <= {int, bool} or kinds <= {str} else ", dtype=object"
    return f"{X}, np.array({_listed(labels)}{kind})"


def points(table: Table, form: str) -> str:
    """The values of the records; as records, with their labels."""
    if form == "records":
        names = (*table.names, table.target)
        records = [dict(zip(names, (*values, label), strict=True)) for values, label in table.records]
        return _listed([repr(each) for each in records])
    if form == "frame":
        if table.records:
            rows = [values for values, _ in table.records]
            columns = [_listed([repr(each) for each in column]) for column in zip(*rows, strict=True)]
        else:
            kinds = {"numeric": "float", "categorical": "object"}
            columns = [f"np.empty(0, {kinds[each]})" for each in table.kinds]
        held = ", ".join(f"{name!r}: {column}" for name, column in zip(table.names, columns, strict=True))
        return f"pandas.DataFrame({{{held}}}, columns={list(table.names)!r})"
    if not table.records:
        return f"np.empty((0, {len(table.names)}))"
    lines = [f"[{', '.join(map(_number, values))}]" for values, _ in table.records]
    return f"np.array({_listed(lines)}, dtype=float)"


def modules(target: Target, form: str) -> set[str]:
    """What a run imports: "a.b" for "a.b:C"."""
    found = {target.name.partition(":")[0], *_called(list(target.parameters.values()))}
    return found | {"pandas"} if form == "frame" else found


def _listed(values: list[str]) -> str:
    many = len(values) > 1 and len({*values}) == 1
    return f"[{values[0]}] * {len(values)}" if many else f"[{', '.join(values)}]"


def _number(value: Any) -> str:
    return "nan" if value is None or (isinstance(value, float) and math.isnan(value)) else repr(value)


def _literal(value: Any) -> str:
    """A parameter as code; see `runner` for how tuples and calls are written as plain data."""
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return "(" + "".join(f"{_literal(each)}, " for each in value["tuple"]).rstrip(" ") + ")"
    if isinstance(value, dict) and "call" in value and set(value) <= {"call", "with"}:
        inner = ", ".join(f"{name}={_literal(each)}" for name, each in value.get("with", {}).items())
        return f"{value['call'].replace(':', '.')}({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_literal(each)}" for name, each in value.items()) + "}"
    return "[" + ", ".join(map(_literal, value)) + "]" if isinstance(value, list) else repr(value)


def _called(value: Any) -> Iterator[str]:
    """The modules that calls among parameters need: "a.b" for "a.b:C"."""
    if isinstance(value, dict):
        if isinstance(value.get("call"), str) and set(value) <= {"call", "with"}:
            yield value["call"].partition(":")[0]
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _called(each)
