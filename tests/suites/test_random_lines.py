"""A raw line of any bytes at any place of a CSV file is at most one record, for every reader and every command."""

import json
import math
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import FileError
from discreet.perturbation.local_perturbation import LocalPerturbation
from discreet.records import csv_columns, csv_lines, csv_opening, files
from discreet.records.encoding import Cells
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource
from support.block_files import FileSource
from support.command import run
from support.reference_csv import (
    GOOD,
    HEADER,
    NASTY,
    SCHEMA,
    content_of,
    distance,
    expected,
    good_lines,
    raw_lines,
    read,
    records_of,
    write,
)
from support.replay import exact_loss, recorded

READERS = {
    "file": open_file,
    "duckdb": DuckDBSource,
    "blocks": FileSource,
    "columns": lambda path: MemorySource(files.read_columns(path)),
    "small blocks": lambda path: MemorySource(
        {name: np.concatenate([b[name] for b in files.read_blocks(path, 3)]) for name in files.header(path)}
    ),
}


@contextmanager
def readers(*, arrow: bool = True, block: int = csv_lines.BLOCK, longest: int = csv_lines.LONGEST_LINE):
    """With or without pyarrow, with blocks and lines of these sizes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_lines, "BLOCK", block)
        patch.setattr(csv_lines, "LONGEST_LINE", longest)
        if not arrow:
            patch.setitem(__import__("sys").modules, "pyarrow", None)
        yield


def check(line: bytes, place: int, delimiter: bytes, end: bytes, final: bool, bom: bool, longest: int) -> None:
    """Every reader reads the file as the reference does, and the line is at most one record of it."""
    lines = good_lines(delimiter)
    place = 1 + place % len(lines)
    without = content_of(lines, end, final, bom)
    with_line = content_of([*lines[:place], line, *lines[place:]], end, final, bom)
    named = "t.csv" if delimiter == b"," else "t.tsv"
    with tempfile.TemporaryDirectory() as folder:
        few = {name: read(make(write(Path(folder), without, named))) for name, make in READERS.items()}
        many = {name: read(make(write(Path(folder), with_line, named))) for name, make in READERS.items()}
    for name in READERS:
        assert few[name] == expected(without, delimiter, longest), name
        assert many[name] == expected(with_line, delimiter, longest), name
        (counts, rows), (more_counts, more_rows) = few[name], many[name]
        assert len(more_rows) - len(rows) in (0, 1), name
        assert max(distance(counts, more_counts)) <= 1, name
        assert [*more_rows[: place - 1], *more_rows[place - 1 + len(more_rows) - len(rows) :]] == rows, name


EXAMPLES = {
    "line": raw_lines,
    "place": st.integers(0, len(GOOD)),
    "delimiter": st.sampled_from([b",", b"\t"]),
    "end": st.sampled_from([b"\n", b"\r\n"]),
    "final": st.booleans(),
    "bom": st.booleans(),
}


@given(
    **EXAMPLES,
    arrow=st.booleans(),
    block=st.sampled_from([1, 7, 64, 1 << 24]),
    longest=st.sampled_from([45, 1 << 24]),
)
@settings(max_examples=80, deadline=None)
def test_a_line_of_any_bytes_is_at_most_one_record(line, place, delimiter, end, final, bom, arrow, block, longest):
    with readers(arrow=arrow, block=block, longest=longest):
        check(line, place, delimiter, end, final, bom, longest)


@pytest.mark.parametrize("arrow", [True, False], ids=["pyarrow", "plain"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_lines_that_readers_disagree_on_are_one_record(arrow, end):
    with readers(arrow=arrow):
        for number, line in enumerate(NASTY):
            for place in (3, len(GOOD)):
                check(line, place, b"\t" if number % 5 == 4 else b",", end, number % 2 == 0, number % 3 == 0, 1 << 24)


@given(lines=st.lists(raw_lines, max_size=8), delimiter=st.sampled_from([b",", b"\t"]), arrow=st.booleans())
@settings(max_examples=100, deadline=None)
def test_files_of_such_lines_only_are_read_alike(lines, delimiter, arrow):
    content = content_of([good_lines(delimiter)[0], *lines], b"\n", final=True)
    with tempfile.TemporaryDirectory() as folder, readers(arrow=arrow):
        path = write(Path(folder), content, "t.csv" if delimiter == b"," else "t.tsv")
        for make in READERS.values():
            assert read(make(path)) == expected(content, delimiter)
        columns = files.read_columns(path)
    assert {name: values.tolist() for name, values in columns.items()} == {
        name: values.tolist() for name, values in records_of(content, delimiter).items()
    }


# Commands


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with schemas and a model."""
    folder = tmp_path_factory.mktemp("desk")
    SCHEMA.replace(records=len(GOOD)).save(folder / "s.json")
    SCHEMA.replace(adjacency="replace-one").save(folder / "r.json")
    path = write(folder, content_of(good_lines(b","), b"\n", final=True), "good.csv")
    run("train", path, "--schema", folder / "s.json", "--epsilon", 1, "--seed", 1, "--out", folder / "m.json")
    run("federated", "invite", "--schema", folder / "s.json", "--epsilon", 1, "--party", "north", "--party", "south",
        "--out", folder / "i.json")  # fmt: skip
    return folder


def train(path: Path, desk: Path, model: str = "naive-bayes") -> None:
    run("train", path, "--schema", desk / "s.json", "--epsilon", 1, "--seed", 1, "--force", "--model", model, "--out",
        desk / "out.json")  # fmt: skip


def answer(path: Path, desk: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run("federated", "answer", desk / "i.json", path, "--party", "north", "--out", Path(folder) / "a.msg",
            "--ledger", Path(folder) / "l.jsonl", "--limit", 1)  # fmt: skip


def score(path: Path, desk: Path) -> None:
    run("score", desk / "m.json", path, "--epsilon", 1, "--seed", 1)


COUNTING = {
    "train naive-bayes": train,
    "train decision-tree": lambda path, desk: train(path, desk, "decision-tree"),
    "train one-rule": lambda path, desk: train(path, desk, "one-rule"),
    "train svm": lambda path, desk: train(path, desk, "svm"),
    "federated answer": answer,
    "score": score,
}


def files_with_and_without(folder: Path, line: bytes, place: int, end: bytes = b"\n") -> tuple[Path, Path]:
    """Other lines have no quote, so that one that swallows lines would swallow them all."""
    header, *records = good_lines(b",")
    lines = [header, *[record for record in records if b'"' not in record] * 24]
    place = 1 + place % len(lines)
    more = [*lines[:place], line, *lines[place:]]
    few = write(folder, content_of(lines, end, True), "few.csv")
    return few, write(folder, content_of(more, end, False), "many.csv")


@pytest.mark.parametrize("command", COUNTING)
@given(line=raw_lines | st.sampled_from(NASTY), place=EXAMPLES["place"], end=EXAMPLES["end"])
@example(line=NASTY[0], place=0, end=b"\n")
@example(line=NASTY[1], place=0, end=b"\n")
@example(line=NASTY[2], place=0, end=b"\n")
@example(line=NASTY[3], place=0, end=b"\n")
@example(line=b"n,a,1,yes\r", place=1, end=b"\r\n")
@example(line=b"n,\xff,1,yes", place=1, end=b"\n")
@settings(max_examples=12, deadline=None)
def test_what_enters_the_mechanisms_moves_within_epsilon(command, desk, line, place, end):
    """Record and replay of a whole command: the same mechanisms in the same order, and tables as close as was paid."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = files_with_and_without(Path(folder), line, place, end)
        first: list[Any] = []
        second: list[Any] = []
        with recorded(first):
            COUNTING[command](few, desk)
        with recorded(second, first):
            COUNTING[command](many, desk)
    assert len(first) == len(second) > 0
    assert sum(exact_loss(a, b) for a, b in zip(first, second, strict=True)) <= 1 + 1e-9


@given(line=raw_lines | st.sampled_from(NASTY), place=EXAMPLES["place"])
@settings(max_examples=40, deadline=None)
def test_predict_keeps_records_and_their_order(desk, line, place):
    with tempfile.TemporaryDirectory() as folder:
        _, many = files_with_and_without(Path(folder), line, place)
        records = records_of(many.read_bytes(), b",")
        run("predict", desk / "m.json", many, "--keep", "note", "--keep", "number", "--out", Path(folder) / "out.csv")
        printed = json.loads(run("predict", desk / "m.json", many, "--keep", "note", "--json").stdout)
        columns = files.read_columns(Path(folder) / "out.csv")
    texts = [value or "" for value in records["note"]]
    assert [value or "" for value in columns["note"]] == texts
    assert [record["note"] or "" for record in printed] == texts
    assert [record["prediction"] for record in printed] == columns["prediction"].tolist()


@given(line=raw_lines | st.sampled_from(NASTY), place=EXAMPLES["place"])
@settings(max_examples=30, deadline=None)
def test_perturb_writes_a_row_for_each_record(desk, line, place):
    """At infinite epsilon the table is only encoded and shuffled."""
    with tempfile.TemporaryDirectory() as folder:
        _, many = files_with_and_without(Path(folder), line, place)
        out = Path(folder) / "out.csv"
        printed = run("perturb", many, "--schema", desk / "r.json", "--epsilon", "inf", "--out", out, "--json").stdout
        written = files.read_columns(out)
        records = records_of(many.read_bytes(), b",")
    assert json.loads(printed)["rows"] == len(records["label"]) == len(written["label"])
    schema = SCHEMA.replace(adjacency="replace-one")
    X, y = LocalPerturbation(schema, epsilon=math.inf).fit_resample(records)
    for name in schema.names:
        codes = [Cells(name).codes(values, schema) for values in (written[name], X[name])]
        assert sorted(codes[0].tolist()) == sorted(codes[1].tolist())
    assert sorted(written["label"]) == sorted(y.tolist())


# Readers that are wrong must be found out


def cut(content: bytes) -> list[bytes]:
    return content.removesuffix(b"\n").split(b"\n")


def joining(file):
    """An open quote goes on in the next line."""
    for block in csv_lines.whole_lines(file):
        joined: list[bytes] = []
        for line in cut(block):
            if joined and csv_lines.has_open_quote(joined[-1], b","):
                joined[-1] += b" " + line
            else:
                joined.append(line)
        yield b"\n".join(joined) + b"\n"


def dropping(file):
    """What is not UTF-8 is no record."""
    for block in csv_lines.whole_lines(file):
        kept = [line for line in cut(block) if line.decode("utf-8", "replace").encode() == line]
        yield b"\n".join([*kept, b""])


def at_returns(file):
    """A lone CR ends a line."""
    for block in csv_lines.whole_lines(file):
        yield block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def twice(file):
    """The last line of a block is read again."""
    for block in csv_lines.whole_lines(file):
        yield block + cut(block)[-1] + b"\n"


def without_last(file):
    """A last line without LF is lost."""
    whole, _, _ = file.read().rpartition(b"\n")
    yield whole + b"\n"


def with_escapes(line: bytes, delimiter: bytes, width: int):
    return csv_lines.fields_of(line.replace(b'\\"', b'""'), delimiter, width)


def shifted(line: bytes, delimiter: bytes, width: int):
    """A short line is padded in front."""
    fields = csv_lines.fields_of(line, delimiter, width)
    return [*[each for each in fields if each is None], *[each for each in fields if each is not None]]


def all_good(text, starts, ends, delimiter):
    """Every line with the right number of delimiters goes to the engine."""
    lines = [text[a:b] for a, b in zip(starts, ends, strict=True)]
    return np.ones(len(lines), dtype=bool), np.array([(line == delimiter).sum() for line in lines], dtype=np.intp)


def no_neighbours(text, starts, ends, delimiter):
    """An even number of quotes suffices."""
    lines = [text[a:b] for a, b in zip(starts, ends, strict=True)]
    even = np.array([(line == 34).sum() % 2 == 0 for line in lines], dtype=bool)
    return even, all_good(text, starts, ends, delimiter)[1]


def strict_text(field):
    return None if field is None else field.decode("utf-8", "ignore").strip(" ")


MUTANTS = {
    "joins lines on an open quote": (csv_opening, "whole_lines", joining),
    "drops what is not UTF-8": (csv_opening, "whole_lines", dropping),
    "takes a lone CR for a line end": (csv_opening, "whole_lines", at_returns),
    "reads a line twice": (csv_opening, "whole_lines", twice),
    "loses the last line": (csv_opening, "whole_lines", without_last),
    "takes a backslash for an escape": (csv_columns, "fields_of", with_escapes),
    "pads in front": (csv_columns, "fields_of", shifted),
    "gives all lines to the engine": (csv_lines, "_are_good", all_good),
    "gives all even quotes to the engine": (csv_lines, "_are_good", no_neighbours),
    "leaves bad bytes out": (csv_columns, "field_text", strict_text),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_reader_is_found_out(name, monkeypatch):
    monkeypatch.setattr(*MUTANTS[name])
    with pytest.raises(AssertionError):  # noqa: PT012
        for line in NASTY:
            check(line, 2, b",", b"\n", final=False, bom=False, longest=1 << 24)


# What was found once


def counts_of(folder: Path, header: bytes, lines: list[bytes], end: bytes) -> list[Any]:
    path = write(folder, end.join([header, *lines]) + end, "t.csv")
    schema = SCHEMA.replace(columns=SCHEMA.columns[:1], ignore=[])
    for source in (open_file(path), DuckDBSource(path), FileSource(path)):
        source.check(schema)
    counted = [s.count([Cells("word")], schema).counts[Cells("word")] for s in (CsvSource(path), DuckDBSource(path))]
    assert counted[0].tolist() == counted[1].tolist()
    return [counted[0]]


@pytest.mark.parametrize("arrow", [True, False])
@pytest.mark.parametrize("line", [b'"5\\" nail",yes', b'"5" nail",yes'], ids=["backslash", "inner quote"])
def test_a_malformed_record_does_not_remove_later_ones(line, arrow, tmp_path):
    with readers(arrow=arrow):
        (few,), (many,) = (
            counts_of(tmp_path, b"word,label", lines, b"\n") for lines in ([b"a,yes"] * 200, [line, *[b"a,yes"] * 200])
        )
    assert few.sum() == 200
    assert np.abs(many - few).sum() <= 1


@pytest.mark.parametrize("arrow", [True, False])
def test_a_line_that_ends_in_two_returns_leaves_the_next_record_alone(arrow, tmp_path):
    with readers(arrow=arrow):
        few = counts_of(tmp_path, b"word,label", [b"a,yes", b"b c,no", b"1,yes"], b"\r\n")[0]
        many = counts_of(tmp_path, b"word,label", [b"a,yes", b"a,yes\r", b"b c,no", b"1,yes"], b"\r\n")[0]
    assert few.sum() == 3
    assert np.abs(many - few).sum() <= 1


def test_files_with_line_ends_of_their_own_are_refused(tmp_path):
    """Lines that end in CR alone are one line, the header; what then stands in a record is no matter any more."""
    path = write(tmp_path, b"word,label\r" + b"a,yes\r" * 200, "t.csv")
    for read_it in (files.header, files.structure, files.read_columns, lambda p: open_file(p).check(SCHEMA)):
        with pytest.raises(FileError, match="not with CR alone"):
            read_it(path)


def test_header_of_the_reference_is_that_of_the_reader(tmp_path):
    path = write(tmp_path, content_of(good_lines(b","), b"\n", True), "t.csv")
    assert files.header(path) == HEADER
