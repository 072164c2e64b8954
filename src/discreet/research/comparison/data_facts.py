"""Counts and a hash of the records of a data set: they show whether a report was made from the same data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.datasets import DataSet
from discreet.errors import DataError
from discreet.records.encoding import class_codes


class DataFacts(NamedTuple):
    """What a report says of the records of a data set.

    data_hash : hash of schema and records.
    number : number of records.
    without_class : number of records that have none of the schema's classes.
    classes : number of classes that occur.
    largest : number of records in the largest class.
    """

    data_hash: str
    number: int
    without_class: int
    classes: int
    largest: int


def counted(name: str, data: DataSet, data_hash: str) -> DataFacts:
    """The facts of a public data set.

    Raises
    ------
    DataError : no record has a known class, so there is nothing to learn or to test.
    """
    _, y, schema = data
    counts = np.bincount(class_codes(y, schema), minlength=len(schema.classes) + 1)
    known = counts[:-1]
    if not known.any():
        raise DataError(
            f"data set {name!r}: none of its {len(y)} records has one of the classes of the schema; check the column "
            f"{schema.target!r} and its categories in schemas.json"
        )
    return DataFacts(data_hash, len(y), int(counts[-1]), int((known > 0).sum()), int(known.max()))


def strange(name: str, records: DataFacts) -> list[str]:
    """Warnings: what makes scores on these records mean less than they seem to."""
    words = []
    if records.without_class:
        words.append(f"{records.without_class} of {records.number} records of {name} have no known class: not counted")
    if records.classes == 1:
        words.append(f"all records of {name} have the same class: whoever names it is always right")
    return words
