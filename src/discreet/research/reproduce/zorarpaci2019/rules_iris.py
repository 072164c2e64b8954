"""Tables 5.12 to 5.15 of Zorarpacı 2019: what the noise does to the four numbers of Iris."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from discreet import datasets
from discreet.perturbation.local_perturbation import LocalPerturbation
from discreet.records.encoding import as_floats
from discreet.research.papers.zorarpaci2019_input import Zorarpaci2019InputPerturbation
from discreet.research.report import ReportTable
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.zorarpaci2019.rules_tables import theirs
from discreet.schema import Schema

ATTRIBUTES = {
    "Table 5.12": "sepal_length",
    "Table 5.13": "sepal_width",
    "Table 5.14": "petal_length",
    "Table 5.15": "petal_width",
}
PROPERTIES = ("Mean", "Std. dev.", "Variance", "Covariance", "Correlation")
EPSILONS = ("1", "2", "3")
DRAWS = 100
"""Number of draws of the noise that are averaged; the thesis shows one draw."""

Numbers = NDArray[np.float64]
Properties = dict[str, float]


def training_records(directory: str | None) -> tuple[dict[str, Numbers], NDArray[np.object_], Schema]:
    """Nine tenths of Iris: the training records of the first fold."""
    X, y, schema = datasets.load("iris", directory)
    train, _ = next(StratifiedKFold(10, shuffle=True, random_state=0).split(np.zeros((len(y), 1)), y.astype(str)))
    return {name: as_floats(values)[train] for name, values in X.items()}, y[train], schema


def properties(original: Numbers, perturbed: Numbers) -> Properties:
    """The five properties in the tables, of the perturbed numbers."""
    covariance = float(np.cov(original, perturbed)[0, 1])
    deviation = float(np.std(perturbed, ddof=1))
    correlation = covariance / (float(np.std(original, ddof=1)) * deviation)
    return dict(
        zip(PROPERTIES, (float(perturbed.mean()), deviation, deviation**2, covariance, correlation), strict=True)
    )


def averages(directory: str | None, draws: int | None = None) -> dict[str, dict[str, dict[str, Properties]]]:
    """The properties averaged over draws, by column, by "original", "published" and "rigorous", and by epsilon.

    The published noise keeps the order of the rows. Ours keeps it only without labels (`transform`), at the share of
    epsilon that a column has beside the label.
    """
    X, y, schema = training_records(directory)
    local = schema.replace(adjacency="replace-one")
    found: dict[str, dict[str, dict[str, Properties]]] = {
        name: {"original": {"inf": properties(values, values)}} for name, values in X.items()
    }
    for epsilon in EPSILONS:
        tables: dict[str, list[Mapping[str, Numbers]]] = {"published": [], "rigorous": []}
        for seed in range(DRAWS if draws is None else draws):
            published = Zorarpaci2019InputPerturbation(schema, epsilon=epsilon, random_state=seed)
            tables["published"].append(published.fit_resample(X, y)[0])
            tables["rigorous"].append(LocalPerturbation(local, epsilon=epsilon, random_state=seed).transform(X))
        for name, values in X.items():
            for how, drawn in tables.items():
                each = [properties(values, table[name]) for table in drawn]
                mean = {key: float(np.mean([one[key] for one in each])) for key in PROPERTIES}
                found[name].setdefault(how, {})[epsilon] = mean
    return found


def column_table(place: str, found: Mapping[str, Mapping[str, Mapping[str, Properties]]], origin: str) -> ReportTable:
    """One of the four tables, ours beside theirs."""
    name, known = ATTRIBUTES[place], theirs(place)
    heads = ["property", "original: thesis", "original: ours"]
    heads += [f"ε = {epsilon}: {whose}" for epsilon in EPSILONS for whose in ("thesis", "ours", "local privacy")]
    rows = []
    for key in PROPERTIES:
        clear = key in PROPERTIES[:3]
        cells: list[float | None] = [known["iris", key, "inf"].value if clear else None]
        cells.append(found[name]["original"]["inf"][key] if clear and name in found else None)
        for epsilon in EPSILONS:
            cells.append(known["iris", key, epsilon].value)
            cells += [found[name][how][epsilon][key] if name in found else None for how in ("published", "rigorous")]
        rows.append([key, *(MISSING if each is None else f"{each:.3f}" for each in cells)])
    caption = f"{place}: {name.replace('_', ' ')} of Iris, 135 records of one fold; ours averages {DRAWS} draws"
    return ReportTable(caption, heads, rows, origin)


def noise_of(place: str) -> dict[str, list[float]]:
    """Mean of the noise z before it is divided by ε, and its covariance with the column, from the printed numbers."""
    known = {key[1:]: each.value for key, each in theirs(place).items()}
    return {
        "mean": [(known["Mean", each] - known["Mean", "inf"]) * int(each) for each in EPSILONS],
        "covariance": [(known["Covariance", each] - known["Variance", "inf"]) * int(each) for each in EPSILONS],
    }


def is_one_draw(place: str) -> bool:
    """Whether one draw of noise, divided by ε, explains all printed means and covariances up to rounding.

    Two numbers of three digits are off by at most 0.001 together, at ε = 3 by 0.003 after the multiplication.
    """
    return all(
        abs(value - values[0]) <= 0.001 * (1 + int(epsilon)) + 1e-9
        for values in noise_of(place).values()
        for value, epsilon in zip(values, EPSILONS, strict=True)
    )


def variance_ratios(directory: str | None) -> list[float]:
    """The printed noise's variance at ε = 1 over the squared range: 2 if range/ε is the scale, 1 if the deviation."""
    X, _, _ = training_records(directory)
    ratios = []
    for place, name in ATTRIBUTES.items():
        known = {key[1:]: each.value for key, each in theirs(place).items()}
        original = known["Variance", "inf"]
        noise = known["Variance", "1"] - original - 2 * (known["Covariance", "1"] - original)
        ratios.append(noise / float(np.ptp(X[name])) ** 2)
    return ratios


def recovered(directory: str | None, seed: int = 0) -> float:
    """The fraction of numbers that two tables with one draw of noise, at ε = 1 and 2, reveal to nine digits."""
    X, y, schema = training_records(directory)
    noisy = partial(Zorarpaci2019InputPerturbation, schema, random_state=seed)
    first, second = (noisy(epsilon=epsilon).fit_resample(X, y)[0] for epsilon in (1, 2))
    right = [np.abs(2 * second[name] - first[name] - values) < 1e-9 for name, values in X.items()]
    return float(np.mean(right)) if right else math.nan


def one_draw_sentence(places: Sequence[str] = tuple(ATTRIBUTES)) -> str:
    """A sentence on what the four tables reveal about the noise."""
    shown = sum(map(is_one_draw, places))
    return (
        f"In {shown} of {len(places)} tables the printed means and covariances are those of one draw of noise "
        "divided by ε: what the mean moves, times ε, is the same at ε = 1, 2 and 3 but for rounding."
    )
