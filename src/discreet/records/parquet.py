"""Parquet files, read by pyarrow: their columns, and their records in blocks of columns."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, FileError
from discreet.records.arrow_columns import BatchReader
from discreet.records.arrow_values import arrow_kind, arrow_module
from discreet.records.values import Columns

SIGNATURE = 28
"""Bytes of the signature after the description of a file that has encrypted columns."""


@dataclass(frozen=True)
class ParquetFields:
    """The columns of a file by name, with their Arrow types, and those whose texts Arrow takes for bytes."""

    types: dict[str, Any]
    texts: frozenset[str]

    def is_text(self, name: str) -> bool:
        """Whether a column holds texts that Arrow knows for texts."""
        return arrow_kind(self.types[name]) == "text"

    def is_plain(self, name: str) -> bool:
        """Whether a column holds integers or floats: all its values are of one length."""
        from pyarrow import types

        return bool(types.is_integer(self.types[name]) or types.is_floating(self.types[name]))


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
        if _is_signed(path, file.metadata.serialized_size):
            raise FileError(f"{path} has encrypted columns, which cannot be read here; write it without encryption")
        fields = list(file.schema_arrow)
        if len({field.name for field in fields}) != len(fields):
            raise FileError(f"{path} has two columns with the same name; rename one of them")
        leaves = [file.schema.column(place) for place in range(len(file.schema.names))]
        enums = {leaf.path for leaf in leaves if leaf.logical_type.type == "ENUM"}
        texts = frozenset(field.name for field in fields if field.name in enums and arrow_kind(field.type) == "opaque")
        return ParquetFields({field.name: field.type for field in fields}, texts)
    except DiscreetError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise FileError(f"cannot read {path}: {os.strerror(error.errno or 0)}; check the path") from None
    except Exception:
        pass  # a reader's message may quote a value
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole")


def _is_signed(path: Path, plain: int) -> bool:
    """Whether the end of a file has a signature: then some of its columns are encrypted, and to ask pyarrow for the
    size of one would end the process."""
    with path.open("rb") as file:
        file.seek(-8, os.SEEK_END)
        return int.from_bytes(file.read(4), "little") == plain + SIGNATURE


def parquet_structure(path: Path) -> Columns:
    """The columns without a row: names and types; no value is read."""
    fields = parquet_fields(path)
    return BatchReader(fields.types, fields.texts).structure()


def parquet_blocks(path: Path, rows: int, wanted: Sequence[str] | None) -> Iterator[Columns]:
    """The columns, or the wanted ones among them, at most `rows` records at a time; at least one block."""
    fields = parquet_fields(path)
    types = {name: stored for name, stored in fields.types.items() if wanted is None or name in wanted}
    reader, empty = BatchReader(types, fields.texts), True
    if types:
        for block in _blocks(path, reader, list(types), rows):
            empty = False
            yield block
    if empty:
        yield reader.structure()


def _blocks(path: Path, reader: BatchReader, names: list[str], rows: int) -> Iterator[Columns]:
    try:
        file, read = open_parquet(path), 0
        for batch in file.iter_batches(batch_size=rows, columns=names):
            read += batch.num_rows
            if batch.num_rows:
                yield reader.block(batch)
        if read == file.metadata.num_rows:  # a damaged page can end a column early
            return
    except GeneratorExit:
        raise
    except Exception:
        pass
    raise FileError(f"{path} cannot be read as Parquet; check that the file is whole and free memory")
