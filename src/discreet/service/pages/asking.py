"""Forms to requests: what an analyst ticks and types, as the plain data that the API takes too.

Only the form is read here. Whether the request fits the table's public facts is checked where it is quoted and asked,
by the same code for pages, REST and Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData

from discreet.schema import Categorical, Schema
from discreet.schema.columns import Label, Numeric, spells_number, text_of
from discreet.service.errors import RequestError
from discreet.service.fitting import PARAMETERS
from discreet.service.pages.numbers import whole
from discreet.service.pages.views import MODELS, number_words

MOST_SHOWN = 60
"""Columns in the form for counts; more can be asked of by REST and Python."""
UNLISTED = "unlisted"


@dataclass(frozen=True)
class ColumnField:
    """A column in a form. `place` names its fields; labels are named by their place too, so that types stay."""

    name: str
    place: int
    kind: str
    lower: str = ""
    upper: str = ""
    labels: tuple[tuple[str, str, bool], ...] = ()
    used: bool = False
    grouped: bool = False


def columns_of(schema: Schema, *, target: bool) -> list[Numeric | Categorical]:
    """The columns that can be asked about, and the target like any other."""
    own = [Categorical(schema.target, schema.classes, unlisted=False)] if target else []
    return [*own, *schema.columns]


def column_fields(schema: Schema, form: FormData, *, target: bool) -> list[ColumnField]:
    """The columns as fields, with what the form says of them."""
    by = set(form.getlist("by"))
    found = []
    for place, column in enumerate(columns_of(schema, target=target)):
        ticked = set(form.getlist(f"in-{place}"))
        typed = bool(form.get(f"from-{place}") or form.get(f"to-{place}"))
        grouped = str(place) in by
        if isinstance(column, Numeric):
            ends = number_words(column.lower), number_words(column.upper)
            found.append(ColumnField(column.name, place, "numeric", *ends, (), grouped or typed, grouped))
        else:
            labels = tuple((str(at), text_of(each), str(at) in ticked) for at, each in enumerate(column.categories))
            other = ((UNLISTED, "unlisted values", UNLISTED in ticked),) if column.unlisted else ()
            used = grouped or bool(ticked)
            found.append(ColumnField(column.name, place, "categorical", "", "", (*labels, *other), used, grouped))
    return found


def request_of(kind: str, form: FormData, schema: Schema) -> dict[str, Any]:
    """The request that a form describes, as plain data."""
    epsilon = _text(form, "epsilon") or "1"
    if kind == "train":
        return {"kind": kind, "model": _text(form, "model") or "auto", "epsilon": epsilon, "parameters": _given(form)}
    if kind == "score":
        return {"kind": kind, "release": _text(form, "release"), "epsilon": epsilon}
    columns = columns_of(schema, target=True)
    where = [part for place, column in enumerate(columns) for part in _conditions(form, place, column)]
    return {"kind": "count", "epsilon": epsilon, "queries": [{"where": where, "by": _by(form, columns)}]}


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value.strip() if isinstance(value, str) else ""


def _given(form: FormData) -> dict[str, Any]:
    """The parameters that are not empty; a word that spells a number or a truth value is one."""
    known = dict.fromkeys(name for names in PARAMETERS.values() for name in names)
    texts = {name: _text(form, f"parameter-{name}") for name in known}
    return {name: _value(text) for name, text in texts.items() if text}


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    return _number(text) if spells_number(text) else text


def _number(text: str) -> int | float:
    return int(text) if whole(text.lstrip("+-"), 15) is not None else float(text)


def _conditions(form: FormData, place: int, column: Numeric | Categorical) -> list[Mapping[str, Any]]:
    if isinstance(column, Numeric):
        low, high = _text(form, f"from-{place}"), _text(form, f"to-{place}")
        if not low and not high:
            return []
        if any(text and not spells_number(text) for text in (low, high)):
            raise RequestError(f"{column.name[:120]}: from and to are numbers, such as 40 or 59.5")
        ends = [_number(low) if low else column.lower, _number(high) if high else column.upper]
        return [{"column": column.name, "between": ends}]
    ticked = [each for each in form.getlist(f"in-{place}") if isinstance(each, str)]
    if not ticked:
        return []
    if UNLISTED in ticked:
        if len(ticked) > 1:
            raise RequestError(f"{column.name[:120]}: tick values of the list, or unlisted values alone")
        return [{"column": column.name, "unlisted": True}]
    return [{"column": column.name, "in": [_label(column, each) for each in ticked]}]


def _label(column: Categorical, place: str) -> Label:
    number = whole(place)
    if number is None or number >= len(column.categories):
        raise RequestError(f"{column.name[:120]}: tick values of the list")
    return column.categories[number]


def _by(form: FormData, columns: Sequence[Numeric | Categorical]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for place in [each for each in form.getlist("by") if isinstance(each, str)]:
        number = whole(place)
        if number is None or number >= len(columns):
            raise RequestError("by: tick columns of the list")
        column = columns[number]
        bins = whole(_text(form, f"bins-{place}"))
        if isinstance(column, Numeric) and bins is None:
            raise RequestError(f"{column.name[:120]}: need a whole number of bins")
        found.append({"column": column.name, **({"bins": bins} if isinstance(column, Numeric) else {})})
    return found


def parameters() -> list[dict[str, Any]]:
    """The parameters that a request may set, with the models that have them."""
    shown = {name: words for name, words, _ in MODELS}
    every = dict.fromkeys(name for names in PARAMETERS.values() for name in names)
    return [
        {"name": name, "models": [shown[model] for model, names in PARAMETERS.items() if name in names]}
        for name in every
    ]
