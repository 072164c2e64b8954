"""Snapshots: the rows of a version, cast as its schema says, in a Parquet file that is never changed.

Guarantee  a job reads exactly what was registered, or fails: the file's keyed hash is compared before each job. Reading
           it fails on no value, and it holds no value that the schema does not list: texts outside the list and numbers
           far outside the bounds are replaced when it is written; columns that are not in the schema are left out.
Proof      each value becomes the text of its category, one word for all unlisted values, a number within the bounds or
           beside them, or null, by the library's own encoding, which is total; encoding it again gives the same code,
           so every answer is that of the source at that time (test). Beside the bounds means up to those of
           queries/outside.py, 1/30 of the range further out, where all numbers beyond end: the look at whether a table
           fits its schema tells them from those within, and no other number is kept. The file gets its name once it is
           complete, mode 0400.
Test       tests/service/test_snapshots.py::test_codes_of_a_snapshot_are_those_of_its_source
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, MissingExtra
from discreet.queries.outside import watching
from discreet.records.encoding import as_floats, label_codes
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, Numeric, text_of
from discreet.service.settings import private_folder
from discreet.sources import Source, as_declared, as_records

CHUNK = 1 << 20


def snapshot_path(folder: Path, version_id: int) -> Path:
    """Where the snapshot of a version lies, in the worker's folder."""
    return folder / "snapshots" / f"version-{version_id}.parquet"


def keyed_hash(path: Path, key: str) -> str:
    """HMAC-SHA-256 of a file: without the key, nobody can test a guess of its content with it."""
    digest = hmac.new(key.encode(), digestmod=hashlib.sha256)
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise FileError(f"cannot read a snapshot: {error.strerror}") from None
    return digest.hexdigest()


def check_snapshot(path: Path, key: str, expected: str | None) -> None:
    """Raise FileError unless the snapshot is what was registered."""
    if expected is None or not hmac.compare_digest(keyed_hash(path, key), expected):
        raise FileError("a snapshot is not what was registered: it was changed or replaced")


def seal(part: Path, path: Path) -> None:
    """Give a complete snapshot its name, for good; an interrupted attempt before it is replaced."""
    os.chmod(part, 0o400)
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_snapshot(source: Source, schema: Schema, path: Path) -> dict[str, Any]:
    """Write the rows of a source; returns what was found: how many values did not fit, for owners."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("parquet") from None
    source.check(schema)
    private_folder(path.parent)
    numbers = {column.name for column in schema.columns if isinstance(column, Numeric)}
    fields = [(name, pa.float64() if name in numbers else pa.string()) for name in schema.all_names]
    tally = Tally(schema)
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file, pq.ParquetWriter(file, pa.schema(fields), compression="zstd") as writer:
        for block in _blocks(source, schema):
            arrays = [pa.array(tally.cast(name, block[name]), type=kind) for name, kind in fields]
            writer.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))
    with path.open("rb") as written:
        os.fsync(written.fileno())
    return tally.found()


def _blocks(source: Source, schema: Schema) -> Iterator[dict[str, NDArray[Any]]]:
    return as_records(as_declared(source, schema)).values(schema.all_names, schema.numeric_names)


class Tally:
    """Casts values as the schema says, and counts those that did not fit."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._watched = watching(schema)
        self._records = 0
        self._counts: dict[str, dict[str, int]] = {name: {} for name in schema.all_names}

    def cast(self, name: str, values: NDArray[Any]) -> Any:
        """The values of a column in some block: floats with NaN masked, or texts with None."""
        if name == self._schema.target:
            self._records += len(values)
            return self._labels(name, values, self._schema.classes)
        column = self._schema[name]
        if isinstance(column, Categorical):
            return self._labels(name, values, column.categories)
        return self._numbers(column, values)

    def _numbers(self, column: Numeric, values: NDArray[Any]) -> Any:
        numbers = as_floats(values).astype(np.float64)
        missing = np.isnan(numbers)
        kept = self._watched[column.name]
        assert isinstance(kept, Numeric)
        with np.errstate(all="ignore"):
            clipped = np.clip(numbers, float(column.lower), float(column.upper))
            held = np.clip(numbers, float(kept.lower), float(kept.upper))
        self._count(column.name, "missing", int(missing.sum()))
        self._count(column.name, "outside", int((~missing & (clipped != numbers)).sum()))
        return np.ma.masked_array(held, mask=missing).tolist()

    def _labels(self, name: str, values: NDArray[Any], labels: Sequence[Label]) -> list[str | None]:
        texts: list[str | None] = [text_of(label) for label in labels]
        unlisted, missing = len(texts), len(texts) + 1
        codes = label_codes(values, labels, unlisted, missing)
        self._count(name, "unlisted", int((codes == unlisted).sum()))
        self._count(name, "missing", int((codes == missing).sum()))
        words = np.array([*texts, unlisted_word(labels), None], dtype=object)
        return list(words[codes])

    def _count(self, name: str, what: str, number: int) -> None:
        self._counts[name][what] = self._counts[name].get(what, 0) + number

    def found(self) -> dict[str, Any]:
        """The counts of what did not fit, by column; exact, so for owners only."""
        told = {name: {what: number for what, number in each.items() if number} for name, each in self._counts.items()}
        return {"records": self._records, "columns": {name: each for name, each in told.items() if each}}


def unlisted_word(labels: Sequence[Label]) -> str:
    """A word that is none of the labels; it stands for every value outside the list.

    >>> unlisted_word(["a", "(unlisted)"])
    '(unlisted)_'
    """
    word, texts = "(unlisted)", {text_of(label) for label in labels}
    while word in texts:
        word += "_"
    return word
