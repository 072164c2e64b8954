"""What a target is called with: a table as it is to get it.

Run by path in the target's own process; needs numpy (Python 3.8 or later), and pandas for frames.
"""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

import numpy as np


def as_arguments(table: Any, form: str) -> tuple[Any, Any]:
    """X and y as the target is to get them: an array of floats, a pandas frame, an object array, or records."""
    names, rows, labels = table["names"], table["rows"], table["labels"]
    kinds = {type(each) for each in labels}
    alike = kinds <= {int, bool} or kinds <= {str}
    empty = table.get("label_kind") or object
    y = np.array(labels, dtype=None if alike else object) if labels else np.empty(0, dtype=empty)
    if form == "records":
        records = [{name: row[place] for place, name in enumerate(names)} for row in rows]
        return [dict(each, **{table["target"]: label}) for each, label in zip(records, labels)], None  # noqa: B905
    if form == "array" or (form == "auto" and "categorical" not in table["kinds"]):
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(names)), y
    if form in ("auto", "frame"):
        with contextlib.suppress(ImportError):
            frame = importlib.import_module("pandas").DataFrame
            columns: Any = {name: [row[place] for row in rows] for place, name in enumerate(names)}
            if not rows:  # the types of an empty table are those of any other
                types = [float if each == "numeric" else object for each in table["kinds"]]
                columns = {name: np.empty(0, each) for name, each in zip(names, types)}  # noqa: B905 - Python 3.8
            return frame(columns, columns=names), y
    return np.array(rows, dtype=object).reshape(len(rows), len(names)), y


def as_one(table: Any, form: str) -> Any:
    """The whole table in one: a frame or an array, whose last column are the labels, or records."""
    X, y = as_arguments(table, "frame" if form == "auto" else form)
    if y is None:
        return X
    if hasattr(X, "assign"):
        return X.assign(**{table["target"]: y})
    kind = X.dtype if y.dtype.kind in "biuf" else object
    return np.column_stack([X.astype(kind), y.astype(kind)])
