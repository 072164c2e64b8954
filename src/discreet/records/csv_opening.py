"""Opening a CSV file in its dialect: its first line, its delimiter, and its other lines as UTF-8, compressed or not.

Guarantee  how a file is read depends on its name, its first line and its declared dialect alone; a line of another
           encoding becomes a line of UTF-8 by itself.
Proof      the delimiter is found in the first line, which is public. In every encoding of `dialect.ENCODINGS` each byte
           stands for one character, LF stands for itself and no other byte becomes LF: so the lines are those of the
           file, and each is decoded and encoded without a look at the others.
Test       tests/records/test_dialects.py::test_a_line_in_any_encoding_is_read_by_itself
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from discreet.errors import FileError
from discreet.records.csv_lines import Lines, first_line, whole_lines
from discreet.schema.dialect import USUAL, Dialect

TEXT_FILES = (".csv", ".txt", ".tsv")
COMPRESSED = ".gz"
BROKEN = (OSError, EOFError, zlib.error)
"""What reading raises if the disk fails, or if a compressed file is damaged or cut."""
Told = Callable[[int, int], None]
"""Called with the number of bytes that are read, and their total. Both are the owner's, and exact."""


def kind_of(path: Path) -> str:
    """The end of a file's name in small letters; that of what is inside for a compressed CSV file.

    >>> kind_of(Path("a.CSV.gz")), kind_of(Path("a.parquet")), kind_of(Path("a.parquet.gz"))
    ('.csv', '.parquet', '.gz')
    """
    kind, inner = path.suffix.lower(), Path(path.stem).suffix.lower()
    return inner if kind == COMPRESSED and inner in TEXT_FILES else kind


def ending_of(path: Path) -> str:
    """The end of a file's name that tells how it is read, as it is written: two for a compressed CSV file.

    >>> ending_of(Path("a.CSV.gz")), ending_of(Path("a.b.csv")), ending_of(Path("a.gz"))
    ('.CSV.gz', '.csv', '.gz')
    """
    inner = Path(path.stem).suffix
    is_inside = path.suffix.lower() == COMPRESSED and inner.lower() in TEXT_FILES
    return f"{inner}{path.suffix}" if is_inside else path.suffix


def delimiter_of(path: Path) -> bytes:
    """The character between two fields of a file that we write: a tab in .tsv files, a comma in all others."""
    return b"\t" if kind_of(path) == ".tsv" else b","


def delimiter_in(line: bytes, path: Path, dialect: Dialect = USUAL) -> bytes:
    """The character between two fields of a file with this first line (`Dialect`); quoted names do not count.

    >>> delimiter_in(b'a;"b,c";d', Path("x.csv")), delimiter_in(b"a,b;c", Path("x.csv"))
    (b';', b',')
    """
    if dialect.delimiter is not None:
        return dialect.delimiter.encode()
    plain = b"".join(line.split(b'"')[::2])
    found = [mark for mark in (b",", b";", b"\t") if mark in plain]
    return found[0] if found and delimiter_of(path) == b"," else delimiter_of(path)


def read_header(path: Path, dialect: Dialect = USUAL) -> bytes:
    """The first line of a CSV file, as UTF-8."""
    with open_bytes(path) as file:
        try:
            return _utf8(first_line(file), dialect)
        except BROKEN as error:
            raise unreadable(path, error) from None


def read_lines(
    path: Path, width: int, delimiter: bytes, dialect: Dialect = USUAL, told: Told | None = None
) -> Iterator[Lines]:
    """The lines after the first, in blocks; `width` is the number of columns."""
    for block in read_content(path, dialect, told):
        yield Lines(block, delimiter, width)


def read_content(path: Path, dialect: Dialect = USUAL, told: Told | None = None) -> Iterator[bytes]:
    """What comes after the first line, in blocks of whole lines, as UTF-8; `told` is called after each block."""
    with open_bytes(path) as file:
        blocks: Iterator[bytes] | None = None
        while True:
            try:
                if blocks is None:
                    first_line(file)
                    blocks = whole_lines(file)
                block = next(blocks, None)
            except BROKEN as error:
                raise unreadable(path, error) from None
            if block is None:
                return
            yield _utf8(block, dialect)
            if told is not None:
                told(*_progress(file))


def _progress(file: Any) -> tuple[int, int]:
    """How many bytes of a file are read, and how many it has; of a compressed one, as it lies on the disk."""
    stored: Any = file.fileobj if isinstance(file, gzip.GzipFile) else file
    size = os.fstat(stored.fileno()).st_size
    return min(stored.tell(), size), size


def _utf8(content: bytes, dialect: Dialect) -> bytes:
    if dialect.encoding == "utf-8" or content.isascii():
        return content
    return content.decode(dialect.encoding, "replace").encode()


def open_bytes(path: Path) -> Any:
    """The bytes of a file, those of what is inside for a compressed one; FileError if it cannot be opened."""
    try:
        return gzip.open(path, "rb") if path.suffix.lower() == COMPRESSED else path.open("rb")
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None


def unreadable(path: Path, error: Exception) -> FileError:
    """What to say of one of the errors `BROKEN` while a file is read; its own message is not passed on."""
    if path.suffix.lower() == COMPRESSED and not getattr(error, "strerror", None):
        return FileError(f"{path} is not a complete gzip file; compress it again, or give the file itself")
    return FileError(f"cannot read {path}: {getattr(error, 'strerror', '')}; check the disk")
