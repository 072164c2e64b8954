"""Movements of amounts: what each changes, what is refused, and that a refusal changes nothing."""

from fractions import Fraction

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from discreet.errors import BudgetError, DiscreetError, ParameterError
from discreet.privacy.accounts import reading, writing
from discreet.privacy.accounts.tables import accounts, chains, entries, reservations
from support.account_databases import BOOKS, clinic, standing


def everything(engine):
    """All rows of all tables."""
    with reading(engine) as connection:
        return [sorted(map(tuple, connection.execute(select(table)))) for table in (accounts, chains, reservations)] + [
            connection.execute(select(entries).order_by(entries.c.population_id, entries.c.number)).all()
        ]


def test_an_amount_is_reserved_spent_or_given_back(engine, four):
    with writing(engine) as connection:
        BOOKS.reserve(connection, four, "1/3", "add-remove", "a model", "r1")
        BOOKS.reserve(connection, four, 2, "add-remove", "counts", "r2")
    third = Fraction(333333334, 10**9)
    assert all(standing(engine, each) == (10, third + 2, 0, 8 - third) for each in four)
    with writing(engine) as connection:
        BOOKS.spend(connection, "r1")
        BOOKS.give_back(connection, "r2")
    assert all(standing(engine, each) == (10, 0, third, 10 - third) for each in four)


def test_a_charge_is_spent_at_once(engine, four):
    with writing(engine) as connection:
        BOOKS.charge(connection, four[:2], 1, "add-remove", "a model", "r1")
    assert [standing(engine, each)[2] for each in four] == [1, 1, 0, 0]


def test_nothing_is_settled_twice(engine, four):
    with writing(engine) as connection:
        BOOKS.charge(connection, four, 1, "add-remove", "a model", "r1")
        BOOKS.reserve(connection, four, 1, "add-remove", "a model", "r2")
        BOOKS.give_back(connection, "r2")
    before = everything(engine)
    for movement in (BOOKS.spend, BOOKS.give_back):
        for reservation in ("r1", "r2", "none"):
            with pytest.raises(BudgetError), writing(engine) as connection:
                movement(connection, reservation)
    with pytest.raises(BudgetError, match="only once"), writing(engine) as connection:
        BOOKS.reserve(connection, four, 1, "add-remove", "a model", "r1")
    assert everything(engine) == before


@pytest.mark.parametrize("short", range(4))
def test_the_account_that_is_short_is_named_and_nothing_moves(engine, four, short):
    with writing(engine) as connection:
        BOOKS.set_limit(connection, four[short], "0.5")
    before = everything(engine)
    names = ["population clinic", "data set visits", "project heart", "grant ann/visits"]
    # the refusal is caught inside: the transaction goes on and is committed
    with writing(engine) as connection, pytest.raises(BudgetError) as caught:
        BOOKS.reserve(connection, four, 1, "add-remove", "a model", "r1")
    assert str(caught.value).startswith(names[short])
    assert everything(engine) == before


def test_a_limit_is_never_below_what_is_used(engine, four):
    with writing(engine) as connection:
        BOOKS.reserve(connection, four, 1, "add-remove", "a model", "r1")
        BOOKS.charge(connection, four, 2, "add-remove", "a model", "r2")
        BOOKS.set_limit(connection, four[0], 3)
    with pytest.raises(BudgetError, match="below"), writing(engine) as connection:
        BOOKS.set_limit(connection, four[0], "2.999999999")
    assert standing(engine, four[0]) == (3, 1, 2, 0)


def test_adjacency_is_one_for_a_population(engine):
    book = clinic(engine, adjacency="replace-one")
    with writing(engine) as connection:
        BOOKS.charge(connection, book, 1, "add-remove", "a model", "r1")
        BOOKS.charge(connection, book, 1, "replace-one", "a model", "r2")
    assert standing(engine, book[3])[2] == 3
    other = clinic(engine, adjacency="add-remove", name="other")
    with pytest.raises(BudgetError, match="bounds no loss"), writing(engine) as connection:
        BOOKS.charge(connection, other, 1, "replace-one", "a model", "r3")
    with pytest.raises(ParameterError, match="this population has"), writing(engine) as connection:
        BOOKS.open_account(connection, "dataset", "x", 1, population=book[0], adjacency="add-remove")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "inf"},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": "1e-10000"},
        {"epsilon": 10**7},
        {"adjacency": None},
        {"adjacency": "both"},
        {"name": "x" * 1001},
        {"reservation_id": ""},
        {"reservation_id": "x" * 65},
        {"at": "x" * 41},
        {"name": "a\0b"},
        {"name": "\ud800"},
        {"name": 3},
        {"accounts": []},
        {"accounts": [1, 1]},
        {"accounts": [1, 99]},
        {"accounts": [2]},
        {"accounts": [1, 5]},
    ],
)
def test_a_wrong_reservation_is_refused(engine, four, wrong):
    clinic(engine, name="other")
    before = everything(engine)
    right = {"accounts": four, "epsilon": 1, "adjacency": "add-remove", "name": "a model", "reservation_id": "r1"}
    with writing(engine) as connection, pytest.raises(DiscreetError):
        BOOKS.reserve(connection, **{**right, **wrong})
    assert everything(engine) == before


def test_wrong_accounts_are_refused(engine, four):
    other = clinic(engine, name="other")

    def refused(match, *given, **named):
        with pytest.raises(ParameterError, match=match), writing(engine) as connection:
            BOOKS.open_account(connection, *given, **named)

    refused("kind=", "person", "x", 1)
    refused("already", "population", "clinic", 1, adjacency="add-remove")
    refused("already", "dataset", "visits", 1, population=four[0])
    refused("adjacency=None", "population", "x", 1)
    refused("belongs to a population", "dataset", "x", 1)
    refused("stands by itself", "population", "x", 1, population=four[0], adjacency="add-remove")
    refused("no population", "dataset", "x", 1, population=four[1])
    refused("another population", "grant", "x", 1, population=four[0], dataset=other[1])
    refused("nine decimals", "dataset", "x", "1/3", population=four[0])
    refused("at most", "dataset", "x", "inf", population=four[0])
    refused("limit=-1", "dataset", "x", -1, population=four[0])


def test_the_same_name_may_stand_in_two_populations(engine, four):
    assert len({*four, *clinic(engine, name="other")}) == 8


@pytest.mark.parametrize("table", ["entries", "accounts", "reservations", "chains"])
def test_rows_are_never_deleted(engine, four, table):
    with writing(engine) as connection:
        BOOKS.charge(connection, four, 1, "add-remove", "a model", "r1")
    before = everything(engine)
    with pytest.raises(DBAPIError), writing(engine) as connection:
        connection.execute(text(f"DELETE FROM {table}"))
    assert everything(engine) == before


def test_entries_are_never_changed(engine, four):
    before = everything(engine)
    for statement in (
        "UPDATE entries SET nano = 1",
        "INSERT INTO entries SELECT * FROM entries WHERE number = 1",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE number = 1",
        "TRUNCATE entries",
    ):
        with pytest.raises(DBAPIError), engine.begin() as connection:
            connection.execute(text(statement))
    assert everything(engine) == before


def test_the_database_itself_holds_the_limit(engine, four):
    for change in ("reserved_nano = limit_nano + 1", "spent_nano = -1", "limit_nano = -1"):
        with pytest.raises(DBAPIError), writing(engine) as connection:
            connection.execute(text(f"UPDATE accounts SET {change}"))


def test_an_error_undoes_the_whole_transaction(engine, four):
    before = everything(engine)

    def interrupted():
        with writing(engine) as connection:
            BOOKS.charge(connection, four, 1, "add-remove", "a model", "r1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert everything(engine) == before
