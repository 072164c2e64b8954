"""Rules found by bees: accuracy beside the thesis that proposed them (Zorarpacı 2019), on clear and perturbed records.

Decides whether our learners reproduce the accuracies of the thesis, and what local privacy costs them.
`python benchmarks/bees.py --data DIR` made results/bees.csv: one line per fit, written at once, so that an interrupted
run is resumed. benchmarks/bees_report.py makes the report from it.
The data are public and read without noise: no accuracy here is private.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import folds
from discreet import LocalPerturbation, Numeric, Schema
from discreet.models.bees import search
from discreet.models.bees.bee_rules import BeeRules
from discreet.models.bees.rules import encode, weighted_laplace
from discreet.records.encoding import as_floats
from discreet.records.tables import Table

RESULTS = Path(__file__).parent / "results" / "bees.csv"
LEARNERS = ("one-rule", "wlapms", "sequential")
SOME_FOLDS = 2
"""Number of folds on perturbed records: sequential covering is slow on noisy records."""


class Published(NamedTuple):
    """One data set of the thesis: rules of a class by "wlapms", and weights alpha (beta = 1 - alpha) by learner and
    epsilon, infinity for clear records."""

    n_rules: int
    alpha: dict[str, dict[float, float]]


def weights(clear: tuple[float, float], one_rule: tuple[float, ...], wlapms: tuple[float, ...]) -> Any:
    """Weights by learner and epsilon: for clear records, then for epsilon 1, 2 and 3."""
    epsilons = (float("inf"), 1.0, 2.0, 3.0)
    both = {"one-rule": (clear[0], *one_rule), "wlapms": (clear[1], *wlapms)}
    return {learner: dict(zip(epsilons, alphas, strict=True)) for learner, alphas in both.items()}


THESIS = {
    "breast-w": Published(3, weights((0.4, 0.4), (0.2, 0.2, 0.2), (0.2, 0.2, 0.2))),
    "ecoli": Published(2, weights((0.4, 0.4), (0.2, 0.3, 0.3), (0.2, 0.3, 0.3))),
    "heart-statlog": Published(4, weights((0.3, 0.3), (0.1, 0.2, 0.3), (0.1, 0.1, 0.1))),
    "iris": Published(6, weights((0.4, 0.4), (0.3, 0.3, 0.3), (0.3, 0.3, 0.3))),
    "sonar": Published(10, weights((0.3, 0.05), (0.1, 0.1, 0.2), (0.05, 0.05, 0.05))),
}
"""The settings of the thesis: Table 5.9 and the text around it."""

PLAIN = {"resolve": "best", "default": "majority"}
"""The plainest way to classify: the most precise matching rule decides; if there is none, the largest class."""
SETTINGS: dict[str, dict[str, Any]] = {
    "ours": {},
    "unpolished": {"polish": False},
    "literal": {"polish": False, **PLAIN},
}
"""Our defaults; the same without polishing; the letter of the thesis (an empty rule has a worth, too) and `PLAIN`."""


class Key(NamedTuple):
    """What tells one line of the results from all others. Noise: none, "thesis" (not private) or "local" (private)."""

    dataset: str
    learner: str
    setting: str
    noise: str
    epsilon: float
    repeat: int
    fold: int

    def seed(self) -> int:
        """A seed of its own for each line."""
        return folds.Key(self.dataset, "-".join(self[1:4]), self.epsilon, self.repeat, self.fold).seed()


class Run(NamedTuple):
    """What one fold gave. `plain`: accuracy with `PLAIN` decisions. `matched`: share of the test records that a rule
    matches; the next two are among those: accuracy, and the share for which some matching rule names the right class,
    whatever the others name."""

    accuracy: float
    plain: float
    matched: float
    accuracy_matched: float
    any_right: float
    rules: int
    conditions: float
    cpu_seconds: float


class DataSet:
    """A data set with coded classes and parsed numbers."""

    def __init__(self, directory: str, name: str) -> None:
        table = folds.load(directory, name)
        schema = Schema.load(Path(directory) / "schemas.json", name)
        self.name, self.y = name, table.y
        self.numeric = {column.name for column in schema.columns if isinstance(column, Numeric)}
        self.schema = schema.replace(classes=list(range(len(table.classes))), adjacency="replace-one")
        self.columns = {key: as_floats(v) if key in self.numeric else v for key, v in table.rows.items()}

    def rows(self, chosen: Any) -> dict[str, Any]:
        """Some of the rows."""
        return {name: values[chosen] for name, values in self.columns.items()}

    def model(self, key: Key, schema: Schema) -> BeeRules:
        """The learner with the settings of the thesis for this data set."""
        alpha = THESIS[self.name].alpha.get(key.learner, {}).get(key.epsilon, 0.4)
        return BeeRules(
            schema, strategy=key.learner, n_rules=THESIS[self.name].n_rules, alpha=alpha, beta=1 - alpha,
            random_state=key.seed(), **SETTINGS[key.setting],
        )  # fmt: skip


def perturbed(data: DataSet, X: dict[str, Any], y: Any, key: Key) -> tuple[Schema, dict[str, Any], Any]:
    """Training records as the learner gets them, and the schema that holds them."""
    if key.noise == "local":
        local = LocalPerturbation(data.schema, epsilon=key.epsilon, random_state=key.seed())
        return data.schema, *local.fit_resample(X, y)
    if key.noise == "none":
        return data.schema, X, y
    rng = np.random.default_rng(key.seed())
    noisy, columns = dict(X), []
    for column in data.schema.columns:
        if not isinstance(column, Numeric):
            columns.append(column)
            continue
        # Algorithm 4.1: the range is read off the data, and each value has all of epsilon to itself
        values = np.nan_to_num(X[column.name], nan=float(np.nanmean(X[column.name])))
        noise = rng.laplace(0, (values.max() - values.min()) / key.epsilon, len(values))
        noisy[column.name] = values + noise
        lower, upper = noisy[column.name].min(), noisy[column.name].max()
        columns.append(Numeric(column.name, min(lower, float(column.lower)), max(upper, float(column.upper))))
    return data.schema.replace(columns=columns), noisy, y


def literal_laplace(inside: int, active: int) -> search.Quality:
    """Weighted Laplace by its formula, also for a rule that covers nothing."""
    S, N = inside.bit_count(), active.bit_count() - inside.bit_count()
    return lambda p, n: weighted_laplace(p, n, S, N)


def measure(data: DataSet, key: Key, train: Any, test: Any) -> Run:
    """Fit on the training rows, perturbed as the key says, and score on the test rows as they are."""
    schema, X, y = perturbed(data, data.rows(train), data.y[train], key)
    model, ours = data.model(key, schema), search._laplace
    search._laplace = literal_laplace if key.setting == "literal" else ours
    try:
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    finally:
        search._laplace = ours
    labels, rows = data.y[test], data.rows(test)
    encoded = encode(Table(rows, schema), schema)
    matching = np.array([rule.violations(encoded, len(labels)) == 0 for rule in model.rules_]).reshape(-1, len(labels))
    names_it = np.array([[rule.label] for rule in model.rules_]).reshape(-1, 1) == labels
    matched, right = matching.any(axis=0), model.predict(rows) == labels
    any_right = (matching & names_it).any(axis=0)
    among = [float(each[matched].mean()) if matched.any() else float("nan") for each in (right, any_right)]
    conditions = np.mean([len(rule.conditions) for rule in model.rules_]) if model.rules_ else 0.0
    plain = float(np.mean(model.set_params(**PLAIN).predict(rows) == labels))
    measured = float(right.mean()), plain, float(matched.mean()), *among
    return Run(*measured, len(model.rules_), float(conditions), seconds)


def plan(options: argparse.Namespace) -> Iterator[Key]:
    """Every line: a first run of each setting on clear records, perturbed records, then further runs of ours."""
    clear = (float("inf"),)
    parts: list[tuple[str, str, tuple[float, ...], range, int]] = [
        *((setting, "none", clear, range(1), folds.N_FOLDS) for setting in SETTINGS),
        ("literal", "thesis", (1.0, 2.0, 3.0), range(1), SOME_FOLDS),
        ("ours", "local", (1.0, 2.0, 3.0, 20.0), range(1), SOME_FOLDS),
        *(("ours", "none", clear, range(repeat, repeat + 1), folds.N_FOLDS) for repeat in range(1, options.repeats)),
    ]
    for setting, noise, epsilons, repeats, n_folds in parts:
        for name, learner, epsilon in product(options.datasets, LEARNERS, epsilons):
            for repeat, fold in product(repeats, range(n_folds)):
                yield Key(name, learner, setting, noise, epsilon, repeat, fold)


def read_results(path: Path) -> dict[Key, Run]:
    """All lines measured so far; none when there is no file yet."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    width = len(Key._fields)
    return {
        Key(*line[:4], float(line[4]), int(line[5]), int(line[6])): Run(*map(float, line[width:]))  # type: ignore[arg-type]
        for line in lines
    }


def append_result(path: Path, key: Key, run: Run) -> None:
    """Write one line at once, so that an interrupted run loses nothing."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(Key._fields + Run._fields)
        writer.writerow([*key, *(f"{value:.4g}" for value in run)])


def main() -> None:
    """Run what the results do not hold."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"), help="directory with schemas.json")
    parser.add_argument("--datasets", nargs="+", default=list(THESIS), choices=list(THESIS), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=10, help="runs of 10-fold cross-validation on clear records")
    parser.add_argument("--out", type=Path, default=RESULTS, help="CSV to append to; lines in it are not run again")
    options = folds.parse(parser)
    done = read_results(options.out)
    data = {name: DataSet(options.data, name) for name in options.datasets}
    for key in plan(options):
        if key not in done:
            train, test = folds.folds(data[key.dataset].y, key.repeat)[key.fold]
            append_result(options.out, key, measure(data[key.dataset], key, train, test))


if __name__ == "__main__":
    main()
