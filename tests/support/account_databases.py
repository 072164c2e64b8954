"""Databases of accounts for tests: SQLite in a file, PostgreSQL on a server of our own; the same tests on both."""

import itertools
import uuid
from contextlib import contextmanager

from discreet.privacy.accounts import Books, engine_for, migrate, writing

BOOKS = Books()
_NUMBERS = itertools.count(1)


def new_address(kind, folder, server=None):
    """The address of a new, empty database of this kind."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/accounts{next(_NUMBERS)}.db"
    import psycopg

    name = f"accounts_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


@contextmanager
def opened(url):
    """An engine with all tables, disposed of afterwards."""
    engine = engine_for(url)
    try:
        migrate(engine)
        yield engine
    finally:
        engine.dispose()


def clinic(engine, limit=10, adjacency="add-remove", name="clinic"):
    """The accounts of a population, a data set, a project and a grant, each with the same limit."""
    with writing(engine) as connection:
        population = BOOKS.open_account(connection, "population", name, limit, adjacency=adjacency)
        dataset = BOOKS.open_account(connection, "dataset", "visits", limit, population=population)
        project = BOOKS.open_account(connection, "project", "heart", limit, population=population)
        grant = BOOKS.open_account(
            connection, "grant", "ann/visits", limit, population=population, dataset=dataset, project=project
        )
    return [population, dataset, project, grant]


def standing(engine, account):
    """Limit, reserved, spent and remaining of an account as plain numbers."""
    from discreet.privacy.accounts import reading

    with reading(engine) as connection:
        found = BOOKS.standing(connection, account)
    return found.limit, found.reserved, found.spent, found.remaining
