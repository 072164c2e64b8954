"""What a record of a CSV file is: one line. Every command and every engine reads CSV files by this definition.

- Lines end with LF; one CR before it belongs to the line end, and the end of the file ends the last line. Every other
  byte is part of a value: a lone CR, NUL, a form feed, a backslash, bytes that are not UTF-8.
- The first line names the columns. An empty line is not a record, except in a file with a single column.
- A field is quoted if its first character after spaces is a quote. The quoted part ends at the next quote that is not
  doubled, or at the end of the line; what follows up to the delimiter is kept as it is. A doubled quote stands for one
  quote. A quote anywhere else is an ordinary character.
- Short lines are padded with missing values, fields beyond the last column are dropped. In a line longer than
  `LONGEST_LINE` no value is read.
- A field is text: bytes that are not UTF-8 are replaced, spaces at both ends are removed.

Guarantee  adding a line of any bytes to a file, anywhere after the first line, leaves the records of all other lines
           as they are and adds at most one record.
Proof      where lines begin and end depends on the positions of LF alone, and a line contains no LF. The values of a
           line are a function of its own bytes and of the public header, by `fields_of` and `field_text`; no state is
           carried from line to line. (A line added at the end of the file gives the line before it its LF.)
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
"""Bytes that are read at a time (4 MiB); benchmarks/csv_reading.py measures time and memory with it."""
LONGEST_LINE = 1 << 24
"""Bytes of the longest line that is read, without its LF (16 MiB): bounds the memory that one record can take."""
TOO_LONG = b"\n"
"""Marks every field of a line that is too long. No real field equals it, since no field contains LF."""
FEW_MORE = 64
"""Lines with at most this many extra fields can be read fast; all others are read slowly, with the same values."""
BOM = b"\xef\xbb\xbf"
LF, CR, QUOTE = 10, 13, 34


def fields_of(line: bytes, delimiter: bytes, width: int) -> list[bytes | None]:
    """The fields of one line, given without its line end, for a file with `width` columns: the definition.

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
    """Whether a quote in the line is never closed: a sign of fields that span lines, or a mistake in the file."""
    start, is_closed = 0, True
    while start <= len(line):
        _, start, is_closed = _next_field(line, delimiter, start)
    return not is_closed


def _next_field(line: bytes, delimiter: bytes, start: int) -> tuple[bytes, int, bool]:
    """The field that begins at `start`, the start of the next field, and False if a quote is never closed."""
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
    """The position of the next delimiter, or of the end of the line."""
    end = line.find(delimiter, start)
    return len(line) if end < 0 else end


def field_text(field: bytes | None) -> str | bytes | None:
    """The text of a field; None if the line has no such field, b"" (neither number nor text) if it is too long."""
    if field is None or field == TOO_LONG:
        return None if field is None else b""
    return field.decode("utf-8", "replace").strip(" ")


def first_line(file: BinaryIO) -> bytes:
    """The header of an open file, without byte order mark and line end; reading goes on at the second line."""
    return file.readline(LONGEST_LINE + 2).removeprefix(BOM).removesuffix(b"\n").removesuffix(b"\r")


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The rest of an open file in blocks of whole lines, each with its LF.

    Memory stays flat however long a line is: a line that is too long is cut once that is certain.
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

    All CSV readers that follow RFC 4180 agree with `fields_of` on a regular line, whatever lines are around it. A line
    is regular if it is short enough, has no CR except at its end, has `fields` fields (as many as there are columns, or
    the larger number that most lines have), and an even number of quotes. Number the quotes from 1: odd ones must
    stand at the start of the line, after a delimiter or after a quote; even ones must stand before a delimiter, the
    line end or a quote.

    Guarantee  on a regular line, RFC 4180 and `fields_of` find the same fields.
    Proof      from left to right. Where a field starts, an even number of quotes came before. If the field begins with
               a quote, both readers take it as quoted, and the next quote is an even one. If a quote follows that even
               one, both take the pair as a doubled quote, and the quote after the pair is again an even one; if a
               delimiter or the line end follows, both end the field there. Since the number of quotes is even, some
               quote ends the field. If the field does not begin with a quote, it has none up to its delimiter: that
               would be an odd quote after an ordinary character. Both take it as plain. So quotes open and close in
               turn, and a delimiter separates fields if and only if an even number of quotes came before it.
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
    """The most frequent number of fields, among lines with as many fields as columns or a few more.

    It decides which lines are read fast; the values are the same either way.
    """
    enough = delimiters[(delimiters >= width - 1) & (delimiters < width + FEW_MORE)]
    return int(np.bincount(enough).argmax()) + 1 if len(enough) else width


def _are_good(text: Bytes, starts: Places, ends: Places, delimiter: int) -> tuple[NDArray[np.bool_], Places]:
    """Which lines are regular but for the number of fields, and how many delimiters separate fields in each line."""
    regular: NDArray[np.bool_] = ends - starts <= LONGEST_LINE
    returns = np.flatnonzero(text == CR)
    regular[np.searchsorted(ends, returns[text[returns + 1] != LF])] = False
    is_quote = text == QUOTE
    marks = np.flatnonzero(is_quote | (text == delimiter))
    quotes = is_quote[marks]
    places = marks[quotes]
    if len(places):
        is_even = np.diff(np.searchsorted(places, ends), prepend=0) % 2 == 0
        if not is_even.all():  # without odd lines, the parity of quotes restarts with each line
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
