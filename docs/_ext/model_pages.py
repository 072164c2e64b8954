"""Makes what the pages of models show: a picture of each, and how accurate it was in the committed benchmark."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
MADE = HERE / "_made" / "models"
FRONTIER = HERE.parent / "benchmarks" / "results" / "frontier.csv"
EPSILONS = ("0.01", "0.1", "0.5", "1", "3")

PICTURES = {
    "auto": ("Auto", "breast-cancer", {}),
    "naive-bayes": ("NaiveBayes", "iris", {}),
    "one-rule": ("OneRule", "iris", {}),
    "decision-tree": ("DecisionTree", "iris", {}),
    "random-forest": ("RandomForest", "breast-cancer", {}),
    "svm": ("LinearSVM", "iris", {}),
}
"""Name of the page: model, public data set, parameters."""


def draw() -> None:
    """Fit every model on public data with a seed, and draw it."""
    import discreet

    for page, (name, dataset, parameters) in PICTURES.items():
        path = MADE / f"{page}.png"
        if not path.exists():
            X, y, schema = discreet.datasets.load(dataset)
            model = getattr(discreet, name)(schema, epsilon=1, random_state=0, **parameters).fit(X, y)
            model.plot().savefig(path, dpi=110)


def accuracies() -> dict[str, str]:
    """Per model a table of its accuracy, data set by ε, from the benchmark of the frontier."""
    with FRONTIER.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["setting"] == "declared"]
    tables = {}
    for model in sorted({row["model"] for row in rows}):
        cells = {(row["dataset"], row["epsilon"]): float(row["mean"]) for row in rows if row["model"] == model}
        head = ["data set", *(f"ε = {epsilon}" for epsilon in EPSILONS)]
        lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for dataset in sorted({name for name, _ in cells}):
            values = [f"{cells[dataset, each]:.3f}" if (dataset, each) in cells else "" for each in EPSILONS]
            lines.append(f"| {dataset} | " + " | ".join(values) + " |")
        tables[model] = "\n".join(lines)
    return tables


def make(_app: Any) -> None:
    """Write pictures and tables for the pages to include."""
    MADE.mkdir(parents=True, exist_ok=True)
    draw()
    for model, table in accuracies().items():
        text = (
            f"{table}\n\nShare of test records classified correctly, add-remove, number of records declared; measured "
            "by `benchmarks/frontier.py` on public data, so these scores are not themselves private "
            "({doc}`all models and rivals </_made/benchmarks/frontier>`).\n"
        )
        (MADE / f"{model}.txt").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", make, priority=2)
    return {"version": "1", "parallel_read_safe": True}
