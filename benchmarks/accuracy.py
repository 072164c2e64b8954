"""Accuracy of discreet beside its rivals, on the same rows in the same folds.

Decides whether `Auto`, the default, meets the bars (`BARS`) on every data set; the other models are beside it.
Writes results/discreet.csv, results/rivals.csv and results/accuracy.md, which was made by `make bench`, that is, by
`python benchmarks/accuracy.py --data DIR --rivals`. Runs that are in the CSV files are not repeated.
The data are public: the scores are exact functions of them and not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt

import environments
import folds
from discreet import Auto, DecisionTree, LinearSVM, NaiveBayes, OneRule, RandomForest, Schema
from discreet.records.encoding import as_floats
from folds import Fold, Key, Score, Table

RESULTS = Path(__file__).parent / "results"
OURS = "discreet Auto"
UNDECLARED = "discreet Auto, n not declared"
MODELS: dict[str, Callable[..., Any]] = {
    OURS: Auto,
    UNDECLARED: Auto,
    "discreet NaiveBayes": NaiveBayes,
    "discreet NaiveBayes(select=None)": partial(NaiveBayes, select=None),
    "discreet OneRule": OneRule,
    "discreet DecisionTree": DecisionTree,
    "discreet RandomForest": RandomForest,
    "discreet LinearSVM": LinearSVM,
}
MORE_DRAWS = {"discreet NaiveBayes", "discreet NaiveBayes(select=None)", "discreet OneRule"}
"""The others take a fifth of the draws: their fits take longer."""

BARS = {
    "house-votes-84": (0.79, 0.89), "breast-w": (0.89, 0.96), "spect": (0.60, 0.78), "iris": (0.48, 0.90),
    "seeds": (0.52, 0.87), "heart-statlog": (0.56, 0.79), "credit-approval": (0.62, 0.81), "ecoli": (0.38, 0.72),
    "mushroom": (0.90, 0.94), "nursery": (0.88, 0.90), "skin": (0.93, 0.93), "adult": (0.815, 0.823),
    "optdigits": (0.19, 0.77), "accelerometer": (0.45, 0.45),
}  # fmt: skip
"""What a prototype of naive Bayes reached that picked its number of bins by hand, at epsilon 0.1 and 1."""


class Columns:
    """Columns by name that are cut by row numbers, as an array is."""

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self._columns = columns

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        return {name: values[rows] for name, values in self._columns.items()}


class Coded:
    """A model of discreet whose classes are coded 0 ... K-1, as the folds' labels are."""

    def __init__(self, model: str, schema: Schema, epsilon: float, seed: int) -> None:
        self._model: Any = MODELS[model](schema, epsilon=epsilon, random_state=seed)

    def fit(self, X: Any, y: Any) -> Coded:
        """Train."""
        self._model.fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Codes of the predicted classes."""
        return self._model.predict(X)


def run_ours(options: argparse.Namespace) -> None:
    """Append our lines: the mean over several draws of the noise for each fold."""
    done = folds.read_results(options.out)
    for name in options.datasets:
        table = folds.load(options.data, name)
        schema = Schema.load(Path(options.data) / "schemas.json", name)
        coded = schema.replace(classes=list(range(len(table.classes))))
        models = {model: coded.replace(records=None) if model == UNDECLARED else coded for model in MODELS}
        X = Columns(_numbers_parsed(table))
        for fold in folds.planned_folds(name, table.y, options.folds, options.repeats):
            for model, model_schema in models.items():
                for epsilon in options.epsilons:
                    key = Key(name, model, epsilon, fold.repeat, fold.fold)
                    if key not in done:
                        folds.append_result(
                            options.out, key, _averaged(model_schema, X, table.y, fold, key, options.draws)
                        )


def _averaged(schema: Schema, X: Columns, y: Any, fold: Fold, key: Key, draws: int) -> Score:
    draws = max(1, draws // (5 if key.dataset in folds.LARGE else 1) // (1 if key.model in MORE_DRAWS else 5))
    models = [Coded(key.model, schema, key.epsilon, key.seed() + draw) for draw in range(draws)]
    scores = [folds.measure(model, X, y, fold) for model in models]
    return Score(*(mean(values) for values in zip(*scores, strict=True)))


def _numbers_parsed(table: Table) -> dict[str, npt.NDArray[Any]]:
    numeric = {column["name"] for column in table.columns if column["kind"] == "numeric"}
    return {name: as_floats(values) if name in numeric else values for name, values in table.rows.items()}


def table_of(results: Mapping[Key, Score], epsilons: list[float], datasets: list[str]) -> str:
    """A Markdown table for each epsilon: mean accuracy by data set and model."""
    scores: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for key, score in results.items():
        scores[key.dataset, key.model, key.epsilon].append(score.accuracy)
    models = sorted({key.model for key in results}, key=lambda model: (not model.startswith("discreet"), model))
    lines: list[str] = []
    for epsilon in epsilons:
        lines += ["", f"### ε = {epsilon:g}", "", "| data set | bar | " + " | ".join(models) + " |"]
        lines.append("|---" * (len(models) + 2) + "|")
        for name in datasets:
            bar = dict(zip(folds.EPSILONS, BARS[name], strict=True)).get(epsilon)
            cells = [_cell(scores.get((name, model, epsilon)), bar if model == OURS else None) for model in models]
            lines.append(f"| {name} | {'' if bar is None else f'{bar:.3g}'} | " + " | ".join(cells) + " |")
    return "\n".join(lines[1:])


def _cell(values: list[float] | None, bar: float | None) -> str:
    """Mean and standard error; our own cells say whether the bar is met."""
    if not values:
        return "–"
    error = np.std(values) / np.sqrt(len(values))
    mark = "" if bar is None else (" ✓" if mean(values) >= bar else " ✗")
    return f"{mean(values):.3f} ± {error:.3f}{mark}"


def main() -> None:
    """Run what is not yet in the results files, then print and write the table."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(out=RESULTS / "discreet.csv")
    parser.add_argument("--draws", type=int, default=10, help="draws of our noise for each fold (default 10)")
    parser.add_argument("--rivals", action="store_true", help="build the rivals' environments and run them too")
    options = folds.parse(parser)
    if options.rivals:
        for environment, script in (("diffprivlib", "rival_diffprivlib.py"), ("ebm", "rival_ebm.py")):
            environments.run(environment, script, "--data", options.data)
    run_ours(options)
    results = {**folds.read_results(options.out), **folds.read_results(folds.RESULTS)}
    text = table_of(results, options.epsilons, options.datasets)
    (RESULTS / "accuracy.md").write_text(f"{HEADER}\n{text}\n", encoding="utf-8")
    print(text)


HEADER = """# Accuracy

Command: `python benchmarks/accuracy.py --data DIR --rivals`. Stratified 10-fold (5 repeats below 1,000 rows, the first
five folds of adult, skin and accelerometer), the same folds for all; ours is the mean over ten draws of the noise for
naive Bayes and one rule, two for the others, and fewer on the three large sets; the rivals' is one draw. Add-remove,
defaults only. ✓ and ✗: whether `Auto`, our default, meets the bar, which a prototype of naive Bayes reached that picked
its number of bins by hand. diffprivlib's GaussianNB and RandomForest exceed their own ε; DP-EBM is (ε, 1e-6)-DP and for
two classes only. Public data: these scores are not themselves private.
"""

if __name__ == "__main__":
    main()
