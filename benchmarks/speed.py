"""Time and memory: what a fit costs beside scikit-learn, diffprivlib and DuckDB, each pair measured in one run.

Decides whether fits, predictions and imports meet their bars of time and memory.
`python benchmarks/speed.py --data DIR` (also part of `make bench`) made results/speed.md; --only runs one part.
Machines are noisy, so contestants take turns and the fastest run of each counts, as with timeit. Compare the ratios,
not the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import environments
from engines import turns

RESULTS = Path(__file__).parent / "results" / "speed.md"
ROWS, COLUMNS = 5_000_000, 10


def generated(rows: int, columns: int) -> tuple[Any, Any]:
    """A float32 table of two overlapping normal classes."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, rows)
    X = generator.standard_normal((rows, columns), dtype=np.float32)
    X += 0.3 * y[:, None].astype(np.float32)
    return X, y


def generated_schema(columns: int, records: int) -> Any:
    """Public bounds for it."""
    from discreet import Numeric, Schema

    return Schema([Numeric(f"x{i}", -5, 5) for i in range(columns)], "y", [0, 1], records=records)


def against_gaussian_nb() -> list[str]:
    """Fit and predict on 5,000,000 x 10 beside scikit-learn's GaussianNB."""
    from sklearn.naive_bayes import GaussianNB

    from discreet import NaiveBayes

    X, y = generated(ROWS, COLUMNS)
    ours, theirs = NaiveBayes(generated_schema(COLUMNS, ROWS), epsilon=1.0), GaussianNB()
    fit = turns({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)})
    predict = turns({"ours": lambda: ours.predict(X), "theirs": lambda: theirs.predict(X)})
    memory = {who: peak_memory("memory_of", who) for who in ("nothing", "ours", "theirs")}
    above = {who: memory[who] - memory["nothing"] for who in ("ours", "theirs")}
    return [
        row("fit 5,000,000 × 10 against GaussianNB", fit, "≤ 1"),
        row("predict 5,000,000 × 10 against GaussianNB", predict, "≤ 1"),
        row("peak memory above the input, fit and predict (MB)", above, "≤ 1"),
    ]


def memory_of(who: str) -> None:
    """Run in a process of its own: make the input, then fit and predict once."""
    X, y = generated(ROWS, COLUMNS)
    from sklearn.naive_bayes import GaussianNB

    from discreet import NaiveBayes

    if who == "ours":
        NaiveBayes(generated_schema(COLUMNS, ROWS), epsilon=1.0).fit(X, y).predict(X)
    if who == "theirs":
        GaussianNB().fit(X, y).predict(X)
    print(own_peak_memory())


def own_peak_memory() -> float:
    """Peak resident memory (MB) of this process. getrusage would count what the parent had before the program began."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def peak_memory(function: str, *arguments: str) -> float:
    """Peak resident memory (MB) of one function of this file in a fresh process."""
    command = [sys.executable, __file__, "--call", function, *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def linear_growth() -> list[str]:
    """Seconds a million values, for growing rows and columns."""
    from discreet import NaiveBayes

    lines = []
    for rows, columns in ((1_000_000, 10), (2_000_000, 10), (4_000_000, 10), (1_000_000, 20), (1_000_000, 40)):
        X, y = generated(rows, columns)
        model = NaiveBayes(generated_schema(columns, rows), epsilon=1.0)
        seconds = turns({"fit": lambda X=X, y=y, model=model: model.fit(X, y)}, rounds=3)["fit"]
        each = seconds / rows / columns * 1e9
        lines.append(f"| fit {rows:,} × {columns} | {seconds:.3f} s | | {each:.1f} ns a value | linear |")
    return lines


COUNTERPARTS = {
    "NaiveBayes": ("diffprivlib GaussianNB", "DP-EBM"),
    "OneRule": ("diffprivlib DecisionTree", "DP-EBM"),
    "DecisionTree": ("diffprivlib DecisionTree", "DP-EBM"),
    "RandomForest": ("diffprivlib RandomForest(10)", "DP-EBM"),
    "LinearSVM": ("diffprivlib LogisticRegression", "DP-EBM"),
}


def adult_against_rivals(data: str | None) -> list[str]:
    """Fit on adult, numbers as numbers and categories as text, with secure noise, beside the rivals on their one-hot
    matrix, whose making is not counted."""
    if data is None:
        return ["| fit adult against rivals | – | – | set DISCREET_DATA | ≤ 1 |"]
    import discreet
    from discreet import datasets
    from discreet.records.encoding import as_floats

    X, y, schema = datasets.load("adult", data)
    numeric = {column.name for column in schema.columns if column.kind == "numeric"}
    X = {name: as_floats(values) if name in numeric else values for name, values in X.items()}
    fits = {name: partial(getattr(discreet, name)(schema, epsilon=1.0).fit, X, y) for name in COUNTERPARTS}
    rounds: list[dict[str, float]] = []
    for _ in range(3):
        rounds.append(turns(fits, 3))
        for environment, script in (("diffprivlib", "rival_diffprivlib.py"), ("ebm", "rival_ebm.py")):
            rounds[-1] |= json.loads(environments.run(environment, script, "--data", data, "--time", "adult"))
    least = {name: min(each[name] for each in rounds) for name in rounds[0]}
    return [
        row(f"fit adult, {ours} against {theirs}", {"ours": least[ours], "theirs": least[theirs]}, "≤ 1")
        for ours, counterparts in COUNTERPARTS.items()
        for theirs in counterparts
    ]


def parquet_against_sums() -> list[str]:
    """Train on a Parquet file of 20,000,000 x 10 beside DuckDB's own sums over the same columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write_parquet(path, 20_000_000)
        printed = subprocess.run(
            [sys.executable, __file__, "--call", "parquet_times", str(path)], check=True, capture_output=True, text=True
        ).stdout.split()
        sums, by_class, fit = map(float, printed)
        memory = peak_memory("parquet_memory", str(path))
    return [
        row("train on 20,000,000 × 10 Parquet against sum() of each column", {"ours": fit, "theirs": sums}, "≤ 2"),
        row("... against sum() of each column by class", {"ours": fit, "theirs": by_class}, ""),
        f"| ... peak memory of the process | {memory:.0f} MB | | | < 500 MB |",
    ]


def write_parquet(path: Path, rows: int) -> None:
    """The file, written by DuckDB itself."""
    import duckdb

    normal = "sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())"
    columns = ", ".join(f"{normal} + 0.3 * y AS x{i}" for i in range(COLUMNS))
    source = f"(SELECT CAST(floor(random() * 2) AS INTEGER) AS y FROM range({rows}))"
    duckdb.execute(f"COPY (SELECT {columns}, y FROM {source}) TO '{path}' (FORMAT parquet)")


def parquet_times(path: str) -> None:
    """Seconds of sums, of sums by class and of our training, taking turns in one process, connections open."""
    import duckdb

    from discreet import NaiveBayes
    from discreet.sources.parquet import ParquetSource

    names = [f"sum(x{i})" for i in range(COLUMNS)]
    connection, source = duckdb.connect(), ParquetSource(path)
    schema = generated_schema(COLUMNS, 20_000_000)
    relation = f"read_parquet('{path}')"
    plain = f"SELECT {', '.join(names)} FROM {relation}"
    grouped = f"SELECT y, {', '.join(names)} FROM {relation} GROUP BY y"
    seconds = turns(
        {
            "sums": lambda: connection.execute(plain).fetchall(),
            "by class": lambda: connection.execute(grouped).fetchall(),
            "fit": lambda: NaiveBayes(schema, epsilon=1.0).fit_from(source),
        },
        rounds=9,
    )
    print(seconds["sums"], seconds["by class"], seconds["fit"])


def parquet_memory(path: str) -> None:
    """Train once and print the peak memory of the whole process."""
    from discreet import NaiveBayes
    from discreet.sources.parquet import ParquetSource

    NaiveBayes(generated_schema(COLUMNS, 20_000_000), epsilon=1.0).fit_from(ParquetSource(path))
    print(own_peak_memory())


def smooth_sensitivity_against_sort() -> list[str]:
    """Standard deviation of 1,700,000 values beside numpy.sort."""
    from discreet.privacy.smooth_sensitivity import standard_deviation

    values = np.random.default_rng(0).random(1_700_000)
    lines = []
    for adjacency in ("add-remove", "replace-one"):
        for beta in (0.01, 0.1, 1.0):
            run = lambda b=beta, a=adjacency: standard_deviation(values, 0, 1, b, a)  # noqa: E731
            seconds = turns({"ours": run, "theirs": lambda: np.sort(values)}, rounds=3)
            name = f"smooth sensitivity of sd, {adjacency}, β = {beta:g}, against numpy.sort"
            lines.append(row(name, seconds, "≤ 20"))
    return lines


def import_time() -> list[str]:
    """Seconds that a fresh interpreter takes for `import discreet`, and for the first model class."""
    lines = []
    for statement in ("import discreet", "from discreet import NaiveBayes"):
        code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
        runs = [
            float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
            for _ in range(5)
        ]
        bar = "< 1 s" if statement == "import discreet" else "(scikit-learn's own import)"
        lines.append(f"| `{statement}` | {min(runs):.2f} s | | | {bar} |")
    return lines


def row(name: str, values: dict[str, float], bar: str) -> str:
    """One line of the table: ours, theirs, and the ratio."""
    ours, theirs = values["ours"], values["theirs"]
    return f"| {name} | {ours:.3g} | {theirs:.3g} | {ours / theirs:.2f} | {bar} |"


def main() -> None:
    """Measure everything, print the table and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"))
    parser.add_argument("--call", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--only", help="one part: gaussian, growth, adult, parquet, smooth or import")
    options = parser.parse_args()
    if options.call:
        globals()[options.call[0]](*options.call[1:])
        return
    parts: dict[str, Callable[[], list[str]]] = {
        "gaussian": against_gaussian_nb,
        "growth": linear_growth,
        "adult": lambda: adult_against_rivals(options.data),
        "parquet": parquet_against_sums,
        "smooth": smooth_sensitivity_against_sort,
        "import": import_time,
    }
    lines = [line for name, part in parts.items() if options.only in (None, name) for line in part()]
    table = "\n".join(["| what | ours | theirs | ours / theirs | bar |", "|---|---|---|---|---|", *lines])
    print(table)
    if options.only is None:
        RESULTS.write_text(f"{HEADER}\n{table}\n", encoding="utf-8")


HEADER = """# Time and memory

Command: `python benchmarks/speed.py --data DIR`. Seconds unless said otherwise, of the least disturbed run; contestants
take turns in one process on 2 cores. Noise is secure (OpenDP) throughout. Tables are generated except adult.
"""

if __name__ == "__main__":
    main()
