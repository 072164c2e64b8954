"""What a comparison found, one sentence each; and the best cells of its tables."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell, critical_difference, ranked_pairs, shown

SAME = 5e-4
"""Accuracies that differ by less look the same in the tables, and share the first place."""


def best_cells(own: Sequence[Cell], epsilons: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Row and column of the best accuracy at each epsilon in the table of one data set; none if only one was run."""
    rows = list(dict.fromkeys(cell.model for cell in own))
    found = set()
    for column, epsilon in enumerate(epsilons, 1):
        at = [cell for cell in own if cell.epsilon == epsilon]
        if len(at) > 1:
            found |= {(rows.index(cell.model), column) for cell in winners(at)}
    return frozenset(found)


def winners(cells: Sequence[Cell]) -> list[Cell]:
    """The cells with the highest accuracy."""
    highest = max(cell.mean for cell in cells)
    return [cell for cell in cells if cell.mean > highest - SAME]


def findings(found: Sequence[Cell]) -> list[str]:
    """The sentences: the ranking first, then the best model of each data set, then what is of no use."""
    return [*_ranking(found), *_best(found), *_useless(found)]


def _ranking(found: Sequence[Cell]) -> list[str]:
    ranks, pairs = ranked_pairs(found)
    if len(ranks) < 2:
        return []
    (first, rank), (second, behind), *_ = ranks.items()
    if behind - rank < 1e-9:
        return [f"{first} and {second} share the best average rank, {rank:.2f}, over {_counted(pairs)}."]
    gap = critical_difference(len(ranks), pairs)
    sure = "more than chance" if behind - rank > gap else "which may be chance"
    return [
        f"{first} has the best average rank, {rank:.2f} over {_counted(pairs)}; {second} is next with {behind:.2f}, "
        f"{sure} (ranks differ from {gap:.2f} on)."
    ]


def _counted(pairs: int) -> str:
    return "one data set and ε" if pairs == 1 else f"{pairs} pairs of data set and ε"


def _best(found: Sequence[Cell]) -> list[str]:
    """For each data set the best model at each epsilon."""
    told = []
    for data in dict.fromkeys(cell.data for cell in found):
        own = [cell for cell in found if cell.data == data and cell.model != MAJORITY]
        parts = []
        for epsilon in sorted({cell.epsilon for cell in own}, key=as_number):
            best = winners([cell for cell in own if cell.epsilon == epsilon])
            parts.append(f"{' and '.join(cell.model for cell in best)} at ε = {shown(epsilon)} ({best[0].mean:.3f})")
        if parts and len({cell.model for cell in own}) > 1:
            told.append(f"{data}: the most accurate is {', '.join(parts)}.")
    return told


def _useless(found: Sequence[Cell]) -> list[str]:
    """Private models that are no better than always predicting the largest class."""
    largest = {cell.data: cell.mean for cell in found if cell.model == MAJORITY}
    useless: dict[str, list[str]] = {}
    for cell in sorted(found, key=lambda cell: as_number(cell.epsilon)):
        private = cell.model != MAJORITY and cell.epsilon != NOT_PRIVATE
        if private and cell.data in largest and cell.mean <= largest[cell.data] + SAME:
            useless.setdefault(f"{cell.model} on {cell.data}", []).append(shown(cell.epsilon))
    if not useless:
        return []
    listed = "; ".join(f"{name} at ε = {', '.join(epsilons)}" for name, epsilons in useless.items())
    return [f"No better than always predicting the largest class: {listed}."]
