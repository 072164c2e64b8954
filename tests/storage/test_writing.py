"""Files appear completely or not at all."""

import os

import pytest

from discreet.errors import FileError
from discreet.storage.writing import whole_file


def test_a_file_appears_when_all_is_written(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as file:
        file.write("one\n")
        assert not path.exists()
    assert path.read_text() == "one\n"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(TypeError), whole_file(path, binary=True) as file:
        file.write("not bytes")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileError, match="nowhere"), whole_file(tmp_path / "nowhere" / "a.txt"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="folder"), whole_file(tmp_path / "folder") as file:
        file.write("x")
    assert os.listdir(tmp_path) == ["folder"]


def test_the_file_is_as_readable_as_any_other(tmp_path):
    with whole_file(tmp_path / "a.txt"):
        pass
    (tmp_path / "b.txt").touch()
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode
