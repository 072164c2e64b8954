"""What every reproduction shares: it charges infinity before it reads, and states that nothing is guaranteed."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, Protocol, Self

from sklearn.base import BaseEstimator, ClassifierMixin

from discreet.doors.passage import pay
from discreet.errors import ParameterError
from discreet.models.tabular import sorted_classes
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.mechanisms.clear import Everything, InTheClear
from discreet.privacy.randomness import Randomness, as_rng
from discreet.privacy.steps import Step
from discreet.schema import Schema

SMALLEST_EPSILON = Fraction(1, 10**100)


class Reproduction(BaseEstimator):  # type: ignore[misc]
    """A published algorithm: what its authors claim, whether the claim holds (`verdict`), and why (`reason`)."""

    claim: str
    verdict: str
    reason: str
    schema: Schema
    epsilon: object
    random_state: Any
    guarantee_: Guarantee

    @property
    def claimed_epsilon(self) -> float:
        """The privacy loss that the authors claim; the true loss is `honest_epsilon`."""
        return read_epsilon(self.epsilon)

    def check_parameters(self) -> None:
        """Raise ParameterError if a constructor value is out of range; fitting begins with this check."""


class Learning(Protocol):
    """The step that each reproduced classifier writes itself."""

    @abstractmethod
    def learn(self, X: Any, y: Any, rng: Randomness) -> None:
        """Read the records, add the paper's noise, and keep only noisy values."""


class PublishedClassifier(ClassifierMixin, Reproduction, Learning):  # type: ignore[misc]
    """A reproduced classifier: `fit` charges infinity, calls `learn`, and states that nothing is guaranteed."""

    def fit(self, X: Any, y: Any, *, ledger: Ledger | None = None) -> Self:
        """Fit; costs infinity, so only a ledger without limit (the default) allows it, before any value is seen."""
        self.check_parameters()
        rng = charge_infinity(self, ledger)
        self.learn(X, y, rng)
        self.classes_, _ = sorted_classes(self.schema)
        self.n_features_in_ = len(self.schema.columns)
        self.guarantee_ = no_guarantee(self, rng)
        return self


def charge_infinity(model: Reproduction, ledger: Ledger | None) -> Randomness:
    """Check the parameters that all reproductions share, then charge the ledger and return the random source.

    A ledger with a limit refuses the charge before any value is seen.
    """
    if not isinstance(model.schema, Schema):
        raise ParameterError(f"schema={model.schema!r}; need a discreet.Schema")
    read_epsilon(model.claimed_epsilon)
    rng = as_rng(model.random_state)
    step = Step(Everything("all parameters"), InTheClear("as published, no guarantee", math.nan), math.inf)
    pay(model.schema, [step], as_ledger(ledger, math.inf), rng, type(model).__name__)
    return rng


def no_guarantee(model: Reproduction, rng: Randomness) -> Guarantee:
    """The statement that nothing is guaranteed, with every reason."""
    name, claimed = type(model).__name__, model.claimed_epsilon
    reasons = [f"NO GUARANTEE: {name} reproduces a publication that claims epsilon={claimed:g}. {model.verdict}"]
    if model.schema.from_data:
        reasons.append("bounds, categories or classes were read off the data (schema 'from-data' or a draft)")
    if rng.seeded:
        reasons.append("random_state was set: whoever knows the seed can subtract the noise")
    public = ("the schema: column names, bounds, categories, classes, adjacency",)
    return Guarantee(math.inf, model.schema.adjacency, False, tuple(reasons), public, rng.seeded, experimental=True)


def read_epsilon(value: object) -> float:
    """The claimed epsilon as a float; an epsilon above 1e100 counts as infinite and means no noise."""
    epsilon = as_epsilon(value)
    if epsilon < SMALLEST_EPSILON:
        raise ParameterError(f"epsilon={value!r}; need at least 1e-100 here, where the noise is a float")
    return math.inf if epsilon > 1e100 else float(epsilon)
