"""The stage *ledger*: ours does not forget; one that is copied with its estimator does."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from discreet import NaiveBayes
from discreet.audit import audit
from discreet.audit.accounts import WAYS, Ledger
from discreet.audit.tables import DEFAULT

pytestmark = pytest.mark.chance  # what an audit finds depends on its draws and on the clock


class Accountant:
    """An account that is an ordinary object: every copy has a life of its own."""

    def __init__(self, epsilon: float = np.inf) -> None:
        self.left, self.spent = epsilon, 0.0

    def spend(self, epsilon: float) -> None:
        if epsilon > self.left:
            raise ValueError("no budget is left")
        self.left, self.spent = self.left - epsilon, self.spent + epsilon

    def total(self) -> tuple[float, float]:
        return self.spent, 0.0


class Forgetful(BaseEstimator):  # type: ignore[misc]
    """An estimator whose account is a parameter."""

    def __init__(self, epsilon: float = 1.0, accountant: Any = None) -> None:
        self.epsilon, self.accountant = epsilon, accountant

    def fit(self, X: Any, y: Any) -> Forgetful:
        if self.accountant is not None:
            self.accountant.spend(self.epsilon)
        self.coef_ = np.zeros(2)
        return self


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two classes, as if they were diffprivlib's."""
    module = types.ModuleType("diffprivlib")
    module.BudgetAccountant = Accountant  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "diffprivlib", module)
    monkeypatch.setattr(Forgetful, "__module__", "diffprivlib.models")


@pytest.mark.usefixtures("library")
def test_an_account_that_is_copied_is_caught() -> None:
    report = audit(Forgetful, 1.0, stages=[Ledger()], seed=0)
    assert report.refuted
    assert report.epsilon == 2
    told = " ".join(finding.event for finding in report.findings)
    for way in ("cloned", "deep_copied", "forked"):
        assert WAYS[way] in told
    assert WAYS["refit"] not in told, "the second fit of the same estimator was refused"


def test_ours_does_not_forget() -> None:
    report = audit(lambda: NaiveBayes(DEFAULT, epsilon=1.0), 1.0, stages=[Ledger()], seed=0)
    assert not report.refuted
    assert len(report.stages[0].tried) == len(WAYS)
    assert all(": 1 of" in each or "pickle" in each for each in report.stages[0].tried)


def test_a_claim_above_what_a_fit_costs_accuses_nobody() -> None:
    """The limit is what one fit is charged: the claim would pay for two of these."""
    report = audit(lambda: NaiveBayes(DEFAULT, epsilon=0.4), 1.0, stages=[Ledger()], seed=0)
    assert not report.refuted


@pytest.mark.usefixtures("library")
def test_an_account_that_is_copied_is_caught_whatever_is_claimed() -> None:
    report = audit(lambda: Forgetful(0.25), 1.0, stages=[Ledger()], seed=0)
    assert report.epsilon == 0.5


def test_a_target_without_an_account_is_left_alone() -> None:
    report = audit(lambda X, y: 0.0, 1.0, stages=[Ledger()], seed=0)
    assert "no account" in report.stages[0].tried[0]
