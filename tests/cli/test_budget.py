"""`discreet budget`: what a ledger says, whether it is whole, and how one of discreet 0.1 is taken over."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import Ledger
from discreet.cli import app
from discreet.privacy.receipt import Charge
from support.paying import TRAIN, prepare_folder, refused, run

OLD = (
    '{"format": "discreet/ledger", "version": 1, "limit": "2"}\n'
    '{"name": "naive-bayes for ill", "epsilon": "1/3", "at": "2025-05-01T09:00:00+00:00"}\n'
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, a schema, a model and invitations; the working directory."""
    monkeypatch.chdir(tmp_path)
    prepare_folder()
    return tmp_path


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
