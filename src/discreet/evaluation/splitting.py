"""Two parts of a file by lot: one to train on, one to score on. Records are copied as they are, one block at a time.

Each record draws a lot of its own, so which part it is in depends on no record, and the parts' sizes are random. Both
parts hold exact records, and are as private as the file. Nothing about the records is told, not even their number.

The parts have no record in common. If a person has one record, a model of one part and a score on the other concern
different people; still, losses are added up here: whoever wants them to count once needs a ledger for each part, from
the first charge on, and lots that nobody changes afterwards. No guarantee in discreet rests on it.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.privacy.randomness import Randomness, as_rng
from discreet.records import files
from discreet.records.csv_header import header
from discreet.records.csv_lines import BLOCK
from discreet.records.csv_opening import BROKEN, COMPRESSED, ending_of, open_bytes, unreadable
from discreet.records.parquet import open_parquet, parquet_fields
from discreet.records.parquet_soundness import is_sound
from discreet.schema.dialect import Dialect
from discreet.storage.writing import whole_file

MOST_LOTS = 10**9
"""The largest denominator of the fraction that is drawn exactly."""
ROWS = 1 << 16
"""Records of a Parquet file that are copied at a time, and the row groups of the parts."""

ANY_BYTES = Dialect(encoding="latin-1")
"""Lines are copied, not read: the first one may be in any encoding in which a line end is one byte."""

Told = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


def as_part(value: Any) -> Fraction:
    """The fraction of the records that a part gets: a number between 0 and 1, exactly as it is written.

    >>> as_part("0.2"), as_part("1/3")
    (Fraction(1, 5), Fraction(1, 3))
    """
    try:
        part = Fraction(str(value).strip())
    except (ValueError, ZeroDivisionError):
        part = Fraction(0)
    if not 0 < part < 1 or part.denominator > MOST_LOTS:
        raise ParameterError(f"test={value!r}; need a fraction between 0 and 1, such as 0.2 or 1/3")
    return part


def split_file(
    path: str | Path,
    test: Any,
    train_out: str | Path,
    test_out: str | Path,
    *,
    random_state: Any = None,
    told: Told | None = None,
) -> None:
    """Copy each record of a CSV or Parquet file into one of two files; both are written whole, or neither is.

    The parts of a compressed CSV file are compressed too.

    Parameters
    ----------
    test : the probability with which a record goes to `test_out`.
    random_state : None for lots that nobody can repeat; a number for lots that can be repeated.
    told : called as the work goes on.
    """
    part, rng, source = as_part(test), as_rng(random_state), files.checked(Path(path))
    check_names(source, Path(train_out), Path(test_out))
    mode = os.stat(source).st_mode & 0o777  # who may not read the file may not read its parts
    text = files.is_text(source)
    if text:
        header(source, ANY_BYTES)  # raises unless the first line names columns
    else:
        parquet_fields(source)
    with ExitStack() as stack:
        outs = [stack.enter_context(whole_file(out, binary=True, mode=mode)) for out in (train_out, test_out)]
        if source.suffix.lower() == COMPRESSED:
            outs = [stack.enter_context(_compressed(out)) for out in outs]
        copy = _split_lines if text else _split_parquet
        copy(source, part, outs, rng, told or (lambda done, of: None))


def check_names(source: Path, train_out: Path, test_out: Path) -> None:
    """Raise unless the parts have different names of the same kind as the file: the kind tells how to read them."""
    if files.is_sheet(source):
        raise FileError(f"{source} is an Excel file, which cannot be split; save its sheet as .csv, and split that")
    for out in (train_out, test_out):
        ending = ending_of(source)
        if ending_of(out).lower() != ending.lower():
            raise ParameterError(f"{out} is a part of {source}; need a name that ends in {ending}, as that does")
    if os.path.realpath(train_out) == os.path.realpath(test_out):
        raise ParameterError(f"both parts are to be written to {train_out}; need two names")


def _lots(number: int, part: Fraction, rng: Randomness) -> NDArray[np.bool_]:
    """Which of the next records go to the second part: each with exactly this probability."""
    return np.asarray(rng.integers(part.denominator, (number,)) < part.numerator)


def _split_lines(source: Path, part: Fraction, outs: list[BinaryIO], rng: Randomness, told: Told) -> None:
    """A record is a line (records/csv_lines.py); its bytes are copied, however long it is."""
    size, place, compressed = os.path.getsize(source), 0, source.suffix.lower() == COMPRESSED
    with open_bytes(source) as file:
        first = _read(source, file.readline)
        for out in outs:
            out.write(first)
        unfinished: int | None = None  # the part of a line that began in an earlier block
        while block := _read(source, partial(file.read, BLOCK)):
            unfinished = _deal(block, unfinished, part, outs, rng)
            place = file.fileobj.tell() if compressed else place + len(block)
            told(place, max(size, place))


def _read(source: Path, read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except BROKEN as error:
        raise unreadable(source, error) from None


def _compressed(out: BinaryIO) -> BinaryIO:
    """A file that compresses what is written to it; it tells neither a name nor a time."""
    return cast("BinaryIO", gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0))


def _deal(block: bytes, unfinished: int | None, part: Fraction, outs: list[BinaryIO], rng: Randomness) -> int | None:
    """Write each line of a block to its part; returns the part of its last line, if that goes on."""
    if unfinished is not None:
        end = block.find(b"\n") + 1
        outs[unfinished].write(block[:end] if end else block)
        if not end:
            return unfinished
        block = block[end:]
    lines = block.split(b"\n")
    last = lines.pop()
    lots = _lots(len(lines) + bool(last), part, rng).tolist()
    for number, out in enumerate(outs):
        own = [line for line, lot in zip(lines, lots, strict=False) if lot == number]
        if own:
            out.write(b"\n".join(own) + b"\n")
    if not last:
        return None
    outs[lots[-1]].write(last)
    return int(lots[-1])


DAMAGED = "{} cannot be copied as Parquet; check that the file is whole and free memory"


def _split_parquet(source: Path, part: Fraction, outs: list[BinaryIO], rng: Randomness, told: Told) -> None:
    """Rows keep their order, types and metadata; the parts are compressed as the file is."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = open_parquet(source)
        about, done = file.metadata, 0
        codec, first = "SNAPPY", [each.path for each in map(about.schema.column, range(min(1, about.num_columns)))]
        if about.num_row_groups and first:
            if not is_sound(about, source.stat().st_size, first, [0]):
                raise FileError(DAMAGED.format(source))
            codec = about.row_group(0).column(0).compression
            codec = "NONE" if codec == "UNCOMPRESSED" else codec
        with ExitStack() as stack:
            make = parquet.ParquetWriter
            writers = [stack.enter_context(make(out, file.schema_arrow, compression=codec)) for out in outs]
            for batch in file.iter_batches(batch_size=ROWS):
                lots = _lots(batch.num_rows, part, rng)
                for number, writer in enumerate(writers):
                    writer.write_batch(batch.filter(pa.array(lots == bool(number))))
                done += batch.num_rows
                told(done, about.num_rows)
        if done == about.num_rows:  # a damaged page can end a column early
            return
    except (DiscreetError, OSError):
        raise
    except Exception:
        pass  # a reader's message may quote a value
    raise FileError(DAMAGED.format(source))
