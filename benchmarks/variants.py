"""The linear model with other constants of its plan, on the same folds: for the benchmarks that decide these constants.

A variant is a dictionary: names in capitals are constants of models/linear/plan.py, others are keywords of LinearSVM.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from advise_cells import Table, chosen, table
from discreet import LinearSVM
from discreet.models.linear import plan

Variants = Mapping[str, Mapping[str, Any]]
Cell = tuple[str, str, float]
"""A part of the data sets, a data set and an epsilon."""
RECORDS = 3000
"""Tables of at least so many records get a part of the draws."""


def accuracies(variants: Variants, name: str, directory: str, epsilon: float, draws: int, fewer: int) -> list[float]:
    """The mean accuracy of each variant on a data set."""
    return compared(variants, table(name, directory), (name,), epsilon, draws, fewer)


def compared(
    variants: Variants, given: Table, named: tuple[Any, ...], epsilon: float, draws: int, fewer: int
) -> list[float]:
    """The mean accuracy of each variant, with the same folds and seeds; `fewer` draws where there are many records."""
    usual = {constant: getattr(plan, constant) for each in variants.values() for constant in each if constant.isupper()}
    means = []
    for variant in variants.values():
        options = {keyword: value for keyword, value in variant.items() if not keyword.isupper()}
        found = []
        try:
            for constant, value in usual.items():
                setattr(plan, constant, variant.get(constant, value))
            for draw in range(draws if len(given.y) < RECORDS else fewer):
                train, test = given.folds[draw % len(given.folds)]
                seed = zlib.crc32(repr((*named, epsilon, draw)).encode())
                model = LinearSVM(given.schema, epsilon=epsilon, random_state=seed, **options)
                X = {column: given.X[column] for column in given.schema.names}
                model.fit(chosen(X, train), given.y[train])
                found.append(float(np.mean(np.asarray(model.predict(chosen(X, test))) == given.y[test])))
        finally:
            for constant, value in usual.items():
                setattr(plan, constant, value)
        means.append(float(np.mean(found)))
    return means


def directories(given: Iterable[str]) -> dict[str, str]:
    """Where each data set is."""
    return {name: each for each in given for name in json.loads((Path(each) / "schemas.json").read_text())}


def line(*entries: str) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(entries)} |"


def heading(title: str, about: str | None) -> str:
    """The title and what the benchmark says of itself, but for its first line."""
    text = (about or "").split("\n", 2)[2]
    return f"# {title}\n\n{text}"


def head(*entries: str) -> str:
    """The first two rows of a Markdown table."""
    return f"{line(*entries)}\n{line(*['---'] * len(entries))}"


def page(title: str, about: str | None, variants: Variants, cells: Mapping[Cell, list[float]], *, every: bool) -> str:
    """The means of the parts and the cells, `every` one or those in which variants differ, as Markdown."""
    lines = [f"{heading(title, about)}\nMean accuracies of the linear model:\n", head("part", *variants)]
    for part in dict.fromkeys(key[0] for key in cells):
        means = np.mean([values for key, values in cells.items() if key[0] == part], axis=0)
        lines.append(line(part, *(f"{mean:.4f}" for mean in means)))
    lines += ["", *([] if every else ["The cells in which they differ:\n"]), head("data set", "ε", *variants)]
    for (_, name, epsilon), values in cells.items():
        if every or len(set(values)) > 1:
            lines.append(line(name, f"{epsilon:g}", *(f"{value:.3f}" for value in values)))
    return "\n".join(lines)
