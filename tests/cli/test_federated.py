"""`discreet federated`: a consortium by mail, and every mistake one line that costs nothing."""

import json
from pathlib import Path

import numpy as np
import pytest

from discreet import load
from support.clinic import CLINIC, ill
from support.command import run, write_csv

NAMES = ["north", "south", "west"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A schema, and a table for each party."""
    monkeypatch.chdir(tmp_path)
    CLINIC.save("s.json")
    for seed, name in enumerate(NAMES):
        table = ill(500, seed)
        write_csv(Path(f"{name}.csv"), [list(table), *zip(*table.values(), strict=True)])
    return tmp_path


def invite(*extra, parties=NAMES, status=0):
    given = [argument for name in parties for argument in ("--party", name)]
    return run("federated", "invite", "--schema", "s.json", "--epsilon", "1", *given, "--out", "i.json", *extra,
               status=status)  # fmt: skip


def answer(name, *extra, status=0):
    return run("federated", "answer", "i.json", f"{name}.csv", "--party", name, "--out", f"{name}.msg",
               "--ledger", f"{name}.jsonl", "--limit", "1", *extra, status=status)  # fmt: skip


def combine(*messages, status=0):
    return run("federated", "combine", *messages, "--invitation", "i.json", "--out", "m.json", status=status)


def test_a_round_by_mail(here):
    assert "Round" in invite().stdout
    for name in NAMES:
        assert "1 of 1 spent" in answer(name).stdout
    told = combine(*(f"{name}.msg" for name in NAMES)).stdout
    assert "1-differentially private" in told
    assert "3 parties" in told
    table = ill(900, 7)
    assert load("m.json").score({"age": table["age"], "smoker": table["smoker"]}, table["ill"]) > 0.7
    assert "answers, each with noise of its own" in run("card", "m.json").stdout
    assert run("explain", "m.json").stdout


def test_a_secure_sum_by_mail(here):
    keys = {name: run("federated", "key", "--out", f"{name}.key").stdout.strip() for name in NAMES}
    invite("--trust", "sum", parties=[f"{name}={key}" for name, key in keys.items()])
    result = answer("north", status=2)
    assert "--key" in result.stderr
    assert not Path("north.jsonl").exists()
    assert "does not fit" in answer("north", "--key", "south.key", status=2).stderr
    assert "give the keys" in answer("north", "--key", "north.key", status=2).stderr
    for name in NAMES:
        answer(name, "--key", f"{name}.key", "--checked")
    result = combine("north.msg", "south.msg", status=2)
    assert "west" in result.stderr
    assert "new round" in result.stderr
    assert not Path("m.json").exists()
    assert "as long as 2 other parties" in combine(*(f"{name}.msg" for name in NAMES)).stdout


def test_columns_of_the_same_people(here):
    invite(parties=["clinic=age", "survey=smoker"])
    table = ill(1500, 3)
    for name, column in (("clinic", "age"), ("survey", "smoker")):
        write_csv(Path(f"{name}.csv"), [[column, "ill"], *zip(table[column], table["ill"], strict=True)])
        answer(name)
    combine("clinic.msg", "survey.msg")
    assert load("m.json").receipt_.epsilon == 1
    assert "exactly one party" in invite("--force", parties=["a=age", "b=age,smoker"], status=2).stderr
    assert "--party NAME=a,b" in invite("--force", parties=["a=age", "b"], status=2).stderr


def test_json_is_pure(here):
    assert len(json.loads(invite("--json").stdout)["hash"]) == 64
    assert json.loads(answer("north", "--json").stdout)["bytes"] == Path("north.msg").stat().st_size
    given = ["north.msg", "--invitation", "i.json", "--out", "m.json", "--json"]
    content = json.loads(run("federated", "combine", *given).stdout)
    assert (content["answered"], content["missing"]) == (["north"], ["south", "west"])
    assert set(json.loads(run("federated", "key", "--out", "k", "--json").stdout)) == {"out", "public"}


def test_nothing_is_answered_twice_or_overwritten(here):
    invite()
    assert "exists" in invite(status=2).stderr
    answer("north")
    sent = Path("north.msg").read_bytes()
    assert "exists" in answer("north", status=2).stderr
    assert "left in ledger" in answer("north", "--force", status=2).stderr
    Path("north.jsonl").unlink()
    run("federated", "answer", "i.json", "north.csv", "--party", "north", "--out", "again.msg", "--ledger", "n.jsonl",
        "--limit", "9")  # fmt: skip
    result = run("federated", "answer", "i.json", "north.csv", "--party", "north", "--out", "third.msg", "--ledger",
                 "n.jsonl", status=2)  # fmt: skip
    assert "once" in result.stderr
    assert Path("north.msg").read_bytes() == sent
    assert "answered already" in combine("north.msg", "again.msg", status=2).stderr
    run("federated", "key", "--out", "k")
    assert "exists" in run("federated", "key", "--out", "k", status=2).stderr


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda sent: sent[:-20], "cut off"),
        (lambda sent: sent.replace(b'"no "', b'"yes"'), "altered"),
        (lambda sent: b"\xff" * 30, "not an answer"),
        (lambda sent: b"", "not an answer"),
        (lambda sent: sent * 40, "longer"),
    ],
)
def test_damaged_messages(damage, words, here):
    invite()
    answer("north")
    Path("north.msg").write_bytes(damage(Path("north.msg").read_bytes()))
    result = combine("north.msg", status=2)
    assert words in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("m.json").exists()


def test_structure_errors_cost_nothing(here):
    invite()
    write_csv(Path("north.csv"), [["age", "ill"], ["3", "yes"]])
    assert "smoker" in answer("north", status=2).stderr
    assert "not invited" in run("federated", "answer", "i.json", "south.csv", "--party", "east", "--out", "e.msg",
                                "--ledger", "e.jsonl", "--limit", "1", status=2).stderr  # fmt: skip
    assert not list(Path().glob("*.jsonl"))
    assert np.all([not Path(name).exists() for name in ("north.msg", "e.msg")])
