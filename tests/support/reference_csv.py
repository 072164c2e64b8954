"""CSV files read in the plainest way: cut at LF, each line given to Python's own csv reader by itself.

Nothing of `discreet` is used but the memory engine, so that every reader of ours can be compared with it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource

LONGEST = 1 << 24

SCHEMA = Schema(
    [
        Categorical("word", ["a", "b c", "x, y", 'q"q', "ä", "\ufffd", "1", '5" nail'], missing="a"),
        Numeric("number", 0, 10, fill=1),
    ],
    target="label",
    classes=["yes", "no", '5" nail'],
    ignore=["note"],
)
HEADER = ["note", "word", "number", "label"]
CELLS = [Cells("word"), Cells("number", 5), Cells("number")]
GOOD = [
    ["n1", "a", "1", "yes"],
    ['"n, 2"', '"b c"', "2.5", "no"],
    ["", '"x, y"', " 3 ", '"yes"'],
    ['"n ""4"""', '"q""q"', '"4e0"', "no"],
    ["n5", "ä", "-inf", "yes"],
    ["n6", "zz", "", "no"],
    ['""', "", "?", "yes"],
    ["n8", "a", "10", ""],
]

pieces = st.sampled_from(
    [
        b'"', b'""', b",", b"\t", b"\\", b'\\"', b"\r", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b" ", b"a", b"yes",
        b"no", b"x, y", b"1", b"-", b".5", b"1e5", "ä\u2028\x85".encode(), b"\x0c\x0b\x1a\x1c", b"#", b"'", b"\x1b",
        b'","', b'",',
    ]
)  # fmt: skip
raw_lines = st.one_of(
    st.lists(pieces, max_size=14).map(b"".join),
    st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")),
    st.lists(pieces, min_size=1, max_size=3).map(lambda some: b"".join(some) * 60),
)
"""Lines of any bytes but LF, mostly of those that readers take for more than a value."""

NASTY = [
    b'"5\\" nail",yes', b'"5" nail",yes', b'n,"5\\" nail",1,yes', b'n,"5" nail",1,yes', b'"', b'"""', b'a,"',
    b"n,a,1,yes\r", b"\r", b"\r\r", b"\ra,1,yes\r", b"n,a,1,yes\rn,a,1,yes", b'n,"a\r",1,yes', b"\xff,\xff,\xff,\xff",
    b"n,\xff,1,yes", b"n,a,1,\xff", b"\xef\xbb\xbfn,a,1,yes", b"\x00", b"n,a\x00,1,yes", b"n,a,1", b"n,a,1,yes,more",
    b",,,", b"   ", b"", b'"n,a,1,yes', b'n,a,1,"yes', b"\\", b"n,a,1,yes\\", b"n\\,a,1,yes", b'n, "a" ,1,yes',
    b'n,""a"",1,yes', b"#n,a,1,yes", b"n,a,1e5,yes", b"n,a,1-2,yes", b"n,a,+1,yes", b"n,a,\t1,yes",
    "n,ä\u2028,1,yes".encode(), b"\x1a", b'n,"a""",1,yes', b"n\ta\t1\tyes", b'n\t"a\t1\tyes', b"n," * 400,
    b"'n,a',1,yes", b'n,"a"b"c",1,yes', b"NULL,NULL,NULL,NULL",
]  # fmt: skip
"""Lines that one reader or another takes for more than a record, for none, or for the end."""


def content_of(lines: list[bytes], end: bytes, final: bool, bom: bool = False) -> bytes:
    """A file of these lines."""
    return (b"\xef\xbb\xbf" if bom else b"") + end.join(lines) + (end if final else b"")


def good_lines(delimiter: bytes) -> list[bytes]:
    """A header and records, well formed."""
    return [delimiter.join(field.encode() for field in fields) for fields in (HEADER, *GOOD)]


def fields_by_python(line: bytes, delimiter: bytes) -> list[bytes]:
    """One line through Python's reader, a character a byte; a CR is an ordinary one."""
    text = line.decode("latin-1").replace("\r", "\u0100")
    rows = list(csv.reader([text], delimiter=delimiter.decode(), skipinitialspace=True))
    return [field.replace("\u0100", "\r").encode("latin-1") for row in rows for field in row]


def records_of(content: bytes, delimiter: bytes, longest: int = LONGEST) -> dict[str, np.ndarray]:
    """The columns of a file, each line by itself."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    names = fields_by_python(lines[0].removesuffix(b"\r"), delimiter)
    records = []
    for line in lines[1:]:
        if len(line) > longest:
            records.append([b""] * len(names))
        elif line.removesuffix(b"\r") or len(names) == 1:
            fields = fields_by_python(line.removesuffix(b"\r"), delimiter)[: len(names)]
            texts = [field.decode("utf-8", "replace").strip(" ") for field in fields]
            records.append([*texts, *[None] * (len(names) - len(texts))])
    columns = zip(*records, strict=True) if records else [[]] * len(names)
    return {name.decode(): objects(column) for name, column in zip(names, columns, strict=True)}


def objects(values: Any) -> np.ndarray:
    """One object a value."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def read(source: Any) -> tuple[list[list[list[int]]], list[tuple[int, ...]]]:
    """The exact counts of a source, and its rows in their order."""
    source.check(SCHEMA)
    exact = source.count(CELLS, SCHEMA)
    rows = [
        row
        for block in source.rows(CELLS, SCHEMA)
        for row in zip(*(block.codes[each].tolist() for each in CELLS), block.labels.tolist(), strict=True)
    ]
    return [exact.counts[each].tolist() for each in CELLS], rows


def expected(content: bytes, delimiter: bytes, longest: int = LONGEST) -> Any:
    """What every source has to read."""
    return read(MemorySource(records_of(content, delimiter, longest)))


def distance(first: Any, second: Any) -> list[int]:
    """By how much the counts of two tables differ, for each of the cells; exact integers."""
    return [int(np.abs(np.array(a) - np.array(b)).sum()) for a, b in zip(first, second, strict=True)]


def write(folder: Path, content: bytes, name: str) -> Path:
    """A file of these bytes."""
    path = folder / name
    path.write_bytes(content)
    return path
