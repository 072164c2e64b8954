"""A full disk, a clock that is set back, a connection that is lost: nothing moves, or all of it."""

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import DBAPIError

from discreet.errors import DiscreetError, FileError
from discreet.privacy.accounts import chain, reading, writing
from discreet.privacy.accounts.verification import verify
from support.account_databases import BOOKS, clinic, opened, standing


def whole(engine):
    with reading(engine) as connection:
        verification = verify(connection)
    return verification.whole


def test_a_full_disk_moves_nothing(engine, four):
    if engine.dialect.name != "sqlite":
        pytest.skip("a full disk is made with a setting of SQLite")

    def fill(connection, record, proxy):
        connection.execute("PRAGMA max_page_count = 1")  # no page more than there are

    event.listen(engine, "checkout", fill)
    spent, refused = 0, 0
    for number in range(300):
        try:
            with writing(engine) as connection:
                BOOKS.charge(connection, four, "0.001", "add-remove", "x" * 900, f"r{number}")
            spent += 1
        except FileError as error:
            refused += "the disk is full" in str(error)
    assert refused > 0
    assert refused + spent == 300
    assert standing(engine, four[0])[2] * 1000 == spent
    event.remove(engine, "checkout", fill)
    engine.dispose()
    assert whole(engine)
    with writing(engine) as connection:
        connection.execute(text("PRAGMA max_page_count = 1000000"))
        BOOKS.charge(connection, four, "0.001", "add-remove", "a model", "again")
    assert whole(engine)


def test_a_clock_that_is_set_back_changes_no_order(engine, four, monkeypatch):
    for number, year in enumerate(("2031", "1999", "2030")):
        monkeypatch.setattr(chain, "now", lambda year=year: f"{year}-01-01T00:00:00.000000+00:00")
        with writing(engine) as connection:
            BOOKS.charge(connection, four, 1, "add-remove", "a model", f"r{number}")
    assert standing(engine, four[0])[2] == 3
    assert whole(engine)


def lost(engine, four, statements):
    """Charge, and lose the connection before the statement of this number; whether the end was reached."""
    done = 0

    def count(conn, cursor, statement, parameters, context, executemany):
        nonlocal done
        done += 1
        if done == statements:
            raw = conn.connection.driver_connection
            if engine.dialect.name == "sqlite":
                raw.close()
            else:
                import psycopg

                with psycopg.connect(**raw.info.get_parameters(), autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", (raw.info.backend_pid,))

    event.listen(engine, "before_cursor_execute", count)
    try:
        with writing(engine) as connection:
            BOOKS.charge(connection, four, 1, "add-remove", "a model", f"r{statements}")
        return True
    except (DiscreetError, DBAPIError):
        return False
    finally:
        event.remove(engine, "before_cursor_execute", count)


def test_a_connection_lost_in_the_middle_moves_nothing(address):
    with opened(address) as engine:
        four, statements = clinic(engine, limit=100), 1
        while not lost(engine, four, statements):
            assert standing(engine, four[0]) == (100, 0, 0, 100), statements
            assert whole(engine)
            statements += 1
        assert statements > 5
        assert standing(engine, four[0])[2] == 1
