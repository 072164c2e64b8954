"""Vaidya, Shafiq, Basu and Hong 2013: Figure 3, with the rigorous naive Bayes beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

from discreet.models.naive_bayes.naive_bayes import NaiveBayes
from discreet.privacy.randomness import search_generator
from discreet.research.comparison.grid import Grid
from discreet.research.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.research.report import Section
from discreet.research.reproduce.accuracies import Accuracies
from discreet.research.reproduce.study import Context, Experiment, Factory, Study
from discreet.research.reproduce.vaidya2013 import sections
from discreet.research.reproduce.vaidya2013.findings import PUBLISHED, RIGOROUS, at_honest_epsilon
from discreet.research.reproduce.vaidya2013.sections import CATEGORICAL, NUMERIC, STAND_INS, printed_values
from discreet.schema import Schema

SIZES = {
    "sizes below 5,000": (("mushroom", "optdigits"), (1000, 5000)),
    "sizes below 10,000": (("nursery", "adult"), (1000, 5000, 10_000)),
    "sizes below 100,000": (("skin",), (1000, 5000, 10_000, 100_000)),
}
"""The paper's training sizes n that are smaller than the folds of each data set; a larger n is the whole fold."""

NUMERIC_REPEATS = 3
"""The paper repeats five times; large tables are repeated three times, to save time."""

CHANCE = 0.01
"""Means may differ by this much by chance."""


class OnRows:
    """A model trained on the first rows of a shuffle of its training records, the same shuffle for all.

    Parameters
    ----------
    schema, epsilon, random_state : as for every model.
    family : makes the model.
    rows : number of training records; all of them if there are fewer. The number is declared to the model
        (`schema.records`): it is chosen without looking at the records, hence public.
    """

    def __init__(
        self, schema: Schema, *, family: Factory, rows: int, epsilon: Any = 1.0, random_state: Any = None
    ) -> None:
        self.schema, self.family, self.rows = schema, family, rows
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, columns: Mapping[str, Any], labels: Any) -> Self:
        """Train on the first rows of the shuffle."""
        schema = self.schema
        if self.rows < len(labels):
            kept = search_generator(0).permutation(len(labels))[: self.rows]
            columns, labels = {name: values[kept] for name, values in columns.items()}, labels[kept]
            schema = schema.replace(records=self.rows)
        model = self.family(schema, epsilon=self.epsilon, random_state=self.random_state)
        self.model_ = model.fit(columns, labels)
        return self

    def predict(self, columns: Mapping[str, Any]) -> Any:
        """The prediction of the trained model."""
        return self.model_.predict(columns)


class Vaidya2013(Study):
    """Figure 3: five data sets, five n, six epsilons."""

    name: ClassVar[str] = "vaidya2013"
    title: ClassVar[str] = "Vaidya, Shafiq, Basu and Hong 2013: naive Bayes with noise on counts, means and deviations"

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """Figure 3 with the paper's n in the noise, then with n training records."""
        epsilons, constants = printed_values("epsilon"), [int(each) for each in printed_values("n")]
        if not full:
            models = _with_constants([constants[0], constants[-1]])
            sized = _with_sizes([100])
            return [
                Experiment("figure 3", Grid(STAND_INS, list(models), [1.0, 0.1, 0.01], folds=3), models),
                Experiment("sizes", Grid(STAND_INS, list(sized), [1.0, 0.1, 0.01], folds=3), sized),
            ]
        repeats, folds = int(printed_values("iterations")[0]), int(printed_values("folds")[0])
        one, all_constants = _with_constants(constants[:1]), _with_constants(constants)
        found = [
            Experiment("figure 3 a-b", Grid(CATEGORICAL, list(one), epsilons, folds=folds, repeats=repeats), one),
            Experiment(
                "figure 3 c-e",
                Grid(NUMERIC, list(all_constants), epsilons, folds=folds, repeats=NUMERIC_REPEATS),
                all_constants,
            ),
        ]
        for name, (data, sizes) in SIZES.items():
            models = _with_sizes(sizes)
            found.append(Experiment(name, Grid(data, list(models), epsilons, folds=folds), models))
        return found

    def sections(self, context: Context) -> Sequence[Section]:
        """Figure 3, the same with fewer records, and the privacy loss."""
        main = Accuracies(cell for name, cells in context.found.items() if name.startswith("figure") for cell in cells)
        sized = Accuracies(cell for name, cells in context.found.items() if name.startswith("sizes") for cell in cells)
        return [
            sections.about(context),
            Section("Figure 3: accuracy against ε", sections.figure_three(main, context)),
            Section("Fewer training records", sections.fewer_records(main, sized, context)),
            Section("What is really lost", sections.losses(context)),
        ]

    def checks(self, context: Context) -> Mapping[str, bool]:
        """Ours at ε = 1 is not below published points that lose up to twice as much, if class sizes were known."""
        main = Accuracies(cell for name, cells in context.found.items() if name.startswith("figure") for cell in cells)
        limit = sections.LIMITS[0]
        loss = partial(sections.loss_if_known, directory=context.directory, folds=sections.folds(context.full))
        known = "if class sizes were known"
        return {
            f"{each.data}: rigorous at ε = 1 is not below published points that would lose at most {limit:g} {known}": (
                each.ours >= each.theirs - CHANCE
            )
            for each in at_honest_epsilon(main, loss, limit)
        }


def _with_constants(constants: Sequence[int]) -> dict[str, Factory]:
    """The published model for each n in its noise, and ours, all on the whole training fold."""
    made: dict[str, Factory] = {f"{PUBLISHED}, n = {n:,}": partial(Vaidya2013NaiveBayes, n=n) for n in constants}
    return {**made, RIGOROUS: partial(NaiveBayes, select=None)}


def _with_sizes(sizes: Sequence[int]) -> dict[str, Factory]:
    """Both models on n records; the published one is told the true n."""
    made: dict[str, Factory] = {}
    for rows in sizes:
        family = partial(Vaidya2013NaiveBayes, n=rows)
        made[f"{PUBLISHED}, {rows:,} records"] = partial(OnRows, family=family, rows=rows)
        made[f"{RIGOROUS}, {rows:,} records"] = partial(OnRows, family=partial(NaiveBayes, select=None), rows=rows)
    return made
