"""Rules found by bees on clear and perturbed records, with the settings of Zorarpacı 2019."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.bee_rules import BeeRules
from discreet.perturbation.local_perturbation import LocalPerturbation
from discreet.records.encoding import as_floats
from discreet.research.papers.zorarpaci2019_input import Zorarpaci2019InputPerturbation
from discreet.research.reproduce.printed import printed
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column, Numeric

PAPER = "zorarpaci2019_rules"
DATA = ("breast-w", "ecoli", "heart-statlog", "iris", "sonar")
ATTRIBUTES = {9: "breast-w", 7: "ecoli", 13: "heart-statlog", 4: "iris", 60: "sonar"}
"""The data set of a schema by its number of columns: settings depend on it, and a model is given only the schema."""
LEARNERS = {"1-rule ABC": "one-rule", "wLapMS ABC": "wlapms", "Seq. cov. wLap ABC": "sequential"}
"""The learners' names in the thesis, and in `BeeRules`."""

Columns = Mapping[str, NDArray[Any]]


class Settings(NamedTuple):
    """The thesis's settings for one data set, learner and epsilon; values that it does not state are in Table 5.10."""

    n_rules: int
    alpha: float


def settings(schema: Schema, learner: str, epsilon: float) -> Settings:
    """The settings of Table 5.9 and its text; for a data set that is not in the thesis, the defaults of `BeeRules`."""
    data = ATTRIBUTES.get(len(schema.columns), "")
    loss = f"{epsilon:g}"
    weights = printed(PAPER, "Table 5.9") + printed(PAPER, "Section 5.2.2, alpha")
    alphas = [each.value for each in weights if each[1:4] == (data, learner, loss)]
    rules = [each.value for each in printed(PAPER, "Section 5.2.2, rules of a class") if each.data == data]
    return Settings(int(rules[0]) if rules else 3, alphas[0] if alphas else 0.4)


def as_numbers(schema: Schema) -> Schema:
    """The schema with numbered categories as numbers, as in Weka's files; bounds come from the public categories."""
    columns: list[Column] = []
    for column in schema.columns:
        numbers = as_floats(np.array(column.categories, dtype=object)) if isinstance(column, Categorical) else None
        if numbers is None or np.isnan(numbers).any() or np.ptp(numbers) == 0:
            columns.append(column)
        else:
            columns.append(Numeric(column.name, float(numbers.min()), float(numbers.max())))
    return schema.replace(columns=columns)


def published_noise(schema: Schema, X: Columns, y: Any, epsilon: float, seed: int) -> tuple[Schema, Columns, Any]:
    """Training records with the thesis's noise, and a schema with bounds that are wide enough for them."""
    if epsilon == math.inf:
        return schema, X, y
    noisy, labels = Zorarpaci2019InputPerturbation(schema, epsilon=epsilon, random_state=seed).fit_resample(X, y)
    columns = [_widened(each, noisy[each.name]) if isinstance(each, Numeric) else each for each in schema.columns]
    return schema.replace(columns=columns), noisy, labels


def local_noise(schema: Schema, X: Columns, y: Any, epsilon: float, seed: int) -> tuple[Schema, Columns, Any]:
    """Training records perturbed one by one; epsilon is for the whole record with its label."""
    if epsilon == math.inf:
        return schema, X, y
    return schema, *LocalPerturbation(schema, epsilon=epsilon, random_state=seed).fit_resample(X, y)


def _widened(column: Numeric, numbers: NDArray[Any]) -> Numeric:
    """The column with bounds read off the noisy numbers, which is not private."""
    lower, upper = min(float(column.lower), float(numbers.min())), max(float(column.upper), float(numbers.max()))
    return Numeric(column.name, lower, upper, fill=column.missing_value)


class Rules:
    """Rules found by bees on perturbed training records and tested on clear ones; no noise at epsilon infinity.

    Parameters
    ----------
    learner : one of `LEARNERS`.
    rigorous : False for the noise of the thesis and the plainest decisions (the most precise matching rule; else the
        largest class; rules as the bees left them), numbered categories as numbers; True for `LocalPerturbation` and
        the defaults of `BeeRules`.
    F : probability that a move may add or drop a condition.
    """

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: float,
        random_state: int,
        learner: str,
        rigorous: bool = False,
        F: float = 0.6,
    ) -> None:
        self.schema = schema if rigorous else as_numbers(schema)
        self.epsilon, self.random_state = float(epsilon), random_state
        self.learner, self.rigorous, self.F = learner, rigorous, F

    def fit(self, X: Columns, y: Any) -> Rules:
        """Perturb, then search; the two have seeds of their own."""
        perturbed = local_noise if self.rigorous else published_noise
        schema, columns, labels = perturbed(self.schema, X, y, self.epsilon, self.random_state)
        chosen = settings(self.schema, self.learner, self.epsilon)
        plain: dict[str, Any] = {"polish": False, "resolve": "best", "default": "majority"}
        self.model_ = BeeRules(
            schema,
            strategy=LEARNERS[self.learner],
            n_rules=chosen.n_rules,
            alpha=chosen.alpha,
            beta=1 - chosen.alpha,
            F=self.F,
            random_state=self.random_state ^ 1,
            **({} if self.rigorous else plain),
        ).fit(columns, labels)
        return self

    def predict(self, X: Columns) -> NDArray[Any]:
        """The class of each record."""
        return self.model_.predict(X)
