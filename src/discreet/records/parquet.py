"""Parquet files, read by pyarrow: their columns, and their records in blocks of columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError
from discreet.records.arrow_values import ColumnReader, arrow_kind, arrow_module
from discreet.records.encoding import UNREADABLE
from discreet.records.values import Columns, objects


@dataclass(frozen=True)
class ParquetFields:
    """The columns of a file by name, with their Arrow types, and those whose texts Arrow takes for bytes."""

    types: dict[str, Any]
    texts: frozenset[str]

    def is_text(self, name: str) -> bool:
        """Whether a column holds texts that Arrow knows for texts."""
        return arrow_kind(self.types[name]) == "text"


def open_parquet(path: Path, dictionaries: Sequence[str] = (), buffer: int = 0, metadata: Any = None) -> Any:
    """The file as pyarrow opens it; it is not mapped into memory, and no row group is read beforehand.

    Parameters
    ----------
    dictionaries : names of columns of texts that keep the dictionary that the file has for them.
    buffer : bytes that are read at a time; with 0 the part of a column that is in one row group.
    metadata : what the end of the file says, if it was read before.
    """
    pa = arrow_module()
    from pyarrow import parquet

    return parquet.ParquetFile(
        pa.OSFile(os.fsencode(path)),  # as bytes, a name is the name of a file, never a URL
        metadata=metadata,
        read_dictionary=list(dictionaries),
        memory_map=False,
        buffer_size=buffer,
        pre_buffer=False,
    )


def parquet_fields(path: Path) -> ParquetFields:
    """Names and types of the columns; no value is read."""
    try:
        file = open_parquet(path)
        fields = list(file.schema_arrow)
        if len({field.name for field in fields}) != len(fields):
            raise FileError(f"{path} has two columns with the same name; rename one of them")
        leaves = [file.schema.column(place) for place in range(len(file.schema.names))]
        enums = {leaf.path for leaf in leaves if leaf.logical_type.type == "ENUM"}
        texts = frozenset(field.name for field in fields if field.name in enums and arrow_kind(field.type) == "opaque")
        return ParquetFields({field.name: field.type for field in fields}, texts)
    except DiscreetError:
        raise
    except Exception:
        pass  # a reader's message may quote a value
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole")


def parquet_structure(path: Path) -> Columns:
    """The columns without a row: names and types; no value is read."""
    return {name: _array([], kind) for name, kind in _kinds(parquet_fields(path)).items()}


def parquet_blocks(path: Path, rows: int, wanted: Sequence[str] | None) -> Iterator[Columns]:
    """The columns, or the wanted ones among them, at most `rows` records at a time; at least one block."""
    fields = parquet_fields(path)
    kinds = {name: kind for name, kind in _kinds(fields).items() if wanted is None or name in wanted}
    if not kinds:
        yield {}
        return
    for number, lists in enumerate(_lists(path, fields, kinds, rows)):
        if lists[0] or number == 0:
            yield {name: _array(values, kind) for (name, kind), values in zip(kinds.items(), lists, strict=True)}


def _kinds(fields: ParquetFields) -> dict[str, str]:
    """The kind of each column: integer, number, truth, text, date, opaque or other."""
    from pyarrow import types

    def kind(name: str, stored: Any) -> str:
        if name in fields.texts:
            return "text"
        found = arrow_kind(stored)
        return "integer" if found == "number" and types.is_integer(stored) else found

    return {
        name: kind(name, stored.value_type if types.is_dictionary(stored) else stored)
        for name, stored in fields.types.items()
    }


def _array(values: Sequence[Any], kind: str) -> NDArray[Any]:
    """One column; dates keep their type but not their values, which no model can use."""
    if kind == "date":
        return np.full(len(values), "NaT", dtype="datetime64[us]")
    if kind == "number":
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if kind == "integer" and None not in values:
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    return objects((None if value is None else UNREADABLE for value in values) if kind == "opaque" else values)


def _lists(path: Path, fields: ParquetFields, kinds: dict[str, str], rows: int) -> Iterator[list[list[Any]]]:
    """Blocks of columns as lists of plain values; a text that is not UTF-8 is UNREADABLE."""
    readers = {name: ColumnReader(as_text=name in fields.texts) for name in kinds}
    try:
        for batch in open_parquet(path).iter_batches(batch_size=rows, columns=list(kinds)):
            yield [readers[name].listed(batch.column(name)) for name in kinds]
        yield [[] for _ in kinds]
        return
    except GeneratorExit:
        raise
    except Exception:
        pass
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole and free memory")
