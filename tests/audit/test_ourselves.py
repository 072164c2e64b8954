"""Ourselves, by the same audit as anybody: every estimator under both adjacencies, scores, perturbed tables, federated
answers, and every way in: records, frames, tables of Arrow and Polars, files and tables of DuckDB.

Each audit has a fixed number of runs, and what it does not find proves nothing; the proofs and the replay of
`tests/suites` carry the claim. It must find nothing, on any way in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Categorical, Ledger, LocalPerturbation, NaiveBayes, Numeric, Schema, evaluate
from discreet.audit import audit
from discreet.audit.replay import Replay
from discreet.audit.samples import Samples
from discreet.audit.structure import Structure
from discreet.federated import Party, invite
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from support.estimators import PRIVATE

UNLIKELY = 1 - 1e-8
"""The confidence of these audits: noise is drawn anew, and an honest model is accused once in 10⁸ of them."""

ADJACENCIES = ("add-remove", "replace-one")
MIXED = Schema([Numeric("near", -1, 1), Categorical("open", ["a", "b"])], "label", ["x", "y"], records=40)
COLUMNS = pa.schema([("near", pa.float64()), ("open", pa.string()), ("label", pa.string())])

pytestmark = pytest.mark.slow


def public(adjacency: str) -> Schema:
    return MIXED.replace(adjacency=adjacency)


def found(make: Any, adjacency: str, form: str = "records", runs: int = 300) -> Any:
    """The report of a short audit, in which a refusal counts too."""
    options: dict[str, Any] = {"adjacency": adjacency, "schema": public(adjacency), "form": form, "strict": True}
    stages = [Structure(), Replay(), Samples()]
    return audit(make, 1.0, minutes=60.0, most_runs=runs, seed=3, stages=stages, confidence=UNLIKELY, **options)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", PRIVATE)
def test_no_estimator_is_refuted(name: str, adjacency: str) -> None:
    report = found(lambda: PRIVATE[name](public(adjacency), epsilon=1.0), adjacency)
    assert not report.refuted, report.verdict()
    assert report.bound <= 1
    assert report.runs > 100


def test_frames_tell_no_more() -> None:
    report = found(lambda: NaiveBayes(public("add-remove"), epsilon=1.0), "add-remove", "frame")
    assert not report.refuted, report.verdict()


class FromElsewhere:
    """Naive Bayes on the table as a file, in a database, or as another library's table."""

    def __init__(self, folder: Path, kind: str, adjacency: str) -> None:
        self.folder, self.kind, self.adjacency = folder, kind, adjacency

    def fit(self, records: Any, _: Any) -> FromElsewhere:
        rows = [{name: record[name] for name in COLUMNS.names} for record in records]
        table = pa.Table.from_pylist(rows, schema=COLUMNS)
        model = NaiveBayes(public(self.adjacency), epsilon=1.0)
        if self.kind == "arrow":
            self.model_ = model.fit(table)
        elif self.kind == "polars":
            self.model_ = model.fit(pl.from_arrow(table))
        else:
            named = "records" if self.kind == "duckdb" else None
            self.model_ = model.fit_from(open_file(self._written(table), named))
        return self

    def _written(self, table: pa.Table) -> Path:
        path = self.folder / f"table.{self.kind}"
        path.unlink(missing_ok=True)
        if self.kind == "csv":
            pl.from_arrow(table).write_csv(path)
        elif self.kind == "parquet":
            pq.write_table(table, path)
        else:
            with duckdb.connect(str(path)) as connection:
                connection.register("made", table)
                connection.execute("create table records as select * from made")
        return path


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "arrow", "polars"])
def test_files_engines_and_other_tables_tell_no_more(kind: str, adjacency: str, tmp_path: Path) -> None:
    report = found(lambda: FromElsewhere(tmp_path, kind, adjacency), adjacency, runs=200)
    assert not report.refuted, report.verdict()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_published_accuracy_is_not_refuted(adjacency: str) -> None:
    rows = [{"near": side, "open": "a" if side < 0 else "b", "label": "x" if side < 0 else "y"} for side in (-1, 1)]
    model = NaiveBayes(public(adjacency), epsilon=50.0).fit(rows * 20, ledger=Ledger(50))

    def scored(records: Any, _: Any) -> Any:
        published = evaluate(model, records, epsilon=1)
        return [published.value, published.right, published.wrong, published.lower, published.upper]

    report = found(scored, adjacency, runs=1000)
    assert not report.refuted, report.verdict()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_federated_answer_is_not_refuted(adjacency: str) -> None:
    invitation = invite(public(adjacency), 1, ["north", "south"])

    def answered(records: Any, _: Any) -> Any:
        return list(Party("north", MemorySource(records), Ledger(1)).answer(invitation).tables)

    report = found(answered, adjacency, runs=1000)
    assert not report.refuted, report.verdict()


class Perturbed:
    """A perturbed table, published as it is."""

    def fit(self, records: Any, _: Any) -> Perturbed:
        self.table_ = LocalPerturbation(public("replace-one"), epsilon=1).fit_resample(records)
        return self


def test_a_perturbed_table_is_not_refuted() -> None:
    report = found(Perturbed, "replace-one", runs=1000)
    assert not report.refuted, report.verdict()


def test_the_same_audit_refutes_what_charges_too_little() -> None:
    """A control: a score at an epsilon of 4 that claims 1, by the same stages and as many runs."""
    rows = [{"near": side, "open": "a" if side < 0 else "b", "label": "x" if side < 0 else "y"} for side in (-1, 1)]
    model = NaiveBayes(public("add-remove"), epsilon=50.0).fit(rows * 20, ledger=Ledger(50))

    def scored(records: Any, _: Any) -> Any:
        published = evaluate(model, records, epsilon=8)
        return [published.right, published.wrong]

    assert found(scored, "add-remove", runs=1000).refuted
