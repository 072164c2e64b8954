"""Reading files: every reader sees the same table, and no record decides whether reading works."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import FileError, MissingExtra
from discreet.records import csv_header, csv_lines, files
from discreet.records.encoding import Cells
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from support.block_files import FileSource

SCHEMA = Schema(
    [Categorical("word", ["a", "b c", "x,y", 'q"q', "two\nlines", "ä"]), Numeric("number", 0, 10)],
    target="label",
    classes=["yes", "no"],
)
CELLS = [Cells("word"), Cells("number", 5)]

MESSY = {
    "plain": b"word,number,label\na,1,yes\nb c,2,no\n",
    "no final newline": b"word,number,label\na,1,yes\nb c,2,no",
    "quotes": b'word,number,label\n"x,y","1",yes\n"q""q",2,"no"\n"",3,yes\n',
    "newlines in quotes": b'word,number,label\n"two\nlines",1,yes\n"two\r\nlines",2,no\n',
    "blank lines": b"word,number,label\n\na,1,yes\n\n\nb c,2,no\n\n",
    "crlf": b"word,number,label\r\na,1,yes\r\n\r\nb c,2,no\r\n",
    "mixed line ends": "word,number,label\na,1,yes\r\nb c,2,no\nä,3,yes\r".encode(),
    "short rows": b"word,number,label\na\nb c,2\na,3,yes\n,,no\n",
    "long rows": b"word,number,label\na,1,yes,extra,fields\nb c,2,no,\na,3,yes\n",
    "blanks": b"word,number,label\n  a , 1 ,yes \n   \nb c,\t2,no\n",
    "blank before quote": b'word,number,label\n "x,y", "4",yes\n"a" ,5,no\n',
    "bom": b"\xef\xbb\xbfword,number,label\na,1,yes\n",
    "not utf-8": "word,number,label\nä,1,yes\nb c,2,no\n".encode("latin-1") + "ä,3,no\n".encode(),
    "not utf-8 beyond the columns": b"word,number,label\na,1,yes,\xff\nb c,2,no\n",
    "nul": b"word,number,label\na\x00,1,yes\nb c,2,no\n",
    "numbers": b"word,number,label\na,1e999,yes\na,-inf,no\na,nan,yes\na,?,no\na,0x10,yes\na,1_0,no\na,9.99,yes\n",
    "quote inside": b'word,number,label\nq"q,1,yes\nb c,2,no\n',
    "no rows": b"word,number,label\n",
    "header in blanks and quotes": b'"word" , number,label\na,1,yes\n',
}


def write(folder: Path, content: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def counts(source: object) -> list[list[list[int]]]:
    source.check(SCHEMA)
    exact = source.count(CELLS, SCHEMA)
    return [exact.counts[each].tolist() for each in CELLS]


@pytest.mark.parametrize("name", MESSY)
def test_all_readers_count_the_same(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, MESSY[name])
    counted = counts(open_file(path))
    assert counts(DuckDBSource(path)) == counted
    assert counts(FileSource(path)) == counted
    assert counts(MemorySource(files.read_columns(path))) == counted
    expected = {"plain": 2, "blank lines": 2, "short rows": 2, "long rows": 3, "no rows": 0, "not utf-8": 3}
    if name in expected:
        assert np.sum(counted[0]) == expected[name]


fields = st.sampled_from(["a", "b c", "", " ", "7", '"x,y"', '"q""q"', '"two\nlines"', '""', "ä", "yes", "no"])
rows = st.lists(fields, min_size=0, max_size=5).map(",".join)


@given(lines=st.lists(rows, max_size=8), end=st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_well_formed_rows_of_any_length_count_the_same(lines: list[str], end: str, tmp_path: Path) -> None:
    path = write(tmp_path, end.join(["word,number,label", *lines]).encode())
    assert counts(FileSource(path)) == counts(open_file(path))


@given(pieces=st.lists(st.sampled_from([b"a", b",", b"\n", b"\r", b'"', b" ", b"\xff", b"\x00", b"\\"]), max_size=30))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_record_makes_reading_fail(pieces: list[bytes], tmp_path: Path) -> None:
    path = write(tmp_path, b"word,number,label\na,1,yes\n" + b"".join(pieces))
    assert files.header(path) == ["word", "number", "label"]
    for source in (open_file(path), FileSource(path)):
        assert len(counts(source)) == 2


def test_one_column_keeps_its_empty_lines(tmp_path: Path) -> None:
    path = write(tmp_path, b"word\na\n\nb\n")
    assert files.read_columns(path)["word"].tolist() == ["a", None, "b"]


def test_blocks_are_the_whole(tmp_path: Path) -> None:
    path = write(tmp_path, b"word,number\n" + b"".join(b"w%d,%d\n" % (i, i) for i in range(10)))
    for size, expected in ((3, [3, 3, 3, 1]), (5, [5, 5]), (100, [10])):
        blocks = list(files.read_blocks(path, size))
        assert [len(block["word"]) for block in blocks] == expected
        assert [v for block in blocks for v in block["number"]] == [str(i) for i in range(10)]


def test_bad_bytes_are_replaced_and_the_record_stays(tmp_path: Path) -> None:
    path = write(tmp_path, b"word,number\nx\xff,1\ny,2\n")
    assert files.read_columns(path)["word"].tolist() == ["x\ufffd", "y"]
    assert files.read_columns(path)["number"].tolist() == ["1", "2"]


def test_tab_separated(tmp_path: Path) -> None:
    path = write(tmp_path, b"word\tnumber\tlabel\nx,y\t3\tyes\n", "t.tsv")
    assert files.read_columns(path)["word"].tolist() == ["x,y"]
    assert counts(open_file(path)) == counts(FileSource(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no header"),
        (b"\nword,number\n", "no header"),
        (b"Secret,secret\n1,2\n", "two columns of the first line have the same name"),
        ("word,number\n".encode("utf-16"), "not UTF-8"),
        (b"Secret,number\r1,2\r3,4\r", "not with CR alone"),
        (b"Secret,number\r\r\n1,2\r\r\n", "not with CR alone"),
        (b'"Secret,number\n1",2\n', "not closed"),
    ],
)
def test_a_header_that_is_none(content: bytes, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    for read in (files.read_columns, files.structure, lambda path: open_file(path).check(SCHEMA)):
        with pytest.raises(FileError, match=message) as caught:
            read(path)
        assert "ecret" not in str(caught.value)


def test_a_first_line_too_long_is_no_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, b"word,number,label\na,1,yes\n")
    for module in (csv_header, csv_lines):
        monkeypatch.setattr(module, "LONGEST_LINE", 16)
    with pytest.raises(FileError, match="longer than 16 bytes") as caught:
        files.header(path)
    assert "word" not in str(caught.value)


def test_columns_without_a_name_get_one(tmp_path: Path) -> None:
    assert files.header(write(tmp_path, b",a, \n1,2,3\n")) == ["column0", "a", "column2"]


def test_files_that_are_none(tmp_path: Path) -> None:
    for path, message in [
        (tmp_path, "is a folder"),
        (tmp_path / "absent.csv", "no such file"),
        (write(tmp_path, b"x", "t.ods"), "neither .csv"),
        (write(tmp_path, b"x", "t.parquet"), "cannot be read as Parquet"),
    ]:
        with pytest.raises(FileError, match=message):
            files.read_columns(path)


@pytest.mark.parametrize("name", ["t[1].csv", "t*.csv", "t?.csv", "s3:t.csv", "t'; --.csv", "~t.csv"])
def test_a_file_name_is_no_pattern(name: str, tmp_path: Path) -> None:
    for other in ("t1.csv", "t2.csv", "tt.csv", "t.csv"):
        write(tmp_path, MESSY["short rows"], other)
    path = write(tmp_path, MESSY["plain"], name)
    for source in (open_file(path), DuckDBSource(path), FileSource(path)):
        assert np.sum(counts(source)[0]) == 2


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet as pq

    table = pa.table(
        {
            "word": pa.array(["a", None, " b c ", "zz"]),
            "number": pa.array([1.5, None, float("nan"), float("inf")]),
            "label": pa.array(["yes", "no", None, "yes"]).dictionary_encode(),
            "count": pa.array([1, 2, None, 4]),
            "flag": pa.array([True, False, None, True]),
            "price": pa.array([1, 2, None, 4]).cast(pa.decimal128(21, 2)),
            "day": pa.array([0, 1, 2, None], pa.date32()),
            "raw": pa.array([b"x", None, b"", b"y"]),
            "many": pa.array([[1], None, [], [2]]),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_blocks_of_a_parquet_file_are_what_is_counted(parquet: Path) -> None:
    schema = Schema(
        [
            Categorical("word", ["a", "b c"]),
            Numeric("number", 0, 10),
            Categorical("count", [1, 2, 3]),
            Categorical("flag", [True, False]),
            Categorical("price", [1, 2]),
            Categorical("raw", ["x"]),
        ],
        target="label",
        classes=["yes", "no"],
        ignore=["day", "many"],
    )
    cells = [Cells(column.name, 4 if isinstance(column, Numeric) else None) for column in schema.columns]
    expected = DuckDBSource(parquet).count(cells, schema)
    source = FileSource(parquet)
    source.check(schema)
    counted = source.count(cells, schema)
    assert [counted.counts[c].tolist() for c in cells] == [expected.counts[c].tolist() for c in cells]
    columns = files.read_columns(parquet)
    assert columns["day"].dtype.kind == "M"
    assert columns["count"].tolist() == [1, 2, None, 4]
    assert [len(b["word"]) for b in files.read_blocks(parquet, 3)] == [3, 1]
    dated = schema.replace(columns=[Numeric("day", 0, 1)], ignore=["many", *schema.names])
    with pytest.raises(ValueError, match="'day' holds dates"):
        source.check(dated)


def test_parquet_needs_an_engine(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="discreet\\[parquet\\]"):
        files.read_columns(parquet)


def test_two_parquet_columns_of_one_name_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array(["yes"])], names=["number", "number", "label"])
    parquet.write_table(twice, tmp_path / "t.parquet")
    with pytest.raises(FileError, match="two columns with the same name; rename one"):
        list(files.read_blocks(tmp_path / "t.parquet"))


def test_a_parquet_file_with_none_of_the_wanted_columns_has_none(tmp_path):
    """A file that was replaced after its columns were checked: the next check names what is missing."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"a": [1, 2]}), tmp_path / "t.parquet")
    assert list(files.read_blocks(tmp_path / "t.parquet", names=["b"])) == [{}]
