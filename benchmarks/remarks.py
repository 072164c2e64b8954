"""How often models say that a table does not fit its schema, and how often they say so of tables that do.

A generated table of 800 records, of which nine in ten are spoiled in one of the ways that no error can report; then the
public data sets as they are. A remark is post-processing of the published answers (src/discreet/models/remarks.py).
`python benchmarks/remarks.py --data DIR` writes results/remarks.md.
The data are public or generated: these shares are not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import folds
from accuracy import Columns, _numbers_parsed
from discreet import Auto, Categorical, DecisionTree, LinearSVM, NaiveBayes, Numeric, OneRule, RandomForest, Schema

RESULTS = Path(__file__).parent / "results" / "remarks.md"
MODELS: dict[str, Any] = {
    "auto": Auto,
    "naive-bayes": NaiveBayes,
    "decision-tree": DecisionTree,
    "random-forest": RandomForest,
    "one-rule": OneRule,
    "svm": LinearSVM,
}
ROWS = 800
SPOILED = 0.9
"""Share of the records that fall outside the schema."""
MOST_ROWS = 5000
"""Of larger data sets, this many records are drawn: more would only make remarks surer."""
DATASETS = (*folds.DATASETS, "sonar")

Table = dict[str, npt.NDArray[Any]]
SCHEMA = Schema(
    [
        Numeric("age", 17, 90),
        Numeric("dose", 0, 10),
        Numeric("weight", 30, 150),
        Categorical("sex", ["F", "M"]),
        Categorical("ward", ["A", "B", "C"]),
    ],
    target="finding",
    classes=["benign", "malignant"],
    records=ROWS,
)


def generated(seed: int) -> Table:
    """A table that fits the schema."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(55, 15, ROWS), 17, 90)
    ill = age + 10 * rng.normal(size=ROWS) > 60
    return {
        "age": np.round(age).astype(object),
        "dose": np.round(rng.uniform(0, 10, ROWS), 2).astype(object),
        "weight": np.round(rng.normal(80, 12, ROWS)).astype(object),
        "sex": rng.choice(["F", "M"], ROWS).astype(object),
        "ward": rng.choice(["A", "B", "C"], ROWS).astype(object),
        "finding": np.where(ill, "malignant", "benign").astype(object),
    }


def _spelled(column: str, spell: Callable[[Any], Any]) -> Callable[[Table], Table]:
    def spoil(table: Table) -> Table:
        hit = np.arange(ROWS) < SPOILED * ROWS
        values = [spell(value) if h else value for value, h in zip(table[column], hit, strict=True)]
        return {**table, column: np.array(values, dtype=object)}

    return spoil


def _scaled(table: Table) -> Table:
    """All numbers as a scaler leaves them: mean 0 and deviation 1."""
    numbers = {name: table[name].astype(np.float64) for name in SCHEMA.numeric_names}
    scaled = {name: (values - values.mean()) / values.std() for name, values in numbers.items()}
    return {**table, **{name: values.astype(object) for name, values in scaled.items()}}


def _one_class(table: Table) -> Table:
    return {**table, SCHEMA.target: np.full(ROWS, "benign", dtype=object)}


CASES: dict[str, Callable[[Table], Table]] = {
    "classes 0, 1": _spelled("finding", lambda value: "0" if value == "benign" else "1"),
    "sex male, female": _spelled("sex", lambda value: "female" if value == "F" else "male"),
    "decimal commas": _spelled("dose", lambda value: f"{value:.2f}".replace(".", ",")),
    "dose missing": _spelled("dose", lambda _: None),
    "no records": lambda table: {name: values[:0] for name, values in table.items()},
    "one class": _one_class,
    "numbers scaled": _scaled,
    "nothing is wrong": lambda table: table,
}


def _seed(*what: object) -> int:
    return zlib.crc32(repr(what).encode())


def caught(model: str, case: str, draws: int, records: int | None) -> float:
    """The share of fits that remark on a generated table."""
    said = 0
    for draw in range(draws):
        table = CASES[case](generated(draw))
        schema = SCHEMA.replace(records=records)
        fitted = MODELS[model](schema, epsilon=1, random_state=_seed(model, case, draw)).fit(table)
        said += bool(fitted.remarks_)
    return said / draws


def alarms(data: str, name: str, models: list[str], draws: int) -> dict[str, list[list[str]]]:
    """The remarks of each fit on a data set that fits its schema, by model."""
    table = folds.load(data, name)
    rows = np.random.default_rng(_seed(name)).permutation(len(table.y))[:MOST_ROWS]
    schema = Schema.load(Path(data) / "schemas.json", name)
    schema = schema.replace(classes=list(range(len(table.classes))), records=len(rows))
    X, y = Columns(_numbers_parsed(table))[rows], table.y[rows]
    return {
        model: [
            MODELS[model](schema, epsilon=1, random_state=_seed(name, model, draw)).fit(X, y).remarks_
            for draw in range(draws)
        ]
        for model in models
    }


def report(options: argparse.Namespace) -> Iterator[str]:
    """The lines of the results file."""
    yield "# Remarks on tables that do not fit their schema\n"
    given = f"--draws {options.draws} --fits {options.fits} --models {' '.join(options.models)}"
    yield f"Command: `python benchmarks/remarks.py --data DIR {given}`."
    yield f"Share of {options.draws} fits at ε = 1 (add-remove) that remark on a generated table of {ROWS} records,"
    yield "declared in the schema, of which nine in ten (all, where that makes no sense) are spoiled. The last line"
    yield "is of tables that fit. A named model remarks on what its own tables show; `auto` also pays for a look.\n"
    yield f"| table | {' | '.join(options.models)} |"
    yield "|---|" + "---|" * len(options.models)
    for case in CASES:
        shares = [f"{caught(model, case, options.draws, ROWS):.3f}" for model in options.models]
        yield f"| {case} | {' | '.join(shares)} |"
    if not options.datasets:
        return
    yield f"\nRemarks on data sets that fit their schemas: fits with a remark, of {options.fits}"
    yield f"(on {MOST_ROWS} records of larger data sets).\n"
    yield f"| data set | {' | '.join(options.models)} |"
    yield "|---|" + "---|" * len(options.models)
    total = fits = 0
    texts: set[str] = set()
    for name in options.datasets:
        said = alarms(options.data, name, options.models, options.fits)
        counts = [sum(map(bool, each)) for each in said.values()]
        total, fits = total + sum(counts), fits + options.fits * len(counts)
        texts |= {f"{name}: {text.partition(';')[0]}" for each in said.values() for told in each for text in told}
        yield f"| {name} | {' | '.join(map(str, counts))} |"
    yield f"\nTogether {total} of {fits} fits ({total / fits:.2%})."
    yield from (f"- {text}" for text in sorted(texts)[:20])


def main() -> None:
    """Measure, and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--datasets", nargs="*", default=list(DATASETS))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = []
    for line in report(options):
        print(line, flush=True)
        lines.append(line)
    options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
