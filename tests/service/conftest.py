"""What the tests of the service share: each test runs on SQLite and on PostgreSQL."""

import pytest

from support.hospital import hospital
from support.postgres_server import server


def pytest_collection_modifyitems(items):
    """Every test here needs the packages of the service."""
    for item in items:
        if "service" in item.path.parts:
            item.add_marker(pytest.mark.service)


@pytest.fixture(scope="session")
def postgres():
    """The address of a running PostgreSQL server."""
    with server() as folder:
        yield f"postgresql://owner@/postgres?host={folder}"


@pytest.fixture(params=["sqlite", "postgresql"])
def clinic(request, tmp_path):
    """A service on a new database, with people and nothing else."""
    running = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    with hospital(request.param, tmp_path, running) as made:
        yield made


@pytest.fixture
def small(tmp_path):
    """A service on SQLite, for what does not depend on the database."""
    with hospital("sqlite", tmp_path) as made:
        yield made
