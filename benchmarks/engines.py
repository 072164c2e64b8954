"""How fast engines count, as ratios to DuckDB's own sums over the same columns, in one run; and the memory it takes.

Decides whether Parquet files are counted at the speed of a scan. `python benchmarks/engines.py` made
results/engines.md; --only runs one part, --rows takes a fraction of the records (0.1 for a tenth). The data are
generated in a temporary folder (5 GB); adult is taken from DISCREET_DATA. Contestants take turns and the fastest run of
each counts. Compare the ratios, not the seconds. Other engines have files of their own (engines_*.py), which take
`turns` and `table` from here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "engines.md"
COLUMNS = 10
BINS = 64
"""Cells of a number, as in naive Bayes."""
HEADER = "| what | ours | sums of DuckDB | ratio | bar |\n|---|---|---|---|---|"


def turns(contestants: dict[str, Callable[[], Any]], rounds: int = 5) -> dict[str, float]:
    """The fewest seconds of each contestant; they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in seconds.items()}


def table(lines: list[str], command: str) -> str:
    """The lines as a table, with the command that made them and the load of the machine."""
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    return f"`{command}`, {os.cpu_count()} processors, load {load}\n\n{HEADER}\n" + "\n".join(lines) + "\n"


def line(what: str, ours: float, theirs: float, bar: str) -> str:
    """A line of the table."""
    return f"| {what} | {ours:.2f} s | {theirs:.2f} s | **{ours / theirs:.2f}** | {bar} |"


def write_numbers(path: Path, rows: int, kind: str) -> None:
    """A Parquet file of ten columns of numbers and a class, written by DuckDB itself."""
    import duckdb

    normal = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    columns = ", ".join(f"CAST({normal} + 0.3 * y AS {kind}) AS x{i}" for i in range(COLUMNS))
    source = f"(SELECT CAST(floor(random() * 2) AS INTEGER) AS y FROM range({rows}))"
    duckdb.execute(f"COPY (SELECT {columns}, y FROM {source}) TO '{path}' (FORMAT parquet)")


def number_schema() -> Any:
    """Public bounds for it."""
    from discreet import Numeric, Schema

    return Schema([Numeric(f"x{i}", -5, 5) for i in range(COLUMNS)], "y", [0, 1])


def compare(path: Path, schema: Any, sums: str, rounds: int) -> dict[str, float]:
    """Seconds of DuckDB's sums, and of our counts with and without the compiled loops, which have to be equal."""
    import duckdb

    from discreet import open_file
    from discreet.records.encoding import Cells
    from discreet.schema.columns import Numeric
    from discreet.sources import kernels

    connection, source = duckdb.connect(), open_file(path)
    cells = [Cells(column.name, BINS if isinstance(column, Numeric) else None) for column in schema.columns]
    compiled, found = kernels.kernels, {}

    def count(name: str, loops: Callable[[int], Any]) -> None:
        kernels.kernels = loops
        counts = source.count(cells, schema).counts
        found[name] = [counts[each].tolist() for each in cells]

    contestants = {
        "sums": lambda: connection.execute(f"SELECT {sums} FROM read_parquet('{path}')").fetchall(),
        "numpy": lambda: count("numpy", lambda batches: None),
    }
    if compiled(2**31) is not None:
        contestants["compiled"] = lambda: count("compiled", compiled)
    seconds = turns(contestants, rounds)
    assert all(each == found["numpy"] for each in found.values()), "the loops count something else"
    return seconds


def in_own_process(path: Path, schema: Any, sums: str, rounds: int) -> dict[str, float]:
    """As `compare`, in a fresh process."""
    schema.save(path.with_suffix(".json"))
    given = json.dumps([str(path), sums, rounds])
    return dict(json.loads(_output(["--compare", given])))


def _output(arguments: list[str]) -> str:
    command = [sys.executable, __file__, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1]


def against(what: str, seconds: dict[str, float], bars: dict[str, str]) -> list[str]:
    """A line for each way of counting."""
    return [line(f"{what}, {how}", seconds[how], seconds["sums"], bar) for how, bar in bars.items() if how in seconds]


def doubles(folder: Path, scale: float) -> list[str]:
    """20,000,000 x 10 float64."""
    path, rows = folder / "float64.parquet", int(20_000_000 * scale)
    write_numbers(path, rows, "DOUBLE")
    sums = ", ".join(f"sum(x{i})" for i in range(COLUMNS))
    seconds = in_own_process(path, number_schema(), sums, 7)
    path.unlink()
    return against(f"Parquet {rows:,} × 10 float64", seconds, {"compiled": "≤ 1.2", "numpy": "≤ 1.7"})


def floats(folder: Path, scale: float) -> list[str]:
    """100,000,000 x 10 float32, and the memory of the command on them."""
    path, rows = folder / "float32.parquet", int(100_000_000 * scale)
    write_numbers(path, rows, "FLOAT")
    sums = ", ".join(f"sum(x{i})" for i in range(COLUMNS))
    seconds = in_own_process(path, number_schema(), sums, 3)
    lines = against(f"Parquet {rows:,} × 10 float32", seconds, {"compiled": "≤ 1.5", "numpy": "≤ 2.3"})
    for how, pandas in product(("numpy", "compiled"), ("without pandas", "pandas installed")):
        memory = float(_output(["--train", json.dumps([str(path), how, pandas])]))
        what = f"peak memory of `discreet train`, {rows:,} records, {how}, {pandas}"
        lines.append(f"| {what} | {memory:.0f} MB | | | ≤ 350 MB |")
    path.unlink()
    return lines


def adult(folder: Path, scale: float) -> list[str]:
    """The data set adult 410 times, mixed columns, against sums of its numbers and of the lengths of its texts."""
    import duckdb
    import pyarrow as pa

    from discreet import Schema
    from discreet.schema.columns import Numeric

    data, path, times = Path(os.environ["DISCREET_DATA"]), folder / "adult.parquet", int(410 * scale)
    schema = Schema.load(f"{data / 'schemas.json'}#adult")
    numbers = [column.name for column in schema.columns if isinstance(column, Numeric)]
    texts = [name for name in (*schema.names, schema.target) if name not in numbers]
    chosen = [*(f'TRY_CAST("{name}" AS DOUBLE) AS "{name}"' for name in numbers), *(f'"{name}"' for name in texts)]
    connection = duckdb.connect()
    once = connection.sql(
        f"SELECT {', '.join(chosen)} FROM read_csv('{data / 'adult.csv'}', all_varchar = true)"
    ).to_arrow_table()
    connection.register("many", pa.concat_tables([once] * times))
    connection.execute(f"COPY many TO '{path}' (FORMAT parquet)")
    sums = [*(f'sum("{name}")' for name in numbers), *(f'sum(strlen("{name}"))' for name in texts)]
    seconds = in_own_process(path, schema.replace(ignore=()), ", ".join(sums), 5)
    path.unlink()
    return against(f"adult × {times} (mixed)", seconds, {"compiled": "≤ 2.2", "numpy": "≤ 2.2"})


def train(path: str, how: str, pandas: str) -> None:
    """Train once as the command does, and print the peak memory (MB) of the whole process.

    discreet does not need pandas; scikit-learn imports it where it is installed, which takes some 50 MB.
    """
    if pandas == "without pandas":
        sys.modules["pandas"] = None  # type: ignore[assignment]  # as if it were not installed
    from discreet.cli import app
    from discreet.sources import kernels

    if how == "numpy":
        kernels.kernels = lambda batches: None
    out = f"{path}.model.json"
    arguments = ["--epsilon", "1", "--out", out, "--model", "naive-bayes", "--force"]
    sys.argv = ["discreet", "train", path, "--schema", str(Path(path).with_suffix(".json")), *arguments]
    try:
        app(prog_name="discreet")
    except SystemExit as end:
        if end.code:
            raise
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    print(next(int(each.split()[1]) / 1024 for each in lines if each.startswith("VmHWM")))


PARTS = {"doubles": doubles, "adult": adult, "floats": floats}


def main() -> None:
    """Run the parts; write the results if all records of all parts were counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--rows", type=float, default=1.0, help="a fraction of the records")
    parser.add_argument("--folder", type=Path, help="where the data are written; default: a temporary folder")
    parser.add_argument("--compare", help=argparse.SUPPRESS)
    parser.add_argument("--train", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.compare:
        from discreet import Schema

        path, sums, rounds = json.loads(given.compare)
        print(json.dumps(compare(Path(path), Schema.load(Path(path).with_suffix(".json")), sums, rounds)))
        return
    if given.train:
        train(*json.loads(given.train))
        return
    lines = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for name, part in PARTS.items():
            if given.only in (None, name):
                lines += part(Path(folder), given.rows)
                print("\n".join(lines[-4:]), flush=True)
    if given.only is None and given.rows == 1:
        RESULTS.write_text("# Engines\n\n" + table(lines, "python benchmarks/engines.py"), encoding="utf-8")


if __name__ == "__main__":
    main()
