"""Ledgers of discreet 0.1: refused until their owner states the adjacency, then adopted completely, and only once."""

import fcntl
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import BudgetError, FileError, ParameterError
from discreet.privacy.ledger import Ledger, adoption
from discreet.privacy.ledger import file as ledger_file
from discreet.privacy.ledger.account import Entry
from discreet.privacy.receipt import Charge
from discreet.schema import Adjacency

SOURCE = str(Path(discreet.__file__).parents[1])

GOLDEN = (
    '{"format": "discreet/ledger", "version": 1, "limit": "2"}\n'
    '{"name": "naive-bayes for ill", "epsilon": "1/2", "at": "2025-05-01T09:00:00+00:00"}\n'
    '{"name": "accuracy of naive-bayes for \\u00fcbel", "epsilon": "1/3", "at": "2025-05-02T09:00:00+00:00"}\n'
)
"""As discreet 0.1 wrote it."""
MARKED = GOLDEN + '{"adopted": true}\n'


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_text(GOLDEN)
    return path


def pay(ledger, epsilon, adjacency):
    ledger.charge("next", [Charge("q", "m", Fraction(epsilon), 1, 1.0)], adjacency)


def test_an_old_ledger_is_refused_with_the_step(path):
    for use in (lambda: Ledger(2, path), lambda: Ledger.open(path)):
        with pytest.raises(FileError) as refusal:
            use()
        assert f"discreet budget adopt {path} --adjacency add-remove" in str(refusal.value)
        assert "\n" not in str(refusal.value)
    assert path.read_text() == GOLDEN


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_entries_are_taken_over_under_the_stated_adjacency(path, adjacency):
    ledger = Ledger.adopt(path, adjacency)
    assert ledger.entries == [
        ("naive-bayes for ill", Fraction(1, 2)),
        ("accuracy of naive-bayes for übel", Fraction(1, 3)),
    ]
    assert (ledger.limit, ledger.adjacency, ledger.remaining) == (2, adjacency, Fraction(7, 6))
    assert [entry.at for entry in ledger.account.entries] == ["2025-05-01T09:00:00+00:00", "2025-05-02T09:00:00+00:00"]
    assert json.loads(path.read_text().splitlines()[0])["version"] == 2
    pay(ledger, 1, adjacency)
    assert Ledger(2, path).spent == Fraction(11, 6)
    assert sorted(each.name for each in path.parent.iterdir()) == ["ledger.jsonl", "ledger.jsonl.v1"]
    assert (path.parent / "ledger.jsonl.v1").read_text() == MARKED


def test_mixed_entries_count_twice_under_replace_one(path):
    ledger = Ledger.adopt(path, "mixed")
    assert (ledger.adjacency, ledger.spent) == ("replace-one", Fraction(5, 3))
    assert ledger.entries[0] == ("naive-bayes for ill", Fraction(1))
    assert [entry.adjacency for entry in ledger.account.entries] == [None, None]
    with pytest.raises(BudgetError, match=r"counts 0\.4 in a ledger of replace-one"):
        pay(ledger, "1/5", "add-remove")
    pay(ledger, "1/6", "add-remove")
    assert Ledger.open(path).remaining == 0


@given(st.fractions(Fraction(1, 100), 10), st.sampled_from(Adjacency))
def test_an_unknown_adjacency_costs_as_much_as_the_worse_one(epsilon, account):
    unknown, known = Entry("a", epsilon, None), [Entry("a", epsilon, adjacency) for adjacency in Adjacency]
    assert unknown.counted(account) == max(entry.counted(account) for entry in known)


def test_a_ledger_that_is_overdrawn_when_it_is_counted_rightly_pays_nothing_more(path):
    path.write_text(GOLDEN.replace('"limit": "2"', '"limit": "1"'))
    ledger = Ledger.adopt(path, "mixed")
    assert (ledger.spent, ledger.remaining) == (Fraction(5, 3), 0)
    with pytest.raises(BudgetError, match="0 of 1 left"):
        pay(ledger, "1/1000", "replace-one")


def test_a_ledger_is_adopted_once(path):
    Ledger.adopt(path, "add-remove")
    new, old = path.read_bytes(), path.parent / "ledger.jsonl.v1"
    with pytest.raises(FileError, match="needs no adopting"):
        Ledger.adopt(path, "add-remove")
    with pytest.raises(FileError, match="adopted already"):
        Ledger.adopt(old, "add-remove")
    copy = path.parent / "copy.jsonl"
    copy.write_bytes(old.read_bytes())
    with pytest.raises(FileError, match="adopted already"):
        Ledger.adopt(copy, "replace-one")
    assert path.read_bytes() == new


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (GOLDEN[:-1], "damaged"),
        (GOLDEN[:-9], "damaged"),
        (GOLDEN.replace("1/3", "-1/3"), "damaged"),
        (GOLDEN.replace('"1/3"', "null"), "damaged"),
        (GOLDEN.replace('"limit": "2"', '"limit": "0"'), "damaged"),
        (GOLDEN.replace("epsilon", "epsilom"), "damaged"),
        (GOLDEN.replace('"name": "naive-bayes for ill"', '"name": 1'), "damaged"),
        (GOLDEN + "\n", "damaged"),
        (GOLDEN + "3\n", "damaged"),
        (GOLDEN + "[1]\n", "damaged"),
        (GOLDEN.replace("ledger", "model"), "is not a ledger"),
        ("", "is not a ledger"),
        ("name,epsilon\na,1\n", "is not a ledger"),
        ('{"adopted": true}\n', "is not a ledger"),
        (GOLDEN.replace('"version": 1', '"version": 2'), "needs no adopting"),
        (GOLDEN.replace("1/3", "0." + "1" * 900), "too many digits"),
    ],
)
def test_what_is_no_whole_old_ledger_is_refused_and_left(path, content, words):
    path.write_text(content)
    with pytest.raises((FileError, BudgetError), match=words) as refusal:
        Ledger.adopt(path, "add-remove")
    assert "\n" not in str(refusal.value)
    assert path.read_text() == content
    assert [each.name for each in path.parent.iterdir()] == ["ledger.jsonl"]


def test_other_mistakes(path):
    with pytest.raises(ParameterError, match="need 'add-remove', 'replace-one' or 'mixed'"):
        Ledger.adopt(path, "both")
    with pytest.raises(FileError, match="check the path"):
        Ledger.adopt(path.parent / "absent.jsonl", "mixed")
    kept = path.parent / "ledger.jsonl.v1"
    kept.write_text("mine")
    with pytest.raises(FileError, match=r"v1 exists.*move that file elsewhere"):
        Ledger.adopt(path, "mixed")
    assert (kept.read_text(), path.read_text()) == ("mine", GOLDEN)
    assert len(list(path.parent.iterdir())) == 2


def test_a_link_stays_a_link_and_the_rights_stay(path):
    path.chmod(0o600)
    link = path.parent / "link"
    link.symlink_to(path)
    Ledger.adopt(link, "add-remove")
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert Ledger.open(link).spent == Ledger.open(path).spent == Fraction(5, 6)


class Disk:
    """Replaces `os` in both modules: the call with this number fails, as if the process died there."""

    def __init__(self, fails, error):
        self.calls, self.fails, self.error = 0, fails, error

    def __getattr__(self, name):
        value = getattr(os, name)
        if name not in ("pwrite", "fsync", "link", "replace", "ftruncate", "chmod"):
            return value

        def called(*given):
            self.calls += 1
            if self.calls == self.fails:
                raise self.error
            return value(*given)

        return called


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_adopting_that_stops_anywhere_is_finished_by_adopting_again(path, monkeypatch, error):
    number, stopped = 0, True
    while stopped:
        number, stopped = number + 1, False
        for each in path.parent.iterdir():
            each.unlink()
        path.write_text(GOLDEN)
        disk = Disk(number, error)
        for module in (adoption, ledger_file):
            monkeypatch.setattr(module, "os", disk)
        try:
            Ledger.adopt(path, "mixed")
        except (FileError, KeyboardInterrupt):
            stopped = True
        for module in (adoption, ledger_file):
            monkeypatch.setattr(module, "os", os)
        if path.read_bytes().startswith(b'{"format": "discreet/ledger", "version": 1'):
            Ledger.adopt(path, "add-remove")  # the other adjacency: nothing is left of the first attempt
            assert Ledger.open(path).spent == Fraction(5, 6)
        else:
            assert Ledger.open(path).spent == Fraction(5, 3)
        assert sorted(each.name for each in path.parent.iterdir()) == ["ledger.jsonl", "ledger.jsonl.v1"]
        assert (path.parent / "ledger.jsonl.v1").read_text() == MARKED
    assert number > 7  # write, fsync, chmod, link, mark, fsync, replace, folder


def test_a_process_that_waits_for_the_old_file_cannot_charge_it_afterwards(path):
    """A process of discreet 0.1 that has the old file open reads a line that is not an entry, and refuses the file."""
    with path.open("r+") as waiting:
        Ledger.adopt(path, "add-remove")
        fcntl.flock(waiting, fcntl.LOCK_EX)
        lines = [json.loads(line) for line in waiting.read().splitlines()[1:]]
        with pytest.raises(KeyError):  # like the reader of 0.1, which turned it into a FileError
            [(line["name"], line["epsilon"]) for line in lines]


def test_two_that_adopt_at_once_make_one_ledger(path):
    code = (
        "import sys; from discreet import Ledger; from discreet.errors import FileError\n"
        "try: print(Ledger.adopt(sys.argv[1], sys.argv[2]).adjacency)\n"
        "except FileError as error: print('refused')"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), adjacency],
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
        )
        for adjacency in ("add-remove", "replace-one", "add-remove", "replace-one")
    ]  # fmt: skip
    said = sorted(process.communicate(timeout=300)[0].strip() for process in processes)
    assert said.count("refused") == 3
    assert Ledger.open(path).adjacency in said
