"""Candidates of a choice of columns as plain data, for requests: a column with its bins, or a fraction to beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import ParameterError
from discreet.queries.predicates import listed
from discreet.queries.tables import MOST_WEIGHT, ColumnScore, FractionScore, MajorityScore
from discreet.schema import Schema
from discreet.schema.columns import MAX_CELLS, Numeric, is_integer


def candidate_to_plain(candidate: ColumnScore) -> dict[str, Any]:
    """Plain data such as {"column": "age", "bins": 8}, or {"right": 24, "of": 25}; requests have no cuts."""
    content = dict(candidate.__dict__)
    if content.pop("cuts", ()):
        raise ParameterError("a candidate with cuts cannot be asked for in a request; leave them out")
    if content.get("weights") is not None:
        content["weights"] = list(content["weights"])
    return {name: value for name, value in content.items() if value is not None}


def candidate_from_plain(content: object, schema: Schema) -> ColumnScore:
    """The inverse of `candidate_to_plain`; ParameterError if it is not a candidate for tables of this schema."""
    if not isinstance(content, Mapping):
        raise ParameterError('a candidate is not an object; need one such as {"column": "age", "bins": 8}')
    if {*content} == {"right", "of"}:
        return _fraction(content["right"], content["of"])
    name, bins, weights = (content.get(key) for key in ("column", "bins", "weights"))
    if name not in schema.names or not {*content} <= {"column", "bins", "weights"}:
        raise ParameterError(f"a candidate names no column of the schema; need one of: {listed(schema.names)}")
    is_number = isinstance(schema[str(name)], Numeric)
    divided = isinstance(bins, int) and is_integer(bins) and 2 <= bins <= MAX_CELLS
    if is_number != divided or (not is_number and bins is not None):
        raise ParameterError(f"column {name!r}: need bins, at least 2, if it holds numbers, and none if categories")
    if weights is not None:
        usable = isinstance(weights, list | tuple) and len(weights) == len(schema.classes)
        if not usable or not all(is_integer(each) and 1 <= each <= MOST_WEIGHT for each in weights):
            raise ParameterError(f"column {name!r}: weights; need an integer from 1 to {MOST_WEIGHT} for each class")
    return MajorityScore(str(name), bins, None if weights is None else tuple(weights))


def _fraction(right: Any, of: Any) -> FractionScore:
    if not is_integer(right) or not is_integer(of) or not 0 <= right <= of <= MOST_WEIGHT or of < 1:
        raise ParameterError(f"a fraction to beat: need integers with 0 <= right <= of, of from 1 to {MOST_WEIGHT}")
    return FractionScore(right, of)
