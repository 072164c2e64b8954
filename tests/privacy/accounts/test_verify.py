"""Verifying: an edit of any column of any table, or of any part of an export, is noticed."""

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError

from discreet.errors import FileError
from discreet.privacy.accounts import accounts_metadata, reading, writing
from discreet.privacy.accounts.chain import FIELDS, START, entry_hash
from discreet.privacy.accounts.export import export, is_export, verify_export
from discreet.privacy.accounts.tables import chains, entries
from discreet.privacy.accounts.verification import verify
from support.account_databases import BOOKS, clinic


@pytest.fixture
def busy(engine, four):
    """Two populations with every kind of entry."""
    other = clinic(engine, name="ÖPNV", adjacency="replace-one")
    with writing(engine) as connection:
        for number, book in enumerate((four, other)):
            BOOKS.reserve(connection, book, "1/3", "add-remove", "a model", f"{number}-1")
            BOOKS.charge(connection, book[:2], 1, "add-remove", "counts", f"{number}-2")
            BOOKS.reserve(connection, book, 2, "add-remove", "another", f"{number}-3")
            BOOKS.give_back(connection, f"{number}-3")
            BOOKS.spend(connection, f"{number}-1")
            BOOKS.set_limit(connection, book[1], 20)
            BOOKS.reserve(connection, book, "0.1", "add-remove", "waiting", f"{number}-4")
            BOOKS.bring_in(connection, book[:1], "0.5", None if number else "add-remove", "old", f"{number}-5", "2020")
    return engine


def found(engine, noted=()):
    with reading(engine) as connection:
        return verify(connection, noted)


def head(engine):
    with reading(engine) as connection:
        return connection.execute(select(chains.c.head).order_by(chains.c.population_id)).scalars().first()


def without_triggers(engine):
    """Let everything be changed, as whoever owns the database could."""
    with engine.begin() as connection:
        connection.execute(text("DROP INDEX IF EXISTS one_account_of_a_name"))
        if engine.dialect.name == "postgresql":
            connection.execute(text("SET session_replication_role = replica"))
            for table in accounts_metadata.tables:
                connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER ALL"))
        else:
            for (name,) in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
                connection.execute(text(f"DROP TRIGGER {name}"))


def forge(engine, *statements):
    """Change what the database would refuse to change."""
    without_triggers(engine)
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
            connection.commit()
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(text(statement))
        connection.commit()
        if engine.dialect.name == "sqlite":
            connection.invalidate()


def test_what_nobody_changed_is_whole(busy):
    verification = found(busy, noted=[head(busy), START])
    assert verification.whole, verification.problems
    assert [each.population for each in verification.populations] == ["clinic", "ÖPNV"]
    assert {each.entries for each in verification.populations} == {13}


WHERE = {
    "accounts": "id = 2",
    "reservations": "id = '0-1'",
    "entries": "population_id = 1 AND number = 5",
    "chains": "population_id = 1",
    "account_numbering": "id = 1",
}
OTHER = {"id": "77", "reservation_id": "'0-2'", "adjacency": "'replace-one'", "kind": "'grant'", "state": "'returned'"}
OTHER |= dict.fromkeys(("previous", "hash", "head"), f"'{'ab' * 32}'")
COLUMNS = [(table, column.name) for table in WHERE for column in accounts_metadata.tables[table].columns]


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_an_edit_of_any_column_is_noticed(busy, table, column):
    kind = accounts_metadata.tables[table].columns[column].type.python_type
    changed = OTHER.get(column) or (f"{column} - 1" if kind is int else f"{column} || ' '")
    if column == "dataset_id":
        changed = "1"
    if column == "project_id":
        changed = "3"
    if column == "population_id":
        changed = "5"
    if (table, column) == ("account_numbering", "last"):
        changed = "1"
    if (table, column) == ("entries", "kind"):
        changed = "'import'"
    if (table, column) in (("entries", "number"), ("entries", "population_id")):
        changed = "99"
    if (table, column) == ("chains", "population_id"):
        changed = "2"
    forge(busy, f"UPDATE {table} SET {column} = {changed} WHERE {WHERE[table]}")
    assert not found(busy).whole


STRANGE = ("'x'", "'x' || rowid", "X'00'", "NULL", "1.5", "9e99")
"""What SQLite keeps in any column."""


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
@pytest.mark.parametrize("row", ["ASC", "DESC"])
@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_value_of_another_type_is_a_problem_and_no_error(busy, table, column, row):
    noticed = 0
    without_triggers(busy)
    for strange in STRANGE:
        with busy.connect() as connection:
            connection.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
            connection.commit()
            connection.connection.driver_connection.execute("PRAGMA foreign_keys = OFF")
            place = f"SELECT rowid FROM {table} WHERE {column} IS NOT {strange} ORDER BY rowid {row} LIMIT 2"
            try:
                done = connection.execute(text(f"UPDATE {table} SET {column} = {strange} WHERE rowid IN ({place})"))
            except DatabaseError:  # a number of a row, and what must be there
                connection.rollback()
                continue
            assert not verify(connection).whole or not done.rowcount, strange
            noticed += done.rowcount
            connection.rollback()
            connection.invalidate()
    assert noticed or column in ("id", "population_id")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE account_numbering SET last = last + 1",
        "DELETE FROM entries WHERE population_id = 1 AND number = 13",
        "DELETE FROM entries WHERE population_id = 1 AND number = 3",
        "DELETE FROM entries WHERE population_id = 5",
        "DELETE FROM reservations WHERE id = '0-3'",
        "DELETE FROM chains WHERE population_id = 5",
        "UPDATE entries SET number = 99 WHERE population_id = 1 AND number = 13",
        "INSERT INTO accounts (id, kind, name, population_id, adjacency, limit_nano) "
        "VALUES (99, 'dataset', 'x', 1, 'add-remove', 5)",
        "INSERT INTO reservations VALUES ('x', 1, 'x', '1', 'add-remove', 1000000000, '[1]', 'spent', 'now')",
    ],
)
def test_rows_that_come_or_go_are_noticed(busy, statement):
    forge(busy, statement)
    assert not found(busy).whole


def rewrite(engine, change):
    """Compute a whole chain again after a change, as a forger would, together with its end."""
    with reading(engine) as connection:
        rows = [
            dict(row)
            for row in connection.execute(
                select(entries).where(entries.c.population_id == 1).order_by(entries.c.number)
            ).mappings()
        ]
    rows, previous = change(rows), START
    for number, row in enumerate(rows, 1):
        row["number"], row["previous"] = number, previous
        row["hash"] = previous = entry_hash({field: row[field] for field in FIELDS}, previous)
    without_triggers(engine)
    with engine.begin() as connection:
        connection.execute(entries.delete().where(entries.c.population_id == 1))
        connection.execute(entries.insert(), rows)
        connection.execute(chains.update().where(chains.c.population_id == 1).values(count=len(rows), head=previous))


def edited(**change):
    return lambda rows: [{**row, **change} if row["kind"] == "reserve" else row for row in rows]


@pytest.mark.parametrize(
    "change",
    [
        edited(nano=1),
        edited(epsilon="1/1000"),
        edited(accounts="[2]"),
        edited(adjacency=None),
        lambda rows: [row for row in rows if row["kind"] != "spend"],
        lambda rows: [{**row, "kind": "return"} if row["kind"] == "spend" else row for row in rows],
        lambda rows: [*rows, {**rows[-1]}],
        lambda rows: rows[1:],
        lambda rows: [{**row, "nano": 1, "epsilon": "1/1000000000"} if row["kind"] == "open" else row for row in rows],
    ],
)
def test_a_forged_chain_breaks_a_rule(busy, change):
    rewrite(busy, change)
    assert not found(busy).whole


def test_a_chain_that_was_cut_lacks_a_noted_head(engine, four):
    """The forger also sets the balances back: only the noted head tells."""
    before = head(engine)
    with writing(engine) as connection:
        BOOKS.charge(connection, four, 1, "add-remove", "a model", "r1")
    noted = head(engine)
    rewrite(engine, lambda rows: rows[:-2])
    forge(engine, "DELETE FROM reservations", "UPDATE accounts SET spent_nano = 0")
    assert found(engine).whole
    assert found(engine, [before]).whole
    (problem,) = found(engine, [noted, before]).problems
    assert noted in problem


def test_an_export_is_verified_without_the_database(busy, tmp_path):
    path = tmp_path / "accounts.jsonl"
    with reading(busy) as connection:
        assert export(connection, path).whole
    told = verify_export(path, [head(busy)])
    assert told.whole, told.problems
    assert told.populations == found(busy).populations
    assert is_export(path)
    assert not verify_export(path, ["ab"]).whole


def test_an_edit_of_an_export_is_noticed(busy, tmp_path):
    path = tmp_path / "accounts.jsonl"
    with reading(busy) as connection:
        export(connection, path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)

    def refused(changed):
        path.write_text("".join(changed), encoding="utf-8")
        try:
            return not verify_export(path).whole
        except FileError:
            return True

    for number in range(1, len(lines)):
        assert refused([*lines[:number], *lines[number + 1 :]]), number  # left out
        assert refused([*lines[: number + 1], *lines[number:]]), number  # doubled
        assert refused([*lines[:number], lines[number][:-5]]), number  # torn
        if number > 1:
            assert refused([*lines[: number - 1], lines[number], lines[number - 1], *lines[number + 1 :]]), number
        content = json.loads(lines[number])
        for key, value in content.items():
            other = value + 1 if isinstance(value, int) else f"{value}x"
            changed = json.dumps({**content, key: other}) + "\n"
            assert refused([*lines[:number], changed, *lines[number + 1 :]]), (number, key)
    assert refused([])
    assert refused(['{"format": "discreet/accounts", "version": 2}\n', *lines[1:]])
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError):
        verify_export(path)
    with pytest.raises(FileError):
        verify_export(tmp_path / "none")
