"""A document refuses what could not be shown."""

import pytest

from discreet.errors import ParameterError
from discreet.research.report import Document, Picture, ReportTable, Section


def test_rows_are_as_long_as_the_headings():
    with pytest.raises(ParameterError, match="accuracy: a row has 1 cells; need 2"):
        ReportTable("accuracy", ["a", "b"], [["1", "2"], ["3"]], "o")
    with pytest.raises(ParameterError, match="no headings"):
        ReportTable("accuracy", [], [], "o")


def test_cells_are_texts():
    with pytest.raises(ParameterError, match="not a text"):
        ReportTable("accuracy", ["a"], [[0.5]], "o")


def test_every_table_and_picture_has_an_origin():
    with pytest.raises(ParameterError, match="origin is empty"):
        ReportTable("accuracy", ["a"], [["1"]], " ")
    with pytest.raises(ParameterError, match="origin is empty"):
        Picture("p", "accuracy", None, "")


@pytest.mark.parametrize("name", ["", "../up", "a/b", "A", "a b", "a.png", "-a", "a--b", "a\n"])
def test_names_of_pictures_are_names_of_files(name):
    with pytest.raises(ParameterError, match="lower-case letters, digits and hyphens"):
        Picture(name, "c", None, "o")


def test_no_two_pictures_share_a_file():
    sections = [Section("s", [Picture(name, "c", None, "o")]) for name in ("a", "b", "a")]
    with pytest.raises(ParameterError, match="two pictures are named 'a'"):
        Document("t", sections)
    assert [picture.name for picture in Document("t", sections[:2]).pictures()] == ["a", "b"]
