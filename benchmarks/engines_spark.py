"""How long Spark takes to count records by class and cell, against its own sums of the same columns.

    python benchmarks/engines_spark.py [--rows 20000000] [--master "local[2]"]

Writes benchmarks/results/engines_spark.md. All contestants run in one session on the same Parquet files; each figure is
the least of three runs. The bars: a first pass within 4.5 times the sums, a pass over kept codes within 2.5 times.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet import Numeric, Schema
from discreet.records.encoding import Cells
from discreet.sources.spark import SparkSource
from discreet.sources.spark_workers import Tables

RESULTS = Path(__file__).parent / "results" / "engines_spark.md"
COLUMNS = [f"x{place}" for place in range(10)]
SCHEMA = Schema([Numeric(name, 0, 100) for name in COLUMNS], "y", [0, 1])
BINS = 16
FILES = 4
RUNS = 3


def write(folder: Path, rows: int) -> None:
    """Normal numbers in ten columns and a class, in four files."""
    rng = np.random.default_rng(0)
    for place in range(FILES):
        columns = {name: rng.normal(50, 20, rows // FILES) for name in COLUMNS}
        columns["y"] = rng.integers(0, 2, rows // FILES).astype(np.int32)
        pq.write_table(pa.table(columns), folder / f"{place}.parquet", row_group_size=1 << 20)


def least(run: Callable[[], object]) -> float:
    """Seconds of the fastest run."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return min(taken)


def measure(master: str, folder: Path) -> dict[str, float]:
    """Seconds of the sums, of counting from files, of the first fold, and of counting from kept codes."""
    from pyspark.sql import SparkSession, functions

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master(master).config("spark.driver.memory", "4g").config("spark.ui.enabled", "false")
    )
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        data = session.read.parquet(str(folder))
        cells = [Cells(name, BINS) for name in COLUMNS]
        tables = Tables(SCHEMA, tuple(cells))
        counting, folding = SparkSource(data), SparkSource(data)
        counting.check(SCHEMA)
        data.agg(*map(functions.sum, COLUMNS)).collect()  # files into the system's cache, classes into Java
        taken = {"its own sums": least(lambda: data.agg(*map(functions.sum, COLUMNS)).collect())}
        taken["count, from the files"] = least(lambda: counting.count(cells, SCHEMA))
        start = time.perf_counter()
        folding.fold(cells, SCHEMA, tables)
        taken["fold, first pass, which keeps the codes"] = time.perf_counter() - start
        taken["fold, from the codes that were kept"] = least(lambda: folding.fold(cells, SCHEMA, tables))
        return taken
    finally:
        session.stop()


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--master", default="local[2]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), asked.rows)
        taken = measure(asked.master, Path(folder))
    sums = taken["its own sums"]
    lines = [f"{asked.rows:,} records of 10 numbers in Parquet, `{asked.master}`, {BINS} bins, 2 classes."]
    lines += [f"`python {' '.join(['benchmarks/engines_spark.py', *sys.argv[1:]])}`", "", "| | seconds | ratio |"]
    lines += ["|---|---|---|", *(f"| {name} | {each:.2f} | {each / sums:.2f} |" for name, each in taken.items())]
    text = "\n".join(lines)
    print(text)
    RESULTS.write_text(f"# Spark\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
