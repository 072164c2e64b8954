"""Tables that a command writes as their records come: CSV or Parquet, whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.cli.outputs import notes
from discreet.errors import FileError, MissingExtra
from discreet.records.csv_opening import COMPRESSED, delimiter_of
from discreet.records.files import PARQUET_FILES
from discreet.records.sheets import SHEETS
from discreet.storage.writing import whole_file

Rows = dict[str, list[Any]]
"""Some records: values by column."""
Structure = Mapping[str, NDArray[Any]]
"""Columns without a record, which tell their types."""


@contextmanager
def counting_rows(words: str) -> Iterator[Callable[[Iterable[Rows]], Iterator[Rows]]]:
    """Show on a terminal how many records have passed; yields a function to let them pass through."""
    with notes.status(words) as status:

        def passing(blocks: Iterable[Rows]) -> Iterator[Rows]:
            seen = 0
            for block in blocks:
                yield block
                seen += len(next(iter(block.values()), []))
                status.update(f"{words}: {seen:,} records")

        yield passing


def write_table(path: Path, blocks: Iterable[Rows], structure: Structure) -> int:
    """Write a Parquet file, or a CSV file if the name is not that of a Parquet file; returns the number of records.

    The file gets its name when it is complete; an interruption leaves nothing behind.
    """
    is_parquet = path.suffix.lower() in PARQUET_FILES
    with whole_file(path, binary=is_parquet) as file:
        if is_parquet:
            return _write_parquet(file, blocks, structure)
        return write_csv(file, blocks, list(structure), delimiter_of(path).decode())


def write_csv(file: Any, blocks: Iterable[Rows], names: list[str], delimiter: str = ",") -> int:
    """Write a header and the records as they come; returns their number."""
    writer, count = csv.writer(file, delimiter=delimiter, lineterminator="\n"), 0
    writer.writerow(names)
    for block in blocks:
        writer.writerows(zip(*(block[name] for name in names), strict=True))
        count += len(block[names[0]])
    return count


def check_table(path: Path) -> None:
    """Raise if no such table is written, or if the package for that is missing; before any work is done."""
    if path.suffix.lower() in (COMPRESSED, *SHEETS):
        raise FileError(f"{path}: neither compressed nor Excel files are written; need a name that ends in .csv")
    if path.suffix.lower() in PARQUET_FILES:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise MissingExtra("parquet") from None


def _write_parquet(file: Any, blocks: Iterable[Rows], structure: Structure) -> int:
    """Write one row group per block."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"f": pa.float64(), "i": pa.int64(), "b": pa.bool_()}
    types = {name: kinds.get(column.dtype.kind, pa.string()) for name, column in structure.items()}
    count = 0
    with parquet.ParquetWriter(file, pa.schema(list(types.items()))) as writer:
        for block in blocks:
            writer.write_table(pa.table({name: _column(name, block[name], kind) for name, kind in types.items()}))
            count += len(next(iter(block.values())))
    return count


def _column(name: str, values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    if kind == pa.string():
        values = [value if value is None else str(value) for value in values]
    try:
        return pa.array(values, kind)
    except Exception:
        pass  # the message may quote a value
    raise FileError(
        f"column {name!r} holds a value that Parquet cannot hold, such as an integer of more than 64 bits; write a "
        ".csv file, or leave the column out"
    )


def typed(labels: NDArray[Any]) -> NDArray[Any]:
    """A column without a record, of the type of these labels."""
    return np.empty(0, dtype=labels.dtype)
