"""`discreet budget`, and what the commands that pay do with a ledger: which adjacency, and what after an error."""

import csv
import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.cli import app, perturb
from discreet.federated import invite
from discreet.privacy.receipt import Charge
from discreet.sources.marked import MarkedSource

OLD = (
    '{"format": "discreet/ledger", "version": 1, "limit": "2"}\n'
    '{"name": "naive-bayes for ill", "epsilon": "1/3", "at": "2025-05-01T09:00:00+00:00"}\n'
)
CANARY = "CANARY-7731"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, a schema, a model and an invitation; the working directory."""
    monkeypatch.chdir(tmp_path)
    with Path("data.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [["age", "smoker", "ill"], ["1", CANARY, "yes"], *[[str(n), "no", "no"] for n in range(90)]]
        csv.writer(file).writerows(rows)
    columns = [Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])]
    schema = Schema(columns, target="ill", classes=["no", "yes"], records=100)
    schema.save("s.json")
    run(*TRAIN[:-2], "--out", "model.json")
    for adjacency in ("add-remove", "replace-one"):
        invite(schema.replace(adjacency=adjacency), Fraction(1), ["north", "south"]).save(f"{adjacency}.invitation")
    return tmp_path


TRAIN = ("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json")
PAYING = {
    "train": TRAIN,
    "perturb": ("perturb", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "p.csv"),
    "score": ("score", "model.json", "data.csv", "--epsilon", "1"),
    "answer": ("federated", "answer", "ADJACENCY.invitation", "data.csv", "--party", "north", "--out", "n.msg"),
}
PAYING_ADD_REMOVE = ["train", "score", "answer"]
"""A perturbed table publishes the number of records, so that add-remove has nothing to say of it."""


def paying(command, adjacency, *extra, status=0, ledger="l.jsonl"):
    given = [each.replace("ADJACENCY", adjacency) for each in PAYING[command]]
    given += [] if command == "answer" else ["--adjacency", adjacency]
    return run(*given, "--ledger", ledger, *extra, status=status)


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    assert CANARY not in result.stdout + result.stderr
    return result


def refused(result, *words):
    assert result.exit_code == 2
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    for word in words:
        assert word in result.stderr


def entry(ledger, name, epsilon, adjacency):
    ledger.charge(name, [Charge("q", "m", Fraction(epsilon), 1, 1.0)], adjacency)


@pytest.fixture
def ledger(here):
    ledger = Ledger(4, "l.jsonl", adjacency="replace-one")
    entry(ledger, "a model", "1/3", "replace-one")
    entry(ledger, "another", "1/3", "add-remove")
    return ledger


# show, verify, adopt


def test_show(ledger):
    content = json.loads(run("budget", "show", "l.jsonl", "--json").stdout)
    assert {name: content[name] for name in ("path", "limit", "adjacency", "spent", "remaining")} == {
        "path": "l.jsonl", "limit": "4", "adjacency": "replace-one", "spent": "1", "remaining": "3",
    }  # fmt: skip
    first, second = content["entries"]
    assert {**first, "at": ""} == {
        "number": 1, "at": "", "name": "a model", "epsilon": "1/3", "adjacency": "replace-one", "counted": "1/3",
    }  # fmt: skip
    assert (second["epsilon"], second["adjacency"], second["counted"]) == ("1/3", "add-remove", "2/3")
    before = Path("l.jsonl").read_bytes()
    shown = run("budget", "show", "l.jsonl").stdout
    for word in ("a model", "another", "0.333334", "0.666667", "add-remove", "1 of 4 spent under replace-one, 3 left"):
        assert word in shown
    assert Path("l.jsonl").read_bytes() == before


def test_show_of_a_new_ledger_and_of_one_without_limit(here):
    Ledger("inf", "new.jsonl")
    assert "0 of ∞ spent under the adjacency of the first charge, ∞ left" in run("budget", "show", "new.jsonl").stdout
    content = json.loads(run("budget", "show", "new.jsonl", "--json").stdout)
    assert (content["limit"], content["adjacency"], content["entries"]) == ("inf", None, [])


def test_names_cannot_steer_the_terminal(ledger):
    entry(ledger, "odd \x1b[31m", "1/3", "replace-one")
    assert "\x1b" not in run("budget", "show", "l.jsonl").stdout


def test_verify(ledger):
    assert f"l.jsonl is whole: 2 entries, each as it was written. Head: {ledger.head}" in " ".join(
        run("budget", "verify", "l.jsonl").stdout.split()
    )
    content = json.loads(run("budget", "verify", "l.jsonl", "--json").stdout)
    assert content == {"path": "l.jsonl", "entries": 2, "head": ledger.head, "whole": True}


@pytest.mark.parametrize("command", ["show", "verify"])
def test_a_changed_ledger_is_one_line(command, ledger):
    whole = Path("l.jsonl").read_bytes()
    for changed in (whole.replace(b"1/3", b"1/9", 1), whole[:-5], whole[: whole.rindex(b"\n", 0, -1) + 1], b""):
        Path("l.jsonl").write_bytes(changed)
        for extra in ([], ["--json"]):
            refused(run("budget", command, "l.jsonl", *extra, status=2), "ledger", "l.jsonl", "restore it")
        assert Path("l.jsonl").read_bytes() == changed
    refused(run("budget", command, "absent.jsonl", status=2), "absent.jsonl", "check the path")
    assert not Path("absent.jsonl").exists()


def test_adopt(here):
    Path("old.jsonl").write_text(OLD)
    for command in (["budget", "show", "old.jsonl"], [*TRAIN, "--ledger", "old.jsonl"]):
        refused(run(*command, status=2), "discreet budget adopt", "old.jsonl --adjacency add-remove")
    assert Path("old.jsonl").read_text() == OLD
    refused(run("budget", "adopt", "old.jsonl", status=2), "--adjacency")
    refused(run("budget", "adopt", "old.jsonl", "--adjacency", "both", status=2), "mixed")
    shown = run("budget", "adopt", "old.jsonl", "--adjacency", "add-remove").stdout
    assert "1 entries" in shown
    assert "0.333334 of 2 spent under add-remove, 1.66666 left" in shown
    refused(run("budget", "adopt", "old.jsonl", "--adjacency", "add-remove", status=2), "needs no adopting")
    refused(run("budget", "adopt", "old.jsonl.v1", "--adjacency", "add-remove", status=2), "adopted already")
    run(*TRAIN, "--ledger", "old.jsonl")
    assert Ledger.open("old.jsonl").spent == Fraction(4, 3)


def test_adopt_mixed(here):
    Path("old.jsonl").write_text(OLD)
    content = json.loads(run("budget", "adopt", "old.jsonl", "--adjacency", "mixed", "--json").stdout)
    assert (content["adjacency"], content["spent"], content["kept"]) == ("replace-one", "2/3", "old.jsonl.v1")
    assert (content["entries"][0]["adjacency"], content["entries"][0]["epsilon"]) == (None, "1/3")
    assert "not known" in run("budget", "show", "old.jsonl").stdout


@pytest.mark.parametrize("command", ["show", "verify", "adopt"])
def test_help_has_an_example(command):
    shown = CliRunner().invoke(app, ["budget", command, "--help"]).stdout
    assert f"discreet budget {command} ledger.jsonl" in shown


# The commands that pay


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


def fails_with(error):
    def fail(*_, **__):
        raise error

    return fail


def break_after_the_charge(command, error, monkeypatch):
    """Make the command fail where the records are read."""
    if command == "score":
        monkeypatch.setattr(MarkedSource, "count", fails_with(error))
    elif command == "perturb":

        def broken(*_, **__):
            yield from ()
            raise error

        monkeypatch.setattr(perturb, "read_blocks", broken)
    else:
        monkeypatch.setattr("discreet.sources.csv.CsvSource.count", fails_with(error))


LOST = {
    "train": "no model was written",
    "score": "no accuracy was released",
    "perturb": "no table with a receipt was written",
    "answer": "no answer was written",
}


@pytest.mark.parametrize("command", PAYING)
def test_an_interruption_says_what_was_charged(command, here, monkeypatch):
    break_after_the_charge(command, KeyboardInterrupt(), monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=130)
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == (
        f"interrupted; {LOST[command]}; ledger l.jsonl keeps the charge (1 of 3 spent)"
    )
    assert Ledger.open("l.jsonl").spent == 1


@pytest.mark.parametrize("command", PAYING)
def test_an_error_after_the_charge_says_what_was_charged(command, here, monkeypatch):
    from discreet.errors import FileError, MissingExtra

    for number, error in enumerate([FileError("the disk is gone; check it"), MissingExtra("duckdb")], 1):
        break_after_the_charge(command, error, monkeypatch)
        ledger = f"l{number}.jsonl"
        result = paying(command, "replace-one", "--limit", "3", status=2, ledger=ledger)
        refused(result, f"error: {error}; ledger {ledger} keeps the charge (1 of 3 spent)")
    break_after_the_charge(command, ValueError(CANARY), monkeypatch)
    result = paying(command, "replace-one", "--limit", "3", status=1)
    assert f"{LOST[command]}; ledger l.jsonl keeps the charge (1 of 3 spent)\n" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: something unexpected")


@pytest.mark.parametrize("command", PAYING)
def test_an_error_before_the_charge_says_nothing_of_one(command, here, monkeypatch):
    monkeypatch.setattr(Ledger, "charge", fails_with(KeyboardInterrupt()))
    result = paying(command, "replace-one", "--limit", "3", status=130)
    assert result.stderr.splitlines()[-1] == f"interrupted; {LOST[command]}"
    assert Ledger.open("l.jsonl").spent == 0


def test_a_ledger_that_breaks_meanwhile_is_not_said_to_be_free(here, monkeypatch):
    def breaking(*_):
        Path("l.jsonl").write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.sources.csv.CsvSource.count", breaking)
    result = paying("train", "add-remove", "--limit", "3", status=130)
    assert "ledger l.jsonl cannot be read now, and may have the charge" in result.stderr


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


@pytest.mark.parametrize("content", [OLD, None], ids=["0.1", "present"])
def test_no_output_overwrites_a_ledger_even_by_force(content, here):
    """Not the ledger of this command: another one, whose account would be forgotten."""
    path = Path("other.jsonl")
    if content is None:
        Ledger(1, path, adjacency="add-remove")
    else:
        path.write_text(content, encoding="utf-8")
    before = path.read_bytes()
    result = run(*TRAIN[:-1], path, "--force", status=2)
    assert "is a ledger, which is never overwritten" in result.stderr
    assert path.read_bytes() == before


def test_a_name_with_half_a_character_is_shown(here):
    ledger = Ledger(1, "odd.jsonl", adjacency="add-remove")
    ledger.charge("half \ud800", [Charge("q", "m", Fraction(1, 2), 1, 2.0)], "add-remove")
    shown = json.loads(run("budget", "show", "odd.jsonl", "--json").stdout)
    assert json.dumps(shown).count("half") == 1
    assert "half" in run("budget", "show", "odd.jsonl").stdout
