"""The command line on accounts: every command that pays, and `discreet budget`; no password anywhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from discreet import Ledger
from discreet.privacy.accounts import engine_for, writing
from support.account_databases import standing
from support.paying import PAYING, PAYING_ADD_REMOVE, paying, prepare_folder, refused, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with data, a schema, a model and invitations; the working directory."""
    monkeypatch.chdir(tmp_path)
    prepare_folder()
    return tmp_path


@pytest.fixture
def money(here, address):
    """The address of accounts of both adjacencies, made by commands."""
    for name, adjacency in (("clinic", "add-remove"), ("census", "replace-one")):
        run("budget", "limit", f"{address}#{name}", "10", "--adjacency", adjacency)
        run("budget", "limit", f"{address}#{name}/visits", "5")
        run("budget", "limit", f"{address}#{name}/visits/heart", "1.5")
    return address


def shown(money, *more):
    return json.loads(run("budget", "show", money, "--json", *more).stdout)


@pytest.mark.parametrize("command", PAYING)
def test_every_command_pays_from_accounts(money, command):
    name = "clinic" if command in PAYING_ADD_REMOVE else "census"
    place = f"{money}#{name}/visits/heart"
    adjacency = "add-remove" if name == "clinic" else "replace-one"
    paying(command, adjacency, ledger=place)
    spent = {row["name"]: row["spent"] for row in shown(money)["accounts"] if row["population"] == name}
    assert spent == {name: "1", "visits": "1", "heart": "1"}
    again = (
        paying(command, adjacency, "--force", ledger=place, status=2)
        if command != "score"
        else paying(command, adjacency, ledger=place, status=2)
    )
    refused(again, "is more than the 0.5 of 1.5 left in ledger")
    assert {row["spent"] for row in shown(place)["accounts"]} == {"1"}


def test_a_limit_of_the_command_is_refused(money):
    refused(paying("train", "add-remove", "--limit", "1", ledger=f"{money}#clinic", status=2), "leave --limit out")
    refused(paying("train", "add-remove", ledger=money, status=2), "names no account")
    refused(paying("train", "replace-one", ledger=f"{money}#clinic", status=2), "bounds no loss under add-remove")
    assert not Path("m.json").exists()


def test_a_model_never_overwrites_the_database(here):
    run("budget", "limit", "sqlite:///a.db#clinic", "10", "--adjacency", "add-remove")
    given = ("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "a.db", "--force")
    refused(run(*given, "--ledger", "sqlite:///a.db#clinic", status=2), "would overwrite an input")
    refused(run(*given, status=2), "never overwritten")


def test_passwords_are_never_shown(here):
    place = "postgresql://ann:secret@localhost:1/money#clinic"
    for command in (
        ("budget", "show", place),
        ("budget", "limit", place, "1", "--adjacency", "add-remove"),
        ("budget", "verify", place),
        ("budget", "import", "l.jsonl", place),
        ("budget", "export", place, "--out", "e.jsonl"),
        ("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json", "--ledger", place),
        ("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json", "--ledger", place + "//"),
    ):
        result = run(*command, status=2)
        refused(result)
        assert "secret" not in result.stderr + result.stdout


def test_show_tells_accounts_and_entries(money):
    paying("train", "add-remove", ledger=f"{money}#clinic/visits")
    content = shown(f"{money}#clinic/visits")
    assert (content["limit"], content["spent"], content["remaining"], content["adjacency"]) == (
        "5", "1", "4", "add-remove",
    )  # fmt: skip
    assert len(content["entries"]) == 1
    assert content["accounts"][0] == {
        "population": "clinic", "kind": "population", "name": "clinic", "adjacency": "add-remove",
        "limit": "10", "reserved": "0", "spent": "1", "remaining": "9",
    }  # fmt: skip
    told = run("budget", "show", f"{money}#clinic/visits").stdout
    for word in ("population clinic", "data set visits", "█", "░", "1 of 5 spent under add-remove, 4 left"):
        assert word in told
    assert "project heart" in run("budget", "show", money).stdout


def test_limits_are_changed_but_not_below_what_is_spent(money):
    paying("train", "add-remove", ledger=f"{money}#clinic")
    made = json.loads(run("budget", "limit", f"{money}#clinic", "1", "--json").stdout)
    assert (made["limit"], made["new"], made["remaining"]) == ("1", False, "0")
    refused(run("budget", "limit", f"{money}#clinic", "0.9", status=2), "below what population clinic has spent")
    refused(run("budget", "limit", f"{money}#clinic", "3", "--adjacency", "replace-one", status=2), "keeps it")
    refused(run("budget", "limit", f"{money}#new", "3", status=2), "--adjacency add-remove")
    refused(run("budget", "limit", f"{money}#new/visits", "3", status=2), "no population new")
    refused(run("budget", "limit", money, "3", status=2), "names no account")


def test_limit_makes_a_file_too(here):
    run("budget", "limit", "l.jsonl", "2", "--adjacency", "add-remove")
    assert Ledger.open("l.jsonl").limit == 2
    refused(run("budget", "limit", "l.jsonl", "3", status=2), "has limit 2")


def test_verify_finds_an_edit_and_a_missing_head(money):
    paying("train", "add-remove", ledger=f"{money}#clinic")
    whole = json.loads(run("budget", "verify", money, "--json").stdout)
    assert whole["whole"]
    head = next(each["head"] for each in whole["populations"] if each["name"] == "clinic")
    assert head in run("budget", "verify", money, "--head", head).stdout
    refused(run("budget", "verify", money, "--head", "ab" * 32, status=2), "no entry has the noted head")
    engine = engine_for(money)
    with writing(engine) as connection:
        connection.execute(text("UPDATE accounts SET limit_nano = limit_nano + 1 WHERE name = 'heart'"))
    engine.dispose()
    refused(run("budget", "verify", money, status=2), "is not whole: account heart of population clinic")


def test_export_and_verify_elsewhere(money):
    paying("train", "add-remove", ledger=f"{money}#clinic")
    run("budget", "export", money, "--out", "e.jsonl")
    told = json.loads(run("budget", "verify", "e.jsonl", "--json").stdout)
    assert [each["name"] for each in told["populations"]] == ["clinic", "census"]
    run("budget", "export", f"{money}#clinic", "--out", "c.jsonl")
    assert "census" not in run("budget", "verify", "c.jsonl").stdout
    refused(run("budget", "export", money, "--out", "e.jsonl", status=2), "--force")
    refused(run("budget", "export", f"{money}#clinic/visits", "--out", "x.jsonl", status=2), "whole population")
    refused(run("budget", "export", "l.jsonl", "--out", "x.jsonl", status=2), "is a file already")
    content = Path("e.jsonl").read_text()
    Path("e.jsonl").write_text(content.replace('"nano":1000000000', '"nano":1000000001'))
    refused(run("budget", "verify", "e.jsonl", status=2), "is not whole")


def test_import_once(money):
    paying("train", "add-remove", "--limit", "3", ledger="l.jsonl")
    told = json.loads(run("budget", "import", "l.jsonl", f"{money}#clinic/visits", "--json").stdout)
    assert (told["imported"], told["spent"]) == (1, "1")
    refused(run("budget", "import", "l.jsonl", f"{money}#clinic/visits", status=2), "imported already")
    refused(run("budget", "import", "l.jsonl", "other.jsonl", status=2), "not an address of accounts")
    engine = engine_for(money)
    assert standing(engine, 1)[2] == 1
    engine.dispose()


def test_heads_of_files_are_checked(here):
    paying("train", "add-remove", "--limit", "3")
    head = json.loads(run("budget", "verify", "l.jsonl", "--json").stdout)["head"]
    run("budget", "verify", "l.jsonl", "--head", head)
    refused(run("budget", "verify", "l.jsonl", "--head", "ab", status=2), "no entry with the noted head")


def test_a_database_that_is_not_there_is_not_made(here):
    refused(run("budget", "show", "sqlite:///none.db", status=2), "there is no database none.db")
    refused(run("budget", "show", "sqlite:///none.db#clinic", status=2))
    assert not Path("none.db").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["budget", "show", "sqlite:///a.db"],
        ["budget", "limit", "sqlite:///a.db#a", "1"],
        ["budget", "verify", "sqlite:///a.db"],
        ["budget", "import", "l.jsonl", "sqlite:///a.db#a"],
        ["budget", "export", "sqlite:///a.db", "--out", "e.jsonl"],
        [
            "train",
            "data.csv",
            "--schema",
            "s.json",
            "--epsilon",
            "1",
            "--out",
            "m.json",
            "--ledger",
            "sqlite:///a.db#a",
        ],
    ],
)
def test_missing_packages_are_one_line(here, arguments):
    code = "import sys; sys.modules['sqlalchemy'] = None; from discreet.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: this needs an optional package: pip install 'discreet[accounts]'\n"
