"""How far a command has come, on the owner's terminal: a percentage where the size of the data is known."""

import gzip

import pytest

from discreet import Categorical, Schema
from discreet.cli import progress
from discreet.records.encoding import Cells
from discreet.sources.file import open_file

SCHEMA = Schema([Categorical("x", ["a", "b"])], "y", ["no", "yes"])
TEXT = b"x,y\n" + b"a,no\nb,yes\n" * 200_000


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_bytes_of_a_file_are_told_up_to_the_last(name, tmp_path):
    content = gzip.compress(TEXT, 1) if name.endswith("gz") else TEXT
    (tmp_path / name).write_bytes(content)
    source, told = open_file(tmp_path / name), []
    source.told = lambda done, of: told.append((done, of))
    source.count([Cells("x")], SCHEMA)
    assert told
    assert told == sorted(told)
    assert told[-1] == (len(content), len(content))


def test_a_terminal_sees_a_percentage(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_bytes(TEXT)
    source, seen = open_file(tmp_path / "t.csv"), []

    class Shown:
        update = staticmethod(seen.append)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    class Notes:
        is_terminal = True
        status = staticmethod(lambda words: Shown())

    monkeypatch.setattr(progress, "notes", Notes)
    with progress.counting(source, "counting"):
        source.count([Cells("x")], SCHEMA)
    assert seen[-1] == "counting: 100 %"
