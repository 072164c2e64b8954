"""How a fit scales: time and memory against rows, columns, classes, distinct texts and workers.

Decides which engine to take when (docs/engines.md). Writes results/scale.csv, one line per fit, results/scale.md and
results/scale.png; `python benchmarks/scale.py --folder DIR` made them (DIR takes about 12 GB; --rows 10000000 less;
extras duckdb, fast, plot and spark). Numbers are of 32 bits, counting is compiled. Each fit runs in a process of its
own; its seconds are those of the fit alone, its memory is the most that the process held, with Python and its packages.
The scan beside it is DuckDB's sum of all columns of the same file. Spark counts in other processes, so only its seconds
are given. Machines are noisy, and this one had two processors and other work of lower priority: compare slopes and
ratios, not seconds.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RESULTS = Path(__file__).parent / "results"
CHUNK = 1 << 20
"""Rows that are generated at a time; also the size of a row group."""
SMALL = 1_000_000


class Table(NamedTuple):
    """A generated table: rows, numeric columns, classes, and distinct texts of one more column (0: no such column)."""

    rows: int
    columns: int = 10
    classes: int = 2
    texts: int = 0

    @property
    def name(self) -> str:
        """Name of its file."""
        return "-".join(map(str, self)) + ".parquet"


class Fit(NamedTuple):
    """What is varied, the table, who fits, and how: a model, or a scan; with the number of workers."""

    axis: str
    table: Table
    model: str
    workers: int = 0


def plan(most: int) -> Iterator[Fit]:
    """All fits, small tables first."""
    for rows in (10**6, 10**7, 10**8):
        if rows <= most:
            for model in ("scan", "naive-bayes", "decision-tree"):
                yield Fit("rows", Table(rows), model)
            if rows < 10**8:
                yield Fit("rows", Table(rows), "svm")
    for columns in (10, 100, 1000):
        for model in ("scan", "naive-bayes", "decision-tree"):
            yield Fit("columns", Table(10**8 // 1000 if columns == 1000 else SMALL // 10, columns), model)
    for classes in (2, 10, 100):
        for model in ("naive-bayes", "decision-tree"):
            yield Fit("classes", Table(SMALL, classes=classes), model)
    for texts in (10, 10_000, 1_000_000):
        for model in ("scan", "naive-bayes"):
            yield Fit("distinct texts", Table(SMALL, texts=texts), model)
    for workers in (1, 2):
        yield Fit("workers", Table(10**7), "naive-bayes", workers)


def write(path: Path, table: Table) -> None:
    """Generate a table, a row group at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator, writer = np.random.default_rng(0), None
    for start in range(0, table.rows, CHUNK):
        rows = min(CHUNK, table.rows - start)
        y = generator.integers(0, table.classes, rows, dtype=np.int16)
        shift = (0.3 * y / max(1, table.classes - 1)).astype(np.float32)
        columns = {f"x{i}": generator.standard_normal(rows, dtype=np.float32) + shift for i in range(table.columns)}
        if table.texts:
            columns["text"] = np.char.add("t", generator.integers(0, table.texts, rows).astype(str))
        block = pa.table({**columns, "y": y})
        writer = writer or pq.ParquetWriter(path, block.schema)
        writer.write_table(block, row_group_size=CHUNK)
    if writer is not None:
        writer.close()


def schema_of(table: Table) -> Any:
    """Public bounds and categories of a table; of many texts the first hundred are listed."""
    from discreet import Categorical, Numeric, Schema

    texts = [Categorical("text", [f"t{i}" for i in range(min(100, table.texts))])] if table.texts else []
    numbers = [Numeric(f"x{i}", -5, 5) for i in range(table.columns)]
    return Schema([*numbers, *texts], "y", list(range(table.classes)), records=table.rows)


def measure(path: Path, fit: Fit) -> None:
    """Run in a process of its own: print seconds and the most memory in MB."""
    run = scanned(path, fit.table) if fit.model == "scan" else fitted(path, fit)
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, most_memory()]))


def most_memory() -> float:
    """The most memory of this process so far in MB. What `getrusage` says would begin with that of the parent."""
    (line,) = [each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


def scanned(path: Path, table: Table) -> Any:
    """DuckDB's own sums."""
    import duckdb

    parts = [f"SUM(x{i})" for i in range(table.columns)] + (["SUM(strlen(text))"] if table.texts else [])
    return lambda: duckdb.sql(f"SELECT {', '.join(parts)} FROM '{path}'").fetchall()


def fitted(path: Path, fit: Fit) -> Any:
    """A fit of a model; Spark's session starts before the clock."""
    from discreet.models import MODELS
    from discreet.sources.file import open_file

    settings = {"max_depth": 6} if fit.model == "decision-tree" else {}
    model = MODELS[fit.model](schema_of(fit.table), epsilon=1.0, random_state=0, **settings)
    if not fit.workers:
        return lambda: model.fit_from(open_file(path))
    from pyspark.sql import SparkSession

    from discreet.sources.spark import SparkSource

    session = SparkSession.builder.master(f"local[{fit.workers}]").getOrCreate()
    session.range(10).count()
    return lambda: model.fit_from(SparkSource(session.read.parquet(str(path))))


def measured(path: Path, fit: Fit) -> tuple[float, float] | None:
    """The same, from outside; None if it failed, for instance because Spark is not installed."""
    command = [sys.executable, __file__, "--one", json.dumps([fit.axis, *fit.table, fit.model, fit.workers, str(path)])]
    own = {"PYSPARK_PYTHON": sys.executable}  # Spark would take the first Python of the PATH
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **own}, check=False)
    if done.returncode:
        print(f"{fit}: failed", file=sys.stderr)
        return None
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def report(lines: list[list[Any]]) -> str:
    """The results as Markdown."""
    text = ["# How a fit scales", "", *(line.strip() for line in (__doc__ or "").split("\n\n")[1].splitlines()), ""]
    text += ["![time and memory](scale.png)", ""]
    text += [
        "| varied | rows | columns | classes | distinct texts | workers | model | seconds | × scan | memory (MB) |"
    ]
    text += ["|---|---|---|---|---|---|---|---|---|---|"]
    scans = {tuple(line[1:5]): line[7] for line in lines if line[5] == "scan"}
    for axis, rows, columns, classes, texts, model, workers, seconds, memory in lines:
        scan = scans.get((rows, columns, classes, texts))
        ratio = f"{seconds / scan:.1f}" if scan and model != "scan" else ""
        known = "" if workers else f"{memory:.0f}"
        text.append(
            f"| {axis} | {rows:,} | {columns:,} | {classes} | {texts:,} | {workers or ''} | {model} | {seconds:.2f} | "
            f"{ratio} | {known} |"
        )
    return "\n".join(text) + "\n"


def draw(lines: list[list[Any]], path: Path) -> None:
    """Seconds and memory against rows, columns, classes, distinct texts and workers of Spark, who hold their own."""
    from discreet.pictures.figure import COLOURS, MARKERS, new_figure

    axes = {"rows": 1, "columns": 2, "classes": 3, "distinct texts": 4, "workers": 6}
    figure = new_figure(figsize=(14, 5.5))
    panels = figure.subplots(2, len(axes), sharey="row")
    for place, (axis, column) in enumerate(axes.items()):
        for number, model in enumerate(("scan", "naive-bayes", "decision-tree", "svm")):
            own = [line for line in lines if line[0] == axis and line[5] == model]
            for panel, value in zip(panels[:, place], (7, 8), strict=True):
                if own and (axis, value) != ("workers", 8):
                    points = [line[column] for line in own], [line[value] for line in own]
                    panel.plot(*points, color=COLOURS[number], marker=MARKERS[number], label=model)
        for panel, words in zip(panels[:, place], ("seconds", "memory (MB)"), strict=True):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel("workers of Spark" if axis == "workers" else axis)
            if place == 0:
                panel.set_ylabel(words)
    panels[0, -1].set_xticks([1, 2], labels=["1", "2"])
    panels[0, -1].minorticks_off()
    panels[1, -1].set_axis_off()
    panels[1, -1].legend(*panels[0, 0].get_legend_handles_labels(), frameon=False, loc="center")
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, help="where tables are generated, and left")
    parser.add_argument("--rows", type=int, default=10**8, help="the most rows")
    parser.add_argument("--draw", action="store_true", help="write text and picture again from results/scale.csv")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        axis, *table, model, workers, path = json.loads(options.one)
        measure(Path(path), Fit(axis, Table(*table), model, workers))
        return
    if options.draw:
        publish(kept())
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for fit in plan(options.rows):
        path = options.folder / fit.table.name
        if not path.exists():
            write(path, fit.table)
        found = measured(path, fit)
        if found is not None:
            lines.append([fit.axis, *fit.table, fit.model, fit.workers, *found])
            print(*lines[-1], flush=True)
    with (RESULTS / "scale.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["axis", *Table._fields, "model", "workers", "seconds", "memory"])
        writer.writerows([*line[:7], f"{line[7]:.3f}", f"{line[8]:.0f}"] for line in lines)
    publish(lines)


def kept() -> list[list[Any]]:
    """The lines of the last run."""
    with (RESULTS / "scale.csv").open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [[axis, *map(int, sizes), model, int(workers), float(seconds), float(memory)]
            for axis, *sizes, model, workers, seconds, memory in rows]  # fmt: skip


def publish(lines: list[list[Any]]) -> None:
    """Write text and picture."""
    (RESULTS / "scale.md").write_text(report(lines), encoding="utf-8")
    draw(lines, RESULTS / "scale.png")


if __name__ == "__main__":
    main()
