"""Lopuhaä-Zwakenberg et al. 2021: Table 2 and Figures 2 to 5, beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from discreet.research.comparison.grid import Grid
from discreet.research.report import Section
from discreet.research.reproduce.data_sets import facts
from discreet.research.reproduce.lopuhaa2021 import sections
from discreet.research.reproduce.lopuhaa2021.explanations import explanations
from discreet.research.reproduce.lopuhaa2021.figures import figures
from discreet.research.reproduce.lopuhaa2021.findings import DATA, EPSILONS, FOLDS, TableTwo, contests
from discreet.research.reproduce.lopuhaa2021.losses import losses
from discreet.research.reproduce.lopuhaa2021.models import AGAINST_REST, CONTESTANTS
from discreet.research.reproduce.study import Context, Experiment, Study

SMALL = ("spect", "house-votes-84", "iris")
"""For quick runs: two small data sets of the paper, and one that scikit-learn includes."""

TABLE, REST = "table 2", "nursery against the rest"


class Lopuhaa2021(Study):
    """Six data sets, three classifiers, ten epsilons."""

    name: ClassVar[str] = "lopuhaa2021"
    title: ClassVar[str] = (
        "Lopuhaä-Zwakenberg et al. 2021: naive Bayes, SVM and decision tree under differential privacy"
    )

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """Table 2, and a problem of two classes to which one of its cells seems to belong."""
        models, rest = list(CONTESTANTS), list(AGAINST_REST)
        if not full:
            few = (EPSILONS[0], "0.01", "0.1", "1")
            return [Experiment(TABLE, Grid(SMALL, models, few, folds=3), CONTESTANTS)]
        return [
            Experiment(TABLE, Grid(DATA, models, EPSILONS, folds=FOLDS, repeats=10), CONTESTANTS),
            Experiment(
                REST,
                Grid(("nursery",), rest, EPSILONS, folds=FOLDS),
                {name: partial(family, directory=directory) for name, family in AGAINST_REST.items()},
            ),
        ]

    def sections(self, context: Context) -> Sequence[Section]:
        """Table 2 and the verdicts, then the figures, then the privacy losses."""
        scores, rest = TableTwo(context.found.get(TABLE, ())), TableTwo(context.found.get(REST, ()))
        return [
            sections.about(scores, context),
            sections.table(scores, context),
            sections.verdicts(scores, context),
            sections.same_folds(scores, context),
            sections.nursery(scores, rest, context),
            figures(scores, context),
            losses(context),
        ]

    def checks(self, context: Context) -> Mapping[str, bool]:
        """What Table 2 has to show if all its epsilons were run."""
        scores = TableTwo(context.found.get(TABLE, ()))
        found = [each for each in contests(scores) if each.above is not None]
        if not found:
            return {}
        below = [each for each in found if not each.above]
        explained = [explanations(each, scores, facts(each.data, context.directory)) for each in below]
        cells = f"in each of the {len(found)} cells of Table 2 that were run"
        return {
            f"{cells} ours is above the paper's average, less than two standard errors below it, or above it at equal "
            "loss, or else the paper's is above its ceiling or that of another problem": all(explained),
            "in most of them it is above": len(below) < len(found) / 2,
        }
