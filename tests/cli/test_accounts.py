"""What the commands that pay do with a ledger: which adjacency it has, and what they say if they end early."""

import errno
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Ledger
from discreet.cli.outputs import notes
from discreet.errors import FileError, MissingExtra
from discreet.privacy.receipt import Charge
from discreet.sources.predictions import MarkedTable
from support.paying import CANARY, PAYING, PAYING_ADD_REMOVE, paying, prepare_folder, refused, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, a schema, a model and invitations; the working directory."""
    monkeypatch.chdir(tmp_path)
    prepare_folder()
    return tmp_path


def entry(ledger, name, epsilon, adjacency):
    ledger.charge(name, [Charge("q", "m", Fraction(epsilon), 1, 1.0)], adjacency)


@pytest.mark.parametrize(
    ("command", "adjacency"),
    [*((command, "replace-one") for command in PAYING), *((command, "add-remove") for command in PAYING_ADD_REMOVE)],
)
def test_a_new_ledger_has_the_adjacency_of_the_release(command, adjacency, here):
    paying(command, adjacency, "--limit", "2")
    header = json.loads(Path("l.jsonl").read_text().splitlines()[0])
    assert (header["adjacency"], header["entries"]) == (adjacency, "0000000001")
    assert Ledger.open("l.jsonl").account.entries[0].adjacency == adjacency


@pytest.mark.parametrize("command", PAYING_ADD_REMOVE)
def test_a_release_under_add_remove_costs_twice_in_a_ledger_of_replace_one(command, here):
    Ledger(3, "l.jsonl", adjacency="replace-one")
    paying(command, "add-remove")
    assert Ledger.open("l.jsonl").spent == 2
    before = Path("l.jsonl").read_bytes()
    for out in ("m.json", "n.msg"):
        Path(out).unlink(missing_ok=True)
    words = ["under add-remove counts 2 in a ledger of replace-one, which is more than the 1 of 3 left", "l.jsonl"]
    refused(paying(command, "add-remove", status=2), *words)
    assert Path("l.jsonl").read_bytes() == before


@pytest.mark.parametrize("command", PAYING)
def test_a_release_under_replace_one_is_refused_by_a_ledger_of_add_remove(command, here, monkeypatch):
    entry(Ledger(100, "l.jsonl"), "first", 1, "add-remove")
    before, files = Path("l.jsonl").read_bytes(), sorted(Path().iterdir())
    for limit in ([], ["--limit", "100"]):
        refused(paying(command, "replace-one", *limit, status=2), "bounds no loss under add-remove", "l.jsonl")
    assert Path("l.jsonl").read_bytes() == before
    assert sorted(Path().iterdir()) == files
    entry(Ledger("inf", "free.jsonl"), "first", 1, "add-remove")
    paying(command, "replace-one", ledger="free.jsonl")
    assert [loss for _, loss in Ledger.open("free.jsonl").entries] == [1, float("inf")]


def test_what_is_spent_and_left_is_shown_on_the_safe_side(here):
    entry(Ledger(3, "l.jsonl", adjacency="add-remove"), "first", "2/3", "add-remove")
    shown = " ".join(paying("score", "add-remove").stdout.split())
    assert "Ledger l.jsonl: 1.66667 of 3 spent, 1.33333 left." in shown
    paying("score", "add-remove")
    refused(
        paying("score", "add-remove", status=2), "--epsilon=1 is more than the 0.333333 of 3 left in ledger l.jsonl"
    )
    entry(Ledger.open("l.jsonl"), "rest", "1/3", "add-remove")
    refused(paying("score", "add-remove", status=2), "the 0 of 3 left", "may not be asked again")


# Commands that end early


FIRST_CHECK = {
    "train": "discreet.cli.train.as_epsilon",
    "perturb": "discreet.cli.perturb.as_epsilon",
    "score": "discreet.cli.score.as_epsilon",
    "answer": "discreet.federated.Invitation.load",
}
LOST = {
    "train": "no model was written",
    "perturb": "no table was written",
    "score": "no accuracy was shown",
    "answer": "no answer was written",
}
WRITTEN = {
    "train": "the model is in m.json",
    "perturb": "the table is in p.csv, with its receipt",
    "score": "the accuracy was shown",
    "answer": "the answer is in n.msg",
}
LAST_WORDS = {
    "train": "Model written",
    "perturb": "91 records written",
    "score": "Noisy numbers",
    "answer": "Answer written",
}
OUT = {"train": "m.json", "perturb": "p.csv", "answer": "n.msg"}


def fails_with(error):
    def fail(*_, **__):
        raise error

    return fail


def break_before_the_charge(command, error, monkeypatch):
    """Make the command fail when its ledger is open and not yet charged."""
    monkeypatch.setattr(Ledger, "charge", fails_with(error))


def break_after_the_charge(command, error, monkeypatch):
    """Make the command fail where the records are read."""
    if command == "score":
        monkeypatch.setattr(MarkedTable, "count", fails_with(error))
    else:
        break_the_reading(fails_with(error), monkeypatch)


def break_the_reading(fail, monkeypatch):
    """Make both ways to read a CSV file fail: models are made of counts or of rows."""
    for way in ("count", "rows"):
        monkeypatch.setattr(f"discreet.sources.csv.CsvSource.{way}", fail)


def break_the_write(command, error, monkeypatch):
    """Make the command fail where its result gets its name; what `score` writes is standard output."""
    if command == "score":
        monkeypatch.setattr("discreet.cli.score.say", fails_with(error))
        return
    replace = os.replace

    def broken(source, target):
        if Path(target).name == OUT[command]:
            raise error
        replace(source, target)

    monkeypatch.setattr(os, "replace", broken)


def break_the_last_words(command, error, monkeypatch):
    """Make the command fail when all is written, where it prints what it has done."""
    module = "federated" if command == "answer" else command
    say = __import__(f"discreet.cli.{module}", fromlist=["say"]).say

    def broken(text="", **style):
        if text.startswith(LAST_WORDS[command]):
            raise error
        say(text, **style)

    monkeypatch.setattr(f"discreet.cli.{module}.say", broken)


def stated(text, ledger="l.jsonl"):
    """What a message says of the ledger: what was charged, what is spent, and the limit."""
    found = re.search(rf"ledger {ledger} was (not charged|charged (\S+) and keeps it) \((\S+) of (\S+) spent\)", text)
    return tuple(Fraction(each or 0) for each in found.groups()[1:])


def true_state(ledger="l.jsonl", before=0):
    """The same as the file has it."""
    account = Ledger.open(ledger).account
    return sum(epsilon for _, epsilon in account.losses[before:]), account.spent, account.limit


INTERRUPTIONS = {
    "before the charge": (break_before_the_charge, LOST, 0),
    "after the charge": (break_after_the_charge, LOST, 1),
    "at the write": (break_the_write, LOST, 1),
    "after the write": (break_the_last_words, WRITTEN, 1),
}


@pytest.mark.parametrize("when", INTERRUPTIONS)
@pytest.mark.parametrize("command", PAYING)
def test_an_interruption_states_result_and_ledger(command, when, here, monkeypatch):
    """In a ledger that has an entry already, so that the state is not that of this command alone."""
    breaks, outcome, charged = INTERRUPTIONS[when]
    entry(Ledger(4, "l.jsonl", adjacency="replace-one"), "earlier", 2, "replace-one")
    breaks(command, KeyboardInterrupt(), monkeypatch)
    result = paying(command, "replace-one", status=130)
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"interrupted; {outcome[command]}; ledger l.jsonl was ")
    assert stated(last) == true_state(before=1) == (charged, 2 + charged, 4)
    assert command == "score" or Path(OUT[command]).exists() == (outcome is WRITTEN)


@pytest.mark.parametrize("command", PAYING)
def test_an_interruption_before_the_ledger_is_opened_charges_nothing(command, here, monkeypatch):
    monkeypatch.setattr(FIRST_CHECK[command], fails_with(KeyboardInterrupt()))
    result = paying(command, "replace-one", "--limit", "3", status=130)
    assert result.stderr.splitlines()[-1] == f"interrupted; {LOST[command]}; ledger l.jsonl was not charged"
    assert not Path("l.jsonl").exists()


@pytest.mark.parametrize("command", ["train", "score"])
def test_an_interruption_without_a_ledger_says_nothing_of_one(command, here, monkeypatch):
    break_after_the_charge(command, KeyboardInterrupt(), monkeypatch)
    result = run(*PAYING[command], status=130)
    assert result.stderr.splitlines()[-1] == f"interrupted; {LOST[command]}"


@pytest.mark.parametrize("command", PAYING)
def test_a_write_that_fails_states_the_ledger(command, here, monkeypatch):
    break_the_write(command, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=2)
    assert stated(result.stderr) == true_state() == (1, 1, 3)
    if command == "score":
        first, last = result.stderr.splitlines()
        assert first.startswith(f"{LOST[command]}; ledger l.jsonl was charged 1")
        assert last == "error: cannot write the output: No space left on device; free some space"
    else:
        refused(result, f"error: cannot write {OUT[command]}: No space left on device", "ledger l.jsonl was charged 1")
        assert not Path(OUT[command]).exists()


@pytest.mark.parametrize("error", [FileError("the disk is gone; check it"), MissingExtra("duckdb")], ids=repr)
@pytest.mark.parametrize("command", PAYING)
def test_an_error_after_the_charge_states_the_ledger(command, error, here, monkeypatch):
    break_after_the_charge(command, error, monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=2)
    refused(result, f"error: {error}; ledger l.jsonl was charged 1 and keeps it (1 of 3 spent)")


@pytest.mark.parametrize("command", PAYING)
def test_an_error_before_the_charge_states_the_ledger(command, here, monkeypatch):
    break_before_the_charge(command, FileError("the ledger is gone; check it"), monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=2)
    refused(result, "error: the ledger is gone; check it; ledger l.jsonl was not charged (0 of 3 spent)")


@pytest.mark.parametrize("command", PAYING)
def test_a_defect_after_the_charge_states_the_ledger(command, here, monkeypatch):
    break_after_the_charge(command, ValueError(CANARY), monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=1)
    first, last = result.stderr.splitlines()[-2:]
    assert first == f"{LOST[command]}; ledger l.jsonl was charged 1 and keeps it (1 of 3 spent)"
    assert last.startswith("error: something unexpected")


def test_a_table_without_its_receipt_is_said_to_be_one(here, monkeypatch):
    monkeypatch.setattr("discreet.perturbation.perturbed_table.FILE", None)
    result = paying("perturb", "replace-one", "--limit", "3", status=1)
    assert "the table is in p.csv, without its receipt; ledger l.jsonl was charged 1" in result.stderr
    assert Path("p.csv").exists()


@pytest.mark.parametrize("ledger", [["--ledger", "l.jsonl", "--limit", "3"], []], ids=["ledger", "none"])
def test_a_receipt_that_cannot_be_written_leaves_a_table_that_is_named(ledger, here, monkeypatch):
    replace = os.replace

    def broken(source, target):
        if Path(target).name == "p.csv.receipt.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", broken)
    result = run(*PAYING["perturb"], "--adjacency", "replace-one", *ledger, status=2)
    refused(result, "cannot write p.csv.receipt.json", "; the table is in p.csv, without its receipt")
    assert ("; ledger l.jsonl was charged 1" in result.stderr) == bool(ledger)
    assert Path("p.csv").exists()


def test_an_accuracy_in_json_is_said_to_be_shown(here, monkeypatch):
    def setting(payment, name, value):
        object.__setattr__(payment, name, value)
        if value == "the accuracy was shown":
            raise KeyboardInterrupt

    monkeypatch.setattr("discreet.cli.accounts.Payment.__setattr__", setting)
    result = paying("score", "replace-one", "--limit", "3", "--json", status=130)
    assert "interrupted; the accuracy was shown; ledger l.jsonl was charged 1" in result.stderr


def test_an_interruption_while_rich_draws_is_told(here, monkeypatch):
    """Rich then keeps everything that it is given later in its buffer."""

    def drawing(*_, **__):
        notes._enter_buffer()
        raise KeyboardInterrupt

    break_the_reading(drawing, monkeypatch)
    try:
        result = paying("train", "add-remove", "--limit", "3", status=130)
    finally:
        notes._exit_buffer()
    assert "interrupted; no model was written; ledger l.jsonl was charged 1" in result.stderr


def test_what_another_process_charges_is_not_said_to_be_ours(here, monkeypatch):
    charge = Ledger.charge

    def late(ledger, *given, **more):
        monkeypatch.setattr(Ledger, "charge", charge)
        entry(Ledger.open("l.jsonl"), "of another process", 3, "add-remove")
        charge(ledger, *given, **more)

    Ledger(3, "l.jsonl", adjacency="add-remove")
    monkeypatch.setattr(Ledger, "charge", late)
    result = paying("train", "add-remove", status=2)
    refused(result, "the ledger has 0 of 3 left", "; ledger l.jsonl was not charged (3 of 3 spent)")


def test_a_ledger_that_breaks_meanwhile_is_not_said_to_be_free(here, monkeypatch):
    def breaking(*_):
        Path("l.jsonl").write_bytes(b"")
        raise KeyboardInterrupt

    break_the_reading(breaking, monkeypatch)
    result = paying("train", "add-remove", "--limit", "3", status=130)
    assert "ledger l.jsonl cannot be read now, and may have been charged" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("extra", [[], ["--json"]], ids=["text", "json"])
def test_an_output_that_is_full_states_the_ledger(extra, here):
    """A real process whose standard output is a full disk: the accuracy was paid for, and nobody saw it."""
    arguments = [*PAYING["score"], "--ledger", "l.jsonl", "--limit", "3", *extra]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "discreet.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot write the output: No space left on device" in done.stderr
    assert "no accuracy was shown; ledger l.jsonl was charged 1 and keeps it (1 of 3 spent)" in done.stderr
    assert true_state() == (1, 1, 3)
