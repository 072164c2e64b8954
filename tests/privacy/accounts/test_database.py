"""Engines, turns, versions and forks."""

import os
import threading
import time

import pytest
from sqlalchemy import text

from discreet.errors import FileError, ParameterError
from discreet.privacy.accounts import accounts_metadata, engine_for, liveness, migrate, reading, writing
from discreet.privacy.accounts.database import Turns, reading_apart, shown
from support.account_databases import BOOKS, standing


@pytest.mark.parametrize(
    "url", ["", "x", "mysql://ann:secret@host/db", "sqlite://", "sqlite:///:memory:", "postgresql://h"]
)
def test_other_addresses_are_refused_without_a_password(url):
    with pytest.raises(ParameterError) as caught:
        engine_for(url)
    assert "secret" not in str(caught.value)


def test_an_unreachable_database_is_one_line_without_a_password(tmp_path):
    engine = engine_for(f"postgresql://ann:secret@/nothing?host={tmp_path}")
    with pytest.raises(FileError) as caught, writing(engine):
        pass
    assert "secret" not in str(caught.value)
    assert "cannot be used now" in str(caught.value)
    with pytest.raises(FileError, match="check the path"):
        engine_for(f"sqlite:///{tmp_path}/none/accounts.db")


def test_the_address_is_shown_without_a_password(engine):
    assert "@" not in shown(engine)
    assert shown(engine_for("postgresql://ann:secret@db.example/money")) == "postgresql://db.example/money"


def test_what_is_written_is_synced(engine):
    with reading(engine) as connection:
        if engine.dialect.name == "sqlite":
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        else:
            assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_a_server_that_does_not_sync_is_told_to(postgres):
    engine = engine_for(f"{postgres}&options=-csynchronous_commit%3Doff")
    with reading(engine) as connection:
        assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"
    engine.dispose()


def test_a_new_file_is_its_owners_alone(tmp_path):
    engine_for(f"sqlite:///{tmp_path}/a.db").dispose()
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


def test_readers_see_one_state_and_write_nothing(engine, four):
    with reading(engine) as connection:
        before = BOOKS.standing(connection, four[0])
        with writing(engine) as other:
            BOOKS.charge(other, four, 1, "add-remove", "a model", "r1")
        assert BOOKS.standing(connection, four[0]) == before
    assert standing(engine, four[0])[2] == 1


def test_writers_take_turns_in_the_order_they_came():
    turns, order, threads = Turns(), [], []

    def work(number):
        with turns:
            order.append(number)

    with turns:
        for number in range(20):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
            while len(turns._waiting) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(20))
    with turns:
        pass


def test_who_waited_too_long_leaves_the_others_their_turn(monkeypatch):
    monkeypatch.setattr("discreet.privacy.accounts.database.PATIENCE", 0.01)
    turns = Turns()

    def impatient():
        with turns:
            raise AssertionError

    with turns, pytest.raises(FileError, match="busy"):
        impatient()
    with turns:
        pass


def test_migrating_twice_changes_nothing_and_fits_the_tables(engine):
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "accounts_version"})
        assert compare_metadata(context, accounts_metadata) == []


def test_a_newer_database_is_refused(engine):
    with writing(engine) as connection:
        connection.execute(text("UPDATE accounts_version SET version_num = 'a9999'"))
    with pytest.raises(FileError, match="upgrade discreet"):
        migrate(engine)


def test_processes_migrate_at_once(address):
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                migrate(engine_for(address))
                os._exit(0)
            except BaseException:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


def test_a_forked_process_has_connections_of_its_own(engine, four):
    with reading(engine):
        pass
    child = os.fork()
    if child == 0:
        try:
            with writing(engine) as connection:
                BOOKS.charge(connection, four, 1, "add-remove", "a model", "child")
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    with writing(engine) as connection:
        BOOKS.charge(connection, four, 1, "add-remove", "a model", "parent")
    assert standing(engine, four[0])[2] == 2


def test_a_connection_that_the_server_ended_is_replaced(postgres):
    engine, others = engine_for(postgres), engine_for(postgres)
    with reading(engine) as connection:
        ended = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    with others.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(:ended, 5000)"), {"ended": ended})
    with writing(engine) as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar() != ended
    engine.dispose()
    others.dispose()


def test_a_connection_is_asked_after_a_pause_alone(postgres, monkeypatch):
    engine, asked = engine_for(postgres), []
    monkeypatch.setattr(liveness, "_something_waits", asked.append)
    for pause in (20, 20, 0):
        monkeypatch.setattr(liveness, "PAUSE", pause)
        with reading_apart(engine) as connection:
            first = connection.execute(text("SELECT pg_backend_pid()")).scalar()
    assert len(asked) == 1  # not of a new connection; after the pause the server is asked at once
    with reading_apart(engine) as connection:
        assert connection.execute(text("SELECT pg_backend_pid()")).scalar() == first
    engine.dispose()


def test_statements_that_stand_apart_see_what_was_committed_before_each(engine, four):
    with reading_apart(engine) as connection:
        before = BOOKS.standing(connection, four[0])
        with writing(engine) as other:
            BOOKS.charge(other, four, 1, "add-remove", "a model", "r1")
        after = BOOKS.standing(connection, four[0])
    assert (before.spent, after.spent) == (0, 0 if engine.dialect.name == "sqlite" else 1)
    with reading(engine) as connection:  # the next one has a transaction again
        assert engine.dialect.name == "sqlite" or not connection.connection.driver_connection.autocommit
