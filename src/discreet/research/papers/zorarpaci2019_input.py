"""Zorarpacı 2019 (PhD thesis, Çukurova University): perturbation of the input data, as published."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, ParameterError
from discreet.privacy.ledger import Ledger
from discreet.records.tables import Table, as_vector
from discreet.research.papers.published import Array, clipped_numbers, count_columns, laplace_noise
from discreet.research.papers.reproduction import Reproduction, charge_infinity, no_guarantee
from discreet.schema import Schema
from discreet.schema.columns import Numeric

RANGES = ("data", "schema")


class Zorarpaci2019InputPerturbation(Reproduction):
    """A table with Laplace noise on every number, after Mivule et al. 2012; categories and labels are left as they are.

    Every value of numeric column j gets independent noise of scale (max_j - min_j) / epsilon, the range being that of
    the training data. Then any learner is trained on the table; the thesis trains rules found by bee colonies.

    The thesis calls the Laplace parameter a standard deviation, but the variances that it tabulates for Iris are those
    of a scale, 2 (max - min)^2 / epsilon^2. It does not mention missing and infinite numbers: here they are read as
    the schema says (fill value, bounds). Noisy numbers are not clipped.

    Parameters
    ----------
    schema : the public schema.
    epsilon : the privacy loss that the thesis claims for the whole table.
    ranges : "data" as published, or "schema" for the width of the public bounds.
    random_state : None for unpredictable draws, an integer for repeatable ones.

    Gap
    ---
    Labels and categories are published as they are: (x, A) and (x, B) have the label A with probability 1 and 0. The
    range is that of the data: (0, 0) has none, so that both numbers are published as they are, and (0, 1) has. The
    loss is infinite for each of these reasons alone. Even with public bounds the numbers of a replaced record lose
    epsilon each, d epsilon in all: 4 epsilon on Iris, 60 on Sonar. The number of rows is published: nothing here could
    hide that a record is there. `LocalPerturbation` repairs all of it.

    Examples
    --------
    >>> from discreet.schema import Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100)], "ill", ["no", "yes"])
    >>> perturbation = Zorarpaci2019InputPerturbation(schema, epsilon=1, random_state=0)
    >>> X, y = perturbation.fit_resample([[20], [30], [70]], ["no", "no", "yes"])
    >>> y.tolist(), perturbation.guarantee_.holds
    (['no', 'no', 'yes'], False)
    """

    claim = "epsilon-differential privacy of the whole table (Zorarpaci 2019, after Mivule et al. 2012)"
    verdict = (
        "FAILS: labels and categories are published as they are, and the noise has the range of the data, so that the "
        "loss is infinite. Even with public bounds the d numbers of a record lose d epsilon under replace-one. The "
        "number of rows is published, so that nothing holds under add-remove"
    )
    reason = "labels and categories stay clear, the range is the data's, and each number spends the whole epsilon"

    def __init__(
        self, schema: Schema, *, epsilon: object = 1.0, ranges: str = "data", random_state: Any = None
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.ranges = ranges
        self.random_state = random_state

    def honest_epsilon(self) -> float:
        """The loss: infinite, because labels are published without noise."""
        return math.inf

    def numbers_epsilon(self) -> float:
        """The exact loss of the numbers alone under replace-one, for real-valued noise; infinite for the data's range.

        With public ranges, the worst replaced record goes from one end of all bounds to the other, which moves each of
        its d numbers by epsilon times the scale of its noise.
        """
        _, numeric = count_columns(self.schema)
        return math.inf if self.ranges == "data" else numeric * self.claimed_epsilon

    def fit_resample(
        self, X: Any, y: Any, *, ledger: Ledger | None = None
    ) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """The perturbed columns and the labels; costs infinity, so only a ledger without limit allows it (default)."""
        self.check_parameters()
        rng = charge_infinity(self, ledger)
        table, labels = Table(X, self.schema), as_vector(y)
        table.check(self.schema)
        if len(labels) != table.rows:
            raise DataError("X and y have different lengths; need one label per record")
        noisy: dict[str, NDArray[Any]] = {}
        with np.errstate(over="ignore", invalid="ignore"):
            for column in self.schema.columns:
                values = table.column(column.name)
                if isinstance(column, Numeric):
                    numbers = clipped_numbers(values, column)
                    scale = np.asarray(self._range(numbers, column) / self.claimed_epsilon)
                    noisy[column.name] = laplace_noise(rng)(numbers, scale)
                else:
                    noisy[column.name] = values.copy()
        self.guarantee_ = no_guarantee(self, rng)
        return noisy, labels.copy()

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""
        if self.ranges not in RANGES:
            raise ParameterError(f"ranges={self.ranges!r}; need 'data' or 'schema'")

    def _range(self, numbers: Array, column: Numeric) -> float:
        if self.ranges == "schema":
            return float(column.upper) - float(column.lower)
        return float(np.ptp(numbers)) if len(numbers) else 0.0
