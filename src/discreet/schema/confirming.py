"""Answers to a draft: each entry that was read off the data is confirmed, changed, or its column left out.

A schema is public when its owner says so of every entry; nothing here looks at data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from discreet.errors import SchemaError
from discreet.schema.columns import Categorical, Column, Label, Numeric, spells_number, text_of
from discreet.schema.schema import Schema

CONFIRM, LEAVE_OUT = ("y", "yes"), ("i", "ignore")
BOUNDS = ("lower", "upper")


def entry_of(schema: Schema, mark: str) -> tuple[str | None, str]:
    """The column and the entry that a mark of `from_data` names; None as the column for entries of the schema itself.

    >>> from discreet.schema import Numeric, Schema
    >>> schema = Schema([Numeric("a.b", 0, 1)], "y", ["n"], ignore=["c"])
    >>> [entry_of(schema, mark) for mark in ("a.b.lower", "c.ignore", "classes", "dialect.decimal")]
    [('a.b', 'lower'), ('c', 'ignore'), (None, 'classes'), (None, 'dialect.decimal')]
    """
    name, _, entry = mark.rpartition(".")
    known = (*BOUNDS, "categories") if name in schema.names else ("ignore",) if name in schema.ignore else ()
    return (name, entry) if entry in known else (None, mark)


def choices(schema: Schema, mark: str) -> str:
    """What can be answered, in one line."""
    name, entry = entry_of(schema, mark)
    if entry in BOUNDS and name is not None:
        return "y: publicly known; a number: use this instead; i: ignore the column"
    if entry == "ignore" and name is not None:
        return "y: leave the column out; 'n LOWER UPPER': numbers between bounds; 'c A; B; C': these categories"
    if entry in ("categories", "classes"):
        out = "" if name is None else "; i: ignore the column"
        return f"y: publicly known; '+ A; B' adds, '- A' removes, '= A; B; C' replaces all{out}"
    if entry == "records":
        return "y: publicly known; a number: about this many; n: not public"
    if entry == "dialect.decimal":
        return "y: right; '.' or ',': use this instead"
    return "y: publicly known (change it in the file otherwise)"


def value_of(schema: Schema, mark: str) -> str:
    """The entry as it stands."""
    name, entry = entry_of(schema, mark)
    if name is not None and entry == "ignore":
        return "left out"
    if name is not None:
        column = schema[name]
        if isinstance(column, Categorical):
            return f"{len(column.categories)} categories: {_listed(column.categories)}"
        return f"{getattr(column, entry)!r} (bounds {column.lower!r} to {column.upper!r})"
    values = {
        "classes": _listed(schema.classes),
        "records": str(schema.records),
        "dialect.decimal": schema.dialect.decimal,
    }
    return values.get(entry, "see the file")


def answered(schema: Schema, mark: str, answer: str) -> Schema:
    """The schema after an answer to one mark, which leaves `from_data`; SchemaError if it is not a valid answer."""
    answer = answer.strip()
    name, entry = entry_of(schema, mark)
    if answer.lower() in CONFIRM:
        return _without(schema, mark)
    if name is None:
        return _without(_of_schema(schema, entry, answer), mark)
    if entry == "ignore":
        return _taken_in(schema, name, mark, answer)
    if answer.lower() in LEAVE_OUT:
        return _left_out(schema, name)
    column = schema[name]
    if isinstance(column, Categorical):
        column = replace(column, categories=_changed(column.categories, answer, mark))
    else:
        changed: dict[str, Any] = {entry: _number(answer, mark)}
        column = replace(column, **changed)
    kept = [column if each.name == name else each for each in schema.columns]
    return _without(schema.replace(columns=kept), mark)


def _of_schema(schema: Schema, entry: str, answer: str) -> Schema:
    """The schema after an answer to an entry that belongs to no column."""
    if entry == "classes":
        return schema.replace(classes=_changed(schema.classes, answer, entry))
    if entry == "records":
        return schema.replace(records=None if answer.lower() in ("n", "no") else _number(answer, entry))
    if entry == "dialect.decimal":
        return schema.replace(dialect=schema.dialect.changed(decimal=answer))
    raise SchemaError(f"{entry}: {answer!r} is not an answer; need y, or change the entry in the file")


def _without(schema: Schema, *marks: str) -> Schema:
    return schema.replace(from_data=[each for each in schema.from_data if each not in marks])


def _left_out(schema: Schema, name: str) -> Schema:
    kept = [column for column in schema.columns if column.name != name]
    marks = [f"{name}.{entry}" for entry in (*BOUNDS, "categories")]
    return _without(schema.replace(columns=kept, ignore=[*schema.ignore, name]), *marks)


def _taken_in(schema: Schema, name: str, mark: str, answer: str) -> Schema:
    """The schema with a column that a draft left out."""
    kind, _, rest = answer.partition(" ")
    bounds = rest.split()
    if kind.lower() == "n" and len(bounds) == 2:
        column: Column = Numeric(name, _number(bounds[0], mark), _number(bounds[1], mark))
    elif kind.lower() == "c" and rest.strip():
        column = Categorical(name, tuple(_split(rest)))
    else:
        raise SchemaError(f"{mark}: {answer!r} is not an answer; need y, 'n LOWER UPPER' or 'c A; B; C'")
    ignore = [each for each in schema.ignore if each != name]
    return _without(schema.replace(columns=[*schema.columns, column], ignore=ignore), mark)


def _number(text: str, mark: str) -> int | float:
    if not spells_number(text):
        raise SchemaError(f"{mark}: {text!r} is not an answer; need y, or a number such as 100 or 0.5")
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _changed(labels: Sequence[Label], answer: str, mark: str) -> list[Label]:
    """The list after '+ A; B', '- A' or '= A; B; C'."""
    change, given = answer[:1], _split(answer[1:])
    if change not in ("+", "-", "=") or not given:
        raise SchemaError(f"{mark}: {answer!r} is not an answer; need y, '+ A; B', '- A' or '= A; B; C'")
    texts = {text_of(each) for each in given}
    known = {text_of(label) for label in labels}
    if change == "-":
        if not texts <= known:
            raise SchemaError(f"{mark}: {sorted(texts - known)[0]!r} is not in the list; nothing was removed")
        return [label for label in labels if text_of(label) not in texts]
    return [*labels, *(each for each in given if text_of(each) not in known)] if change == "+" else list(given)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _listed(labels: Sequence[Label]) -> str:
    return "; ".join(text_of(label) for label in labels)
