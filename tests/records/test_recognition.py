"""Profiles and recognition: what a draft takes a column for, and that it reads values as training does."""

import datetime
import random

import numpy as np
import pytest

from discreet import Numeric
from discreet.errors import DataError
from discreet.records import csv_lines, distinct, file_drafts, profile
from discreet.records.distinct import MOST_KEPT, Distinct, hashes_of
from discreet.records.encoding import as_floats
from discreet.records.file_drafts import draft_file
from discreet.records.files import read_columns
from discreet.records.profile import profile_blocks, profile_file
from discreet.records.recognition import FEW, MANY, labels_of, recognise
from discreet.records.value_report import report_values
from discreet.schema.dialect import Dialect
from discreet.sources.file import open_file

DRAW = random.Random(5)
ROWS = 3000
WORDS = ["pain", "mild", "severe", "none", "chest", "left", "right", "knee", "back", "stable"]


def column(values, name="value"):
    """What one column of texts is taken for, from a CSV file's point of view."""
    return recognise(name, profile_blocks([{name: np.array(values, dtype=object)}]).columns[name])


def many(make):
    return [make(row) for row in range(ROWS)]


KINDS = {
    "identifier": many(lambda row: f"P{row:06d}"),
    "free text": many(lambda row: " ".join(DRAW.choices(WORDS, k=8))),
    "many categories": many(lambda row: f"code {DRAW.randrange(1500)}"),
    "category": many(lambda row: DRAW.choice(["F", "M"])),
    "date": many(lambda row: f"20{row % 25:02d}-{row % 12 + 1:02d}-{row % 28 + 1:02d}"),
    "numbers": many(lambda row: f"{DRAW.gauss(5, 2):.3f}"),
    "numbers as text": many(lambda row: f"{DRAW.randrange(40, 120)} kg"),
    "constant": ["A7"] * ROWS,
    "empty": many(lambda row: "?" if row % 2 else " "),
    "unreadable": [b"\0"] * ROWS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_recognised(kind):
    finding, drafted = column(KINDS[kind])
    assert finding.taken_for == kind
    assert (drafted is None) == (kind not in ("category", "numbers")) == (finding.proposal == "ignore")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (many(lambda row: f"{row % 28 + 1}.{row % 12 + 1}.20{row % 25:02d}"), "date"),
        (many(lambda row: f"2021-03-{row % 28 + 1:02d}T10:{row % 60:02d}:00Z"), "date"),
        (many(lambda row: str(20200000 + (row % 12 + 1) * 100 + row % 28 + 1)), "date"),
        ([datetime.date(2020, 1, 1)] * ROWS, "date"),
        (many(lambda row: str(row + 1000)), "identifier"),
        (many(lambda row: f"{DRAW.randrange(1000, 9999)},5"), "numbers"),
        (many(lambda row: f"$ {DRAW.randrange(1000, 9999):,}"), "numbers as text"),
        (many(lambda row: str(row % FEW)), "category"),
        (many(lambda row: str(row % (FEW + 1))), "numbers"),
        (many(lambda row: "unknown" if row % 50 == 0 else str(row % 90)), "numbers"),
        (many(lambda row: "yes" if row else "no"), "category"),
        (many(lambda row: DRAW.choice([True, False])), "category"),
    ],
)
def test_more_kinds(values, kind):
    assert column(values)[0].taken_for == kind


def test_few_records_are_not_taken_for_identifiers():
    assert column(["a", "b", "c"])[0].taken_for == "category"
    finding, drafted = column(["1.5", "2.5"] * 7 + [str(n) for n in range(20)])
    assert (finding.taken_for, drafted.lower, drafted.upper) == ("numbers", 0, 20)


def test_remarks():
    assert "words" in column(many(lambda row: "unknown" if row % 50 == 0 else str(row % 90)))[0].remark
    assert "nearly constant" in column(many(lambda row: "yes" if row > 9 else "no"))[0].remark
    assert "far off" in column(many(lambda row: "99999" if row == 7 else str(20 + row % 60)))[0].remark
    assert "differ in case" in column(many(lambda row: DRAW.choice(["Male", "male", "f"])))[0].remark
    assert "fewer than 5 records" in column(many(lambda row: DRAW.choice("ab") if row else "rare"))[0].remark


def test_measurements_that_all_differ_are_numbers():
    assert column(many(lambda row: repr(DRAW.random())))[0].taken_for == "numbers"
    wages = [str(number) for number in DRAW.sample(range(20_000, 90_000), 200)]
    assert column(wages, "wage")[0].taken_for == "numbers"
    assert column(wages, "patient_id")[0].taken_for == "identifier"


def test_typed_columns_stay_numbers():
    codes = np.array([0, 1] * 100)
    _, drafted = recognise("code", profile_blocks([{"code": codes}]).columns["code"])
    assert isinstance(drafted, Numeric)
    assert labels_of(profile_blocks([{"code": codes}]).columns["code"]) == [0, 1]


MESSY = [
    b"a,b,c,d", b"1,x,2.5,7", b' 2 , "y ""z""", 1e3 ,7', b"?,\xff,,", b"03", b'"4"5,"open, 9', b"1,2,3,4,5,6",
    b"", b"inf,-inf,nan,1_000", b"\0,\r,1.,.5", b'7,"q",8,"9"', b"0x1,1e999,--1,+1",
]  # fmt: skip


def messy(path, copies=1):
    path.write_bytes(b"\n".join([MESSY[0], *MESSY[1:] * copies, b""]))
    return path


@pytest.mark.parametrize("arrow", [True, False], ids=["arrow", "without arrow"])
def test_a_profile_counts_what_training_reads(tmp_path, monkeypatch, arrow):
    path = messy(tmp_path / "t.csv")
    columns = read_columns(path)
    if not arrow:
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    found = profile_file(path)
    assert found.records == len(columns["a"])
    assert found.open_quotes == 1
    for name, values in columns.items():
        numbers = as_floats(values)
        finite = numbers[np.isfinite(numbers)]
        texts = [value for value, number in zip(values, numbers, strict=True) if np.isnan(number)]
        absent = sum(value is None or value in ("", "?") for value in texts)
        each = found.columns[name]
        assert (each.records, each.missing, each.numbers) == (len(values), absent, len(finite))
        assert (each.low, each.high) == (finite.min(), finite.max())
        assert each.infinite == np.isinf(numbers).sum()
        assert each.distinct.counts == {number: (finite == number).sum() for number in finite}
        assert set(each.words.counts) == {value for value in texts if value not in (None, "", "?")}


def test_parts_add_up_to_the_whole(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("id,x,word\n" + "".join(f"P{n},{n % 700 / 8},{DRAW.choice('abc')}\n" for n in range(20_000)))
    whole = profile_file(path)
    monkeypatch.setattr(csv_lines, "BLOCK", 20_000)
    monkeypatch.setattr(profile, "FIRST", 300)
    parts = profile_file(path)
    for name, each in parts.columns.items():
        other = whole.columns[name]
        assert (each.records, each.missing, each.numbers, each.word_records) == (
            20_000,
            0,
            other.numbers,
            other.word_records,
        )
        assert each.words.counts == other.words.counts
        assert each.distinct.counts == other.distinct.counts
    assert abs(whole.columns["id"].words.size - 20_000) < 2000
    assert whole.columns["x"].distinct.size == 700


def test_samples_of_distinct_values_add_in_any_order():
    texts = [f"text {n}" for n in range(3 * MOST_KEPT)]
    hashes = hashes_of([text.encode() for text in texts]).tolist()
    assert len(set(hashes)) > 0.99 * len(texts)
    whole, first, second = Distinct(), Distinct(), Distinct()
    whole.add_texts(texts, [2] * len(texts), hashes)
    for part, start in ((first, 0), (second, 100)):
        chosen = range(0, 100) if not start else range(100, len(texts))
        part.add_texts([texts[n] for n in chosen], [2] * len(chosen), [hashes[n] for n in chosen])
    second.merge(first)
    assert second.counts == whole.counts
    assert set(whole.counts.values()) == {2}
    assert not whole.is_exact
    assert abs(whole.size - len(texts)) < 0.15 * len(texts)
    numbers = Distinct()
    numbers.add_numbers(np.array([0.0, -0.0, 1.0, 1.0]))
    assert numbers.counts == {0.0: 2, 1.0: 2}
    assert distinct.MOST_KEPT > MANY


def test_a_profile_in_another_dialect(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n" + "1,5;x\n2,5;y\n" * 20)
    found = profile_file(tmp_path / "t.csv", Dialect(decimal=","))
    assert found.columns["a"].distinct.counts == {1.5: 20, 2.5: 20}


def test_codes_with_a_decimal_comma_are_listed_as_they_are_compared(tmp_path, monkeypatch):
    """Categories and classes are texts: a list of the numbers that they stand for would match no record."""
    monkeypatch.setattr(profile, "FIRST", 200)
    path = tmp_path / "t.csv"
    codes, mixed = ["10", "2,50", "-1,5", "2,5"], ["1,5", "low", "high"]
    rows = [f"{codes[n % 4]};{mixed[n % 3]};{n * 7 % 90},{n % 10};{('0,5', '1,0')[n % 2]}" for n in range(400)]
    path.write_text("\n".join(["code;mixed;amount;y", *rows]))
    schema = draft_file(path, "y").schema
    assert schema["code"].categories == ("-1,5", "2,5", "2,50", "10")
    assert schema["mixed"].categories == ("1,5", "high", "low")
    assert isinstance(schema["amount"], Numeric)
    assert schema.classes == ("0,5", "1,0")
    report = report_values(
        open_file(path, dialect=schema.dialect).values(schema.all_names, schema.numeric_names), schema
    )
    assert [each.unlisted for each in (*report.columns, report.target)] == [0, 0, 0, 0]
    assert report.classes == {"0,5": 200, "1,0": 200}


def test_spellings_of_numbers_are_not_kept_without_end(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n;y\n" + "".join(f"{n},5;no\n" for n in range(profile.MOST_SPELLED + 1)))
    found = profile_file(path, Dialect(decimal=",")).columns["n"]
    assert found.spelled is None
    assert labels_of(found) == []


def test_a_few_dates_do_not_make_a_target_unusable(monkeypatch, tmp_path):
    def drafted(labels):
        blocks = [{"x": np.arange(len(labels)) / 7, "y": np.array(labels, dtype=object)}]
        monkeypatch.setattr(file_drafts, "structure", lambda *_: blocks[0])
        monkeypatch.setattr(file_drafts, "profile_file", lambda *_: profile_blocks(blocks))
        return draft_file(path, "y")

    path, stray = tmp_path / "t.parquet", [datetime.date(2024, 1, 2), datetime.time(3)]
    path.touch()
    found = drafted(["no", "yes"] * 50 + stray)
    assert found.schema.classes == ("no", "yes")
    assert any("2 values are neither a number nor a text" in note and "2024" not in note for note in found.notes)
    for labels, words in ((stray * 20, "neither numbers nor texts"), ([None] * 30, "no value in any record")):
        with pytest.raises(DataError, match=words):
            drafted(labels)
