"""Tables that say which columns were chosen, from which, and at what price: a selector hands its choice on with them.

In a pipeline a model gets nothing but the table that the selector returns. So that table carries two schemas: the one
that the columns were chosen from, and the narrower one that states the price. A model that was given the former is
fitted under the latter, and so states what the selector paid. The mark is a text, in a place where each library keeps
such things: `attrs` of pandas, the metadata of Arrow, an attribute of the object itself for the others.

Guarantee  a model that is fitted on a marked table states at least the price on the mark, or no guarantee, or refuses.
Proof      `schema_for` returns the schema that states the price, or `check_price` raises; every table with labels is
           opened by `open_labelled`, which calls it. A lost mark leaves a table without the schema's columns, which is
           refused, unless columns of several tables were joined.
Rests on   the mark being the selector's: whoever forges one fools only themselves.
Limits     marked arrays cannot be joined side by side, nor marked frames of pandas by its `concat`: that raises. Who
           joins columns by other means, such as a FeatureUnion of frames, has a table without a mark: if it has all
           columns of the schema, a model states its own price only. The ledger has every charge in any case.
Test       tests/suites/test_stated_and_charged.py::test_a_pipeline_states_what_was_charged and
           tests/models/test_pipeline.py
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import DataError, SchemaError
from discreet.schema import Paid, Schema

MARK = "discreet.chosen"
"""The key of the mark in the metadata of pandas and Arrow."""
_ATTRIBUTE = "_discreet_chosen"


@dataclass(frozen=True)
class Choice:
    """The columns that were chosen.

    Attributes
    ----------
    whole : the schema that they were chosen from, as the selectors were given it.
    narrow : the schema with only these columns; it states what the choice cost.
    """

    whole: Schema
    narrow: Schema


class _Mapping(dict[str, Any]):
    """Columns by name, with room for a mark."""


JOINED = (
    "columns that a selector chose cannot be joined with others: what the choices cost would be lost. Choose once, "
    "with one selector (a FeatureUnion of selectors is of no use here)"
)
_SIDE_BY_SIDE = (np.hstack, np.column_stack, np.dstack, np.stack, np.block)


class _Array(np.ndarray[Any, Any]):
    """A 2-D array with room for a mark. Views and copies have none: their columns may be others."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Refuse to join columns: the result would have no mark."""
        along = kwargs.get("axis", args[1] if len(args) > 1 else 0)
        if func in _SIDE_BY_SIDE or (func is np.concatenate and along != 0):
            raise DataError(JOINED)
        return super().__array_function__(func, types, args, kwargs)


class _Mark(str):
    """The mark of a frame of pandas, whose `concat` compares marks: different ones cannot both be kept."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Mark) and str.__ne__(self, other):
            raise DataError(JOINED)
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def mark(table: Any, choice: Choice) -> Any:
    """The table with a mark: the same object where it has room for one, else a copy that shares the values."""
    text = json.dumps({"whole": choice.whole.to_dict(), "narrow": choice.narrow.to_dict()})
    if hasattr(table, "attrs"):
        table = table.copy(deep=False)  # nobody else's object gets the mark
        table.attrs = {**table.attrs, MARK: _Mark(text)}
        return table
    if hasattr(table, "replace_schema_metadata"):
        return table.replace_schema_metadata({**(table.schema.metadata or {}), MARK.encode(): text.encode()})
    if isinstance(table, dict):
        table = _Mapping(table)
    elif isinstance(table, np.ndarray):
        table = table.view(_Array)
    if hasattr(table, "__dict__"):
        setattr(table, _ATTRIBUTE, text)
    return table


def choice_of(table: Any) -> Choice | None:
    """What the mark of a table says; None if it has none."""
    text = _text_of(table)
    if text is None:
        return None
    try:
        content = json.loads(text)
        return Choice(Schema.from_dict(content["whole"]), Schema.from_dict(content["narrow"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, SchemaError):
        raise DataError(
            "the table's mark of chosen columns is damaged, so what the choice cost is not known; let the selector "
            "transform the table again"
        ) from None


def _text_of(table: Any) -> Any:
    own = getattr(table, "__dict__", {})
    if _ATTRIBUTE in own:
        return own[_ATTRIBUTE]
    attributes = getattr(table, "attrs", None)
    if isinstance(attributes, dict):
        return attributes.get(MARK)
    if hasattr(table, "replace_schema_metadata"):
        return (table.schema.metadata or {}).get(MARK.encode())
    return None


def schema_for(table: Any, given: Schema) -> Schema:
    """The schema under which a model with the given one is fitted: the narrower one, if a selector chose from it."""
    choice = choice_of(table)
    return given if choice is None or choice.whole.hash != given.hash else choice.narrow


def check_price(table: Any, schema: Schema) -> None:
    """Raise DataError if a selector chose the table's columns, and the schema does not state what that cost."""
    choice = choice_of(table)
    if choice is None or not schema.is_public:
        return
    paid, stated = choice.narrow.chosen, schema.chosen
    if choice.narrow.is_public and (paid is None or _covers(stated, paid)):
        return
    raise DataError(
        "the columns of the table were chosen by a selector, and the schema does not say what that cost; give selector "
        "and model the same schema, or the model the selector's selected_schema_"
    )


def _covers(stated: Paid | None, paid: Paid) -> bool:
    return stated is not None and stated.adjacency is paid.adjacency and stated.epsilon >= paid.epsilon


def check_places(table: Any, schema: Schema) -> None:
    """Raise DataError if an array holds other columns than those of the schema: it has no names that would tell."""
    choice = choice_of(table) if isinstance(table, np.ndarray) else None
    if choice is not None and choice.narrow.names != schema.names:
        raise DataError(
            "the columns of the array were chosen by another fit of the selector than those of the model; fit both "
            "together again"
        )
