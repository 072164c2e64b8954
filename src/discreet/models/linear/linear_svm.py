"""Linear support vector machine: the score of a class is a weighted sum of the values of a record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.choice import select
from discreet.doors.counts import release
from discreet.doors.hyperplanes import check_affordable, separate
from discreet.doors.margins import count_margins, margin_step
from discreet.doors.passage import Spending
from discreet.doors.ranges import narrow, planned_narrowing
from discreet.doors.splits import grow_splits
from discreet.errors import ParameterError
from discreet.models.classifier import Added, PrivateClassifier
from discreet.models.linear import calibration, picture, weights
from discreet.models.linear import plan as planning
from discreet.models.linear.noise import noise_of_weights
from discreet.models.linear.scoring import Scorer
from discreet.models.linear.weights import Weight
from discreet.models.parameter_checks import check_integer, check_select
from discreet.models.record_count import MOST_RECORDS, RecordCount, known_records
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import laplace_steps, split_by_weight, split_evenly
from discreet.queries.hyperplanes import MOST_KNOTS, Hyperplanes, numbers_of
from discreet.queries.margins import Margins
from discreet.queries.ranges import Filled
from discreet.queries.tables import ClassCounts
from discreet.queries.trees import Tree, complete_tree
from discreet.records.encoding import Cells
from discreet.released.statistics import Answers, NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.sources import Source, try_task

Matrix = NDArray[np.float64]

HUBER_RANGE = 0.001, 10.0
"""Values that `huber` may take: far more than is useful, but no zero and no infinity for the solver."""
REGULARISATION_RANGE = 0.001, 1e9
"""Values that `regularisation` may take, wide for the same reason."""
SHARE_RANGE = 0.001, 0.5
"""Shares that `ranges` may take of what is left of ε."""


class LinearSVM(PrivateClassifier):
    """ε-differentially private linear support vector machine, by objective perturbation.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the plan follows from the schema, ε
    and what was bought before: the number of records, then the sizes of the classes and the choice of columns
    (`release`, `select`), then the splits of a tree (`grow_splits`), then the parts of their ranges that numbers fill
    (`narrow`), proofs there. The weights are found last, of one hyperplane for two classes, or of all classes at once
    for more, at what is left (`separate`, proof there): its query has the chosen columns, the tree and the ranges,
    which are public by then. With `class_weight`, the records of each class
    are counted by their score under these weights, at a share of its own (`count_margins`, proof there). The shares
    sum to ε (exact fractions; adaptive sequential composition); everything after that is post-processing. After
    Chaudhuri, Monteleoni and Sarwate 2011, with noise that fits the records (a norm for groups of coordinates, not
    their common length), one determinant less, and exact arithmetic wherever privacy depends on it.

    `predict_proba` takes scores for log-probabilities: a record at the margin of two classes has odds of e^2. Dividing
    scores by a temperature was measured and helps little (benchmarks/calibration.py).

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a model without noise.
    huber : the hinge loss of two classes begins to bend this far from its corner, as if it were rounded within this
        distance; it bends less and less where it is steeper, which costs less noise. For more than two classes, the
        largest margin violation is smoothed by this much per class. The published value, 0.05, needs more noise.
        "auto" (default) is 0.5, or 2 for two classes with leaves.
    regularisation : the penalty is (regularisation / 2) ‖w‖², for records scaled to a norm of at most 1 and a hinge
        loss that is summed over the records, not averaged. "auto" (default) is 3 / ε, or for more than two
        classes 5 / ε and at least what the expected noise calls for. Raised if ε requires more.
    knots : number of evenly spaced spline knots per numeric column; 1 means linear. From 8 on, or for two classes and
        chosen columns from 4 on, there are two more near each bound, for columns whose values crowd there. "auto"
        (default) follows from ε, the number of records, the classes and the columns.
    select : None uses all columns. A number k spends three tenths of ε on choosing the k columns that tell the most,
        with classes weighed so that frequent ones do not hide rare ones. "auto" (default) chooses a few of 16 columns
        or more, where ε times the number of records is small (rule in models/linear/plan.py).
    leaves : depth of a tree whose splits are chosen privately, for two fifths of ε, and whose leaves are one more
        group of weights: they say what no sum over columns can. 0 grows none. "auto" (default) grows one where ε times
        the number of records is large, sooner if no column is a number (rule in models/linear/plan.py).
    ranges : "auto" (default) spends up to an eighth of ε on finding the part of its range that each number fills, where
        ε times the number of records is large (rule in models/linear/plan.py): bounds are declared wide, and weights
        for values that nobody has are wasted. A number is the share that is spent, whatever the signal, of what is left
        of ε for ranges and weights. None takes ranges as they are declared.
    class_weight : None; "balanced", to find a rare class as well as a frequent one; or a weight by class, such as
        {"yes": 10} (others weigh 1). For two classes only. A share of ε counts the records of each class by score
        (models/linear/calibration.py), and the line between the classes is drawn where the weighted number of right
        predictions is largest.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    coef_, intercept_ : the weights and constants, one row per class, or a single row for two classes.
    coef_names_ : what each column of `coef_` stands for.
    columns_ : names of the columns that take part, in the order of the schema.
    tree_ : the tree whose leaves take part, or None.
    ranges_ : where most values of a number lie, by column, if a part of its range was found.
    guarantee_ : what is guaranteed, in words that name unit and adjacency.
    receipt_ : every charge.

    Examples
    --------
    >>> from discreet import Categorical, Schema
    >>> from discreet.models.linear.linear_svm import LinearSVM
    >>> schema = Schema([Categorical("smoker", ["no", "yes"], unlisted=False)], target="ill", classes=["no", "yes"])
    >>> records = [{"smoker": "yes"}] * 500 + [{"smoker": "no"}] * 500
    >>> model = LinearSVM(schema, epsilon=1).fit(records, ["yes"] * 500 + ["no"] * 500)
    >>> model.predict([{"smoker": "yes"}, {"smoker": "no"}]).tolist()
    ['yes', 'no']
    """

    kind: ClassVar[str] = "svm"
    by_sums: ClassVar[bool] = True
    by_scores: ClassVar[bool] = True
    earlier: ClassVar[dict[str, Any]] = {"ranges": None}

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        huber: Any = "auto",
        regularisation: Any = "auto",
        knots: Any = "auto",
        select: int | str | None = "auto",
        leaves: int | str = "auto",
        ranges: float | str | None = "auto",
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.huber = huber
        self.regularisation = regularisation
        self.knots = knots
        self.select = select
        self.leaves = leaves
        self.ranges = ranges
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        self._rehearse(schema, epsilon)
        if self._shares(epsilon, schema)[1] is not None:
            most = Hyperplanes(planning.most_knots() if self.knots == "auto" else int(self.knots), planning.BITS)
            try_task(source, calibration.trial(most, schema))
        known = RecordCount(schema.records or 1, epsilon)
        needs = self.regularisation, self.knots, self.select, self.leaves, self.ranges
        if epsilon != math.inf and planning.needs_records(schema, *needs):
            known = known_records(source, schema, epsilon, partial(self._rehearse, schema), ledger, rng, purpose)
        records, (rest, drawing) = known.records, self._shares(known.rest, schema)
        answers, names = known.answers, None
        if wanted := planning.wanted_columns(self.select, schema, rest, records):
            weighing, choosing, rest = planning.choice_shares(rest)
            steps = laplace_steps([ClassCounts()], [weighing], schema)
            classes = release(source, schema, steps, ledger, rng, purpose)
            scores = planning.scores(schema, classes[ClassCounts()].values)
            names = select(source, schema, scores, wanted, choosing, ledger, rng, purpose).columns
            answers += classes.tables
        asked = schema.names if names is None else names
        depth = planning.depth_of(self.leaves, schema, asked, planning.signal(schema, rest, records), records)
        plan, rest = planning.splits(schema, asked, rest, depth)
        nodes = None if plan is None else grow_splits(source, schema, plan, ledger, rng, purpose).nodes
        filled, price, rest = planning.narrowing(self.ranges, schema, asked, rest, records)
        ranges = narrow(source, schema, filled, price, ledger, rng, purpose).ranges if filled else None
        query = self._query(schema, rest, records, names, nodes, ranges)
        strength = self._strength(query, schema, rest, records)
        huber = planning.fitting_huber(self.huber, schema, nodes is not None)
        query = affordable(query, schema, rest, huber, strength)
        answers += separate(source, schema, query, rest, huber, strength, ledger, rng, purpose).tables
        if drawing is None:
            return answers
        (_, table) = answers[-1]
        intervals = calibration.Intervals.of(self._scorer_of(query, table, schema), schema)
        margins = Margins(len(intervals.thresholds) + 1)
        given = margins, intervals, intervals.scorer.cells, intervals.added
        return answers + count_margins(source, schema, *given, drawing, ledger, rng, purpose).tables

    def _shares(self, epsilon: Epsilon, schema: Schema) -> tuple[Epsilon, Epsilon | None]:
        """Epsilon for the weights, and for where the line is drawn, if classes are weighted."""
        if self.class_weight is None or len(schema.classes) != 2:
            return epsilon, None
        finding, drawing = split_by_weight(epsilon, [1 - calibration.SHARE, calibration.SHARE])
        return finding, drawing

    def _rehearse(self, schema: Schema, epsilon: Epsilon) -> None:
        """Raise ParameterError, before anything is paid, if epsilon is too small for the most expensive plan.

        That is as many rounds as there are columns, the deepest tree, and then the weights of all columns with the most
        knots: with fewer columns, levels or knots each has a larger share.
        """
        check_select(self.select, schema)
        if epsilon == math.inf:
            return
        rest, drawing = self._shares(epsilon, schema)
        if drawing is not None:
            margin_step(Margins(2), schema, drawing)
        if self.select is not None:
            weighing, choosing, rest = planning.choice_shares(rest)
            laplace_steps([ClassCounts()], [weighing], schema)
            furthest = planning.HEAVIEST * schema.adjacency.distance
            PermuteAndFlip.calibrated(split_evenly(choosing, len(schema.columns))[0], furthest)
        depth = planning.MOST_DEPTH if self.leaves == "auto" else int(self.leaves)
        plan, rest = planning.splits(schema, schema.names, rest, depth)
        nodes = None
        if plan is not None:
            plan.steps(schema)
            nodes = complete_tree([[plan.splits[0]] * 2**level for level in range(depth)]).nodes
        options = planning.KNOTS.values() if self.knots == "auto" else [int(self.knots)]
        edges = {most: planning.has_edges(most, schema, chosen=self.select is not None) for most in options}
        queries = [Hyperplanes(most, planning.BITS, edges[most], None, nodes) for most in options]
        if self.ranges is not None:
            share = planning.narrowing_share(self.ranges)
            if filled := [Filled(each.name, 0) for each in schema.columns if isinstance(each, Numeric)]:
                planned_narrowing(schema, filled, rest * share if self.ranges != "auto" else rest)
            queries, rest = [planning.narrowest(schema, each) for each in queries], rest * (1 - share)
        query = max(queries, key=lambda each: sum(each.groups(schema)))
        for huber in {planning.fitting_huber(self.huber, schema, leaves) for leaves in (False, nodes is not None)}:
            for records in (1, MOST_RECORDS):
                strength = self._strength(query, schema, rest, records)
                affordable(query, schema, rest, huber, strength)

    def _query(
        self, schema: Schema, epsilon: Epsilon, records: int, names: Sequence[str] | None, nodes: Any, ranges: Any
    ) -> Hyperplanes:
        query = Hyperplanes(1, planning.BITS, False, None if names is None else tuple(names), nodes, ranges)
        automatic = self.knots == "auto"
        knots = planning.fitting_knots(query, schema, epsilon, records) if automatic else int(self.knots)
        return replace(query, knots=knots, edges=planning.has_edges(knots, schema, chosen=names is not None))

    def _strength(self, query: Hyperplanes, schema: Schema, epsilon: Epsilon, records: int) -> float:
        if self.regularisation == "auto":
            return planning.fitting_strength(query, schema, epsilon, records)
        return float(self.regularisation)

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        answers = [(query, table) for query, table in noisy.tables if isinstance(query, Hyperplanes)]
        if len(answers) != 1:
            raise ParameterError("these statistics do not belong to a support vector machine; need one of hyperplanes")
        query, table = answers[0]
        by_class = _by_class(query, table, schema)
        self.class_weight_ = None
        if self.class_weight is not None and len(schema.classes) == 2:
            moved, weights = self._line(noisy, query, table, schema)
            by_class[:, -1] += [moved, -moved]
            self.class_weight_ = weights[places]
        by_class = by_class[places]
        shown = by_class[1:] if len(by_class) == 2 else by_class
        features = query.features(schema)
        self.coef_, self.intercept_ = shown[:, :-1], shown[:, -1]
        self.coef_names_ = [name for feature in features for name in feature.names]
        self.tree_ = None if query.nodes is None else Tree(query.nodes)
        self.columns_ = [name for name in schema.names if query.columns is None or name in query.columns]
        parts = {name: (low, high) for name, low, high in query.ranges or ()}
        self.ranges_ = {
            each.name: numbers_of(each, parts[each.name])
            for each in schema.columns
            if isinstance(each, Numeric) and each.name in parts
        }
        groups, self._weights, start = [], [], 0
        for feature in features:
            own = by_class[:, start : start + feature.size].T
            start += feature.size
            groups.append((feature, feature.table(own)))
            column = None if isinstance(feature.cells, Tree) else feature.cells.column
            self._weights += [
                Weight(column, value, tuple((sign * own[place]).tolist())) for value, place, sign in feature.values
            ]
        self._scorer = Scorer(by_class[:, -1], tuple(groups))

    def _line(
        self, noisy: NoisyStatistics, query: Hyperplanes, table: NoisyTable, schema: Schema
    ) -> tuple[float, Matrix]:
        """Where the line is drawn, and the weights of the classes, from the published counts by score."""
        found = [answer for asked, answer in noisy.tables if isinstance(asked, Margins)]
        intervals = calibration.Intervals.of(self._scorer_of(query, table, schema), schema)
        if len(found) != 1 or found[0].values.shape[1] != len(intervals.thresholds) + 1:
            raise ParameterError(
                "these statistics have no counts by score; classes are weighted when a model is fitted"
            )
        return calibration.line(intervals, found[0].values, found[0].variance, self.class_weight)

    def _scorer_of(self, query: Hyperplanes, table: NoisyTable, schema: Schema) -> Scorer:
        """The scores of the published weights, classes in the order of the schema."""
        by_class, groups, start = _by_class(query, table, schema), [], 0
        for feature in query.features(schema):
            groups.append((feature, feature.table(by_class[:, start : start + feature.size].T)))
            start += feature.size
        return Scorer(by_class[:, -1], tuple(groups))

    def check_weights(self, schema: Schema | str) -> None:
        """Raise ParameterError unless the weights of the classes fit the schema, which must have two classes."""
        super().check_weights(schema)
        if self.class_weight is not None and isinstance(schema, Schema) and len(schema.classes) > 2:
            raise ParameterError(
                f"class_weight={self.class_weight!r}: a linear model weighs two classes, and there are "
                f"{len(schema.classes)}; use NaiveBayes or DecisionTree, or leave it out"
            )

    def asked_cells(self) -> tuple[Cells, ...]:
        """The cells of a record whose codes decide what is predicted for it."""
        return self._scorer.cells

    def _added(self) -> Added:
        groups = tuple((feature.cells, by_cell) for feature, by_cell in self._scorer.groups)
        return self._scorer.constants, groups, 1.0

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return self._scorer.scores(X, self.schema_)

    def decision_function(self, X: Any) -> Matrix:
        """Return the score of each class; for two classes one number per record, positive for `classes_[1]`."""
        scores = self._joined(X)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def explain(self, top: int = 10) -> str:
        """Return the values, and a few leaves, that speak most for each class, as text."""
        check_is_fitted(self, "noisy_")
        noise = noise_of_weights(self, self.schema_, self.noisy_)
        text = weights.describe(self._weights, self._scorer.constants, self.classes_.tolist(), noise, top)
        if self.class_weight_ is not None:
            told = ", ".join(f"{c} × {w:.3g}" for c, w in zip(self.classes_, self.class_weight_, strict=True))
            text = f"Classes are weighted ({told}): the constants are moved accordingly.\n{text}"
        text += weights.where(self.ranges_, top)
        left = [name for name in self.schema_.names if name not in self.columns_]
        return f"{text}\nNot asked, because other columns tell more: {', '.join(left)}" if left else text

    def content(self, top: int = 10) -> dict[str, Any]:
        """Return the same as plain data."""
        check_is_fitted(self, "noisy_")
        noise = noise_of_weights(self, self.schema_, self.noisy_)
        return weights.content(self._weights, self._scorer.constants, self.classes_.tolist(), noise, top)

    def plot(self, top: int = 10) -> Any:
        """Draw the same with matplotlib: one chart, with the size of the noise."""
        check_is_fitted(self, "noisy_")
        title = f"{self.schema_.target}: what decides ({self.guarantee_.in_short()})"
        noise = noise_of_weights(self, self.schema_, self.noisy_)
        return picture.draw(self._weights, self.classes_.tolist(), noise, title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        if self.huber != "auto":
            _check_within("huber", self.huber, *HUBER_RANGE, or_="'auto' or ")
        if self.regularisation != "auto":
            _check_within("regularisation", self.regularisation, *REGULARISATION_RANGE, or_="'auto' or ")
        if self.knots != "auto":
            check_integer("knots", self.knots, 1, MOST_KNOTS, or_="'auto'")
        if self.ranges is not None and self.ranges != "auto":
            _check_within("ranges", self.ranges, *SHARE_RANGE, or_="'auto', None or ")
        if self.leaves != "auto":
            check_integer("leaves", self.leaves, 0, planning.DEEPEST, or_="'auto'")
        check_select(self.select, self.schema)


def _by_class(query: Hyperplanes, table: NoisyTable, schema: Schema) -> Matrix:
    """The published weights of each class, in the order of the schema; the constant comes last."""
    planes = np.ldexp(np.asarray(table.values, dtype=np.float64), -query.bits)
    return np.concatenate([-planes, planes]) if len(schema.classes) == 2 else planes


def affordable(query: Hyperplanes, schema: Schema, epsilon: Epsilon, huber: float, strength: float) -> Hyperplanes:
    """The query with as fine a lattice as it should have, or as epsilon pays for; ParameterError if for none."""
    bits = planning.fitting_bits(query, schema, epsilon, strength)
    while True:
        try:
            check_affordable(schema, replace(query, bits=bits), epsilon, huber, strength)
            return replace(query, bits=bits)
        except ParameterError:
            if bits <= planning.BITS:
                raise
        bits -= 1


def _check_within(name: str, value: object, least: float, most: float, or_: str = "") -> None:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:  # type: ignore[operator]  # no float: an integer may be too large
        raise ParameterError(f"{name}={value!r}; need {or_}a number from {least:g} to {most:g}")
