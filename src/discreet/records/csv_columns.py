"""CSV files as columns: regular lines are split by pyarrow where it is installed, all others by `csv_lines.fields_of`.

Each distinct text of a column is converted once: a block of records needs no Python object per value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.records.csv_lines import TOO_LONG, Lines, field_text, fields_of
from discreet.records.distinct import RANGE, hashes_in, hashes_of
from discreet.records.encoding import Cells, Codes, as_floats, class_codes, number_of
from discreet.records.values import objects
from discreet.schema import Schema
from discreet.schema.columns import Numeric

PLAIN = b"0123456789.+-eE"
"""The characters that most numbers are written with."""
LONGEST_PLAIN = 100
"""Length of the longest text that Arrow is asked to read as a number; with the two digits that `PATTERN` allows in an
exponent, no number of this length is too large or too small for a double."""
PATTERN = "^-?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,2})?$"
"""Texts that both Arrow and `number_of` read as a number."""


SWAPPED = bytes.maketrans(b".,", b",.")
"""Swaps points and commas: a number with a decimal comma then has a decimal point, and a text with a decimal point, or
with points between thousands, is no longer a number."""


class FieldCounts(NamedTuple):
    """Distinct fields, how many records have each, the hash of each, and the number of records altogether."""

    fields: list[bytes | None]
    counts: list[int]
    hashes: list[int]
    records: int


class TextColumn:
    """One column of a block of lines: texts, None for missing values, b"" for values that cannot be read.

    Parameters
    ----------
    split : the fields of the regular lines, an Arrow array; None if there are no regular lines.
    regular : which lines are regular.
    others : the fields of the other lines.
    decimal : the mark in numbers: "." or ",".
    """

    def __init__(
        self, split: Any, regular: NDArray[np.bool_], others: Sequence[bytes | None], decimal: str = "."
    ) -> None:
        self._split, self._regular, self._others, self._swapped = split, regular, others, decimal == ","

    @property
    def has_commas(self) -> bool:
        """Whether numbers have a decimal comma, so that their texts are not how we write them."""
        return self._swapped

    def values(self) -> NDArray[Any]:
        """The value of each record."""
        distinct, place = self._distinct
        return np.asarray(distinct[place])

    def codes(self, cells: Cells, schema: Schema) -> Codes:
        """The cell of each record, as `Cells.codes` finds it."""
        column = schema[cells.column]
        if isinstance(column, Numeric):
            return cells.number_codes(self.numbers, column)
        distinct, place = self._distinct
        return np.asarray(cells.codes(distinct, schema)[place])

    def class_codes(self, schema: Schema) -> Codes:
        """The class of each record, as `encoding.class_codes` finds it."""
        distinct, place = self._distinct
        return np.asarray(class_codes(distinct, schema)[place])

    def counts(self, chosen: NDArray[np.bool_] | None = None, below: int = RANGE) -> FieldCounts:
        """The distinct fields of all records, or of the chosen ones, without the spaces around them.

        Long fields whose hash is not `below` a limit are left out; only the number of their records is kept.
        """
        fields: list[bytes | None] = []
        counts: list[int] = []
        hashes: list[int] = []
        records = len(self._regular) if chosen is None else int(chosen.sum())
        if self._split is not None:
            split = self._split if chosen is None else _filtered(self._split, chosen[self._regular])
            fields, counts, hashes = _sampled(split, below)
        kept = [True] * len(self._others) if chosen is None else chosen[~self._regular].tolist()
        pool: dict[bytes | None, int] = {}
        for each, is_kept in zip(self._others, kept, strict=True):
            if is_kept:
                field = each if each is None or each == TOO_LONG else each.strip(b" ")
                pool[field] = pool.get(field, 0) + 1
        hashes += hashes_of([each or b"" for each in pool]).tolist()
        return FieldCounts([*fields, *pool], [*counts, *pool.values()], hashes, records)

    @cached_property
    def _distinct(self) -> tuple[NDArray[Any], Codes]:
        """The distinct values (a few may occur twice), and the index of each record's value among them."""
        fields: list[bytes | None] = []
        place = np.empty(len(self._regular), dtype=np.intp)
        if self._split is not None:
            encoded = self._split.dictionary_encode()
            fields += encoded.dictionary.to_pylist()
            place[self._regular] = encoded.indices.to_numpy()
        pool: dict[bytes | None, int] = {}
        others = [pool.setdefault(field, len(pool)) for field in self._others]
        place[~self._regular] = np.array(others, dtype=np.intp) + len(fields)
        return objects(map(field_text, [*fields, *pool])), place

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        """The number of each record, as `encoding.number_of` reads it; with a decimal comma, as it reads it swapped."""
        try:
            import pyarrow as pa
        except ImportError:
            distinct, place = self._distinct
            return np.asarray(as_floats(swapped(distinct) if self._swapped else distinct)[place])
        numbers = np.empty(len(self._regular), dtype=np.float64)
        if self._split is not None:
            numbers[self._regular] = _numbers_of(_swapped_fields(self._split) if self._swapped else self._split)
        others = pa.array(
            [(field or b"").translate(SWAPPED if self._swapped else None) for field in self._others], pa.binary()
        )  # b"" and None are both read as "not a number"
        numbers[~self._regular] = _numbers_of(others)
        return numbers


def _sampled(fields: Any, below: int) -> tuple[list[bytes | None], list[int], list[int]]:
    """The distinct fields of an Arrow array, their counts and hashes; long ones only if their hash is below a limit."""
    import pyarrow as pa
    from pyarrow import compute

    found = fields.value_counts()
    texts, counts = found.field(0).view(pa.string()), found.field(1).to_numpy()
    if b" " in memoryview(texts.buffers()[2] or b"").tobytes():
        texts = compute.ascii_trim(texts, characters=" ")
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    hashes = hashes_in(np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8), offsets)
    kept = (hashes < below) | (np.diff(offsets) <= 1)
    return _filtered(texts, kept).view(pa.binary()).to_pylist(), counts[kept].tolist(), hashes[kept].tolist()


def swapped(values: NDArray[Any]) -> NDArray[Any]:
    """Texts with their points and commas swapped; all other values as they are."""
    table = str.maketrans(".,", ",.")
    return objects(value.translate(table) if type(value) is str else value for value in values.tolist())


def _swapped_fields(fields: Any) -> Any:
    """An Arrow array of fields with their points and commas swapped."""
    import pyarrow as pa

    validity, offsets, content = fields.buffers()
    changed = pa.py_buffer(memoryview(content or b"").tobytes().translate(SWAPPED))
    return pa.Array.from_buffers(fields.type, len(fields), [validity, offsets, changed], offset=fields.offset)


def split_columns(
    lines: Lines, places: Iterable[int], width: int, delimiter: bytes, decimal: str = "."
) -> dict[int, TextColumn]:
    """The columns at these positions in a block of lines."""
    places = list(places)
    split = _split_by_arrow(lines, places, delimiter)
    regular = lines.regular if split else np.zeros(len(lines), dtype=bool)
    others = [fields_of(line, delimiter, width) for line in (lines.irregular() if split else lines.all())]
    return {
        place: TextColumn(split.get(place), regular, [fields[place] for fields in others], decimal) for place in places
    }


def _split_by_arrow(lines: Lines, places: list[int], delimiter: bytes) -> dict[int, Any]:
    """The fields of the regular lines by column; empty if no line is regular or pyarrow is not installed."""
    if not lines.regular.any():
        return {}
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return {}
    names = [str(place) for place in range(lines.fields)]
    heading = (
        delimiter.join(name.encode() for name in names) + b"\n"
    )  # then Arrow finds no byte order mark at the start
    content = heading + lines.joined()
    wanted = {names[place]: pa.binary() for place in places}
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(block_size=len(content) + 1, encoding="utf8"),
            csv.ParseOptions(
                delimiter=delimiter.decode(),
                quote_char='"',
                double_quote=True,
                escape_char=False,
                newlines_in_values=False,
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                check_utf8=False, column_types=wanted, include_columns=list(wanted), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return {}  # Arrow disagrees with RFC 4180: all lines are read by `fields_of`
    if table.num_rows != int(lines.regular.sum()):
        return {}
    return {place: table.column(names[place]).combine_chunks() for place in places}


def _numbers_of(fields: Any) -> NDArray[np.float64]:
    """Numbers from an Arrow array of fields, as `encoding.number_of` reads them.

    Guarantee  the numbers are bit for bit those of `number_of`.
    Proof      Arrow reads short texts of the characters in PLAIN. With these characters only decimal numbers can be
               spelled, neither NaN nor infinity, and Arrow takes the nearest double, as float() does. If Arrow refuses
               one of the texts, it gets only those that match PATTERN, which is a part of `columns.NUMBER`. All other
               texts are read by `number_of`, once per distinct text.
    Test       tests/records/test_csv_lines.py::test_numbers_of_a_column_are_those_of_the_encoding
    """
    import pyarrow as pa
    from pyarrow import compute

    texts = fields.view(pa.string())
    if b" " in memoryview(texts.buffers()[2] or b"").tobytes():
        texts = compute.ascii_trim(texts, characters=" ")
    is_plain = _are_plain(texts)
    numbers = np.empty(len(texts), dtype=np.float64)
    if not _cast(texts, is_plain, numbers):
        fits = compute.match_substring_regex(_filtered(texts, is_plain), PATTERN)
        is_plain[is_plain] = fits.to_numpy(zero_copy_only=False)
        if not _cast(texts, is_plain, numbers):
            is_plain[:] = False
    if not is_plain.all():
        rest = _filtered(texts, ~is_plain).view(pa.binary()).dictionary_encode()
        distinct = np.array([number_of(field_text(field)) for field in rest.dictionary.to_pylist()], dtype=np.float64)
        numbers[~is_plain] = distinct[rest.indices.to_numpy()]
    return numbers


def _are_plain(texts: Any) -> NDArray[np.bool_]:
    """Which texts of an Arrow array are short, not empty, and made of the characters in PLAIN only."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    content = memoryview(texts.buffers()[2] or b"")[offsets[0] : offsets[-1]].tobytes()
    lengths = np.diff(offsets)
    is_plain: NDArray[np.bool_] = (lengths > 0) & (lengths <= LONGEST_PLAIN)
    if content.translate(None, PLAIN):
        is_foreign = np.ones(256, dtype=bool)
        is_foreign[list(PLAIN)] = False
        foreign = np.flatnonzero(is_foreign[np.frombuffer(content, dtype=np.uint8)])
        is_plain &= np.diff(np.searchsorted(foreign, offsets - offsets[0])) == 0
    return is_plain


def _cast(texts: Any, chosen: NDArray[np.bool_], numbers: NDArray[np.float64]) -> bool:
    """Write the numbers of the chosen texts; False if Arrow cannot read one of them."""
    import pyarrow as pa

    try:
        numbers[chosen] = _filtered(texts, chosen).cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        return False
    return True


def _filtered(texts: Any, kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return texts if kept.all() else texts.filter(pa.array(kept))
