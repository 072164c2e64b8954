"""Zafarani and Clifton 2020: Figures 4 to 7 and 10, and a generated table for the scale of Figures 8 to 12."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from discreet.research.comparison.grid import Grid
from discreet.research.report import Section
from discreet.research.reproduce.accuracies import Accuracies
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context, Experiment, Study
from discreet.research.reproduce.zafarani2020 import scale, sections
from discreet.research.reproduce.zafarani2020.findings import CHANCE, average, gaps
from discreet.research.reproduce.zafarani2020.generated import measured
from discreet.research.reproduce.zafarani2020.models import (
    FIGURES,
    GLOBAL,
    RIGOROUS,
    RIGOROUS_SMOOTH,
    SMOOTH,
    allocations,
)

EPSILONS = (0.01, 0.1, 0.3, 1, 3, 10, 100)
"""Of the whole model. The paper shows its own only in figures; these range from useless to nearly without noise."""


class Zafarani2020(Study):
    """Smooth against global sensitivity, the division of epsilon, and the time of a fit."""

    name: ClassVar[str] = "zafarani2020"
    title: ClassVar[str] = "Zafarani and Clifton 2020: naive Bayes by smooth sensitivity"

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """Figures 4 to 7, and Figure 10, which needs a data set with both kinds of columns.

        The large data sets are repeated less often than in the paper, to save time.
        """
        once = {RIGOROUS_SMOOTH: FIGURES[RIGOROUS_SMOOTH]}
        models = {name: family for name, family in FIGURES.items() if name not in once}
        if not full:
            grid = Grid(sections.STAND_INS, list(FIGURES), (0.1, 1, 10), folds=3)
            return [Experiment("figures 4-7", grid, FIGURES)]
        said = {row.model: int(row.value) for row in printed(self.name, "Section 6.2")}
        folds, repeats = said["folds"], said["iterations"]
        small, large, divided = ("mushroom", "seeds"), ("adult", "skin"), allocations()
        few = (0.1, 1, 10)
        return [
            Experiment("figures 4-7", Grid(small, list(models), EPSILONS, folds=folds, repeats=repeats), models),
            Experiment("figures 4-7 large", Grid(large, list(models), EPSILONS, folds=folds, repeats=2), models),
            Experiment("figures 4-7 smooth", Grid(sections.DATA, list(once), few, folds=folds), once),
            Experiment("figure 10", Grid(["adult"], list(divided), few, folds=folds, repeats=2), divided),
        ]

    def sections(self, context: Context) -> Sequence[Section]:
        """The figures, the division of epsilon, the scale, and the privacy loss."""
        main = _scores(context, "figures 4-7")
        return [
            sections.about(context),
            Section("Figures 4 to 7: smooth against global sensitivity", sections.figures(main, context)),
            Section("Figure 10: dividing ε", sections.division(_scores(context, "figure 10"), context)),
            Section("Figures 8, 9, 11 and 12: the scale", scale.parts(measured(context.full), context.origin)),
            Section("What is really lost", sections.losses(main, context)),
        ]

    def checks(self, context: Context) -> Mapping[str, bool]:
        """On average over epsilon, ours is not below a published algorithm by more than chance."""
        main, held = _scores(context, "figures 4-7"), {}
        for data in main.data:
            for other in (SMOOTH, GLOBAL):
                found = gaps(main, data, RIGOROUS, other)
                if found:
                    sentence = f"{data}: rigorous is not below {other}, averaged over ε"
                    held[sentence] = average(found) >= -CHANCE
        return held


def _scores(context: Context, experiment: str) -> Accuracies:
    return Accuracies(cell for name, cells in context.found.items() if name.startswith(experiment) for cell in cells)
