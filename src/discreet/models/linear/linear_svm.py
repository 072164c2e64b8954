"""Linear support vector machine: the score of a class is a weighted sum of the values of a record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet.doors.hyperplanes import separate
from discreet.doors.passage import Spending
from discreet.errors import ParameterError
from discreet.models.classifier import PrivateClassifier
from discreet.models.linear import weights
from discreet.models.linear.weights import Weight
from discreet.models.parameter_checks import check_integer
from discreet.models.tabular import ColumnScores, Model
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.multiclass_objective import noise_variance
from discreet.privacy.mechanisms.multiclass_problem import MARGIN
from discreet.privacy.randomness import Randomness
from discreet.queries.hyperplanes import MOST_KNOTS, Hyperplanes
from discreet.released.statistics import Answers, NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source

Matrix = NDArray[np.float64]

BITS = 23
"""Weights are released in steps of 2**-23: finer than any use, and coarse enough to hide their last bits."""
MOST_FITTING_BITS = 40
"""For many classes finer steps are chosen, but none finer than 2**-40: exact noise needs room for its own bits."""
STRENGTH = 5.0
"""The default regularisation is this over ε: among 2 to 50, a good compromise on the data sets of benchmarks/svm.py,
from ε = 0.1 to 3. That file shows the accuracy of the chosen value; the other values are not kept there."""
NOMINAL_RECORDS = 1000
"""Number of records that is assumed where the schema declares none."""
KNOTS = {1.25: 4, 10.0: 8}
"""Knots per numeric column, by the least signal per squared group from which they pay; below the first, one knot.

Chosen on eight public data sets (150 to 48,842 records), at 37 settings of ε from 0.01 to 10, in a search that is not
kept; benchmarks/svm.py shows the accuracy of the chosen rule. In that search this rule was on average 0.012 less
accurate than the best of 1 to 8 knots for each setting, at worst 0.085; always 1, 4 or 8 knots were 0.026, 0.036 or
0.066 less accurate on average. Privacy does not depend on it.
"""
HUBER_RANGE = 0.001, 10.0
"""Values that `huber` may take: far more than is useful, but no zero and no infinity for the solver."""
REGULARISATION_RANGE = 0.001, 1e9
"""Values that `regularisation` may take, wide for the same reason."""


class LinearSVM(PrivateClassifier):
    """ε-differentially private linear support vector machine, by objective perturbation.

    Guarantee: `fit` is ε-DP for one record, under the schema's adjacency. Proof: the weights, of one
    hyperplane for two classes, or of all classes at once for more, are found at ε (`separate`, proof there);
    everything after that is post-processing. After Chaudhuri, Monteleoni and Sarwate 2011, with noise that fits the
    records (a norm for groups of coordinates, not their common length), one determinant less, and exact arithmetic
    wherever privacy depends on it.

    Parameters
    ----------
    schema : Schema, or "from-data" to read bounds, categories and classes off the data, which voids the guarantee.
    epsilon : privacy loss of the whole fit; infinity for a model without noise.
    huber : the hinge loss is rounded within this distance of its corner; for more than two classes, the largest margin
        violation is smoothed by this much per class. The published value, 0.05, needs more noise.
    regularisation : the penalty is (regularisation / 2) |w|^2, for records scaled to a norm of at most 1 and a hinge
        loss that is summed over the records, not averaged. "auto" (default) is 5 / ε, and for more than
        two classes at least what the expected noise calls for. Raised if ε requires more.
    knots : number of spline knots per numeric column; 1 means linear. "auto" (default) follows from ε, the number of
        records (1000 if not declared), the classes and the columns.
    random_state : None for secure noise; an integer for repeatable experiments and tests, which voids the guarantee.

    Attributes
    ----------
    coef_, intercept_ : the weights and constants, one row per class, or a single row for two classes.
    coef_names_ : what each column of `coef_` stands for.
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
    probabilistic: ClassVar[bool] = False

    def __init__(
        self,
        schema: Schema | str,
        *,
        epsilon: Any = 1.0,
        huber: float = 0.5,
        regularisation: Any = "auto",
        knots: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.huber = huber
        self.regularisation = regularisation
        self.knots = knots
        self.random_state = random_state

    def _learn(
        self, source: Source, schema: Schema, epsilon: Epsilon, ledger: Spending, rng: Randomness, purpose: str
    ) -> Answers:
        knots = fitting_knots(schema, epsilon) if self.knots == "auto" else int(self.knots)
        query = Hyperplanes(knots, BITS)
        if self.regularisation == "auto":
            strength = fitting_strength(query, schema, epsilon)
        else:
            strength = float(self.regularisation)
        query = Hyperplanes(knots, fitting_bits(query, schema, epsilon, strength))
        return separate(source, schema, query, epsilon, float(self.huber), strength, ledger, rng, purpose).tables

    def _build(self, noisy: NoisyStatistics, schema: Schema, places: list[int]) -> None:
        query, table = noisy.tables[0]
        if len(noisy.tables) != 1 or not isinstance(query, Hyperplanes):
            raise ParameterError("these statistics do not belong to a support vector machine; need one of hyperplanes")
        planes = np.ldexp(np.asarray(table.values, dtype=np.float64), -query.bits)
        by_class = np.concatenate([-planes, planes]) if len(schema.classes) == 2 else planes
        by_class = by_class[places]
        shown = by_class[1:] if len(by_class) == 2 else by_class
        features = query.features(schema)
        self.coef_, self.intercept_ = shown[:, :-1], shown[:, -1]
        self.coef_names_ = [name for feature in features for name in feature.names]
        columns, self._weights, start = [], [], 0
        for feature in features:
            own = by_class[:, start : start + feature.size].T
            start += feature.size
            by_cell = feature.table(own)
            columns.append(ColumnScores(feature.cells, by_cell.T, by_cell))
            self._weights += [
                Weight(feature.cells.column, value, tuple((sign * own[place]).tolist()))
                for value, place, sign in feature.values
            ]
        self._model = Model(by_class[:, -1], tuple(columns))

    def _scores(self, X: Any) -> Iterator[Matrix]:
        return self._model.joint(X, self.schema_)

    def decision_function(self, X: Any) -> Matrix:
        """Return the score of each class; for two classes one number per record, positive for `classes_[1]`."""
        scores = self._joined(X)
        return scores[:, 1] if scores.shape[1] == 2 else scores

    def explain(self, top: int = 10) -> str:
        """Return the values that speak most for each class, as text."""
        check_is_fitted(self, "noisy_")
        return weights.describe(self._weights, self._model.log_prior, self.classes_.tolist(), top)

    def content(self, top: int = 10) -> dict[str, Any]:
        """Return the same as plain data."""
        check_is_fitted(self, "noisy_")
        return weights.content(self._weights, self._model.log_prior, self.classes_.tolist(), top)

    def plot(self, top: int = 10) -> Any:
        """Draw the same with matplotlib."""
        check_is_fitted(self, "noisy_")
        title = f"{self.schema_.target}: what decides ({self.guarantee_.in_short()})"
        return weights.draw(self._weights, self.classes_.tolist(), title, top)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; `fit` begins with this check."""
        super().check_parameters()
        _check_within("huber", self.huber, *HUBER_RANGE)
        if self.regularisation != "auto":
            _check_within("regularisation", self.regularisation, *REGULARISATION_RANGE, or_="'auto' or ")
        if self.knots != "auto":
            check_integer("knots", self.knots, 1, MOST_KNOTS, or_="'auto'")


def _check_within(name: str, value: object, least: float, most: float, or_: str = "") -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        raise ParameterError(f"{name}={value!r}; need {or_}a number from {least:g} to {most:g}")


def fitting_knots(schema: Schema, epsilon: Epsilon) -> int:
    """Number of knots that ε pays for: the noise and the number of weights both grow with the number of groups, and
    with the free weights per coordinate, one for two classes and K - 1 for more."""
    query = Hyperplanes(1, BITS)
    free = max(1, len(schema.classes) - 1)
    signal = float(epsilon) / free * _records(schema) / len(query.groups(schema)) ** 2
    return max((knots for least, knots in KNOTS.items() if signal >= least), default=1)


def fitting_strength(query: Hyperplanes, schema: Schema, epsilon: Epsilon) -> float:
    """Default regularisation: 5 / ε, at least the equivalent of scikit-learn's C = 1, and for more than two classes
    enough for the noise.

    With noise of variance s^2 in the gradient and a signal of g, weights of about w = margin / groups are found with
    the least mean square error if the penalty is s^2 / (g w): (g w + noise) / (g / w + penalty) against w. A class has
    about g = records / K. For many classes the noise per weight is large, and so is this.
    """
    groups, classes = query.groups(schema), len(schema.classes)
    least = 1 / len(groups)
    share = max(float(epsilon), 1e-12)
    if not math.isfinite(share):
        return least
    noise = noise_variance(groups, classes, share) if classes > 2 else 0.0
    return max(STRENGTH / share, least, noise * classes / (MARGIN * _records(schema)))


def fitting_bits(query: Hyperplanes, schema: Schema, epsilon: Epsilon, strength: float) -> int:
    """Bits of a weight: for more than two classes as many as keep the lattice's noise near 1 % of the other noise.

    Weights shrink with the regularisation, which is large for many classes, and the lattice must be finer by as much.
    The lattice's noise has a scale of 100 weights / ε steps, and the other noise moves a weight by s / penalty.
    """
    groups, classes = query.groups(schema), len(schema.classes)
    if classes <= 2 or not math.isfinite(float(epsilon)):
        return BITS
    steps = 100 * classes * sum(groups) / float(epsilon)
    moved = math.sqrt(noise_variance(groups, classes, float(epsilon))) / (strength * len(groups))
    return min(MOST_FITTING_BITS, max(BITS, math.ceil(math.log2(100 * steps / moved))))


def _records(schema: Schema) -> int:
    return NOMINAL_RECORDS if schema.records is None else schema.records
