"""Training from a CSV file beside DuckDB's own reader: what it costs to take every line for a record.

Decides whether reading line by line is fast enough and stays below its bar of memory.
`python benchmarks/csv_reading.py` made results/csv_reading.md; --rows and --rounds change its size.
Contestants take turns in one process; the fastest run of each counts. Compare the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from speed import own_peak_memory, row, turns

RESULTS = Path(__file__).parent / "results" / "csv_reading.md"
NUMBERS = [*(f"x{place}" for place in range(5)), "age", "income"]
WORDS = ["red", "green", "blue", "dark, brown", "black"]
KINDS = {"quotes where needed": csv.QUOTE_MINIMAL, "every field quoted": csv.QUOTE_ALL}


def schema() -> Any:
    """Public bounds and categories of the generated table."""
    from discreet import Categorical, Numeric, Schema

    bounds = {"age": (18, 90), "income": (0, 100_000)}
    numbers = [Numeric(name, *bounds.get(name, (-5, 5))) for name in NUMBERS]
    return Schema([*numbers, *(Categorical(f"c{place}", WORDS) for place in range(3))], "y", ["yes", "no"])


def write(path: Path, rows: int, quoting: Any) -> None:
    """Seven columns of numbers, most values different, three of words, and the class."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, rows)
    columns = [generator.standard_normal(rows) + 0.3 * y for _ in range(5)]
    columns += [generator.integers(18, 90, rows), np.round(generator.random(rows) * 1e5, 2)]
    words = [np.array(WORDS, dtype=object)[generator.integers(0, len(WORDS), rows)] for _ in range(3)]
    labels = np.array(["no", "yes"], dtype=object)[y]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=quoting)
        writer.writerow([*NUMBERS, "c0", "c1", "c2", "y"])
        writer.writerows(zip(*(column.tolist() for column in [*columns, *words, labels]), strict=True))


def contestants(path: Path) -> dict[str, Callable[[], Any]]:
    """Our readings, and DuckDB's sum of each number, its types given, by class."""
    import duckdb

    from discreet import DecisionTree, NaiveBayes
    from discreet.records.encoding import Cells
    from discreet.sources.file import open_file

    public = schema()
    types = {**dict.fromkeys(NUMBERS, "DOUBLE"), **dict.fromkeys(["c0", "c1", "c2", "y"], "VARCHAR")}
    sums = ", ".join(f"sum({name})" for name in NUMBERS)
    relation = f"read_csv('{path}', header = true, columns = {types}, quote = '\"', escape = '\"')"
    connection = duckdb.connect()

    def read_rows() -> None:
        for _ in open_file(path).rows([Cells(name) for name in public.names], public):
            pass

    return {
        "sums": lambda: connection.execute(f"SELECT y, {sums} FROM {relation} GROUP BY y").fetchall(),
        "naive-bayes": lambda: NaiveBayes(public, epsilon=1.0).fit_from(open_file(path)),
        "decision-tree": lambda: DecisionTree(public, epsilon=1.0).fit_from(open_file(path)),
        "rows": read_rows,
    }


def measure(kind: str, rows: int, rounds: int) -> list[str]:
    """The lines of the table for one kind of file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write(path, rows, KINDS[kind])
        seconds = turns(contestants(path), rounds)
        memory = subprocess.run(
            [sys.executable, __file__, "--memory", str(path)], check=True, capture_output=True, text=True
        ).stdout
    size = f"{rows:,} × {len(schema().names)}, {kind}"
    names = {
        "naive-bayes": f"train naive-bayes on {size} (two passes)",
        "decision-tree": f"train decision-tree on {size}",
        "rows": f"encode every record of {size}",
    }
    lines = [row(name, {"ours": seconds[each], "theirs": seconds["sums"]}, "") for each, name in names.items()]
    return [*lines, f"| ... peak memory of the process, naive-bayes | {float(memory):.0f} MB | | | < 500 MB |"]


def main() -> None:
    """Measure, print the table and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        contestants(options.memory)["naive-bayes"]()
        print(own_peak_memory())
        return
    lines = [line for kind in KINDS for line in measure(kind, options.rows, options.rounds)]
    table = "\n".join(["| what | ours | theirs | ours / theirs | bar |", "|---|---|---|---|---|", *lines])
    print(table)
    RESULTS.write_text(f"{HEADER}\n{table}\n", encoding="utf-8")


HEADER = """# Reading CSV

Command: `python benchmarks/csv_reading.py`. Seconds of the least disturbed run; contestants take turns in one process,
on 2 cores. Theirs is DuckDB's `sum` of the seven columns of numbers by class, from the same file, with the types given:
a reader that lets one malformed line change how others are read. Ours takes every line for a record.
"""

if __name__ == "__main__":
    main()
