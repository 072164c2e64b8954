"""Data sets, folds and result rows that every benchmark shares; a module, not a command.

All contestants must see the same rows in the same folds, or their accuracies cannot be compared. Rivals run in their
own environments with other versions of numpy and scikit-learn, so this module needs only these two and the standard
library, and nothing of `discreet`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import time
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

SMALL = ("house-votes-84", "breast-w", "spect", "iris", "seeds", "heart-statlog", "credit-approval", "ecoli")
MEDIUM = ("mushroom", "nursery", "optdigits")
LARGE = ("adult", "skin", "accelerometer")
DATASETS = SMALL + MEDIUM + LARGE
EPSILONS = (0.1, 1.0)
N_FOLDS = 10
FOLDS_OF_LARGE = 5
RESULTS = Path(__file__).parent / "results" / "rivals.csv"

Column = dict[str, Any]
Rows = dict[str, npt.NDArray[np.str_]]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Table(NamedTuple):
    """A data set as text, with what is publicly known of its attributes; it unpacks as a tuple."""

    columns: list[Column]
    rows: Rows
    y: Integers
    classes: list[str]


class Fold(NamedTuple):
    """Row numbers to train and test on, and which fold of which repeat they are."""

    repeat: int
    fold: int
    train: Integers
    test: Integers


class Key(NamedTuple):
    """What tells one line of a results file from all others."""

    dataset: str
    model: str
    epsilon: float
    repeat: int
    fold: int

    def seed(self) -> int:
        """A seed of its own for each line: shared ones would give every data set the same lucky noise."""
        return zlib.crc32(repr(tuple(self)).encode())


class Score(NamedTuple):
    """What is measured of one model fitted once."""

    accuracy: float
    fit_seconds: float
    predict_seconds: float


class Classifier(Protocol):
    """The part of a scikit-learn classifier that is timed."""

    def fit(self, X: Any, y: Any) -> Any: ...

    def predict(self, X: Any) -> Any: ...


# From a table (for its public part), epsilon and the seed of the noise.
Build = Callable[[Table, float, "int | None"], Classifier]


def load(directory: str | Path, name: str) -> Table:
    """Read a data set as text; a predefined split is not an attribute and is left out."""
    schema = json.loads((Path(directory) / "schemas.json").read_text(encoding="utf-8"))[name]
    target, left_out = schema["target"], {schema["target"], schema["split_column"]}
    with (Path(directory) / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        header, *records = csv.reader(file)
    values = dict(zip(header, zip(*records, strict=True), strict=True))
    columns = [column for column in schema["columns"] if column["name"] not in left_out]
    classes = next(column["categories"] for column in schema["columns"] if column["name"] == target)
    codes = {label: code for code, label in enumerate(classes)}
    y = np.array([codes[label] for label in values[target]], dtype=np.int64)
    rows = {column["name"]: np.array(values[column["name"]]) for column in columns}
    return Table(columns, rows, y, classes)


def folds(y: Integers, repeat: int) -> list[tuple[Integers, Integers]]:
    """Train and test rows of each of the ten stratified folds; `repeat` seeds the shuffle."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
    with warnings.catch_warnings():
        # ecoli and nursery have classes rarer than the number of folds; that is as it should be.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((len(y), 1)), y))


def repeats(n_rows: int) -> int:
    """Small data sets are repeated, as their folds are too few rows to tell models apart."""
    return 5 if n_rows < 1000 else 1


def planned_folds(name: str, y: Integers, n_folds: int | None = None, n_repeats: int | None = None) -> Iterator[Fold]:
    """Every fold to run: all of them, the first five on large sets, or the first that the limits allow."""
    n_folds = n_folds or (FOLDS_OF_LARGE if name in LARGE else N_FOLDS)
    for repeat in range(min(repeats(len(y)), n_repeats or N_FOLDS)):
        for fold, (train, test) in enumerate(folds(y, repeat)):
            if fold < n_folds:
                yield Fold(repeat, fold, train, test)


def numbers(column: Column, values: npt.NDArray[np.str_]) -> Floats:
    """Parse a numeric column, clipped to its public bounds; a missing number is the midpoint."""
    lower, upper = float(column["lower"]), float(column["upper"])
    parsed = np.where(values == "?", str((lower + upper) / 2), values).astype(np.float64)
    return np.clip(parsed, lower, upper)


def category_codes(column: Column, values: npt.NDArray[np.str_]) -> Integers:
    """Position of each value in the public list of categories; -1 when it is not listed."""
    codes = {category: code for code, category in enumerate(column["categories"])}
    return np.array([codes.get(value, -1) for value in values.tolist()], dtype=np.int64)


def rival_matrix(columns: list[Column], rows: Rows) -> Floats:
    """Encode with public knowledge only: one-hot categories, numbers scaled to [0, 1] by their bounds.

    A row has at most one 1 per categorical column and at most 1 per numeric one, so its L2 norm is at most
    the square root of the number of columns: a bound that a rival may be told.
    """
    parts: list[Floats] = []
    for column in columns:
        values = rows[column["name"]]
        if column["kind"] == "numeric":
            lower, upper = float(column["lower"]), float(column["upper"])
            parts.append((numbers(column, values)[:, None] - lower) / (upper - lower))
        else:
            known = np.arange(len(column["categories"]))
            parts.append((category_codes(column, values)[:, None] == known).astype(np.float64))
    return np.hstack(parts)


def measure(model: Classifier, X: Any, y: Integers, fold: Fold) -> Score:
    """Accuracy on the test rows, seconds to fit and seconds to predict."""
    X_train, y_train, X_test = X[fold.train], y[fold.train], X[fold.test]
    start = time.perf_counter()
    model.fit(X_train, y_train)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    end = time.perf_counter()
    return Score(float(np.mean(np.asarray(predicted) == y[fold.test])), fitted - start, end - fitted)


def read_results(path: Path) -> dict[Key, Score]:
    """All lines measured so far; none when there is no file yet."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    return {
        Key(dataset, model, float(epsilon), int(repeat), int(fold)): Score(*map(float, measured))
        for dataset, model, epsilon, repeat, fold, *measured in lines
    }


def append_result(path: Path, key: Key, score: Score) -> None:
    """Write one line at once, so that an interrupted run loses nothing and can be resumed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(Key._fields + Score._fields)
        writer.writerow([*key, *(f"{value:.6f}" for value in score)])


def run(name: str, table: Table, X: Any, models: Mapping[str, Build], options: argparse.Namespace) -> None:
    """Append a line for each model, epsilon and fold that the results file does not have."""
    done = read_results(options.out)
    for fold in planned_folds(name, table.y, options.folds, options.repeats):
        for model, build in models.items():
            for epsilon in options.epsilons:
                key = Key(name, model, epsilon, fold.repeat, fold.fold)
                if key not in done:
                    append_result(options.out, key, measure(build(table, epsilon, key.seed()), X, table.y, fold))


def fit_seconds(table: Table, X: Any, models: Mapping[str, Build], runs: int) -> dict[str, float]:
    """Least seconds of fitting each model on all rows at epsilon 1, taking turns; encoding is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(runs):
        for name, build in models.items():
            classifier = build(table, 1.0, None)
            start = time.perf_counter()
            classifier.fit(X, table.y)
            seconds[name].append(time.perf_counter() - start)
    return {name: min(values) for name, values in seconds.items()}


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; without data there is nothing to run."""
    options = parser.parse_args()
    if options.data is None:
        parser.error("no data directory: set DISCREET_DATA or give --data")
    return options


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Options that all benchmarks share; the data directory also comes from DISCREET_DATA."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"), help="directory with schemas.json")
    parser.add_argument("--out", type=Path, default=RESULTS, help="CSV to append to; rows in it are not run again")
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS), metavar="NAME")
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--folds", type=int, help="run only this many folds of each repeat, the first ones")
    parser.add_argument("--repeats", type=int, help="run only this many repeats, the first ones")
    return parser
