"""Zorarpacı 2019, first half: rules found by bees on clear and perturbed records (Tables 5.1 to 5.15 and 5.24)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.models.one_rule import OneRule
from discreet.research.comparison.grid import Grid
from discreet.research.report import Section
from discreet.research.reproduce.study import Context, Experiment, Factory, Study
from discreet.research.reproduce.zorarpaci2019 import rules_details as details
from discreet.research.reproduce.zorarpaci2019 import rules_sections as sections
from discreet.research.reproduce.zorarpaci2019.rules_counterparts import COUNTERPARTS
from discreet.research.reproduce.zorarpaci2019.rules_iris import ATTRIBUTES, is_one_draw
from discreet.research.reproduce.zorarpaci2019.rules_models import DATA, Rules
from discreet.research.reproduce.zorarpaci2019.rules_tables import LOCAL, by_name, theirs

ONE, SOME, COVERING = "1-rule ABC", "wLapMS ABC", "Seq. cov. wLap ABC"
EPSILONS = (1, 2, 3)
FREE_CATEGORIES = ", categories clear"
"""Added to the name of a classifier that treats numbered categories as categories, which get no noise."""


class Zorarpaci2019Rules(Study):
    """Three rule learners and eleven well-known classifiers on five data sets, on clear and on perturbed records.

    Every experiment also runs on clear records (epsilon infinity). Slow models are repeated less often; the thesis has
    ten repeats of ten folds throughout.
    """

    name: ClassVar[str] = "zorarpaci2019-rules"
    title: ClassVar[str] = "Zorarpacı 2019: rules found by bees, and perturbed input data"

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """The experiments; the quick part has only Iris, which needs no folder, in two or three folds."""
        data = DATA if full else ("iris",)
        both = {ONE: rules(ONE), ONE + LOCAL: rules(ONE, rigorous=True)}
        some = {SOME: rules(SOME), SOME + LOCAL: rules(SOME, rigorous=True)}
        known = {name: each.factory for name, each in COUNTERPARTS.items() if each.factory is not None}
        private: dict[str, Factory] = {"our naive Bayes": NaiveBayes, "our 1R": OneRule}
        local = {COVERING + LOCAL: rules(COVERING, rigorous=True)}
        plans: list[Experiment] = [
            planned("rules-one-rule", data, both, *((10, 5) if full else (3, 1))),
            planned("rules-wlapms", data, some, *((10, 2) if full else (2, 1))),
            planned("rules-sequential", data, {COVERING: rules(COVERING)}, *((10, 1) if full else (2, 1))),
            planned("rules-sequential-local", data, local, *((5, 1) if full else (2, 1))),
            planned("rules-classifiers", data, known, *((10, 5) if full else (3, 1))),
            planned("rules-private", data, private, *((10, 5) if full else (3, 1)), adjacency="add-remove"),
        ]
        if full:
            clear = {name + FREE_CATEGORIES: partial(each, numbers=False) for name, each in known.items()}
            plans.append(planned("rules-heart", ("heart-statlog",), clear, 10, 2))
        moved = {name: rules(ONE, F=float(name.removeprefix("F="))) for _, name, _ in theirs("Table 5.11")}
        printed_data = tuple(dict.fromkeys(key[0] for key in theirs("Table 5.11")))
        plans.append(
            planned("rules-F", printed_data if full else data, moved, *((10, 2) if full else (3, 1)), epsilons=())
        )
        return plans

    def sections(self, context: Context) -> Sequence[Section]:
        """Counterparts, clear and perturbed records, numbers of rules, F, the noise on Iris, and the true loss."""
        means = by_name(context.found)
        return [
            sections.choices(context, means),
            sections.clear(context, means),
            sections.perturbed(context, means),
            details.rule_numbers(context),
            details.moves(context, means),
            details.iris(context),
            details.colonies(context, means),
            details.honest(context),
        ]

    def checks(self, context: Context) -> Mapping[str, bool]:
        """Statements that the printed numbers and our cells must support."""
        means = by_name(context.found)
        held = {"the noise of Tables 5.12 to 5.15 is one draw divided by ε": all(map(is_one_draw, ATTRIBUTES))}
        both = [(means.get((data, SOME, "3")), means.get((data, SOME + LOCAL, "3"))) for data in DATA]
        drops = [ours.mean - local.mean for ours, local in both if ours and local]
        if drops:
            held["rules lose accuracy on average if ε = 3 is honest and for the whole record"] = sum(drops) > 0
        return held


def rules(learner: str, **options: Any) -> partial[Rules]:
    """The factory of a rule learner."""
    return partial(Rules, learner=learner, **options)


def planned(
    name: str,
    data: Sequence[str],
    models: Mapping[str, Factory],
    folds: int,
    repeats: int,
    *,
    epsilons: Sequence[int] = EPSILONS,
    adjacency: str = "replace-one",
) -> Experiment:
    """An experiment with these models; local privacy needs replace-one."""
    grid = Grid(data, list(models), list(epsilons) or ["inf"], folds=folds, repeats=repeats, adjacency=adjacency)
    return Experiment(name, grid, models)
