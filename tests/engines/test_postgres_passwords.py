"""Passwords from where PostgreSQL's own programs take them: a pgpass file, and a service file. No message shows one."""

import json

import pytest

from discreet import Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import FileError
from discreet.models.saving import to_dict
from discreet.sources.postgres import PostgresSource
from support.agreement import fill_table

pytestmark = pytest.mark.engines
pytest.importorskip("psycopg")

SCHEMA = Schema([Numeric("age", 0, 100)], "outcome", ["ill", "well"])
SECRET = "right: \\ secret"
ESCAPED = "right\\: \\\\ secret"
"""As a pgpass file writes it."""


@pytest.fixture
def careful(database, postgres, monkeypatch):
    """The folder of the server's socket; on it a table that a role with a password may read, and no other password."""
    fill_table(
        database,
        "patients",
        {"age": "float8", "outcome": "text"},
        {"age": [1.0, 70.0, 80.0], "outcome": ["well", "ill", "ill"]},
    )
    database.execute(f"CREATE ROLE careful LOGIN PASSWORD '{SECRET}'")
    database.execute("GRANT USAGE ON SCHEMA clinic TO careful; GRANT SELECT ON clinic.patients TO careful")
    for name in ("PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGUSER", "PGHOST"):
        monkeypatch.delenv(name, raising=False)
    yield postgres.partition("host=")[2]
    database.execute("DROP OWNED BY careful; DROP ROLE careful")


def fitted(address, stream):
    ledger = Ledger(1)
    model = NaiveBayes(SCHEMA, epsilon=1, random_state=0)
    model.fit_from(PostgresSource(address, table="clinic.patients", stream=stream), ledger=ledger)
    return json.dumps(to_dict(model)) + repr(ledger.entries)


def refused(address, stream):
    ledger, model = Ledger(1), NaiveBayes(SCHEMA, epsilon=1)
    with pytest.raises(FileError, match="refused the user or the password; give the user") as caught:
        model.fit_from(PostgresSource(address, table="clinic.patients", stream=stream), ledger=ledger)
    assert "secret" not in str(caught.value)
    assert ledger.spent == 0


@pytest.mark.parametrize("stream", [False, True])
def test_a_pgpass_file(careful, tmp_path, monkeypatch, stream):
    address, path = f"postgresql://careful@/postgres?host={careful}", tmp_path / "pgpass"
    refused(address, stream)
    monkeypatch.setenv("PGPASSFILE", str(path))
    path.write_text(f"{careful}:*:postgres:careful:wrong secret\n", encoding="utf-8")
    path.chmod(0o600)
    refused(address, stream)
    path.write_text(f"localhost:*:postgres:careful:{ESCAPED}\n*:*:*:careful:{ESCAPED}\n", encoding="utf-8")
    assert "secret" not in fitted(address, stream)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("named", ["address", "environment"])
def test_a_service_file(careful, tmp_path, monkeypatch, stream, named):
    path = tmp_path / "services"
    monkeypatch.setenv("PGSERVICEFILE", str(path))
    if named == "environment":
        monkeypatch.setenv("PGSERVICE", "clinic")
    address = "postgresql:///?service=clinic" if named == "address" else "postgresql:///"
    service = f"[clinic]\nhost={careful}\ndbname=postgres\nuser=careful\n"
    path.write_text(f"{service}password=wrong secret\n", encoding="utf-8")
    refused(address, stream)
    path.write_text(f"{service}password={SECRET}\n", encoding="utf-8")
    assert "secret" not in fitted(address, stream)
