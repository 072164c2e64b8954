"""What the tests of accounts share: each test runs on SQLite and on PostgreSQL."""

import pytest

from support.account_databases import clinic, new_address, opened
from support.postgres_server import server


def pytest_collection_modifyitems(items):
    """Every test here needs the packages of the service."""
    for item in items:
        if "accounts" in item.path.parts:
            item.add_marker(pytest.mark.service)


@pytest.fixture(scope="session")
def postgres():
    """The address of a running PostgreSQL server."""
    with server() as folder:
        yield f"postgresql://owner@/postgres?host={folder}"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """The address of a new database."""
    running = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    return new_address(request.param, tmp_path, running)


@pytest.fixture
def engine(address):
    """The engine of a new database with all tables."""
    with opened(address) as made:
        yield made


@pytest.fixture
def four(engine):
    """The accounts of a population, a data set, a project and a grant, with limit 10."""
    return clinic(engine)


@pytest.fixture
def file_address(tmp_path):
    """The address of a file of SQLite with a population of limit 10, which nobody has open."""
    made = new_address("sqlite", tmp_path, None)
    with opened(made) as engine:
        clinic(engine)
    return made
