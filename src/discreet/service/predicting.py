"""Predictions of a released model for records that somebody sends: used, answered and forgotten.

Guarantee  a record that is sent is neither stored nor logged.
Proof      it is held in the memory of one request; nothing here writes, logs or caches it; messages name records by
           their number. Models are cached, and were published before.
Test       tests/service/test_predicting.py::test_records_leave_no_trace
"""

from __future__ import annotations

import csv
import io
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from discreet.service.errors import RequestError
from discreet.service.people import Person
from discreet.service.releases import Release, content_of, get_release

MOST_RECORDS = 10_000
MOST_COLUMNS = 10_000
MOST_MODELS = 8
Value = str | int | float | bool | None


class Models:
    """The models asked last, by the hash of their file: loading one takes longer than asking it."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, connection: Connection, release_id: str, person: Person) -> Any:
        """The model of a release that the person may see; RequestError if the release is not a model."""
        from discreet.models.loading import from_dict

        release: Release = get_release(connection, release_id, person)
        if release.kind != "train":
            raise RequestError("this release is not a model; ask one that is")
        with self._lock:
            found = self._models.pop(release.content_hash, None)
        if found is None:
            found = from_dict(json.loads(content_of(connection, release_id, person)))
        with self._lock:
            self._models[release.content_hash] = found
            while len(self._models) > MOST_MODELS:
                self._models.popitem(last=False)
        return found


def predict(model: Any, records: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
    """The class of each record and, where the model gives them, the probability of each class."""
    columns = {name: [_value(model, name, record.get(name)) for record in records] for name in model.schema_.names}
    known = {*model.schema_.all_names, model.schema_.target}
    for record in records:
        unknown = sum(name not in known for name in record)
        if unknown:
            raise RequestError("a record has a column that the model does not know; send the columns of its schema")
    classes = [_plain(label) for label in model.predict(columns).tolist()]
    if not model.probabilistic:
        return [{"prediction": label, "probabilities": None} for label in classes]
    labels = [str(label) for label in model.classes_.tolist()]
    rows = model.predict_proba(columns).tolist()
    return [
        {"prediction": label, "probabilities": dict(zip(labels, (float(f"{p:.6g}") for p in row), strict=True))}
        for label, row in zip(classes, rows, strict=True)
    ]


def _value(model: Any, name: str, value: Value) -> Any:
    """A value as the model reads it: a number that is not one is missing, as in training."""
    if name not in model.schema_.numeric_names:
        return value
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def read_csv(content: bytes) -> list[dict[str, Value]]:
    """The records of a small CSV file with a header; RequestError says what is wrong, and quotes nothing."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise RequestError("the file is not CSV in UTF-8 with commas and a header") from None
    if not rows or len(rows[0]) > MOST_COLUMNS or len(set(rows[0])) != len(rows[0]):
        raise RequestError("the file needs a header of different column names")
    header, records = rows[0], [row for row in rows[1:] if row]
    if not 1 <= len(records) <= MOST_RECORDS:
        raise RequestError(f"the file needs 1 to {MOST_RECORDS} records")
    for number, row in enumerate(records, 1):
        if len(row) != len(header):
            raise RequestError(f"record {number} has more or fewer fields than the header")
    return [{name: value or None for name, value in zip(header, row, strict=True)} for row in records]


def write_csv(predictions: Sequence[Mapping[str, Any]]) -> str:
    """Predictions as CSV: the class, and a column p(class) for each probability."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    labels = list(predictions[0]["probabilities"] or ())
    writer.writerow(["prediction", *(f"p({label})" for label in labels)])
    for each in predictions:
        writer.writerow([each["prediction"], *(each["probabilities"][label] for label in labels)])
    return file.getvalue()
