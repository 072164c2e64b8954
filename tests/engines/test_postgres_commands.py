"""The command line on PostgreSQL: addresses instead of files, one line for what goes wrong, no password anywhere."""

import json
from itertools import product

import pytest

from discreet import Categorical, Numeric, Schema, load
from discreet.storage.addresses import Address, as_address
from support.agreement import fill_table
from support.command import refused, run

pytestmark = pytest.mark.engines

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "outcome", ["ill", "well"], records=200)
TYPES = {"age": "float8", "sex": "text", "outcome": "text"}


@pytest.fixture
def address(database, postgres, tmp_path, monkeypatch):
    """The address of a table that a role with a password may SELECT from, and nothing else."""
    rows = {
        "age": [float(place % 90) for place in range(200)],
        "sex": ["F", "M"] * 100,
        "outcome": ["ill", "well"] * 100,
    }
    fill_table(database, "patients", TYPES, rows)
    database.execute("CREATE ROLE careful LOGIN PASSWORD 'pa/ssw0rd'")
    database.execute("GRANT USAGE ON SCHEMA clinic TO careful; GRANT SELECT ON patients TO careful")
    monkeypatch.chdir(tmp_path)
    SCHEMA.save("s.json")
    yield postgres.replace("owner@", "careful:pa%2Fssw0rd@")
    database.execute("DROP OWNED BY careful; DROP ROLE careful")


def train(address, *more, status=0):
    given = ("--table", "clinic.patients", "--schema", "s.json", "--epsilon", "1", "--out", "m.json")
    return run("train", address, *given, *more, status=status)


def hidden(result, *files, folder):
    shown = result.stdout + result.stderr + "".join((folder / name).read_text() for name in files)
    assert "ssw0rd" not in shown
    assert "careful" not in shown


def test_training_counts_in_the_database_or_streams(address, tmp_path):
    done = train(address, "--model", "naive-bayes", "--ledger", "l.jsonl", "--limit", "2")
    hidden(done, "m.json", "l.jsonl", folder=tmp_path)
    assert load("m.json").kind == "naive-bayes"
    for model, *more in product(("auto", "decision-tree", "svm", "random-forest"), ((), ("--stream",))):
        done = train(address, "--model", model, *more[0], "--json", "--force")
        hidden(done, "m.json", folder=tmp_path)
        assert load("m.json").kind == model
    done = run("schema", "check", "s.json", address, "--table", "clinic.patients", "--json")
    hidden(done, folder=tmp_path)
    assert json.loads(done.stdout)["fits"] == "postgresql:///postgres"
    done = run("schema", "check", "s.json", address, "--table", "clinic.patients")
    assert "postgresql:///postgres has the columns of the schema" in done.stdout


def test_scores_are_those_of_a_file(address, database, tmp_path):
    train(address, "--model", "naive-bayes", "--seed", "1")
    database.execute("ALTER TABLE patients ADD extra date")
    rows = database.execute("SELECT age, sex, outcome FROM patients").fetchall()
    (tmp_path / "t.csv").write_text("".join(f"{a},{b},{c}\n" for a, b, c in [("age", "sex", "outcome"), *rows]))
    given = ("--epsilon", "1", "--seed", "3", "--json")
    expected = run("score", "m.json", "t.csv", *given)
    for more in ((), ("--stream",)):
        done = run("score", "m.json", address, "--table", "clinic.patients", *more, *given)
        assert json.loads(done.stdout) == json.loads(expected.stdout)
        hidden(done, folder=tmp_path)
    refused(lambda *more, status: run("score", "m.json", "t.csv", "--table", "t", *given, *more, status=status))


def test_what_cannot_be_read_costs_nothing(address, database, tmp_path):
    secrets = ("ssw0rd", "secret", "careful")
    for bad, more, words in (
        (address.replace("ssw0rd", "ssw0rd2"), (), ("refused the user or the password", "PGPASSWORD")),
        (address.replace("/tmp/", "/none/"), (), ("cannot be reached", "check host")),
        (address, ("--table", "clinic.none"), ("no table or view",)),
        (address, ("--table", ""), ("is a database; name its table",)),
        ("mysql://careful:secret@host/db", (), ("mysql:// is not an address", "postgresql://")),
        ("postgresql://careful:pa/ssw0rd@host/db", (), ("postgresql://...",)),
        (address, ("--model", "bee-rules"), ("bee-rules",)),
    ):
        model = () if "--model" in more else ("--model", "naive-bayes")
        refused(
            lambda *given, status, bad=bad: train(bad, "--ledger", "l.jsonl", "--limit", "2", *given, status=status),
            *model, *more, words=words, secrets=secrets,
        )  # fmt: skip
    database.execute("REVOKE SELECT ON clinic.patients FROM careful")
    refused(
        lambda *given, status: train(address, *given, status=status),
        "--model", "naive-bayes", words=("the role may not read it; GRANT",), secrets=secrets,
    )  # fmt: skip
    (tmp_path / "t.csv").write_text("age,sex,outcome\n1,F,ill\n")
    refused(
        lambda *given, status: run("train", "t.csv", "--schema", "s.json", "--epsilon", "1", *given, status=status),
        "--stream", "--out", "m.json", words=("--stream is for tables of a database",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:secret@db:5433/clinic?sslmode=require", "postgresql://db:5433/clinic"),
        ("postgres://ann@db", "postgres://db"),
        ("postgresql:///clinic?host=/run&password=secret", "postgresql:///clinic"),
        ("postgresql://ann:se@cret@db/clinic", "postgresql://..."),
        ("postgresql://ann:se/cret@db/clinic", "postgresql://..."),
        ("postgresql://ann:se?cret@db/clinic", "postgresql://..."),
        ("postgresql://ann:se#cret@db/clinic", "postgresql://..."),
        ("postgresql://db/clinic?user=ann&password=se@cret", "postgresql://..."),
    ],
)
def test_an_address_is_shown_without_secrets(text, shown):
    assert str(as_address(text)) == shown
    assert repr(Address(text)) == f"Address({shown!r})"
