"""Public data sets with public schemas: from a folder, from a cache, from scikit-learn, or from OpenML if asked.

A folder holds `schemas.json` (bounds and categories from each data set's documentation, and the SHA-256 of its file)
and one CSV file per data set. The four data sets inside scikit-learn need neither a folder nor a network.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, ParameterError
from discreet.records.files import file_hash, read_columns
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.schema.columns import Numeric
from discreet.storage.envelope import read_json

DataSet = tuple[Columns, NDArray[Any], Schema]

Bounds = dict[str, tuple[float, float]]

BUILT_IN = ("breast-cancer", "digits", "iris", "wine")


def load(name: str, directory: str | Path | None = None, *, download: bool = False) -> DataSet:
    """Columns X, labels y and the schema of a data set.

    Parameters
    ----------
    name : for instance "iris".
    directory : a folder with schemas.json and <name>.csv; default: the environment variable DISCREET_DATA.
    download : whether to ask OpenML for a data set that is not found elsewhere. OpenML has no public bounds: the
        schema is read off the data, and nothing is guaranteed.

    Examples
    --------
    >>> X, y, schema = load("iris")
    >>> sorted(X)[:2], len(y), schema.is_public
    (['petal_length', 'petal_width'], 150, True)
    """
    folders = _folders(directory)
    for folder in folders:
        if name in _listed(folder):
            return _from_folder(name, folder)
    if name in BUILT_IN:
        return built_in(name)
    if download:
        return _from_openml(name)
    raise ParameterError(
        f"data set {name!r} is not known; need one of: {', '.join(known(directory))}; name a folder with schemas.json "
        "by `directory` or DISCREET_DATA, or ask OpenML with download=True"
    )


def known(directory: str | Path | None = None) -> list[str]:
    """The names of all data sets that `load` finds without asking OpenML.

    Examples
    --------
    >>> from discreet import datasets
    >>> {"iris", "wine"} <= set(datasets.known())
    True
    """
    return sorted({*BUILT_IN, *(each for folder in _folders(directory) for each in _listed(folder))})


def cache_folder() -> Path:
    """The folder for downloads: $XDG_CACHE_HOME/discreet, or ~/.cache/discreet.

    Examples
    --------
    >>> from discreet import datasets
    >>> datasets.cache_folder().name
    'discreet'
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet"


def built_in(name: str) -> DataSet:
    """A data set that ships inside scikit-learn, with a schema written by hand.

    Examples
    --------
    >>> from discreet import datasets
    >>> X, y, schema = datasets.built_in("wine")
    >>> len(y), len(X), schema.target
    (178, 13, 'cultivator')
    """
    from sklearn import datasets

    loader = getattr(datasets, f"load_{name.replace('-', '_')}")
    content = loader()
    schema = _schema(name, len(content.target))
    columns = {column: content.data[:, position] for position, column in enumerate(schema.names)}
    words = np.array([str(word) for word in content.target_names], dtype=object)
    return columns, words[content.target], schema


def _folders(directory: str | Path | None) -> list[Path]:
    """The folders to look in, in order; FileError if the caller names one that is not a folder."""
    if directory is not None and not Path(directory).is_dir():
        raise FileError(f"{directory} is not a folder; need one with schemas.json")
    named = directory or os.environ.get("DISCREET_DATA")
    folders = [*([Path(named)] if named else []), cache_folder()]
    return [folder for folder in folders if (folder / "schemas.json").is_file()]


def _listed(folder: Path) -> list[str]:
    return sorted(read_json(folder / "schemas.json"))


def _from_folder(name: str, folder: Path) -> DataSet:
    path = folder / f"{name}.csv"
    found = file_hash(path, "schemas.json names it, so get it again")
    expected = read_json(folder / "schemas.json")[name].get("sha256")
    if expected is not None and expected != found:
        raise FileError(f"{path} was altered or damaged: its SHA-256 is not that of schemas.json; get it again")
    return read_labelled(path, Schema.load(folder / "schemas.json", name), "the target in schemas.json; get it again")


def read_labelled(path: Path, schema: Schema, about_target: str) -> DataSet:
    """The records of a public file, with the schema's target column as labels.

    `about_target` ends the message if that column is missing: who names the target, and what to do.
    """
    columns = read_columns(path, schema.dialect, schema.numeric_names)
    if schema.target not in columns:
        raise FileError(f"{path} has no column {schema.target!r}, {about_target}")
    labels = columns.pop(schema.target)
    return columns, labels, schema


def _from_openml(name: str) -> DataSet:
    """Ask OpenML; scikit-learn keeps the answer in the cache folder."""
    from sklearn.datasets import fetch_openml

    from discreet.records.drafting import schema_from_data

    try:
        content = fetch_openml(name, version=1, data_home=cache_folder(), as_frame=True, parser="auto")
    except ImportError:
        raise FileError("reading from OpenML needs pandas: pip install pandas") from None
    except Exception as error:
        raise FileError(
            f"OpenML did not give data set {name!r} ({type(error).__name__}); check the name and the network"
        ) from None
    columns = {str(column): content.data[column].to_numpy() for column in content.data.columns}
    return columns, content.target.to_numpy(), schema_from_data(content.data, content.target)


def _schema(name: str, records: int) -> Schema:
    """The hand-written schema of a built-in data set; its documented number of records is public."""
    if name == "digits":
        pixels = [Numeric(f"pixel_{row}_{column}", 0, 16) for row in range(8) for column in range(8)]
        return Schema(pixels, "digit", [str(digit) for digit in range(10)], records=records)
    kinds: dict[str, tuple[str, list[str], Bounds]] = {
        "iris": ("species", ["setosa", "versicolor", "virginica"], IRIS),
        "wine": ("cultivator", ["class_0", "class_1", "class_2"], WINE),
        "breast-cancer": ("diagnosis", ["malignant", "benign"], _breast_cancer()),
    }
    target, classes, bounds = kinds[name]
    columns = [Numeric(column, lower, upper) for column, (lower, upper) in bounds.items()]
    return Schema(columns, target, classes, records=records)


IRIS: Bounds = {"sepal_length": (4, 8), "sepal_width": (2, 5), "petal_length": (0, 8), "petal_width": (0, 3)}
"""Bounds in centimetres: round numbers around the sizes of such flowers."""

WINE: Bounds = {
    "alcohol": (10, 16),
    "malic_acid": (0, 6),
    "ash": (1, 4),
    "alcalinity_of_ash": (10, 30),
    "magnesium": (60, 180),
    "total_phenols": (0, 5),
    "flavanoids": (0, 6),
    "nonflavanoid_phenols": (0, 1),
    "proanthocyanins": (0, 4),
    "color_intensity": (0, 15),
    "hue": (0, 2),
    "od280_od315": (1, 5),
    "proline": (200, 2000),
}
"""Bounds: round numbers around the usual range of each measurement in wine (alcohol in per cent by volume)."""

NUCLEI = {
    "radius": ((5, 30), (0, 3), (5, 40)),
    "texture": ((5, 40), (0, 5), (10, 50)),
    "perimeter": ((40, 200), (0, 25), (40, 260)),
    "area": ((100, 2500), (0, 600), (100, 4500)),
    "smoothness": ((0.05, 0.2), (0, 0.04), (0.05, 0.25)),
    "compactness": ((0, 0.4), (0, 0.15), (0, 1.2)),
    "concavity": ((0, 0.5), (0, 0.4), (0, 1.3)),
    "concave_points": ((0, 0.25), (0, 0.06), (0, 0.3)),
    "symmetry": ((0.1, 0.35), (0, 0.08), (0.1, 0.7)),
    "fractal_dimension": ((0.04, 0.1), (0, 0.03), (0.04, 0.22)),
}
"""Measurements of cell nuclei in an image: bounds of the mean, of its standard error, and of the mean of the three
largest, rounded from the table in the data set's documentation."""


def _breast_cancer() -> Bounds:
    """Thirty columns: ten measurements as mean, error and worst, in scikit-learn's order."""
    kinds = ("mean", "error", "worst")
    return {f"{kind}_{name}": NUCLEI[name][position] for position, kind in enumerate(kinds) for name in NUCLEI}
