"""Accuracy and speed of diffprivlib's classifiers on the shared folds.

Adds its lines to results/rivals.csv, which benchmarks/accuracy.py compares with ours. It runs in the environment
"diffprivlib" of `environments.py`:

    python benchmarks/rival_diffprivlib.py --data DIRECTORY
    python benchmarks/rival_diffprivlib.py --data DIRECTORY --time adult

diffprivlib turns leaks into a `PrivacyLeakWarning`: when bounds, the data's norm or the classes are not given
it reads them off the data. All that it accepts is given here, from the public schema, and what it still says
is silenced. GaussianNB and LogisticRegression have no argument for the classes: they read these off the
labels without a warning. The epsilons are what the library claims. Those of GaussianNB and RandomForest are
refuted: GaussianNB, for one, forces its noisy class counts to sum to the exact number of rows, so that one
record more is seen for certain. Their accuracy is thus not that of a private model.

Noise is seeded, so that results can be repeated; `--time` uses the secure default.
"""

from __future__ import annotations

import json
import math
import warnings

from diffprivlib.accountant import BudgetAccountant
from diffprivlib.models import DecisionTreeClassifier, GaussianNB, LogisticRegression, RandomForestClassifier
from diffprivlib.utils import PrivacyLeakWarning
from sklearn.exceptions import ConvergenceWarning

from folds import Build, Classifier, Table, arguments, fit_seconds, load, parse, rival_matrix, run

UNIT = (0.0, 1.0)


def gaussian_naive_bayes(table: Table, epsilon: float, seed: int | None) -> Classifier:
    """Each fit gets its own accountant, as the default is shared by the whole process."""
    model: Classifier = GaussianNB(epsilon=epsilon, bounds=UNIT, random_state=seed, accountant=BudgetAccountant())
    return model


def logistic_regression(table: Table, epsilon: float, seed: int | None) -> Classifier:
    """The norm is the public bound of `rival_matrix`."""
    norm = math.sqrt(len(table.columns))
    model: Classifier = LogisticRegression(
        epsilon=epsilon, data_norm=norm, random_state=seed, accountant=BudgetAccountant()
    )
    return model


def decision_tree(table: Table, epsilon: float, seed: int | None) -> Classifier:
    """A tree of random splits with private leaves."""
    classes = range(len(table.classes))
    model: Classifier = DecisionTreeClassifier(
        epsilon=epsilon, bounds=UNIT, classes=classes, random_state=seed, accountant=BudgetAccountant()
    )
    return model


def random_forest(table: Table, epsilon: float, seed: int | None) -> Classifier:
    """Ten such trees, each on its own part of the rows; unshuffled parts of a sorted file have one class."""
    classes = range(len(table.classes))
    model: Classifier = RandomForestClassifier(
        10, epsilon=epsilon, bounds=UNIT, classes=classes, shuffle=True, random_state=seed,
        accountant=BudgetAccountant(),
    )  # fmt: skip
    return model


MODELS: dict[str, Build] = {
    "diffprivlib GaussianNB": gaussian_naive_bayes,
    "diffprivlib LogisticRegression": logistic_regression,
    "diffprivlib DecisionTree": decision_tree,
    "diffprivlib RandomForest(10)": random_forest,
}


def main() -> None:
    """Measure accuracy on all data sets, or the fit time on one."""
    parser = arguments(__doc__)
    parser.add_argument("--time", metavar="NAME", help="print the fit times on this set instead, as JSON")
    parser.add_argument("--runs", type=int, default=5, help="fits of each that --time takes the least of")
    options = parse(parser)
    for category in (PrivacyLeakWarning, ConvergenceWarning):
        warnings.simplefilter("ignore", category)
    if options.time:
        table = load(options.data, options.time)
        X = rival_matrix(table.columns, table.rows)
        print(json.dumps(fit_seconds(table, X, MODELS, options.runs)))
        return
    for name in options.datasets:
        table = load(options.data, name)
        run(name, table, rival_matrix(table.columns, table.rows), MODELS, options)


if __name__ == "__main__":
    main()
