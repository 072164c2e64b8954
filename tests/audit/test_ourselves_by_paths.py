"""Ourselves on every way in that needs no server: files, DuckDB, tables of Arrow and Polars, frames of pandas.

One estimator of each family comes each way, under both adjacencies, and must show no more than it claims. Beside *time
and memory* (see `support.ourselves`), these audits leave out the stage *ledger*: the account is the same object on all
ways, and the stage forks, after which the threads of Polars and Arrow are gone. Where a database is written for each
run, which takes ten times as long as a small file, the stages are those that need few runs: *structure* and *replay*.
PostgreSQL and Spark are audited so in `tests/engines`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.audit.accounts import Ledger
from discreet.sources.file import open_file
from support.ourselves import ADJACENCIES, FAMILIES, NO_NOISE, elsewhere, few, found, public, remarks, stages, tried

COLUMNS = pa.schema([("near", pa.float64()), ("open", pa.string()), ("label", pa.string())])
RUNS, FEWER = 600, 400
"""Runs of an audit, and of what is slow; with fewer still, nothing could be refuted at this confidence."""
NUMBERS = count()

pytestmark = pytest.mark.slow


def as_table(records: Any) -> pa.Table:
    return pa.Table.from_pylist([{name: each[name] for name in COLUMNS.names} for each in records], schema=COLUMNS)


def as_polars(records: Any) -> Any:
    return pl.from_arrow(as_table(records))


def as_pandas(records: Any) -> Any:
    return as_table(records).to_pandas()  # with the types of the columns, even if there are no records


def in_csv(records: Any, folder: Path) -> Any:
    path = folder / "table.csv"
    as_polars(records).write_csv(path)
    return open_file(path)


def in_parquet(records: Any, folder: Path) -> Any:
    path = folder / "table.parquet"
    pq.write_table(as_table(records), path)
    return open_file(path)


def in_duckdb(records: Any, folder: Path) -> Any:
    path = folder / f"table{next(NUMBERS)}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("made", as_table(records))
        connection.execute("create table records as select * from made")
    return open_file(path, "records")


FILES: dict[str, Callable[[Any, Path], Any]] = {"csv": in_csv, "parquet": in_parquet, "duckdb": in_duckdb}
TABLES: dict[str, Callable[[Any], Any]] = {"arrow": as_table, "polars": as_polars, "pandas": as_pandas}


def audited(name: str, way: str, adjacency: str, folder: Path, epsilon: float = 1.0, first: bool = False) -> Any:
    """The report of an audit of a family whose records come this way."""
    if way in FILES:
        estimator = elsewhere(FAMILIES[name], lambda records: FILES[way](records, folder))
    else:
        estimator = elsewhere(FAMILIES[name], TABLES[way], "fit")
    by = few() if way == "duckdb" else [each for each in stages() if not isinstance(each, Ledger)]
    runs = 2 * RUNS if first else FEWER if way == "duckdb" or name == "svm" else RUNS
    return found(lambda: estimator(public(adjacency), epsilon=epsilon), adjacency, runs, by, first)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("way", [*FILES, *TABLES])
@pytest.mark.parametrize("name", FAMILIES)
def test_no_way_in_tells_more(name: str, way: str, adjacency: str, tmp_path: Path) -> None:
    report = audited(name, way, adjacency, tmp_path)
    assert not report.refuted, report.verdict()
    assert not remarks(report)
    assert "calls of samplers watched" in tried(report, "replay")
    assert way == "duckdb" or "canaries each" in tried(report, "one run with canaries")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("way", [*FILES, *TABLES])
def test_every_way_shows_what_charges_too_little(way: str, adjacency: str, tmp_path: Path) -> None:
    """A control: an epsilon that leaves next to no noise, and a claim of 1, by the same stages; it ends with the first
    finding, so it may take twice as many runs, in which it finds something nearly always."""
    assert audited("naive-bayes", way, adjacency, tmp_path, NO_NOISE, first=True).refuted
