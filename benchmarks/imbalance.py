"""A class of 5 %: how much of it is found, with and without weights of the classes.

Generated tables of 20,000 records with ten columns (six numbers, of which three tell something, and four categories, of
which two do): the rare class is shifted by about one deviation, so that no model can find all of it. Each model is
fitted on one table and tested on another one of the same law. The data are made up; scores are not private.

    PYTHONPATH=src OMP_NUM_THREADS=1 python benchmarks/imbalance.py > benchmarks/results/imbalance.md
"""

from __future__ import annotations

import sys

import numpy as np

from discreet import Auto, Categorical, DecisionTree, LinearSVM, NaiveBayes, Numeric, RandomForest, Schema

RECORDS, RARE, DRAWS = 20_000, 0.05, 10
MODELS = (NaiveBayes, DecisionTree, LinearSVM, Auto, RandomForest)
SHIFTS = {"dose": 1.2, "age": 0.8, "pulse": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}


def schema() -> Schema:
    """What is public."""
    numbers = [Numeric(name, -4, 4) for name in SHIFTS]
    texts = [Categorical(name, list("abcd")) for name in ("ward", "group", "u", "v")]
    return Schema([*numbers, *texts], "outcome", ["common", "rare"], records=RECORDS)


def draw(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """A table and its labels."""
    rng = np.random.default_rng(seed)
    rare = rng.random(RECORDS) < RARE
    columns = {name: rng.normal(size=RECORDS) + shift * rare for name, shift in SHIFTS.items()}
    even, tilted = np.full(4, 0.25), np.array([0.55, 0.25, 0.1, 0.1])
    for name in ("ward", "group", "u", "v"):
        law = tilted if name in ("ward", "group") else even
        codes = np.where(rare, rng.choice(4, RECORDS, p=law), rng.choice(4, RECORDS, p=even))
        columns[name] = np.array(list("abcd"))[codes]
    return columns, np.where(rare, "rare", "common")


def measure(family: type, epsilon: float, weight: str | None, seed: int) -> tuple[float, float, float, float]:
    """Recall and precision of the rare class, balanced accuracy and accuracy on another table."""
    model = family(schema(), epsilon=epsilon, class_weight=weight, random_state=seed).fit(*draw(2 * seed))
    columns, labels = draw(2 * seed + 1)
    found, rare = model.predict(columns) == "rare", labels == "rare"
    recall, specificity = float(found[rare].mean()), float((~found[~rare]).mean())
    precision = float(rare[found].mean()) if found.any() else 0.0
    return recall, precision, (recall + specificity) / 2, float((found == rare).mean())


def main() -> None:
    """Print the table."""
    print("# A class of 5 % of 20,000 records\n")
    print(f"Mean and lowest of {DRAWS} draws. Base rate of the class: {RARE}; `python benchmarks/imbalance.py`.\n")
    print("| model | ε | class_weight | recall | lowest | precision | lowest | balanced accuracy | accuracy |")
    print("|---|---|---|---|---|---|---|---|---|")
    for epsilon in (0.1, 1.0):
        for family in MODELS:
            for weight in (None, "balanced"):
                runs = np.array([measure(family, epsilon, weight, seed) for seed in range(DRAWS)])
                mean, least = runs.mean(axis=0), runs.min(axis=0)
                told = (
                    f"{mean[0]:.2f} | {least[0]:.2f} | {mean[1]:.2f} | {least[1]:.2f} | {mean[2]:.3f} | {mean[3]:.3f}"
                )
                print(f"| {family.__name__} | {epsilon:g} | {weight} | {told} |")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
