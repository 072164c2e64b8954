"""What a record of a CSV file is: one line. Every command and every engine reads CSV files by this definition.

- Lines end with LF; one CR before it belongs to the line end, and the end of the file ends the last line. Every other
  byte is part of a value: a lone CR, NUL, a form feed, a backslash, bytes that are not UTF-8.
- The first line names the columns. An empty line is no record, unless there is one column only.
- A field whose first character after spaces is a quote is quoted: up to the next quote that is not doubled, then on to
  the delimiter as it stands; a doubled quote is one quote; a quote that is never closed ends with the line. A quote
  elsewhere is an ordinary character.
- Short lines are padded with missing values, fields beyond the last column are dropped. Of a line longer than
  `LONGEST_LINE` no value is read.
- A field is text: bytes that are not UTF-8 are replaced, spaces at both ends do not count.

Guarantee  add a line of any bytes to a file, anywhere after the first line: the records of all other lines stay as they
           are, and at most one record is added.
Proof      where a line begins and ends depends on the places of LF alone, and a line of any bytes, between two of them,
           holds none. What a line says is a function of its own bytes and of the public header, by `fields_of` and
           `field_text`; no state is carried from line to line. (At the end of the file, the line before gets its LF.)
Test       tests/suites/test_random_lines.py::test_a_line_of_any_bytes_is_at_most_one_record
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]

BLOCK = 1 << 22
"""Bytes that are read at a time."""
LONGEST_LINE = 1 << 24
"""Bytes of the longest line, without its LF, that is read."""
TOO_LONG = b"\n"
"""Stands for a field of a line that is too long. No field is equal to it: lines are cut at LF."""
FEW_MORE = 64
"""Fields beyond the last column that a file may have in every line and still be read fast."""
BOM = b"\xef\xbb\xbf"
LF, CR, QUOTE = 10, 13, 34


def fields_of(line: bytes, delimiter: bytes, width: int) -> list[bytes | None]:
    """The fields of one line, without its line end, for a file of so many columns: the definition.

    >>> fields_of(b'1, "a ""b"", c" d,e"f,"g, h', b",", 5)
    [b'1', b'a "b", c d', b'e"f', b'g, h', None]
    """
    if len(line) > LONGEST_LINE:
        return [TOO_LONG] * width
    fields: list[bytes | None] = []
    if b'"' not in line:
        fields += line.split(delimiter, width)[:width] if line else []
        return fields + [None] * (width - len(fields))
    start = 0
    while start <= len(line) and len(fields) < width:
        field, start, _ = _next_field(line, delimiter, start)
        fields.append(field)
    return fields + [None] * (width - len(fields))


def has_open_quote(line: bytes, delimiter: bytes) -> bool:
    """Whether a quoted field of the line is never closed: a sign that fields span lines, or a slip of the writer."""
    start, is_closed = 0, True
    while start <= len(line):
        _, start, is_closed = _next_field(line, delimiter, start)
    return not is_closed


def _next_field(line: bytes, delimiter: bytes, start: int) -> tuple[bytes, int, bool]:
    """The field that begins at `start`, where the next one begins, and whether its quote, if any, is closed."""
    end = _end(line, delimiter, start)
    opening = line.find(b'"', start, end)
    if opening < 0 or line[start:opening].strip(b" "):
        return line[start:end], end + 1, True
    parts, start = [], opening + 1
    while (closing := line.find(b'"', start)) >= 0:
        parts.append(line[start:closing])
        if not line.startswith(b'"', closing + 1):
            end = _end(line, delimiter, closing + 1)
            return b'"'.join(parts) + line[closing + 1 : end], end + 1, True
        start = closing + 2
    return b'"'.join([*parts, line[start:]]), len(line) + 1, False


def _end(line: bytes, delimiter: bytes, start: int) -> int:
    """Where the next delimiter stands, or the line ends."""
    end = line.find(delimiter, start)
    return len(line) if end < 0 else end


def field_text(field: bytes | None) -> str | bytes | None:
    """What a field says: a text, None if it is not there, and b"" (neither number nor text) if it cannot be read."""
    if field is None or field == TOO_LONG:
        return None if field is None else b""
    return field.decode("utf-8", "replace").strip(" ")


def first_line(file: BinaryIO) -> bytes:
    """The header of an open file, without byte order mark and line end; leaves the file at the second line."""
    return file.readline(LONGEST_LINE + 2).removeprefix(BOM).removesuffix(b"\n").removesuffix(b"\r")


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The rest of an open file in blocks of whole lines, each with its LF; memory stays flat, however long a line is.

    Of a line that is longer than a block, and too long to be read, only so much is kept as shows that it is.
    """
    rest = b""
    while block := file.read(BLOCK):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest = (rest + block)[: LONGEST_LINE + 1]
    if rest:
        yield rest + b"\n"


class Lines:
    """The records of a block of whole lines, and which of them are regular.

    A line is regular if all CSV readers that follow RFC 4180 agree with `fields_of` on it, whatever stands before and
    after it: it is short enough, holds no CR but at its end, has `fields` fields (as many as there are columns, or what
    most lines have beyond that), and an even number of quotes. Of these the first, third, ... stand at the start of
    the line, after a delimiter or after a quote; the second, fourth, ... before a delimiter, the line end or a quote.

    Guarantee  on a regular line, RFC 4180 and `fields_of` find the same fields.
    Proof      from left to right: where a field starts, an even number of quotes lies behind. If it begins with a
               quote, it is quoted to both, and the next quote is a second, fourth, ... one. Before a quote, it is
               doubled to both, and the one after that pair is again a second, fourth, ... one; before a delimiter or
               the line end, it closes the field to both. The number being even, one of them closes it. If the field
               does not begin with a quote, it holds none up to its delimiter, since that would be a first, third, ...
               one after an ordinary character: it is plain to both. So quotes open and close by turns, and the
               delimiters that have an even number of quotes behind them are those between fields.
    Test       tests/records/test_csv_lines.py::test_regular_lines_are_those_on_which_readers_agree
    """

    def __init__(self, content: bytes, delimiter: bytes, width: int) -> None:
        self._content, self._delimiter, self._width = content, delimiter, width
        text = np.frombuffer(content, dtype=np.uint8)
        ends = np.flatnonzero(text == LF)
        starts = np.concatenate([[0], ends[:-1] + 1])
        good, delimiters = _are_good(text, starts, ends, delimiter[0])
        self.fields = _usual(delimiters[good], width)
        regular = good & (delimiters == self.fields - 1)
        is_empty = (ends == starts) | ((ends == starts + 1) & (text[starts] == CR))
        if width > 1:
            kept = ~is_empty
            starts, ends, regular = starts[kept], ends[kept], regular[kept]
        else:
            regular &= ~is_empty
        self._starts, self._ends = starts, ends
        self.regular: NDArray[np.bool_] = regular

    def __len__(self) -> int:
        return len(self._starts)

    def irregular(self) -> Iterator[bytes]:
        """The lines that are not regular, without their line ends."""
        return self._at(np.flatnonzero(~self.regular))

    def all(self) -> Iterator[bytes]:
        """All lines, without their line ends."""
        return self._at(np.arange(len(self)))

    def _at(self, places: Places) -> Iterator[bytes]:
        content = self._content
        for start, end in zip(self._starts[places].tolist(), self._ends[places].tolist(), strict=True):
            line = content[start:end]
            yield line if len(line) > LONGEST_LINE else line.removesuffix(b"\r")

    def joined(self) -> bytes:
        """The regular lines, with their line ends."""
        if len(self) and self.regular.all() and int((self._ends - self._starts + 1).sum()) == len(self._content):
            return self._content
        places = np.flatnonzero(self.regular)
        starts, ends = self._starts[places], self._ends[places] + 1
        new = np.flatnonzero(starts[1:] != ends[:-1]) + 1  # lines that follow each other are copied at once
        firsts, lasts = np.concatenate([starts[:1], starts[new]]), np.concatenate([ends[new - 1], ends[-1:]])
        return b"".join(self._content[a:b] for a, b in zip(firsts.tolist(), lasts.tolist(), strict=True))


def _usual(delimiters: Places, width: int) -> int:
    """The number of fields that most lines have, among those with as many as there are columns, or a few more.

    Whatever it is, all lines are read alike: it only decides which of them are read fast.
    """
    enough = delimiters[(delimiters >= width - 1) & (delimiters < width + FEW_MORE)]
    return int(np.bincount(enough).argmax()) + 1 if len(enough) else width


def _are_good(text: Bytes, starts: Places, ends: Places, delimiter: int) -> tuple[NDArray[np.bool_], Places]:
    """Which lines are short enough, without a CR inside and with good quotes; and their delimiters between fields."""
    regular: NDArray[np.bool_] = ends - starts <= LONGEST_LINE
    returns = np.flatnonzero(text == CR)
    regular[np.searchsorted(ends, returns[text[returns + 1] != LF])] = False
    is_quote = text == QUOTE
    marks = np.flatnonzero(is_quote | (text == delimiter))
    quotes = is_quote[marks]
    places = marks[quotes]
    if len(places):
        is_even = np.diff(np.searchsorted(places, ends), prepend=0) % 2 == 0
        if not is_even.all():  # without such lines, the parity of quotes begins anew with each line
            regular &= is_even
            kept = np.repeat(is_even, np.diff(np.searchsorted(marks, ends), prepend=0))
            marks, quotes = marks[kept], quotes[kept]
            places = marks[quotes]
        opening, closing = places[::2], places[1::2]
        before = np.where(opening == 0, LF, text[opening - 1])
        regular[np.searchsorted(ends, opening[~_one_of(before, LF, delimiter, QUOTE)])] = False
        regular[np.searchsorted(ends, closing[~_one_of(text[closing + 1], LF, CR, delimiter, QUOTE)])] = False
        is_outside = np.cumsum(quotes, dtype=np.uint8) % 2 == 0
        marks = marks[is_outside & ~quotes]
    return regular, np.asarray(np.diff(np.searchsorted(marks, ends), prepend=0))


def _one_of(values: Bytes, *wanted: int) -> NDArray[np.bool_]:
    table = np.zeros(256, dtype=bool)
    table[list(wanted)] = True
    return np.asarray(table[values])
