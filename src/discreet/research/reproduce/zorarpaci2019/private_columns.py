"""Table 5.23: how many columns ABC-DE keeps, and how many count queries that saves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.research.papers.published import count_cells
from discreet.research.report import Paragraph, Part, ReportTable
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zorarpaci2019.private_cells import PrivateAccuracies, listed, number
from discreet.research.reproduce.zorarpaci2019.private_models import BINS, HashedTable, searched
from discreet.schema import Schema


class Kept(NamedTuple):
    """The numbers of all columns and cells, and of those that searches with several seeds kept."""

    columns: int
    cells: int
    kept_columns: tuple[int, ...]
    kept_cells: tuple[int, ...]


@lru_cache(maxsize=32)
def searches(data: str, directory: str | None, seeds: int) -> Kept:
    """Searches on all records of a data set, as the thesis seems to have done them."""
    X, y, schema = datasets.load(data, directory)
    records = HashedTable({name: X[name] for name in schema.names}, y, schema)
    found = [searched(records, seed) for seed in range(seeds)]
    return Kept(
        len(schema.names),
        _cells(schema),
        tuple(len(each.names) for each in found),
        tuple(_cells(each) for each in found),
    )


def _cells(schema: Schema) -> int:
    return sum(count_cells(schema, BINS).values())


def kept(found: PrivateAccuracies, context: Context) -> Sequence[Part]:
    """Table 5.23 beside ours, on the data sets that were run."""
    rows, fewer, known = [], 0, 0
    with_class: list[str] = []
    for data in found.data:
        before, after = (number(data, "Table 5.23", model) for model in ("attributes", "attributes with F.S."))
        ours = _known(data, context)
        rows.append([data, f"{before:.0f}", f"{after:.0f}", f"{1 - after / before:.0%}", *_ours(ours)])
        known += ours is not None
        fewer += ours is not None and after < min(ours.kept_columns)
        with_class += [data] if ours is not None and before > ours.columns else []
    heads = ["data set", "thesis: of", "kept", "fewer by", "ours: of", "kept", "columns fewer by", "cells fewer by"]
    seeds = _seeds(context)
    return [
        ReportTable(
            f"Table 5.23: columns kept by ABC-DE; ours on all records, {seeds} seed(s).", heads, rows, context.origin
        ),
        Paragraph(
            f"The thesis keeps fewer columns than any of our searches on {fewer} of {known} data sets. Its fitness is "
            "the accuracy of a pruned tree, ours of one that is not. The published steps hardly take a column away: "
            "evolution and bees add columns to subsets that are there, and the onlookers, who alone turn a bit off, "
            "act with a chance that is next to nothing. So what is kept stays close to the subsets drawn at first, of "
            "half of all columns each, unless the search had other settings than the thesis names."
        ),
        Paragraph(
            "The thesis takes the share of columns dropped for the share of count queries saved. A query is asked for "
            "every value, so that it is the share of cells that counts. Its numbers of columns include the class on "
            f"some data sets and not on others. Of those that were run, more than there are: {listed(with_class)}."
        ),
    ]


def _seeds(context: Context) -> int:
    return 3 if context.full else 1


def _known(data: str, context: Context) -> Kept | None:
    try:
        return searches(data, context.directory, _seeds(context))
    except DiscreetError:  # without the data, a report of an earlier run can still be written
        return None


def _ours(ours: Kept | None) -> list[str]:
    if ours is None:
        return [MISSING] * 4
    few, many = min(ours.kept_columns), max(ours.kept_columns)
    saved = [
        1 - sum(parts) / len(parts) / whole
        for parts, whole in ((ours.kept_columns, ours.columns), (ours.kept_cells, ours.cells))
    ]
    return [str(ours.columns), str(few) if few == many else f"{few} to {many}", *(f"{part:.0%}" for part in saved)]
