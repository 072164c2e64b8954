"""What the tests of engines share: servers that are started once, and only when a test needs them."""

import pytest

from support.postgres_server import absent, server


@pytest.fixture(scope="session")
def postgres():
    """The address of a running PostgreSQL server."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        absent("psycopg is not installed (pip install 'discreet[postgres]')")
    with server() as folder:
        yield f"postgresql://owner@/postgres?host={folder}"


@pytest.fixture
def database(postgres):
    """An open connection with a schema of its own, which is dropped afterwards."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA clinic")
        connection.execute(
            "SET search_path = clinic, public; SET lock_timeout = '10s'"
        )  # a test that failed may hold a table
        try:
            yield connection
        finally:
            connection.execute("DROP SCHEMA clinic CASCADE")
