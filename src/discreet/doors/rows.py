"""The door for rows: every record perturbed by itself, so that the table itself can be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.doors.gathering import gather
from discreet.doors.passage import Account, passage
from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.response import RandomizedResponse
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import AnyStep, Lot, Step
from discreet.records.encoding import Cells
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Column, Numeric
from discreet.sources import Source

NoisyCodes: TypeAlias = list[NDArray[np.uint16]]
"""Perturbed cells, one array for each component: the columns, then the label."""
RowStep: TypeAlias = "Step[Value, DiscreteLaplace | RandomizedResponse]"

NOT_RELEASED = 2**16 - 1
"""The code of a value that was not drawn to be released; no column has so many cells."""


@dataclass(frozen=True)
class Value:
    """One component of a record: its cell in a column, or its class. Any value may stand in place of any other."""

    column: str
    cells: int
    ordered: bool

    def __repr__(self) -> str:
        return f"Value(column={self.column!r}, cells={self.cells})"

    def distance(self, schema: Schema) -> int:
        """How far apart two values can be: the whole grid for numbers; for categories, one or another."""
        return self.cells - 1 if self.ordered else 1


def column_step(column: Column, share: Epsilon, schema: Schema) -> RowStep:
    """A number by discrete Laplace noise on its grid, a category by randomized response, at this share."""
    asked = _value(column, schema)
    if asked.ordered:
        return Step(asked, DiscreteLaplace.calibrated(share, asked.distance(schema)), share)
    return Step(asked, RandomizedResponse.calibrated(share, asked.cells), share)


def label_step(share: Epsilon, schema: Schema) -> RowStep:
    """The class by randomized response, at this share."""
    asked = _label(schema)
    return Step(asked, RandomizedResponse.calibrated(share, asked.cells), share)


def _value(column: Column, schema: Schema) -> Value:
    return Value(column.name, Cells(column.name).size(schema), isinstance(column, Numeric))


def _label(schema: Schema) -> Value:
    return Value(schema.target, len(schema.classes), ordered=False)


def _fit(steps: Sequence[RowStep], expected: Sequence[Value]) -> bool:
    """Whether the steps ask these very values, and each by the mechanism whose proof is about it.

    Noise on a line for numbers; for categories a response among all of their cells, which are not in a line.
    """
    if [(type(step.query), step.query) for step in steps] != [(Value, each) for each in expected]:
        return False
    return all(
        isinstance(step.mechanism, DiscreteLaplace)
        if step.query.ordered
        else isinstance(step.mechanism, RandomizedResponse) and step.mechanism.cells == step.query.cells
        for step in steps
    )


def asked_of_rows(columns: Sequence[RowStep], label: RowStep | None, drawn: int | None) -> list[AnyStep | Lot]:
    """What is paid for: all columns, or as many as a lot draws for each record; and the label, if it is released."""
    steps: list[AnyStep | Lot] = list(columns)
    if drawn is not None:
        words = f"Value({drawn} of {len(columns)} attributes, drawn for each record)"
        steps = [Lot(words, tuple((step,) for step in columns), met=drawn)]
    return steps if label is None else [*steps, label]


def perturb_rows(
    source: Source,
    schema: Schema,
    columns: Sequence[RowStep],
    label: RowStep | None,
    drawn: int | None,
    ledger: Account,
    rng: Randomness,
    purpose: str,
) -> tuple[NoisyCodes, Receipt]:
    """Pay, then read, then perturb each record: all columns, or those `drawn` for it, and its label unless it is None.

    Guarantee  the result is ε-DP under replace-one, the number of records being public; ε the sum of the steps, of
               which a record meets `drawn` columns. So is each record alone, towards whoever collects the result.
    Proof      in LocalPerturbation, which decodes the result.
    Order      that of the passage.
    """
    columns = tuple(columns)
    if schema.adjacency is not Adjacency.REPLACE_ONE:
        raise ParameterError("a table of perturbed records shows its number of rows; need the adjacency 'replace-one'")
    if not _fit(columns, [_value(column, schema) for column in schema.columns]):
        raise ParameterError("a record is perturbed in all of its columns; need `column_step` of each, in their order")
    if label is not None and not _fit([label], [_label(schema)]):
        raise ParameterError("the label is perturbed among the classes of the schema; need the step of `label_step`")
    steps = asked_of_rows(columns, label, drawn)
    reading, receipt = passage(source, schema, steps, ledger, rng, purpose)
    cells = [Cells(name) for name in schema.names]
    exact, classes = gather(reading, cells, schema, all_records=True)
    chosen = None if drawn is None else _drawn(len(classes), len(cells), drawn, rng)
    noisy = [
        _perturbed(exact[each], step, None if chosen is None else chosen[:, place], rng)
        for place, (each, step) in enumerate(zip(cells, columns, strict=True))
    ]
    if label is not None:
        classes[classes == len(schema.classes)] = 0
        noisy.append(_perturbed(classes, label, None, rng))
    return noisy, receipt


def _perturbed(
    exact: NDArray[np.uint16], step: RowStep, chosen: NDArray[np.bool_] | None, rng: Randomness
) -> NDArray[np.uint16]:
    """The perturbed codes of one component, clamped to its cells; NOT_RELEASED where it was not drawn."""
    rows = slice(None) if chosen is None else chosen
    noisy = np.full(len(exact), NOT_RELEASED, dtype=np.uint16)
    noisy[rows] = np.clip(step.mechanism.perturb(exact[rows].astype(np.int64), rng), 0, step.query.cells - 1)
    return noisy


def _drawn(rows: int, columns: int, wanted: int, rng: Randomness) -> NDArray[np.bool_]:
    """Which columns of each record are released: a lot that does not look at the data."""
    keys = rng.integers(2**62, (rows, columns))
    return np.asarray(keys.argsort(axis=1).argsort(axis=1) < wanted)
