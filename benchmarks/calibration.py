"""How far the probabilities of our models can be trusted, and those of NaiveBayes at two temperatures.

Decides whether the default temperature lowers the log-loss on most data sets, and shows log-loss and calibration error
of every model by default.
`python benchmarks/calibration.py --data DIR` made results/calibration.md.
The data are public: the scores are exact functions of them and not private. Noise is seeded, so results repeat.
"""

from __future__ import annotations

import argparse
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import folds
from accuracy import Columns, _numbers_parsed
from discreet import Auto, DecisionTree, LinearSVM, NaiveBayes, OneRule, Schema
from selection import Remembering

RESULTS = Path(__file__).parent / "results"
EPSILONS = (0.1, 1.0, 3.0)
BINS = 15
"""Bins of equal width in which confidence and accuracy are compared."""
MODELS = {"auto": Auto, "decision-tree": DecisionTree, "svm": LinearSVM, "naive-bayes": NaiveBayes, "one-rule": OneRule}
FOLDS = 3
"""Folds of each data set on which all models are compared."""
DRAWN = 1500
"""About so many records of a large fold are measured, evenly spread."""

Floats = npt.NDArray[np.float64]


def log_loss(chances: Floats, truth: npt.NDArray[np.int64]) -> float:
    """The mean surprise at the true class, in nats."""
    return float(-np.log(np.maximum(chances[np.arange(len(truth)), truth], 1e-300)).mean())


def calibration_error(chances: Floats, truth: npt.NDArray[np.int64]) -> float:
    """Expected calibration error: the mean distance between confidence and accuracy, over bins of confidence."""
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    parts = [bins == each for each in np.unique(bins)]
    return float(sum(part.mean() * abs(right[part].mean() - confidence[part].mean()) for part in parts))


def measured(options: argparse.Namespace, name: str) -> list[list[float]]:
    """For each epsilon log-loss at temperature 1 and by default, then the calibration errors: means over all runs."""
    table = folds.load(options.data, name)
    schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
    X = Columns(_numbers_parsed(table))
    runs: dict[float, list[list[float]]] = {epsilon: [] for epsilon in options.epsilons}
    for fold in folds.planned_folds(name, table.y, options.folds, 1):
        source, test = Remembering(X[fold.train], table.y[fold.train]), fold.test[:: max(1, len(fold.test) // DRAWN)]
        for epsilon in options.epsilons:
            for draw in range(options.draws):
                seed = zlib.crc32(repr((name, epsilon, fold.fold, draw)).encode())
                model: Any = NaiveBayes(schema, epsilon=epsilon, random_state=seed).fit_from(source)
                joint = model.predict_joint_log_proba(X[test])
                found: list[float] = []
                for score in (log_loss, calibration_error):
                    for temperature in (1.0, model.temperature_):
                        logs = joint / temperature
                        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
                        chances /= chances.sum(axis=1, keepdims=True)
                        found.append(score(chances, table.y[test]))
                runs[epsilon].append(found)
    return [np.mean(found, axis=0).tolist() for found in runs.values()]


def of_models(options: argparse.Namespace) -> list[str]:
    """A table of every model: mean log-loss and calibration error over the data sets, at each epsilon."""
    found: dict[tuple[str, float], list[list[float]]] = {}
    for name in options.datasets:
        table = folds.load(options.data, name)
        schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
        X = Columns(_numbers_parsed(table))
        for fold in folds.planned_folds(name, table.y, 1 if name in folds.LARGE else FOLDS, 1):
            test = fold.test[:: max(1, len(fold.test) // DRAWN)]
            for kind, family in MODELS.items():
                for epsilon in options.epsilons:
                    seed = zlib.crc32(repr((name, kind, epsilon, fold.fold)).encode())
                    model: Any = family(schema, epsilon=epsilon, random_state=seed).fit(
                        X[fold.train], table.y[fold.train]
                    )
                    chances, truth = model.predict_proba(X[test]), table.y[test]
                    scores = [log_loss(chances, truth), calibration_error(chances, truth)]
                    found.setdefault((kind, epsilon), []).append(scores)
        print(name, flush=True)
    lines = ["| model | " + " | ".join(f"ε = {each:g}" for each in options.epsilons) + " |"]
    lines.append("|---" * (len(options.epsilons) + 1) + "|")
    for kind in MODELS:
        means = [np.mean(found[kind, epsilon], axis=0) for epsilon in options.epsilons]
        lines.append(f"| {kind} | " + " | ".join(f"{loss:.3f} ({error:.3f})" for loss, error in means) + " |")
    return lines


def main() -> None:
    """Run everything, then print and write the table."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(epsilons=list(EPSILONS), out=RESULTS / "calibration.md")
    parser.add_argument("--draws", type=int, default=3, help="draws of the noise for each fold (default 3)")
    options = folds.parse(parser)
    head = "| data set | " + " | ".join(f"ε = {epsilon:g}" for epsilon in options.epsilons) + " |"
    lines, cells = [head, "|---" * (len(options.epsilons) + 1) + "|"], []
    for name in options.datasets:
        row = measured(options, name)
        cells += row
        shown = [f"{a:.3f} → {b:.3f} ({c:.3f} → {d:.3f})" for a, b, c, d in row]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
        print(lines[-1], flush=True)
    before, after, *errors = np.mean(cells, axis=0)
    lower, higher = (sum(sign * (b - a) > 1e-9 for a, b, *_ in cells) for sign in (-1, 1))
    lines += [
        "",
        f"Log-loss is lower in {lower} and higher in {higher} of {len(cells)} cells; mean {before:.3f} → {after:.3f}, "
        f"calibration error {errors[0]:.3f} → {errors[1]:.3f}.",
    ]
    print("\n".join(lines[-1:]))
    lines += ["", "## Every model", "", EVERY, "", *of_models(options)]
    options.out.write_text(HEADER.format(draws=options.draws) + "\n".join(lines) + "\n", encoding="utf-8")


EVERY = f"""Mean log-loss over the data sets, and in brackets the mean expected calibration error, of every model by
default: {FOLDS} folds of each data set (one of adult, skin and accelerometer), one draw."""

HEADER = """# Probabilities of naive Bayes

Command: `python benchmarks/calibration.py --data DIR`. Log-loss, and in brackets the expected calibration error, of
`NaiveBayes` at temperature 1 → at its default temperature. Stratified 10-fold (the first five folds of adult, skin and
accelerometer), mean over {draws} draws of the noise for each fold, add-remove, all else default.
Where one column is asked, both are the same. Public data: these scores are not themselves private.

"""

if __name__ == "__main__":
    main()
