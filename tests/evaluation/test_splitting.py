"""Two parts of a file: every record once and unchanged, lots that fit their law, files that are whole or not there."""

from __future__ import annotations

import gzip
import os
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import FileError, ParameterError
from discreet.evaluation import splitting
from discreet.evaluation.splitting import as_part, split_file
from discreet.records.files import read_columns

LINES = [b'1,"a, b"\r\n', b'2,"open\n', b"\n", b"3,\xff\x00\rx\n", b',"q""q"\n', b"4," + b"z" * 300 + b"\n"]


def parts(folder, content, **options):
    source = folder / "d.csv"
    source.write_bytes(content)
    split_file(source, options.pop("test", "1/2"), folder / "a.csv", folder / "b.csv", **options)
    return (folder / "a.csv").read_bytes(), (folder / "b.csv").read_bytes()


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.binary(max_size=40).map(lambda each: each.replace(b"\n", b"") + b"\n"), max_size=30),
    ending=st.binary(max_size=20).map(lambda each: each.replace(b"\n", b"")),
    block=st.integers(1, 50),
    seed=st.integers(0, 1000),
)
def test_every_line_of_any_bytes_is_in_exactly_one_part(tmp_path_factory, lines, ending, block, seed):
    head = b"\xef\xbb\xbfn,t\r\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "BLOCK", block)
        folder = tmp_path_factory.mktemp("split")
        train, test = parts(folder, head + b"".join(lines) + ending, random_state=seed)
    assert train.startswith(head)
    assert test.startswith(head)
    dealt = [each.removeprefix(head).split(b"\n") for each in (train, test)]
    found = sorted(each for part in dealt for each in part if each)
    assert found == sorted(each for each in [*(line[:-1] for line in lines), ending] if each)


def test_lines_keep_their_bytes_and_their_order(tmp_path):
    train, test = parts(tmp_path, b"n,t\n" + b"".join(LINES * 20), random_state=1)
    for part in (train, test):
        place = 0
        for line in part.removeprefix(b"n,t\n").splitlines(keepends=True):
            assert line in b"".join(LINES)
            place += 1
        assert place > 20
    assert len(train) + len(test) == 4 + 4 + len(b"".join(LINES * 20))


def test_compressed_files_are_dealt_by_their_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(splitting, "BLOCK", 50)
    told = []
    content = b"n,t\n" + b"".join(b"%d,\xe9%d\n" % (number, number**2) for number in range(300))
    (tmp_path / "d.CSV.gz").write_bytes(gzip.compress(content))
    outs = [tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"]
    split_file(tmp_path / "d.CSV.gz", "1/2", *outs, random_state=1, told=lambda *far: told.append(far))
    found = [gzip.decompress(each.read_bytes()).splitlines(keepends=True) for each in outs]
    assert [each[0] for each in found] == [b"n,t\n"] * 2
    assert sorted(found[0][1:] + found[1][1:]) == sorted(content.splitlines(keepends=True)[1:])
    assert min(map(len, found)) > 100
    size = (tmp_path / "d.CSV.gz").stat().st_size
    assert all(0 < done <= of == size for done, of in told)


def test_a_compressed_file_that_is_cut_leaves_no_part(tmp_path):
    whole = gzip.compress(b"n\n" + bytes(range(48, 58)) * 1000 + b"\n")
    for number, damaged in enumerate((whole[:-9], whole[: len(whole) // 2], whole + b"more", b"n\n1\n")):
        (tmp_path / "d.csv.gz").write_bytes(damaged)
        with pytest.raises(FileError, match="not a complete gzip file"):
            split_file(tmp_path / "d.csv.gz", "0.5", tmp_path / "a.csv.gz", tmp_path / "b.csv.gz")
        assert [each.name for each in tmp_path.iterdir()] == ["d.csv.gz"], number


def test_the_first_line_may_be_in_any_encoding(tmp_path):
    train, test = parts(tmp_path, "größe;krank\n1;ja\n".encode("latin-1"))
    assert train.splitlines()[0] == test.splitlines()[0] == "größe;krank".encode("latin-1")
    with pytest.raises(FileError, match="not LATIN-1 text"):
        parts(tmp_path, "größe;krank\n1;ja\n".encode("utf-16"))


def test_a_line_that_is_longer_than_a_block_stays_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(splitting, "BLOCK", 64)
    lines = [bytes([97 + place]) * 1000 + b"\n" for place in range(20)]
    train, test = parts(tmp_path, b"n\n" + b"".join(lines), random_state=3)
    own = [part.removeprefix(b"n\n").splitlines(keepends=True) for part in (train, test)]
    assert sorted(own[0] + own[1]) == lines
    assert own[0]
    assert own[1]


def test_lots_have_their_probability_and_do_not_depend_on_records(tmp_path):
    content = b"n\n" + b"".join(b"%d\n" % number for number in range(20_000))
    _, test = parts(tmp_path, content, test="0.2", random_state=5)
    assert abs(test.count(b"\n") - 1 - 4000) < 5 * np.sqrt(20_000 * 0.2 * 0.8)
    other = parts(tmp_path, content.replace(b"7", b"x"), test="0.2", random_state=5)[1]
    assert other == test.replace(b"7", b"x")
    assert parts(tmp_path, content, test="0.2")[1] != parts(tmp_path, content, test="0.2")[1]


@pytest.mark.parametrize("compression", ["zstd", "none", "snappy"])
def test_parquet_keeps_types_and_metadata(tmp_path, monkeypatch, compression):
    monkeypatch.setattr(splitting, "ROWS", 100)
    columns = {
        "n": pa.array([None if place % 7 == 0 else place for place in range(1000)], pa.int32()),
        "d": pa.array(range(1000), pa.date32()),
        "t": pa.array([f"x{place % 5}" for place in range(1000)]).dictionary_encode(),
        "l": pa.array([[place] for place in range(1000)]),
    }
    table = pa.table(columns).replace_schema_metadata({"made": "by hand"})
    pq.write_table(table, tmp_path / "d.parquet", row_group_size=300, compression=compression)
    told = []
    outs = tmp_path / "a.parquet", tmp_path / "b.parquet"
    split_file(tmp_path / "d.parquet", "1/4", *outs, random_state=2, told=lambda *far: told.append(far))
    train, test = (pq.read_table(out) for out in outs)
    assert train.schema.equals(pq.read_table(tmp_path / "d.parquet").schema, check_metadata=True)
    assert pa.concat_tables([train, test]).sort_by("d")["l"].to_pylist() == [[place] for place in range(1000)]
    assert 180 < len(test) < 320
    assert told[-1] == (1000, 1000)
    assert train["d"].to_pylist() == sorted(train["d"].to_pylist())


def test_tables_without_records(tmp_path):
    assert parts(tmp_path, b"n,t\n") == (b"n,t\n", b"n,t\n")
    assert parts(tmp_path, b"n,t") == (b"n,t", b"n,t")
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "d.parquet")
    split_file(tmp_path / "d.parquet", "0.5", tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert len(pq.read_table(tmp_path / "a.parquet")) == 0
    assert read_columns(tmp_path / "b.parquet")["n"].tolist() == []


def test_who_may_not_read_the_file_may_not_read_its_parts(tmp_path):
    source = tmp_path / "d.csv"
    source.write_bytes(b"n\n1\n")
    os.chmod(source, 0o600)
    split_file(source, "0.5", tmp_path / "a.csv", tmp_path / "b.csv")
    assert [os.stat(tmp_path / name).st_mode & 0o777 for name in ("a.csv", "b.csv")] == [0o600, 0o600]


def test_neither_part_is_left_if_the_work_stops(tmp_path):
    (tmp_path / "d.csv").write_bytes(b"n\n1\n")

    def stopped(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        split_file(tmp_path / "d.csv", "0.5", tmp_path / "a.csv", tmp_path / "b.csv", told=stopped)
    assert [each.name for each in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize("test", ["0", "1", "1.0", "-0.1", "1/0", "half", "", None, "nan", "inf", "0.12345678901"])
def test_parts_that_are_none(test):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        as_part(test)
    assert as_part(0.25) == Fraction(1, 4)


def test_wrong_files(tmp_path):
    (tmp_path / "d.csv").write_bytes(b"n\n1\n")
    (tmp_path / "e.csv").write_bytes(b"")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"n\n1\n"))
    (tmp_path / "s.xlsx").write_bytes(b"PK")
    (tmp_path / "f.parquet").write_bytes(b"PAR1 is not enough")
    out = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for source, outs, error, words in [
        ("d.csv", [out[0], out[0]], ParameterError, "two names"),
        ("d.csv", [out[0], tmp_path / "b.tsv"], ParameterError, "ends in .csv"),
        ("d.csv.gz", out, ParameterError, "ends in .csv.gz"),
        ("d.csv.gz", [tmp_path / "a.gz", tmp_path / "b.gz"], ParameterError, "ends in .csv.gz"),
        ("s.xlsx", [tmp_path / "a.xlsx", tmp_path / "b.xlsx"], FileError, "Excel"),
        ("e.csv", out, FileError, "header"),
        ("none.csv", out, FileError, "none.csv"),
        ("f.parquet", [tmp_path / "a.parquet", tmp_path / "b.parquet"], FileError, "Parquet"),
    ]:
        with pytest.raises(error, match=words):
            split_file(tmp_path / source, "0.5", *outs)
    assert len(list(tmp_path.iterdir())) == 5
