"""Backup and restore: nothing that was reserved is run twice, and nothing is overwritten."""

import json
import os
import subprocess
import sys

import pytest
from sqlalchemy import text

from discreet.errors import FileError
from discreet.privacy.accounts import engine_for, reading, writing
from discreet.schema import Categorical, Schema
from discreet.service import jobs, keeping, log
from discreet.service.database import migrate, open_database
from discreet.service.problems import Problem
from discreet.service.security import links, sessions
from discreet.service.security.caller import Scope
from discreet.service.settings import Settings
from support.account_databases import new_address

SCHEMA = Schema([Categorical("sex", ["F", "M"])], "ill", ["no", "yes"], records=100)
COUNT = {"kind": "count", "epsilon": "1", "queries": [{}]}


def test_a_restored_reservation_is_spent_and_never_run(clinic, tmp_path, request):
    clinic.pretend(SCHEMA)
    given = clinic.grant(approve_up_to=1)
    waiting, reserved = clinic.ask({**COUNT, "epsilon": "2"}, "waiting"), clinic.ask(COUNT, "reserved")
    backup = tmp_path / "copy.backup"
    keeping.back_up(clinic.settings, backup)
    with pytest.raises(FileError, match="exists"):
        keeping.back_up(clinic.settings, backup)
    assert backup.stat().st_mode & 0o077 == 0
    with pytest.raises(FileError, match="forgotten"):
        keeping.restore(clinic.settings, backup)  # the database is there
    kind = clinic.engine.dialect.name
    server = request.getfixturevalue("postgres") if kind == "postgresql" else None
    (tmp_path / "new").mkdir()
    settings = Settings.of(tmp_path / "new", new_address(kind, tmp_path / "new", server))
    assert keeping.restore(settings, backup) == 1
    engine = engine_for(settings.database)
    try:
        with writing(engine) as connection:
            assert jobs.start(connection, "w", ("count",), 10.0) is None
        with reading(engine) as connection:
            states = dict(connection.execute(text("SELECT id, state FROM jobs WHERE nano > 0")).all())
            spent = jobs.BOOKS.standing(connection, given.account)
            assert log.read(connection, for_owner=False)[0].action == "service.restored"
        assert states == {waiting: "cancelled", reserved: "failed"}
        assert (spent.reserved, spent.spent) == (0, 1)
    finally:
        engine.dispose()


def test_a_restore_that_was_interrupted_opens_nothing(clinic, tmp_path, request, monkeypatch):
    """Killed after the rows are back and before the reservations are spent: a worker would run them again."""
    clinic.pretend(SCHEMA)
    clinic.grant(approve_up_to=1)
    clinic.ask(COUNT)
    backup, kind = tmp_path / "copy.backup", clinic.engine.dialect.name
    keeping.back_up(clinic.settings, backup)
    server = request.getfixturevalue("postgres") if kind == "postgresql" else None
    (tmp_path / "new").mkdir()
    settings = Settings.of(tmp_path / "new", new_address(kind, tmp_path / "new", server))
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "_forfeit", lambda engine: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            keeping.restore(settings, backup)
    if kind == "postgresql":
        with pytest.raises(FileError, match="interrupted"):
            open_database(settings)
    else:
        assert not keeping._sqlite_file(settings).exists()
        assert keeping.restore(settings, backup) == 1
        open_database(settings).dispose()


def test_what_was_revoked_after_a_backup_does_not_come_back(clinic, tmp_path, request):
    with writing(clinic.engine) as connection:
        token = sessions.make_token(connection, clinic.ann.id, "t", [Scope.READ], 1).secret
        session = sessions.open_session(connection, clinic.ann.id, 1).secret
        link = links.make_owner_link(connection, 1)
    backup, kind = tmp_path / "copy.backup", clinic.engine.dialect.name
    keeping.back_up(clinic.settings, backup)
    server = request.getfixturevalue("postgres") if kind == "postgresql" else None
    (tmp_path / "new").mkdir()
    settings = Settings.of(tmp_path / "new", new_address(kind, tmp_path / "new", server))
    keeping.restore(settings, backup)
    engine = open_database(settings)
    with reading(engine) as connection:
        assert sessions.recognise_token(connection, token) is None
        assert sessions.recognise_session(connection, session) is None
        with pytest.raises(Problem):
            links.look_at(connection, link)
    engine.dispose()


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_the_log_of_a_killed_service_is_not_replayed(small, tmp_path, end):
    """A service that is killed leaves its log; whoever moves away the database alone would get the log's pages back."""
    backup, log_file = tmp_path / "copy.backup", tmp_path / "new" / f"discreet.db{end}"
    keeping.back_up(small.settings, backup)
    settings = Settings.of(tmp_path / "new")
    log_file.parent.mkdir()
    log_file.write_bytes(b"pages")
    with pytest.raises(FileError, match=f"discreet.db{end} exists.*move it away"):
        keeping.restore(settings, backup)
    assert [each.name for each in log_file.parent.iterdir()] == [log_file.name]
    log_file.unlink()
    assert keeping.restore(settings, backup) == 0


def test_a_service_that_starts_during_a_restore_keeps_its_database(small, tmp_path, monkeypatch):
    backup, settings, forfeit = tmp_path / "copy.backup", Settings.of(tmp_path / "new"), keeping._forfeit
    keeping.back_up(small.settings, backup)

    def meanwhile(engine):
        for end in ("", "-wal"):
            (settings.folder / f"discreet.db{end}").write_bytes(b"theirs")
        return forfeit(engine)

    monkeypatch.setattr(keeping, "_forfeit", meanwhile)
    with pytest.raises(FileError, match=r"discreet.db, .*discreet.db-wal exist, .*move them away"):
        keeping.restore(settings, backup)
    assert (settings.folder / "discreet.db").read_bytes() == b"theirs"


def test_what_an_interrupted_restore_left_is_not_replayed(small, tmp_path, monkeypatch):
    backup, settings, copy = tmp_path / "copy.backup", Settings.of(tmp_path / "new"), keeping._copy
    keeping.back_up(small.settings, backup)
    settings.folder.mkdir()
    (settings.folder / "discreet.db.part-wal").write_bytes(b"pages")

    def copied(source, target):
        assert not [*target.parent.glob("discreet.db*")]
        copy(source, target)

    monkeypatch.setattr(keeping, "_copy", copied)
    assert keeping.restore(settings, backup) == 0
    assert [each.name for each in settings.folder.glob("discreet.db*")] == ["discreet.db"]


def test_what_is_no_backup_is_refused(small, tmp_path):
    bad = tmp_path / "bad.backup"
    bad.write_bytes(b"not a database")
    settings = Settings.of(tmp_path / "new")
    for path in (bad, tmp_path / "absent"):
        with pytest.raises(FileError):
            keeping.restore(settings, path)
    assert not (tmp_path / "new" / "discreet.db").exists()


def test_a_newer_database_is_refused(clinic):
    with clinic.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE service_version SET version_num = 's9999'")
    with pytest.raises(FileError, match="newer"):
        migrate(clinic.engine)


def test_tables_are_those_of_the_migrations(clinic):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from discreet.service.tables import service_metadata

    def ours(_, name, kind, reflected, compared):
        return not (kind == "table" and reflected and compared is None)

    with clinic.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours})
        assert compare_metadata(context, service_metadata) == []


def run(*words, folder, **environment):
    command = [sys.executable, "-m", "discreet.cli", *words, "--folder", str(folder)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return told.returncode, told.stdout, told.stderr


def test_the_commands_of_a_service(tmp_path):
    table = tmp_path / "secret-place.csv"
    table.write_text("a,b\n1,2\n")
    folder = tmp_path / "service"
    assert run("worker", "sources", "add", "visits", "--file", str(table), folder=folder)[0] == 0
    status, out, _ = run("worker", "sources", "list", "--json", folder=folder)
    assert (status, json.loads(out)) == (0, [{"name": "visits", "kind": "file", "described": "file"}])
    status, out, _ = run("service", "owner-link", "--public-url", "https://x.example/", folder=folder)
    assert status == 0
    assert "https://x.example/links/" in out
    assert run("service", "migrate", folder=folder)[0] == 0
    assert run("service", "backup", str(tmp_path / "b"), folder=folder)[0] == 0
    assert run("service", "restore", str(tmp_path / "b"), folder=folder)[0] == 2  # there is a database
    assert run("service", "restore", str(tmp_path / "b"), folder=tmp_path / "other")[0] == 0
    for words in (("add", "x"), ("add", "Bad/Name", "--file", str(table)), ("add", "y", "--file", "absent.csv")):
        status, _, err = run("worker", "sources", *words, folder=folder)
        assert (status, err.count("\n")) == (2, 1), err
