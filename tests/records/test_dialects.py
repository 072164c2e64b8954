"""Dialects of CSV files: declared, public, and read line by line."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema, open_file
from discreet.errors import FileError, SchemaError
from discreet.records import csv_lines
from discreet.records.csv_columns import split_columns
from discreet.records.csv_lines import Lines
from discreet.records.csv_opening import delimiter_in, read_content
from discreet.records.encoding import Cells, number_of
from discreet.records.files import read_columns, structure
from discreet.schema.dialect import Dialect

COMMAS = Dialect(decimal=",")
ENCODINGS = ("utf-8", "latin-1", "iso-8859-15", "windows-1252")


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=5),
    encoding=st.sampled_from(ENCODINGS),
)
def test_a_line_in_any_encoding_is_read_by_itself(lines, encoding, tmp_path_factory):
    path = tmp_path_factory.mktemp("lines") / "t.csv"
    dialect = Dialect(encoding=encoding)

    def contents(given):
        path.write_bytes(b"".join(line + b"\n" for line in [b"a,b", *given]))
        return b"".join(read_content(path, dialect))

    whole = contents(lines)
    assert whole == b"".join(contents([line]) for line in lines)
    assert whole.count(b"\n") == len(lines)
    if encoding != "utf-8":
        whole.decode("utf-8")


@pytest.mark.parametrize("pyarrow", [True, False], ids=["arrow", "without arrow"])
def test_decimal_commas_are_numbers_and_points_are_not(monkeypatch, pyarrow):
    if not pyarrow:
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    texts = ["1,5", " -2,25 ", "3", "1.5", "1.234,5", "1e3", "2,5e-1", "x", "", "inf", ",5", "5,", '"7,5" ', "1,2,3"]
    lines = Lines("".join(f"{text};a\n" for text in texts).encode(), b";", 2)
    numbers = split_columns(lines, [0], 2, b";", ",")[0].numbers
    expected = [1.5, -2.25, 3, np.nan, np.nan, 1000, 0.25, np.nan, np.nan, np.inf, 0.5, 5, 7.5, np.nan]
    np.testing.assert_array_equal(numbers, expected)
    points = split_columns(Lines(b"1.5;a\n1,5;a\n", b";", 2), [0], 2, b";", ".")[0].numbers
    np.testing.assert_array_equal(points, [1.5, np.nan])


@pytest.mark.parametrize(
    ("line", "name", "delimiter"),
    [
        (b"a,b;c", "t.csv", b","),
        (b"a;b", "t.csv", b";"),
        (b"a;b", "t.csv.gz", b";"),
        (b"a\tb", "t.txt", b"\t"),
        (b"a;b", "t.tsv", b"\t"),
        (b'"a,b";c', "t.csv", b";"),
        (b"a", "t.csv", b","),
    ],
)
def test_the_first_line_tells_the_delimiter(line, name, delimiter, tmp_path):
    assert delimiter_in(line, tmp_path / name) == delimiter
    assert delimiter_in(line, tmp_path / name, Dialect("|")) == b"|"


def european(path, dialect, opened=open):
    rows = ["größe;gewicht;krank", "1,80;70,5;ja", "1,60;50;nein", "1.70;;ja", "2,0;x;vielleicht"]
    with opened(path, "wb") as file:
        file.write("\r\n".join(rows).encode(dialect.encoding))


def plain(path):
    path.write_text("größe,gewicht,krank\n1.80,70.5,ja\n1.60,50,nein\n,,ja\n2.0,,vielleicht\n", encoding="utf-8")


def schema(dialect):
    columns = [Numeric("größe", 1, 3, grid=100), Numeric("gewicht", 0, 100)]
    return Schema(columns, "krank", ["ja", "nein"], dialect=dialect)


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252", "utf-8"])
@pytest.mark.parametrize("declared", ["by schema", "when opened"])
def test_a_european_file_is_counted_as_the_plain_one(tmp_path, encoding, declared):
    dialect = Dialect(decimal=",", encoding=encoding)
    european(tmp_path / "e.csv", dialect)
    european(tmp_path / "e.csv.gz", dialect, gzip.open)
    plain(tmp_path / "p.csv")
    cells = [Cells("größe"), Cells("gewicht", 8)]
    expected = open_file(tmp_path / "p.csv").count(cells, schema(Dialect()))
    for name in ("e.csv", "e.csv.gz"):
        given = None if declared == "by schema" else dialect
        public = schema(dialect if declared == "by schema" else Dialect())
        source = open_file(tmp_path / name, dialect=given)
        source.check(public)
        found = source.count(cells, public)
        for each in cells:
            np.testing.assert_array_equal(found.counts[each], expected.counts[each])
        blocks = list(source.declared(dialect).values(["größe"], ["größe"]))
        np.testing.assert_array_equal(np.concatenate([block["größe"] for block in blocks]), [1.8, 1.6, np.nan, 2.0])


def test_a_byte_order_mark_is_no_name(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa;b\n1;2\n")
    assert list(structure(tmp_path / "t.csv")) == ["a", "b"]


def test_an_encoding_is_asked_for_by_name(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,b\nä,2\n".encode("latin-1"))
    with pytest.raises(FileError, match="--encoding latin-1"):
        structure(tmp_path / "t.csv")
    columns = read_columns(tmp_path / "t.csv", Dialect(encoding="iso-8859-1"))
    assert columns["größe"].tolist() == ["ä"]


@pytest.mark.parametrize("cut", [5, 30, None], ids=["in the head", "in the lines", "not gzip"])
def test_a_damaged_gzip_file_is_one_line(tmp_path, cut):
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,x\n" % n for n in range(1000)))
    (tmp_path / "t.csv.gz").write_bytes(b"a,b\n1,2\n" if cut is None else whole[: cut + 10])
    with pytest.raises(FileError, match="not a complete gzip file"):
        read_columns(tmp_path / "t.csv.gz")


@pytest.mark.parametrize(
    "given",
    [{"decimal": "x"}, {"delimiter": "ab"}, {"encoding": "utf-16"}, {"encoding": "nonsense"}, {"encoding": "\0"}],
)
def test_a_wrong_dialect_is_refused(given):
    with pytest.raises(SchemaError, match="need"):
        Dialect(**given)


@pytest.mark.parametrize("given", [[], {"decimals": ","}, {"decimal": 1}, "x"])
def test_a_wrong_entry_of_a_schema_is_refused(given):
    content = {**schema(COMMAS).to_dict(), "dialect": given}
    with pytest.raises(SchemaError, match="dialect"):
        Schema.from_dict(content)


def test_a_schema_keeps_its_dialect_and_an_old_one_its_hash(tmp_path):
    public = schema(Dialect(";", ",", "latin-1"))
    public.save(tmp_path / "s.json")
    assert Schema.load(tmp_path / "s.json") == public
    assert public.to_dict()["version"] == 2
    plain = Schema([Categorical("a", ["x"])], "y", ["n"])
    assert plain.to_dict()["version"] == 1
    assert "dialect" not in plain.to_dict()
    assert plain.hash != plain.replace(dialect=COMMAS).hash


def test_blocks_of_lines_are_in_another_encoding_whatever_their_size(tmp_path, monkeypatch):
    european(tmp_path / "e.csv", Dialect(encoding="latin-1"))
    whole = b"".join(read_content(tmp_path / "e.csv", Dialect(encoding="latin-1")))
    monkeypatch.setattr(csv_lines, "BLOCK", 3)
    assert b"".join(read_content(tmp_path / "e.csv", Dialect(encoding="latin-1"))) == whole
    assert number_of("1,5") != number_of("1,5")
