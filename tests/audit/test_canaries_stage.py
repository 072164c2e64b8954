"""The stages *one run with canaries* and *time and memory*."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from discreet import NaiveBayes
from discreet.audit import audit
from discreet.audit.canaries import Canaries
from discreet.audit.tables import DEFAULT
from discreet.audit.timing import TimeAndMemory

pytestmark = pytest.mark.chance  # what an audit finds depends on its draws and on the clock


class Memory:
    """Predicts the label of a record that it has seen, and nothing else."""

    def fit(self, X: Any, y: Any) -> Memory:
        self.seen_ = {tuple(row): label for row, label in zip(X.tolist(), np.asarray(y).tolist(), strict=True)}
        return self

    def predict(self, X: Any) -> Any:
        return np.array([self.seen_.get(tuple(row), -1) for row in X.tolist()])


class Slow:
    """Waits longer if a value of the table is at the upper bound."""

    def fit(self, X: Any, y: Any) -> Slow:
        time.sleep(0.004 if (X >= 1).any() else 0.0)
        return self


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_what_remembers_records_is_caught_in_a_few_fits(adjacency: str) -> None:
    report = audit(Memory, 1.0, adjacency=adjacency, stages=[Canaries()], seed=0)
    assert report.refuted
    assert report.epsilon > 3
    assert "canaries" in report.findings[0].event


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_ours_is_not_accused(adjacency: str) -> None:
    public = DEFAULT.replace(adjacency=adjacency)
    options = {"stages": [Canaries()], "seed": 0, "confidence": 1 - 1e-8}  # noise is drawn anew
    report = audit(lambda: NaiveBayes(public, epsilon=1.0), 1.0, adjacency=adjacency, **options)
    assert not report.refuted
    assert "200 canaries" in report.stages[0].tried[0]


def test_times_are_remarks() -> None:
    report = audit(Slow, 1.0, stages=[TimeAndMemory()], within=True, seed=0)
    assert not report.refuted
    assert any("ms" in each for each in report.stages[0].remarks)
