"""The first figure of Marchioro et al. 2022, ours beside theirs: accuracy against ε, a line for each number of parties.

Decides nothing by a bar: it shows whether our federated models keep up with the published ones.
`python benchmarks/federated_figure.py --data DIR --reference FILE --dataset NAME` made results/federated-NAME.png for
mushroom and adult; FILE has the results of the authors' program, which guarantees nothing.
Public data only: the scores are not private.
"""

from __future__ import annotations

import argparse
import csv
import os
from pathlib import Path
from typing import Any

from discreet import datasets
from discreet.cli.federated_simulate import draw
from discreet.federated.simulate import PublicTable, grid

RESULTS = Path(__file__).parent / "results"
THEIRS = {"house-votes-84": "votes", "mushroom": "mushroom", "adult": "adult"}
EPSILONS = [10 ** (power / 2) for power in range(-4, 3)]


def published(path: Path, name: str) -> list[dict[str, Any]]:
    """The authors' federated cells of a data set, as lines of a simulation."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == THEIRS[name] and row["eps"] != "none"]
    return [
        {
            "protocol": "published",
            "parties": int(float(row["nodes"])),
            "epsilon": float(row["eps"]),
            "accuracy": float(row["test_acc_mean"]),
            "error": float(row["test_acc_std"]) / int(row["iters"]) ** 0.5,
        }
        for row in rows
        if row["kind"] == "federated"
    ]


def main() -> None:
    """Simulate, draw and write benchmarks/results/federated-NAME.png."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"), help="directory with schemas.json")
    parser.add_argument("--reference", type=Path, required=True, help="CSV with the results of the authors' code")
    parser.add_argument("--dataset", default="mushroom", choices=list(THEIRS))
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    theirs = published(options.reference, options.dataset)
    table = PublicTable(*datasets.load(options.dataset, options.data), most_tested=2000)
    many = sorted({line["parties"] for line in theirs})
    lines = [table.run(setting, options.repeats).to_dict() for setting in grid(many, EPSILONS)]
    figure = draw([*lines, *theirs], options.dataset)
    figure.savefig(RESULTS / f"federated-{options.dataset}.png", dpi=110)


if __name__ == "__main__":
    main()
