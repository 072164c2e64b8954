"""A report in a folder: all files, each whole, or a clear error."""

import os

import pytest

from discreet.errors import FileError
from discreet.research.report import Document, Picture, Section, html, markdown, write_report
from support.samples import COMMAND, line_figure


@pytest.fixture
def document():
    return Document("t", [Section("s", [Picture(name, name, line_figure(name), COMMAND) for name in ("b", "a")])])


def test_all_files_are_there(document, tmp_path):
    paths = write_report(document, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["report.html", "report.md", "b.png", "b.svg", "a.png", "a.svg"]
    assert sorted(os.listdir(tmp_path / "new" / "folder")) == sorted(path.name for path in paths)
    page, text, png, svg, *_ = (path.read_bytes() for path in paths)
    assert page.decode() == html.write(document)
    assert text.decode() == markdown.write(document)
    assert png.startswith(b"\x89PNG")
    assert b"</svg>" in svg


def test_writing_again_gives_the_same_bytes(document, tmp_path):
    first = [path.read_bytes() for path in write_report(document, tmp_path)]
    assert [path.read_bytes() for path in write_report(document, str(tmp_path))] == first


def test_a_folder_that_cannot_be_made_is_named(document, tmp_path):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError, match=r"cannot make the folder .*file"):
            write_report(document, place)
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_cannot_be_written_is_named(document, tmp_path):
    (tmp_path / "report.html").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*report\.html"):
        write_report(document, tmp_path)


def test_nothing_is_written_before_all_is_drawn(document, tmp_path):
    broken = Document("t", [*document.sections, Section("s", [Picture("c", "c", object(), COMMAND)])])
    with pytest.raises(AttributeError):
        write_report(broken, tmp_path)
    assert os.listdir(tmp_path) == []


def test_only_pictures_that_an_earlier_report_showed_are_removed(document, tmp_path):
    empty = Document("t", [Section("s", [])])
    (tmp_path / "a.png").write_text("of the user")
    for _ in range(2):
        write_report(empty, tmp_path, ["a", "b"])
    assert sorted(os.listdir(tmp_path)) == ["a.png", "report.html", "report.md"]
    write_report(document, tmp_path, ["a", "b"])
    write_report(document, tmp_path, ["a", "b"])
    assert len(os.listdir(tmp_path)) == 6
    write_report(empty, tmp_path, ["a"])
    assert sorted(os.listdir(tmp_path)) == ["b.png", "b.svg", "report.html", "report.md"]
