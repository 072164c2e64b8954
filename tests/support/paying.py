"""The four commands that charge a ledger, ready to be run on the same small table."""

import csv
from fractions import Fraction
from pathlib import Path

from discreet import Categorical, Numeric, Schema
from discreet.federated import invite
from support.command import run as run_command

CANARY = "CANARY-7731"
TRAIN = ("train", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "m.json")
PAYING = {
    "train": TRAIN,
    "perturb": ("perturb", "data.csv", "--schema", "s.json", "--epsilon", "1", "--out", "p.csv"),
    "score": ("score", "model.json", "data.csv", "--epsilon", "1"),
    "answer": ("federated", "answer", "ADJACENCY.invitation", "data.csv", "--party", "north", "--out", "n.msg"),
}
PAYING_ADD_REMOVE = ["train", "score", "answer"]
"""A perturbed table publishes the number of records, so that add-remove has nothing to say of it."""


def prepare_folder():
    """Write data, a schema, a model and invitations into the working directory."""
    with Path("data.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [["age", "smoker", "ill"], ["1", CANARY, "yes"], *[[str(n), "no", "no"] for n in range(90)]]
        csv.writer(file).writerows(rows)
    columns = [Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])]
    schema = Schema(columns, target="ill", classes=["no", "yes"], records=100)
    schema.save("s.json")
    run(*TRAIN[:-2], "--out", "model.json")
    for adjacency in ("add-remove", "replace-one"):
        invite(schema.replace(adjacency=adjacency), Fraction(1), ["north", "south"]).save(f"{adjacency}.invitation")


def paying(command, adjacency, *extra, status=0, ledger="l.jsonl"):
    """Run one of the commands at epsilon 1."""
    given = [each.replace("ADJACENCY", adjacency) for each in PAYING[command]]
    given += [] if command == "answer" else ["--adjacency", adjacency]
    return run(*given, "--ledger", ledger, *extra, status=status)


def run(*arguments, status=0):
    """Run any command; nothing that it prints quotes a record."""
    result = run_command(*arguments, status=status)
    assert CANARY not in result.stdout + result.stderr
    return result


def refused(result, *words):
    """One line on standard error that has the words; nothing on standard output."""
    assert result.exit_code == 2
    assert (result.stdout, result.stderr.count("\n")) == ("", 1)
    for word in words:
        assert word in result.stderr
