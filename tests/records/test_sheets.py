"""Excel files: a row is a record, whatever its cells."""

import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema, open_file
from discreet.errors import DiscreetError, FileError, MissingExtra
from discreet.records import sheets
from discreet.records.encoding import Cells
from discreet.records.files import read_columns, structure
from support.sheets import Date, write_sheets

CELLS = [None, 1, 2.5, -3, "F", "M", " m ", "2.5", True, "#N/A", Date(45000), "1e999", "x" * 300, "=1+1"]
SCHEMA = Schema([Numeric("age", 0, 10), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"])


def test_a_missing_package_is_one_line(tmp_path, monkeypatch):
    path = write_sheets(tmp_path / "t.xlsx", data=[["age"], [1]])
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[excel\]'"):
        structure(path)


def test_cells_are_read_as_stored(tmp_path):
    pytest.importorskip("python_calamine")
    rows = [["age", "sex", None, "ill"], [1, "F", None, True], [2.5, "#N/A", 9, None], [], [None, None, None, None, 7]]
    columns = read_columns(write_sheets(tmp_path / "t.xlsx", data=[*rows, [Date(45000), "x"]]))
    assert list(columns) == ["age", "sex", "column2", "ill"]
    assert columns["age"].tolist()[:3] == [1, 2.5, None]
    assert columns["sex"].tolist() == ["F", None, None, "x"]
    assert columns["ill"].tolist() == [True, None, None, None]
    assert columns["age"].tolist()[3].year == 2023


def counts(path):
    found = open_file(path).count([Cells("age", 4), Cells("sex")], SCHEMA)
    return [found.counts[each] for each in (Cells("age", 4), Cells("sex"))]


row = st.lists(st.sampled_from(CELLS), max_size=5)


@settings(max_examples=15, deadline=None)
@given(rows=st.lists(row, max_size=4), added=row, place=st.integers(0, 4))
def test_a_row_is_read_by_itself(rows, added, place, tmp_path_factory):
    pytest.importorskip("python_calamine")
    folder = tmp_path_factory.mktemp("sheets")
    head = ["age", "sex", "ill"]
    with_it = [*rows[:place], added, *rows[place:]]
    few = write_sheets(folder / "a.xlsx", data=[head, *rows])
    more = write_sheets(folder / "b.xlsx", data=[head, *with_it])
    before = list(zip(*read_columns(few).values(), strict=True))
    after = list(zip(*read_columns(more).values(), strict=True))
    alone = list(zip(*read_columns(write_sheets(folder / "c.xlsx", data=[head, added])).values(), strict=True))
    assert len(alone) <= 1
    assert sorted(map(repr, after)) == sorted(map(repr, before + alone))
    assert max(abs(x - y).sum() for x, y in zip(counts(few), counts(more), strict=True)) <= 1


def test_sheets_are_named(tmp_path):
    pytest.importorskip("python_calamine")
    table = [["age", "sex", "ill"], [3, "F", "yes"]]
    path = write_sheets(tmp_path / "t.xlsx", notes=[["nothing"]], data=table)
    assert open_file(path, "data").columns() == ["age", "sex", "ill"]
    assert open_file(path).columns() == ["nothing"]
    with pytest.raises(FileError, match="no sheet 'absent'"):
        open_file(path, "absent").columns()


@pytest.mark.parametrize("rows", [[], [[None, None]], [["age", "AGE"], [1, 2]]], ids=["nothing", "blank", "twice"])
def test_a_sheet_without_a_header_is_refused(tmp_path, rows):
    pytest.importorskip("python_calamine")
    with pytest.raises(DiscreetError, match="first row"):
        structure(write_sheets(tmp_path / "t.xlsx", data=rows))


def test_a_damaged_file_is_refused(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FileError, match="save it as"):
        structure(path)


def test_a_cell_far_from_all_others_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("python_calamine")
    rows = [["age", "sex", "ill"], *([1, "F", "no"] for _ in range(50))]
    path = write_sheets(tmp_path / "t.xlsx", data=rows)
    monkeypatch.setattr(sheets, "MOST_CELLS", 51 * 3)
    monkeypatch.setattr(sheets, "CHUNK", 100)  # many tags lie in two chunks
    assert len(read_columns(path)["age"]) == 50
    far = write_sheets(tmp_path / "u.xlsx", data=[*rows[:-1], [1, "F", "no", "SECRET"]])
    for read in (structure, read_columns):
        with pytest.raises(FileError, match="far from all others") as caught:
            read(far)
        assert "SECRET" not in str(caught.value)
    empty = write_sheets(tmp_path / "v.xlsx", data=rows)
    _replaced(empty, b"</sheetData>", b'<row r="900"><c r="XFD900" s="1"/></row></sheetData>')
    assert len(read_columns(empty)["age"]) == 50, "a cell that is only formatted takes no room"
    _replaced(empty, b"</sheetData>", b'<row r="900"><c s="1" r="ZZ900" t="b"><v>1</v></c></row></sheetData>')
    with pytest.raises(FileError, match="far from all others"):
        structure(empty)


def _replaced(path, old, new):
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name).replace(old, new) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, each in content.items():
            archive.writestr(name, each)
