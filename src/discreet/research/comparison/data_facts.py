"""What is said of the records of a data set, so that a report can be checked against the data that made it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.datasets import DataSet
from discreet.errors import DataError
from discreet.records.encoding import class_codes


class DataFacts(NamedTuple):
    """How many records a data set has, how many of them have none of its classes, and how many classes have some.

    data_hash : of schema and records.
    largest : how many records the largest class has.
    """

    data_hash: str
    number: int
    without_class: int
    classes: int
    largest: int


def counted(name: str, data: DataSet, data_hash: str) -> DataFacts:
    """The counts of public data.

    Raises
    ------
    DataError : no record has a known class, so that there is nothing to learn or to test.
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
    """What makes scores on these records mean less than they seem to."""
    words = []
    if records.without_class:
        words.append(f"{records.without_class} of {records.number} records of {name} have no known class: not counted")
    if records.classes == 1:
        words.append(f"all records of {name} have the same class: whoever names it is always right")
    return words
