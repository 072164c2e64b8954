"""The definition of a CSV record, and the fast paths, which must give the same records."""

import csv
import io
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

from discreet.records import csv_columns, csv_lines, csv_opening, files
from discreet.records.csv_lines import Lines, field_text, fields_of, has_open_quote, whole_lines
from discreet.records.encoding import number_of
from discreet.sources.csv import CsvSource
from discreet.sources.file import open_file
from support.reference_csv import NASTY, fields_by_python, good_lines, raw_lines, read

delimiters = st.sampled_from([b",", b"\t"])


@given(line=raw_lines, delimiter=delimiters, width=st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_fields_are_those_of_pythons_reader(line, delimiter, width):
    expected = fields_by_python(line, delimiter)[:width]
    found = fields_of(line, delimiter, width)
    assert len(found) == width
    assert found[len(expected) :] == [None] * (width - len(expected))
    assert [field_text(field) for field in found[: len(expected)]] == [field_text(field) for field in expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"", [None, None, None]),
        (b",", [b"", b"", None]),
        (b'"a,b"', [b"a,b", None, None]),
        (b'"a""b",c', [b'a"b', b"c", None]),
        (b'"5\\" nail",yes', [b'5\\ nail"', b"yes", None]),
        (b'"5" nail",yes', [b'5 nail"', b"yes", None]),
        (b'"5 nail,yes', [b"5 nail,yes", None, None]),
        (b'a"b",c', [b'a"b"', b"c", None]),
        (b'  "a", "b"x,c', [b"a", b"bx", b"c"]),
        (b"1,2,3,4,5", [b"1", b"2", b"3"]),
        (b"a\rb,\x00,\xff", [b"a\rb", b"\x00", b"\xff"]),
    ],
)
def test_fields_of_a_line(line, expected):
    assert fields_of(line, b",", 3) == expected


def test_an_open_quote_is_seen():
    opened = [b'"', b'a,"b', b'"a""', b'  "a', b'"a","b,c']
    closed = [b"", b'""', b'a"', b'"a"b"', b'"a""b"', b'a,"b",c"']
    assert [has_open_quote(line, b",") for line in (*opened, *closed)] == [True] * len(opened) + [False] * len(closed)


# Regular lines

FIELDS = ["a", "", " b ", "1.5", '""', '"a"', '"a,b\tc"', '"say ""hi"""', '""""', '" "', "ä", "'", "\\"]
rfc_fields = st.lists(st.sampled_from([field.encode() for field in FIELDS]), min_size=1, max_size=4)
rfc_lines = rfc_fields.map(b",".join) | rfc_fields.map(b"\t".join)


@given(
    lines=st.lists(raw_lines | rfc_lines, max_size=6),
    delimiter=delimiters,
    width=st.integers(1, 4),
    crlf=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_regular_lines_are_those_on_which_readers_agree(lines, delimiter, width, crlf):
    """Three other readers find the same fields in joined regular lines as `fields_of` does line by line."""
    end = b"\r\n" if crlf else b"\n"
    made = Lines(b"".join(line + end for line in [*lines, b"a"]), delimiter, width)
    assert len(list(made.all())) == len(made)
    regular = [line for line, is_regular in zip(made.all(), made.regular, strict=True) if is_regular]
    assert made.fields >= width
    expected = [fields_of(line, delimiter, made.fields) for line in regular]
    assert [fields[:width] for fields in expected] == [fields_of(line, delimiter, width) for line in regular]
    assert made.joined().replace(b"\r\n", b"\n") == b"".join(line + b"\n" for line in regular)
    text = made.joined().decode("latin-1")
    loose, strict = (
        [[field.encode("latin-1") for field in row] for row in reader]
        for reader in (
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter.decode()),
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter.decode(), strict=True),
        )
    )
    assert loose == strict == expected
    if regular:
        split = csv_columns._split_by_arrow(made, list(range(made.fields)), delimiter)
        assert [list(row) for row in zip(*(split[p].to_pylist() for p in range(made.fields)), strict=True)] == expected


@given(fields=rfc_fields, delimiter=delimiters)
def test_well_formed_lines_are_regular(fields, delimiter):
    """Most lines are regular, so the fast path is used. A file of one column keeps its empty lines; Arrow would not."""
    line = delimiter.join(fields)
    made = Lines(line + b"\r\n" + line + b"\n", delimiter, len(fields))
    assert made.regular.all() or not line


def test_lines_that_all_have_a_field_too_many_are_regular():
    """Some programs write a comma at the end of every line: such files are read fast, without the extra field."""
    made = Lines(b'1,2,\n3,"4",\n5,6\n7,8,9\n', b",", 2)
    assert made.regular.tolist() == [True, True, False, True]
    split = csv_columns.split_columns(made, [0, 1], 2, b",")
    assert [split[place].values().tolist() for place in (0, 1)] == [["1", "3", "5", "7"], ["2", "4", "6", "8"]]
    short = Lines(b"1\n2\n3\n1,2\n", b",", 2)
    assert short.regular.tolist() == [False, False, False, True]
    many = Lines(b"1,2" + b"," * 100 + b"\n1,2\n", b",", 2)
    assert many.regular.tolist() == [False, True]


def test_lines_that_are_not_regular():
    quotes = [b'a,b,c,"', b'a,b"c"d,c,d', b'a, "b",c,d', b'a,"b" ,c,d', b'"a,b,c",d', b'a,b,"c"",d"']
    for line in [*quotes, b"a,b,c", b"a,b,c,d,e", b"a\r,b,c,d"]:
        made = Lines(b"1,2,3,4\n" + line + b"\n1,2,3,4\n", b",", 4)
        assert made.regular.tolist() == [True, False, True]
        assert list(made.irregular()) == [line]


# Blocks


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=8),
    final=st.booleans(),
    block=st.integers(1, 40),
    longest=st.integers(1, 30),
)
@settings(max_examples=200, deadline=None)
def test_blocks_hold_whole_lines_of_which_none_is_lost(lines, final, block, longest):
    content = b"\n".join(lines) + (b"\n" if final and lines else b"")
    expected = content.split(b"\n")
    expected = expected if expected[-1] else expected[:-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_lines, "BLOCK", block)
        patch.setattr(csv_lines, "LONGEST_LINE", longest)
        blocks = list(whole_lines(io.BytesIO(content)))
    assert all(each.endswith(b"\n") for each in blocks)
    found = b"".join(blocks).split(b"\n")[:-1]
    assert len(found) == len(expected)
    for got, line in zip(found, expected, strict=True):
        assert got == line if len(line) <= longest else len(got) > longest and line.startswith(got[: longest + 1])


def test_a_line_too_long_is_one_record_and_takes_little_memory(tmp_path):
    long = b"n,a,1,yes," + b"x" * (3 * csv_lines.LONGEST_LINE)
    lines = good_lines(b",")
    contents = [lines, *([*lines[:3], line, *lines[3:]] for line in (long, long[: csv_lines.LONGEST_LINE]))]
    counts = []
    for number, content in enumerate(contents):
        path = tmp_path / f"{number}.csv"
        path.write_bytes(b"\n".join(content))
        tracemalloc.start()
        counts.append(read(CsvSource(path)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 * csv_lines.LONGEST_LINE
    few, unreadable, readable = ([tuple(row) for row in rows] for _, rows in counts)
    assert len(unreadable) == len(readable) == len(few) + 1
    assert unreadable[:2] + unreadable[3:] == readable[:2] + readable[3:] == few
    assert readable[2] == few[0]
    assert unreadable[2] == (8, 0, 205, 3)  # unlisted, the fill value of the number, no class


def test_no_value_of_a_line_too_long_is_read(monkeypatch):
    monkeypatch.setattr(csv_lines, "LONGEST_LINE", 5)
    assert [field_text(field) for field in fields_of(b"a,b,cd", b",", 2)] == [b"", b""]
    assert [field_text(field) for field in fields_of(b"a,b,c", b",", 2)] == ["a", "b"]


# Columns

numeric_texts = st.one_of(
    st.floats().map(repr),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.{int(abs(x)) % 20}f}"),
    st.integers(-(10**20), 10**20).map(str),
    st.text("0123456789.+-eE ", max_size=12),
    st.sampled_from(
        ["", " ", "inf", "-Infinity", "nan", "NaN", "-nan", "nan(1)", "1e999", "-1e999", "1e-999", "+5", "5.", ".5",
         "-.5", "0x10", "1_0", "1e", "e5", "--1", "1-2", "1.2.3", ".", "-", "1\t", "\t1", "1\x00", "٣", "1" * 99,
         "1" * 101, "1" * 400, "0." + "0" * 97 + "1", "9" * 90 + "e99", "1e99", "1e100", "4.9e-324", "-0"]
    ),
    st.text(max_size=6),
)  # fmt: skip


@given(st.lists(numeric_texts.map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=6), min_size=1))
@settings(max_examples=300, deadline=None)
def test_numbers_of_a_column_are_those_of_the_encoding(fields):
    found = csv_columns._numbers_of(pa.array(fields, pa.binary()))
    expected = [number_of(field_text(field)) for field in fields]
    assert [bits(x) for x in found.tolist()] == [bits(x) for x in expected]
    for field in fields:  # also one by one: then no other text decides which path is taken
        assert bits(csv_columns._numbers_of(pa.array([field], pa.binary())).tolist()[0]) == bits(
            number_of(field_text(field))
        )


def bits(number: float) -> bytes:
    return b"nan" if number != number else struct.pack("d", number)


def test_texts_of_numbers_do_not_go_through_python(monkeypatch):
    """The fast path is taken: numbers as programs write them are not parsed one by one."""

    def refuse(value):
        raise AssertionError(value)

    texts = ["1", "-2.5", "0.30000000000000004", "1e-05", "1E+16", " 7 ", "007", "5.", ".5"]
    monkeypatch.setattr(csv_columns, "number_of", refuse)
    found = csv_columns._numbers_of(pa.array([text.encode() for text in texts], pa.binary()))
    assert found.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("failure", ["raises", "loses a row"])
def test_an_engine_that_fails_is_not_needed(failure, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join([*good_lines(b","), *NASTY]))
    expected, original = read(open_file(path)), arrow_csv.read_csv

    def broken(*arguments):
        if failure == "raises":
            raise pa.ArrowInvalid("secret")
        return original(*arguments).slice(1)

    monkeypatch.setattr(arrow_csv, "read_csv", broken)
    assert read(open_file(path)) == expected


def test_an_interruption_passes(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join(good_lines(b",")))
    monkeypatch.setattr(arrow_csv, "read_csv", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read(open_file(path))


def test_a_disk_that_fails_is_a_file_error(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\n".join(good_lines(b",")))

    def fail(file):
        yield b"n,a,1,yes\n"
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(csv_opening, "whole_lines", fail)
    with pytest.raises(files.FileError, match="Input/output error; check the disk"):
        read(open_file(path))


def test_a_file_that_cannot_be_opened_is_a_file_error(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n")

    def fail(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(files.FileError, match="Permission denied; check the path"):
        files.header(path)


def test_one_column_keeps_its_empty_lines_in_every_reader(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(b'word\r\na\r\n\r\n\n""\nb')
    expected = ["a", None, None, "", "b"]
    assert files.read_columns(path)["word"].tolist() == expected
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert files.read_columns(path)["word"].tolist() == expected


def test_columns_hold_each_text_once(tmp_path):
    """Equal texts of a block share one object."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"word,1\n" * 1000)
    assert len({id(value) for value in files.read_columns(path)["a"]}) == 1
    assert np.array_equal(files.read_columns(path)["b"], np.full(1000, "1", dtype=object))
