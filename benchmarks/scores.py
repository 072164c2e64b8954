"""How wide the interval of a published accuracy is: with the confusion matrix, and with all of ε for the accuracy.

Tables are made up, of 2,000 records and K classes, and the model is right for about four of five of them. Shown are
mean widths of the interval for the accuracy on these records (95 %) over `DRAWS` draws of noise, and how often it holds
the exact accuracy; then the same for the balanced accuracy of records like these. The data are made up; nothing of this
is private.

    PYTHONPATH=src OMP_NUM_THREADS=1 python benchmarks/scores.py > benchmarks/results/scores.md
"""

from __future__ import annotations

import numpy as np

from discreet import Categorical, NaiveBayes, Schema, evaluate

RECORDS, RIGHT, DRAWS = 2000, 0.8, 100


def table(classes: int, seed: int) -> tuple[Schema, dict[str, np.ndarray], np.ndarray]:
    """A column that names the class in four of five records."""
    rng = np.random.default_rng(seed)
    names = [f"k{place}" for place in range(classes)]
    true = rng.integers(classes, size=RECORDS)
    told = np.where(rng.random(RECORDS) < RIGHT, true, rng.integers(classes, size=RECORDS))
    schema = Schema([Categorical("sign", names)], "kind", names, records=RECORDS)
    return schema, {"sign": np.array(names)[told]}, np.array(names)[true]


def main() -> None:
    """Print the table."""
    print("# Intervals of published accuracies\n")
    print(f"{RECORDS:,} records, {DRAWS} draws of noise; `python benchmarks/scores.py`.\n")
    print("| classes | ε | only the accuracy | with the matrix | ratio | holds | balanced accuracy, width | holds |")
    print("|---|---|---|---|---|---|---|---|")
    for classes in (2, 3, 10):
        schema, columns, labels = table(classes, 1)
        model = NaiveBayes(schema, epsilon=100, random_state=0).fit(*table(classes, 0)[1:])
        exact = evaluate(model, columns, labels, epsilon=float("inf"))
        for epsilon in (0.1, 1.0):
            options = {"epsilon": epsilon}
            every = [evaluate(model, columns, labels, random_state=seed, **options) for seed in range(DRAWS)]
            alone = [
                evaluate(model, columns, labels, random_state=seed, only="accuracy", **options) for seed in range(DRAWS)
            ]
            first, second = (float(np.mean([each.upper - each.lower for each in runs])) for runs in (alone, every))
            holds = np.mean([each.lower <= exact.value <= each.upper for each in every])
            balanced, truth = (
                [each.confusion.balanced_accuracy for each in every],
                exact.confusion.balanced_accuracy.value,
            )
            width = np.mean([each.upper - each.lower for each in balanced])
            within = np.mean([each.lower <= truth <= each.upper for each in balanced])
            told = f"{first:.3f} | {second:.3f} | {second / first:.2f} | {holds:.2f} | {width:.3f} | {within:.2f}"
            print(f"| {classes} | {epsilon:g} | {told} |")


if __name__ == "__main__":
    main()
