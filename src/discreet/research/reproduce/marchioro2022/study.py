"""Marchioro et al. 2022, federated naive Bayes: Figures 1, 2 and 3, and why many nodes seem to be better than one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from discreet.research.comparison.grid import MAJORITY, Grid
from discreet.research.comparison.summary import Cell
from discreet.research.report import Section
from discreet.research.reproduce.marchioro2022 import accuracy
from discreet.research.reproduce.marchioro2022 import sections as parts
from discreet.research.reproduce.marchioro2022.curves import EPSILONS, Curves
from discreet.research.reproduce.marchioro2022.models import (
    BOUNDED,
    CENTRAL,
    NOISE,
    OURS,
    PUBLISHED,
    SUMMED,
    factories,
)
from discreet.research.reproduce.marchioro2022.statements import SMALL
from discreet.research.reproduce.study import Context, Experiment, Study

DRAWS, QUICK_DRAWS = 1000, 200


class Panel(NamedTuple):
    """A data set of Figure 1: numbers of nodes that leave each node two training records or more, and our runs."""

    data: str
    nodes: Sequence[int]
    numeric: bool
    folds: int
    repeats: int


FULL = (
    Panel("accelerometer", (1, 10, 100, 1000), True, 10, 1),
    Panel("adult", (1, 10, 100, 1000), True, 10, 2),
    Panel("house-votes-84", (1, 10, 100), False, 10, 5),
    Panel("mushroom", (1, 10, 100, 1000), False, 10, 2),
    Panel("skin", (1, 10, 100, 1000), True, 10, 1),
    Panel("spect", (1, 10, 100), False, 10, 5),
)
QUICK = (
    Panel("iris", (1, 10), True, 5, 1),
    Panel("house-votes-84", (1, 10, 100), False, 10, 1),
    Panel("mushroom", (1, 10, 100, 1000), False, 3, 1),
    Panel("spect", (1, 10, 100), False, 10, 1),
)
"""Small data sets; iris is not in the paper, but needs no folder."""


class Marchioro2022(Study):
    """Accuracy of federated naive Bayes by epsilon and number of nodes; sensitivities and errors by number of nodes."""

    name: ClassVar[str] = "marchioro2022"
    title: ClassVar[str] = "Marchioro et al. 2022: federated naive Bayes"

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """One experiment per data set, so that missing data sets can be left out."""
        found = []
        for panel in FULL if full else QUICK:
            models = factories(panel.nodes, panel.numeric)
            grid = Grid([panel.data], list(models), EPSILONS, folds=panel.folds, repeats=panel.repeats)
            found.append(Experiment(f"figure-1-{panel.data}", grid, models))
        return found

    def sections(self, context: Context) -> Sequence[Section]:
        """Set-up, Figure 1, where its advantage comes from, the authors' program, Figures 2 and 3, the guarantee."""
        cells, nodes = _cells(context), _nodes(context)
        curves, draws = Curves(cells), DRAWS if context.full else QUICK_DRAWS
        records = parts.load(dict.fromkeys([*nodes, *(panel.data for panel in FULL)]), context.directory)
        return [
            parts.set_up(context, records),
            accuracy.figure_1(context, cells, curves, nodes),
            accuracy.leak(context, cells, curves, nodes),
            accuracy.program(context, curves),
            parts.figure_2(context, records),
            parts.figure_3(context, records, draws),
            parts.guarantee(context, records),
        ]

    def checks(self, context: Context) -> Mapping[str, bool]:
        """What we found and expect to find again; only what was measured."""
        curves, found = Curves(_cells(context)), {}

        def gap(data: str, first: str, second: str, epsilon: str) -> tuple[float, float]:
            """First minus second, and the difference that may be chance."""
            errors = [curves.error(data, model, epsilon) for model in (first, second)]
            chance = SMALL + 2 * math.hypot(*errors)
            return curves.mean(data, first, epsilon) - curves.mean(data, second, epsilon), chance

        for data, nodes in _nodes(context).items():
            most, first = max(nodes), EPSILONS[0]
            more, chance = gap(data, f"{SUMMED}{most}", OURS, "1")
            found[f"{data}: a secure sum is as accurate as training at one place (ε = 1)"] = more, abs(more) < chance
            more, chance = gap(data, f"{SUMMED}{most}", f"{PUBLISHED}{most}", "1")
            found[f"{data}: our secure sum is no worse than published (ε = 1, {most} nodes)"] = more, more > -chance
            if data == "adult":
                more, chance = gap(data, f"{PUBLISHED}{most}", f"{NOISE}{most}", first)
                found["adult: at the smallest ε many nodes tell no more than their noise"] = more, more < chance
                more, chance = gap(data, f"{BOUNDED}{most}", CENTRAL, first)
                found[
                    f"adult: with public bounds many nodes are at most {SMALL} and two standard errors above central"
                ] = (
                    more,
                    more < chance,
                )
        return {sentence: holds for sentence, (more, holds) in found.items() if not math.isnan(more)}


def _cells(context: Context) -> list[Cell]:
    return [cell for cells in context.found.values() for cell in cells]


def _nodes(context: Context) -> dict[str, Sequence[int]]:
    """The numbers of nodes of each data set that has cells."""
    there = {cell.data for cell in _cells(context) if cell.model != MAJORITY}
    return {panel.data: panel.nodes for panel in (FULL if context.full else QUICK) if panel.data in there}
