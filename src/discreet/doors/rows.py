"""The door for rows: every record is perturbed by itself, and the perturbed table can be published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.doors.passage import Payer, passage
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
from discreet.sources import Source, check_rows
from discreet.sources.exact import ExactRows

NoisyCodes: TypeAlias = list[NDArray[np.uint16]]
"""Perturbed codes, one array per component: the columns, then the label."""
RowStep: TypeAlias = "Step[Value, DiscreteLaplace | RandomizedResponse]"

CHUNK = 1 << 15
"""Records that are perturbed at a time. Their noise is drawn chunk by chunk, however the source cuts them into blocks:
so with the same seed (for tests), every source that keeps the order of the records gives the same table."""
NOT_RELEASED = 2**16 - 1
"""The code of a value that is not released; the largest 16-bit code, which no column uses as a cell."""


@dataclass(frozen=True)
class Value:
    """One component of a record: its cell in a column, or its class. A neighbour may have any other value there."""

    column: str
    cells: int
    ordered: bool

    def __repr__(self) -> str:
        return f"Value(column={self.column!r}, cells={self.cells})"

    def distance(self, schema: Schema) -> int:
        """How far apart two values can be: the whole grid for numbers, 1 for categories, which are equal or not."""
        return self.cells - 1 if self.ordered else 1


def column_step(column: Column, share: Epsilon, schema: Schema) -> RowStep:
    """The step for a column: discrete Laplace noise on the grid of a number, randomized response for a category."""
    asked = _value(column, schema)
    if asked.ordered:
        return Step(asked, DiscreteLaplace.calibrated(share, asked.distance(schema)), share)
    return Step(asked, RandomizedResponse.calibrated(share, asked.cells), share)


def label_step(share: Epsilon, schema: Schema) -> RowStep:
    """The step for the label: randomized response among the classes."""
    asked = _label(schema)
    return Step(asked, RandomizedResponse.calibrated(share, asked.cells), share)


def _value(column: Column, schema: Schema) -> Value:
    return Value(column.name, Cells(column.name).size(schema), isinstance(column, Numeric))


def _label(schema: Schema) -> Value:
    return Value(schema.target, len(schema.classes), ordered=False)


def _fit(steps: Sequence[RowStep], expected: Sequence[Value]) -> bool:
    """Whether the steps ask for exactly these values, each by the mechanism whose proof covers it.

    Numbers need discrete Laplace noise; categories, which have no order, a randomized response among all their cells.
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
    """The steps to pay for: all columns, or those that a lot draws for each record; and the label, if released."""
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
    ledger: Payer,
    rng: Randomness,
    purpose: str,
) -> tuple[Iterator[NoisyCodes], Receipt]:
    """Pay, then read, then perturb each record: all columns or `drawn` of them, and the label if it has a step.

    The payment is made at once; records are read in one pass and perturbed as the chunks are taken, in the order of the
    source.

    Guarantee  the result is ε-DP under replace-one, where the number of records is public. ε is the sum of the steps of
               one record: its columns (only `drawn` of them, if given) and its label. The same holds for each record
               alone, towards whoever collects the result.
    Proof      in LocalPerturbation, which decodes the result. The noise of each record is independent of all else; how
               records are cut into chunks depends on their number and order alone.
    Order      that of the passage: a reading that fails on its way stays paid for.
    """
    columns = tuple(columns)
    if schema.adjacency is not Adjacency.REPLACE_ONE:
        raise ParameterError(
            "a table of perturbed records shows its number of rows; need a schema with the adjacency 'replace-one'"
        )
    if not _fit(columns, [_value(column, schema) for column in schema.columns]):
        raise ParameterError(
            "each record is perturbed in all of its columns; need the `column_step` of each column, in schema order"
        )
    if label is not None and not _fit([label], [_label(schema)]):
        raise ParameterError(
            "the step does not perturb the label among the classes of the schema; need the step that `label_step` makes"
        )
    check_rows(source)
    reading, receipt = passage(source, schema, asked_of_rows(columns, label, drawn), ledger, rng, purpose)
    cells = [Cells(name) for name in schema.names]
    chunks = _chunks(reading.rows(cells), cells)
    return (_perturbed_chunk(*chunk, columns, label, drawn, schema, rng) for chunk in chunks), receipt


Chunk = tuple[list[NDArray[np.uint16]], NDArray[np.uint16]]
"""The exact codes of some records, column by column, and their class codes. Private."""


def _chunks(blocks: Iterable[ExactRows], cells: Sequence[Cells]) -> Iterator[Chunk]:
    """The records of all blocks, CHUNK at a time, in their order; the last chunk has the rest."""
    waiting: list[list[NDArray[np.uint16]]] = []
    rows = 0
    for block in blocks:
        waiting.append([*(block.codes[each] for each in cells), block.labels])
        rows += len(block.labels)
        if rows < CHUNK:
            continue
        joined = [np.concatenate(parts) for parts in zip(*waiting, strict=True)]
        whole = rows - rows % CHUNK
        for start in range(0, whole, CHUNK):
            *codes, labels = (each[start : start + CHUNK] for each in joined)
            yield codes, labels
        waiting, rows = [[each[whole:] for each in joined]], rows - whole
    if rows:
        *codes, labels = (np.concatenate(parts) for parts in zip(*waiting, strict=True))
        yield codes, labels


def _perturbed_chunk(
    exact: list[NDArray[np.uint16]],
    classes: NDArray[np.uint16],
    columns: Sequence[RowStep],
    label: RowStep | None,
    drawn: int | None,
    schema: Schema,
    rng: Randomness,
) -> NoisyCodes:
    chosen = None if drawn is None else _drawn(len(classes), len(columns), drawn, rng)
    noisy = [
        _perturbed(codes, step, None if chosen is None else chosen[:, place], rng)
        for place, (codes, step) in enumerate(zip(exact, columns, strict=True))
    ]
    if label is not None:
        known = np.where(classes == len(schema.classes), 0, classes).astype(np.uint16)
        noisy.append(_perturbed(known, label, None, rng))
    return noisy


def _perturbed(
    exact: NDArray[np.uint16], step: RowStep, chosen: NDArray[np.bool_] | None, rng: Randomness
) -> NDArray[np.uint16]:
    """The perturbed codes of one component, clamped to its cells; NOT_RELEASED where the lot did not draw it."""
    rows = slice(None) if chosen is None else chosen
    noisy = np.full(len(exact), NOT_RELEASED, dtype=np.uint16)
    noisy[rows] = np.clip(step.mechanism.perturb(exact[rows].astype(np.int64), rng), 0, step.query.cells - 1)
    return noisy


def _drawn(rows: int, columns: int, wanted: int, rng: Randomness) -> NDArray[np.bool_]:
    """Which columns of each record are released: drawn uniformly, without looking at the data."""
    keys = rng.integers(2**62, (rows, columns))
    return np.asarray(keys.argsort(axis=1).argsort(axis=1) < wanted)
