"""Classification rules: conditions on columns, and a class; how good a rule is, and how similar two rules are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError
from discreet.records.encoding import as_floats, label_codes
from discreet.records.tables import Table
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric, is_integer, text_of

Encoded: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns as rules see them: numbers within the schema's bounds, or codes of categories."""


@dataclass(frozen=True)
class Between:
    """The number in a column lies within a closed interval."""

    column: str
    lower: float
    upper: float

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """For which records the condition is true."""
        return np.asarray((values >= self.lower) & (values <= self.upper))

    def meets(self, other: Condition) -> bool:
        """Whether the other condition is an interval that overlaps with this one."""
        return isinstance(other, Between) and self.lower <= other.upper and other.lower <= self.upper

    def text(self, schema: Schema) -> str:
        """The condition as text, without an end that lies at the bound of the schema."""
        column = schema[self.column]
        assert isinstance(column, Numeric), "intervals are of numeric columns"
        if self.lower <= column.lower:
            return f"{self.column} at most {self.upper:.4g}"
        if self.upper >= column.upper:
            return f"{self.column} at least {self.lower:.4g}"
        return f"{self.column} between {self.lower:.4g} and {self.upper:.4g}"


@dataclass(frozen=True)
class Equals:
    """The column has a certain category, given by its code in the schema."""

    column: str
    code: int

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """For which records the condition is true."""
        return np.asarray(values == self.code)

    def meets(self, other: Condition) -> bool:
        """Whether the other condition is for the same category."""
        return isinstance(other, Equals) and self.code == other.code

    def text(self, schema: Schema) -> str:
        """The condition as text."""
        categories = _categories(schema, self.column)
        return f"{self.column} = {categories[self.code] if self.code < len(categories) else '(not listed)'}"


Condition: TypeAlias = Between | Equals


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, then the class. `inside` and `outside` count the training records that it covers: those
    of its class, and those of other classes."""

    label: int
    conditions: tuple[Condition, ...]
    inside: int
    outside: int

    def precision(self, classes: int) -> float:
        """Fraction of the covered records that have its class, by Laplace's law of succession."""
        return (self.inside + 1) / (self.inside + self.outside + classes)

    def violations(self, encoded: Encoded, rows: int) -> NDArray[np.intp]:
        """Number of violated conditions per record; the rule covers the records with none."""
        broken = np.zeros(rows, dtype=np.intp)
        for condition in self.conditions:
            broken += ~condition.holds(encoded[condition.column])
        return broken

    def text(self, schema: Schema) -> str:
        """The rule as a sentence."""
        conditions = " AND ".join(condition.text(schema) for condition in self.conditions)
        covered = f"{self.inside} of {self.inside + self.outside} covered records"
        return f"IF {conditions} THEN {schema.target} = {schema.classes[self.label]}   ({covered})"


def weighted_laplace(p: int, n: int, S: int, N: int) -> float:
    """Laplace precision over the frequency of the class; the rule covers p of S records of the class, n of N others."""
    return (p + 1) * (S + N) / ((p + n + 2) * S)


def weighted_support(p: int, n: int, S: int, alpha: float, beta: float) -> float:
    """Mutual support: covered records of the class over the weighted sum of all of the class and covered others."""
    return p / (alpha * S + beta * n)


def similarity(rule: Rule, rules: Sequence[Rule]) -> int:
    """Number of pairs of conditions, one of the rule and one of `rules`, with values of a column in common."""
    return sum(
        own.column == other.column and own.meets(other)
        for each in rules
        for own in rule.conditions
        for other in each.conditions
    )


def encode(table: Table, schema: Schema) -> dict[str, NDArray[Any]]:
    """Encode any table for rules. A missing value takes the replacement that the schema declares; without one it
    becomes a blank (NaN, or -1), for which no condition holds, so that rules do not learn from absent values."""
    encoded: dict[str, NDArray[Any]] = {}
    for column in schema.columns:
        values = table.column(column.name)
        if isinstance(column, Categorical):
            missing = -1 if column.missing is None else column.missing_code
            encoded[column.name] = label_codes(values, column.categories, column.stray_code, missing)
        else:
            encoded[column.name] = _within_bounds(values, column)
    return encoded


def _within_bounds(values: NDArray[Any], column: Numeric) -> NDArray[np.float64]:
    numbers = np.array(as_floats(values), dtype=np.float64)
    if column.fill is not None:
        numbers[np.isnan(numbers)] = column.missing_value
    return np.clip(numbers, float(column.lower), float(column.upper))


def rules_to_dict(rules: Sequence[Rule], schema: Schema) -> list[dict[str, Any]]:
    """Rules as plain data: classes and categories by name, the unlisted category as null."""
    return [
        {
            "class": schema.classes[rule.label],
            "inside": rule.inside,
            "outside": rule.outside,
            "conditions": [_condition_to_dict(condition, schema) for condition in rule.conditions],
        }
        for rule in rules
    ]


def rules_from_dict(content: Any, schema: Schema) -> list[Rule]:
    """The inverse of `rules_to_dict`; FileError if the rules do not fit the schema."""
    labels = {text_of(label): code for code, label in enumerate(schema.classes)}
    try:
        rules = [
            Rule(
                labels[text_of(entry["class"])],
                tuple(_condition_from_dict(condition, schema) for condition in entry["conditions"]),
                _count(entry["inside"]),
                _count(entry["outside"]),
            )
            for entry in content
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise FileError("these rules do not fit the schema, or are damaged; use the schema they came with") from None
    return rules


def _condition_to_dict(condition: Condition, schema: Schema) -> dict[str, Any]:
    if isinstance(condition, Between):
        return {"column": condition.column, "lower": condition.lower, "upper": condition.upper}
    categories = _categories(schema, condition.column)
    return {
        "column": condition.column,
        "category": categories[condition.code] if condition.code < len(categories) else None,
    }


def _condition_from_dict(content: Mapping[str, Any], schema: Schema) -> Condition:
    column = schema[content["column"]]
    if isinstance(column, Numeric):
        lower, upper = float(content["lower"]), float(content["upper"])
        if not -math.inf < lower <= upper < math.inf:
            raise ValueError
        return Between(column.name, lower, upper)
    codes = {text_of(category): code for code, category in enumerate(column.categories)}
    if content["category"] is None and column.unlisted:
        return Equals(column.name, len(codes))
    return Equals(column.name, codes[text_of(content["category"])])


def _categories(schema: Schema, name: str) -> Sequence[Any]:
    column = schema[name]
    return column.categories if isinstance(column, Categorical) else ()


def _count(value: object) -> int:
    if not is_integer(value) or value < 0:  # type: ignore[operator]
        raise ValueError
    return value  # type: ignore[return-value]
