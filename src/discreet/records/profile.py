"""What the owner is told about the values of each column of a file, in one pass and little memory.

Nothing here is private: it is for drafts that only the data's owner sees, never for training. Values are read as
training reads them, by the same lines, fields and numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.records import csv_lines
from discreet.records.csv_columns import FieldCounts, TextColumn, split_columns
from discreet.records.csv_header import header_and_delimiter
from discreet.records.csv_lines import TOO_LONG, Lines, has_open_quote
from discreet.records.csv_opening import read_content
from discreet.records.distinct import RANGE, Distinct, counted, hashes_of
from discreet.records.encoding import number_of
from discreet.records.files import checked, is_text, read_blocks
from discreet.schema.dialect import USUAL, Dialect

THREADS = 2
"""Blocks of lines that are looked at in parallel: more than two need memory, and wait for one disk."""
FIRST = 1 << 18
"""Bytes of the first lines, which tell whether a column holds texts."""
MOST_SPELLED = 1000
"""The most spellings of numbers that are kept: a column with more is not a list of codes."""
ABSENT = ("", "?")
"""Texts that mean: missing."""
Told = Callable[[int, int], None]
"""Called with the number of bytes that are read, and the size of the file."""


@dataclass
class ColumnProfile:
    """What is known about a column after some records; profiles of two parts of a table add up.

    Attributes
    ----------
    records, missing : the number of records, and of those without a value.
    numbers, low, high, whole : how many finite numbers, between which bounds, and whether all are integers.
    infinite : how many infinite numbers.
    others : how many values that are neither numbers nor texts; `dates` of them are dates or times.
    typed : whether the file itself says that the column holds numbers.
    distinct, words : the distinct numbers, and the distinct texts that are not numbers.
    broken : how many texts are not of the encoding that was declared.
    spelled : the texts of numbers with a decimal comma, by which they are compared with categories and classes; None
        if they are too many to be listed. Without decimal commas they are found by their numbers.
    """

    records: int = 0
    missing: int = 0
    numbers: int = 0
    low: float = math.inf
    high: float = -math.inf
    whole: bool = True
    infinite: int = 0
    others: int = 0
    dates: int = 0
    typed: bool = False
    broken: int = 0
    distinct: Distinct[float] = field(default_factory=Distinct)
    words: Distinct[str] = field(default_factory=Distinct)
    word_records: int = 0
    as_texts: bool | None = None
    spelled: set[str] | None = field(default_factory=set)

    @property
    def present(self) -> int:
        """The number of records that have a value."""
        return self.records - self.missing

    def alike(self) -> ColumnProfile:
        """An empty profile for another part of the table, that samples values as this one does by now."""
        distinct: Distinct[float] = Distinct(self.distinct.level)
        words: Distinct[str] = Distinct(self.words.level)
        spelled: set[str] | None = None if self.spelled is None else set()
        return ColumnProfile(distinct=distinct, words=words, as_texts=self.as_texts, spelled=spelled)

    def merge(self, other: ColumnProfile) -> None:
        """Add what was found in another part of the table."""
        for name in ("records", "missing", "numbers", "infinite", "others", "dates", "broken", "word_records"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.whole, self.typed = self.whole and other.whole, self.typed or other.typed
        self.distinct.merge(other.distinct)
        self.words.merge(other.words)
        self._spell(other.spelled)

    def _spell(self, texts: set[str] | None) -> None:
        """Add spellings of numbers, unless there are too many by now."""
        both = None if self.spelled is None or texts is None else self.spelled | texts
        self.spelled = None if both is None or len(both) > MOST_SPELLED else both

    def add_numbers(self, numbers: NDArray[np.float64]) -> None:
        """Add numbers that are not NaN, one per record; `records` is not changed."""
        finite = numbers[np.isfinite(numbers)]
        self.infinite += len(numbers) - len(finite)
        self.numbers += len(finite)
        if not len(finite):
            return
        self.low, self.high = min(self.low, float(finite.min())), max(self.high, float(finite.max()))
        self.whole = self.whole and bool((finite == np.floor(finite)).all())
        self.distinct.add_numbers(finite)

    def add_fields(self, found: FieldCounts) -> None:
        """Add distinct fields of a CSV file that are not read as numbers, with their numbers of records."""
        texts, counts, hashes = [], [], []
        words = found.records
        for each, count, hashed in zip(found.fields, found.counts, found.hashes, strict=True):
            text = None if each is None else each.decode("utf-8", "replace")
            if each == TOO_LONG or text is None or text in ABSENT:
                self.others += count if each == TOO_LONG else 0
                self.missing += count if each != TOO_LONG else 0
                words -= count
            else:
                self.broken += count if "\ufffd" in text else 0
                texts.append(text)
                counts.append(count)
                hashes.append(hashed)
        self.word_records += words
        self.words.add_texts(texts, counts, hashes)

    def add_values(self, values: NDArray[Any]) -> None:
        """Add the values of a block of a Parquet or Excel file."""
        self.records += len(values)
        if values.dtype.kind in "iuf":
            self.typed = True
            numbers = values.astype(np.float64)
            self.missing += int(np.isnan(numbers).sum())
            self.add_numbers(numbers[~np.isnan(numbers)])
        elif values.dtype.kind in "mM":
            self.dates, self.others = self.dates + len(values), self.others + len(values)  # dates are not read at all
        else:
            self._add_objects(values.tolist())

    def _add_objects(self, values: list[Any]) -> None:
        numbers, texts = [], []
        for value in values:
            if value is None or value != value or (isinstance(value, str) and value.strip(" ") in ABSENT):
                self.missing += 1
            elif isinstance(value, bool | np.bool_):
                texts.append("true" if value else "false")
            elif (number := number_of(value)) == number:
                numbers.append(number)
            elif isinstance(value, str):
                texts.append(value.strip(" "))
            else:
                self.others, self.dates = self.others + 1, self.dates + isinstance(value, date | time)
        self.add_numbers(np.array(numbers, dtype=np.float64))
        self.word_records += len(texts)
        pairs = list(counted(texts))
        hashes = hashes_of([text.encode("utf-8", "replace") for text, _ in pairs])
        self.words.add_texts([text for text, _ in pairs], [count for _, count in pairs], hashes.tolist())

    def add_column(self, column: TextColumn, records: int) -> None:
        """Add the column of a block of lines.

        Columns of text are recognised in their first block; later on their texts are not tried as numbers again.
        """
        self.records += records
        if self.as_texts:
            self.add_fields(column.counts(None, RANGE >> self.words.level))
            return
        numbers = column.numbers
        is_number = ~np.isnan(numbers)
        self.add_numbers(numbers[is_number])
        if column.has_commas and self.spelled is not None:
            fields = column.counts(is_number).fields
            self._spell({each.decode("utf-8", "replace") for each in fields if each is not None})
        if not is_number.all():
            self.add_fields(column.counts(~is_number, RANGE >> self.words.level))


@dataclass
class Profile:
    """What is known about a file: its columns, and its lines with a quote that is never closed or that are too long."""

    columns: dict[str, ColumnProfile]
    records: int = 0
    open_quotes: int = 0
    too_long: int = 0

    def merge(self, other: Profile) -> None:
        """Add what was found in another part of the file."""
        self.records += other.records
        self.open_quotes += other.open_quotes
        self.too_long += other.too_long
        for name, column in other.columns.items():
            self.columns[name].merge(column)


def profile_file(
    path: str | Path, dialect: Dialect = USUAL, sheet: str | None = None, told: Told = lambda done, of: None
) -> Profile:
    """Look at every record of a CSV, Excel or Parquet file once."""
    path = checked(path)
    size = path.stat().st_size
    if is_text(path):
        return _profile_lines(path, dialect, lambda done: told(min(done, size), size))
    return profile_blocks(read_blocks(path, dialect=dialect, sheet=sheet))


def profile_blocks(blocks: Iterable[dict[str, NDArray[Any]]]) -> Profile:
    """Look at a table that comes in blocks of columns."""
    found: Profile | None = None
    for block in blocks:
        found = Profile({name: ColumnProfile() for name in block}) if found is None else found
        found.records += len(next(iter(block.values()), ()))
        for name, values in block.items():
            found.columns[name].add_values(values)
    return found or Profile({})


def _profile_lines(path: Path, dialect: Dialect, told: Callable[[int], None]) -> Profile:
    """Look at a CSV file; its first lines by themselves, since they tell which columns hold texts."""
    names, delimiter = header_and_delimiter(path, dialect)
    whole, done = Profile({name: ColumnProfile() for name in names}), 0

    def look(content: bytes) -> Profile:
        columns = {name: column.alike() for name, column in whole.columns.items()}
        return _profile_block(content, columns, delimiter, dialect.decimal)

    blocks = parts(read_content(path, dialect))
    first = next(blocks, None)
    if first is None:
        return whole
    whole.merge(look(first))
    for column in whole.columns.values():
        column.as_texts = column.word_records > column.numbers if column.present else None
    told(done := len(first))
    with ThreadPoolExecutor(THREADS) as pool:
        for size, part in _in_turn(pool, look, blocks):
            whole.merge(part)
            told(done := done + size)
    return whole


def parts(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks, with the first lines as a block of their own."""
    for content in blocks:
        cut = content.rfind(b"\n", 0, FIRST) + 1
        yield content[:cut] or content
        if 0 < cut < len(content):
            yield content[cut:]
        break
    yield from blocks


def _in_turn(
    pool: ThreadPoolExecutor, work: Callable[[bytes], Profile], blocks: Iterator[bytes]
) -> Iterator[tuple[int, Profile]]:
    """The results as they come, with the sizes of their blocks; at most one block waits."""
    running: dict[Future[Profile], int] = {}
    for block in blocks:
        running[pool.submit(work, block)] = len(block)
        if len(running) > THREADS:
            for each in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(each), each.result()
    for each, size in running.items():
        yield size, each.result()


def _profile_block(content: bytes, columns: dict[str, ColumnProfile], delimiter: bytes, decimal: str) -> Profile:
    lines = Lines(content, delimiter, len(columns))
    found = Profile(columns, len(lines))
    for line in lines.irregular():
        found.too_long += len(line) > csv_lines.LONGEST_LINE
        found.open_quotes += len(line) <= csv_lines.LONGEST_LINE and has_open_quote(line, delimiter)
    split = split_columns(lines, range(len(columns)), len(columns), delimiter, decimal)
    for place, column in enumerate(columns.values()):
        column.add_column(split.pop(place), len(lines))
    return found
