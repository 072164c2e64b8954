"""Ourselves, by the same audit as anybody: every estimator under both adjacencies, scores, perturbed tables, files.

Each audit is short, and what it does not find proves nothing; the proofs and the replay of `tests/suites` carry the
claim. It must find nothing, on any way in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet import Categorical, Ledger, LocalPerturbation, NaiveBayes, Numeric, Schema, evaluate
from discreet.audit import audit
from discreet.sources.file import open_file
from support.estimators import PRIVATE

ADJACENCIES = ("add-remove", "replace-one")
MIXED = Schema([Numeric("near", -1, 1), Categorical("open", ["a", "b"])], "label", ["x", "y"], records=40)

pytestmark = pytest.mark.slow


def public(adjacency: str) -> Schema:
    return MIXED.replace(adjacency=adjacency)


def found(make: Any, adjacency: str, form: str = "records", runs: int = 3000) -> Any:
    """The report of a short audit."""
    options: dict[str, Any] = {"adjacency": adjacency, "schema": public(adjacency), "form": form}
    return audit(make, 1.0, minutes=5.0, most_runs=runs, seed=3, **options)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", PRIVATE)
def test_no_estimator_is_refuted(name: str, adjacency: str) -> None:
    report = found(lambda: PRIVATE[name](public(adjacency), epsilon=1.0), adjacency)
    assert not report.refuted, report.verdict()
    assert report.bound <= 1
    assert report.runs > 100


@pytest.mark.parametrize("form", ["records", "frame"])
def test_frames_tell_no_more(form: str) -> None:
    report = found(lambda: NaiveBayes(public("add-remove"), epsilon=1.0), "add-remove", form)
    assert not report.refuted, report.verdict()


class FromFile:
    """Naive Bayes on the table as a file, read by the engine of its kind."""

    def __init__(self, folder: Path, kind: str, adjacency: str) -> None:
        self.folder, self.kind, self.adjacency = folder, kind, adjacency

    def fit(self, X: Any, y: Any) -> FromFile:
        path = self.folder / f"table.{self.kind}"
        X = X.assign(label=y)
        X.to_csv(path, index=False) if self.kind == "csv" else X.to_parquet(path)
        self.model_ = NaiveBayes(public(self.adjacency), epsilon=1.0).fit_from(open_file(path))
        return self


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_tell_no_more(kind: str, adjacency: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"adjacency": adjacency, "schema": public(adjacency), "form": "frame", "within": True}
    report = audit(lambda: FromFile(tmp_path, kind, adjacency), 1.0, most_runs=600, seed=4, **options)
    assert not report.refuted, report.verdict()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_published_accuracy_is_not_refuted(adjacency: str) -> None:
    rows = [{"near": side, "open": "a" if side < 0 else "b", "label": "x" if side < 0 else "y"} for side in (-1, 1)]
    model = NaiveBayes(public(adjacency), epsilon=50.0).fit(rows * 20, ledger=Ledger(50))

    def scored(records: Any, _: Any) -> Any:
        published = evaluate(model, records, epsilon=1)
        return [published.value, published.right, published.wrong, published.lower, published.upper]

    report = found(scored, adjacency)
    assert not report.refuted, report.verdict()


class Perturbed:
    """A perturbed table, published as it is."""

    def fit(self, records: Any, _: Any) -> Perturbed:
        made = LocalPerturbation(public("replace-one"), epsilon=1).fit_resample(records)
        self.table_ = made
        return self


def test_a_perturbed_table_is_not_refuted() -> None:
    report = found(Perturbed, "replace-one")
    assert not report.refuted, report.verdict()
