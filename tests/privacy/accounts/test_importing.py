"""Ledger files that are taken over: exactly, under their adjacency, and each entry once."""

from fractions import Fraction

import pytest

from discreet import Ledger
from discreet.errors import BudgetError, FileError
from discreet.privacy.accounts import reading
from discreet.privacy.accounts.verification import verify
from discreet.privacy.ledger.address import AccountAddress
from discreet.privacy.ledger.importing import Imported, import_file
from discreet.privacy.receipt import Charge
from support.account_databases import clinic, standing

OLD = (
    '{"format": "discreet/ledger", "version": 1, "limit": "2"}\n'
    '{"name": "naive-bayes for ill", "epsilon": "1/4", "at": "2025-05-01T09:00:00+00:00"}\n'
)


def pay(ledger, epsilon, adjacency="add-remove", name="a model"):
    ledger.charge(name, [Charge("q", "m", Fraction(epsilon), 1, 1.0)], adjacency)


@pytest.fixture
def file(tmp_path):
    ledger = Ledger(20, tmp_path / "l.jsonl", adjacency="add-remove")
    for epsilon, name in (("1/3", "a model"), ("2", ""), ("1/7", "ein Modell für 雪")):
        pay(ledger, epsilon, name=name)
    return ledger


@pytest.fixture
def place(address, engine, four):
    return AccountAddress.parsed(f"{address}#clinic/visits")


def test_entries_are_taken_over_exactly(file, place, engine, four, tmp_path):
    assert import_file(tmp_path / "l.jsonl", place) == Imported(3, 0)
    taken, kept = Ledger(url=place).account, file.account
    assert taken.entries == kept.entries
    assert kept.spent <= taken.spent < kept.spent + Fraction(3, 10**9)
    assert [standing(engine, each)[2] for each in four] == [taken.spent, taken.spent, 0, 0]
    with reading(engine) as connection:
        assert verify(connection).whole


def test_a_file_is_imported_once(file, place, engine, four, tmp_path):
    import_file(tmp_path / "l.jsonl", place)
    before = standing(engine, four[0])
    (tmp_path / "copy.jsonl").write_bytes((tmp_path / "l.jsonl").read_bytes())
    for name in ("l.jsonl", "copy.jsonl"):
        with pytest.raises(FileError, match="imported already"):
            import_file(tmp_path / name, place)
    assert standing(engine, four[0]) == before
    pay(file, 1)  # someone went on with the file: only what is new counts
    assert import_file(tmp_path / "l.jsonl", place) == Imported(1, 3)
    assert standing(engine, four[0])[2] == before[2] + 1


def test_adjacency_is_honoured(address, engine, tmp_path):
    clinic(engine, adjacency="replace-one")
    place = AccountAddress.parsed(f"{address}#clinic")
    mixed = Ledger(20, tmp_path / "m.jsonl", adjacency="replace-one")
    pay(mixed, 1, "add-remove")
    pay(mixed, 1, "replace-one")
    (tmp_path / "old.jsonl").write_text(OLD)
    Ledger.adopt(tmp_path / "old.jsonl", "mixed")
    import_file(tmp_path / "m.jsonl", place)
    import_file(tmp_path / "old.jsonl", place)
    ledger = Ledger(url=place)
    assert [loss for _, loss in ledger.entries] == [2, 1, Fraction(1, 2)]
    assert ledger.account.entries[-1].adjacency is None
    with reading(engine) as connection:
        assert verify(connection).whole


@pytest.mark.parametrize(
    ("epsilon", "adjacency", "limit", "words"),
    [
        (11, "add-remove", 20, "less than"),
        (1, "replace-one", 20, "bounds no loss"),
        ("inf", "add-remove", "inf", "inf"),
    ],
)
def test_what_cannot_be_paid_is_refused_whole(place, engine, four, tmp_path, epsilon, adjacency, limit, words):
    ledger = Ledger(limit, tmp_path / "l.jsonl", adjacency=adjacency)
    pay(ledger, "0.5", adjacency)
    ledger.charge("x", [Charge("q", "m", float("inf") if epsilon == "inf" else Fraction(epsilon), 1, 1.0)], adjacency)
    with pytest.raises(BudgetError, match=words):
        import_file(tmp_path / "l.jsonl", place)
    assert standing(engine, four[0])[2] == 0


def test_an_empty_or_damaged_file_is_refused(place, tmp_path):
    Ledger(1, tmp_path / "l.jsonl")
    with pytest.raises(FileError, match="no entries"):
        import_file(tmp_path / "l.jsonl", place)
    (tmp_path / "d.jsonl").write_text("{}\n")
    with pytest.raises(FileError):
        import_file(tmp_path / "d.jsonl", place)
