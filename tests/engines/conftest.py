"""What the tests of engines share: servers that are started once, and only when a test needs them."""

import os
import sys

import pytest

from support import spark
from support.postgres_server import absent, server


def pytest_collection_modifyitems(items):
    """Every test here needs an engine; Spark warns of versions of other packages."""
    for item in items:
        if "engines" in item.path.parts:
            item.add_marker(pytest.mark.engines)
        if item.path.name.startswith("test_spark_"):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


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


@pytest.fixture(scope="session")
def workers_python():
    """Workers run this Python, not the one on the PATH; what tests define is sent to them whole."""
    spark.need_spark()
    from pyspark import cloudpickle

    from support import agreement

    kept = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cloudpickle.register_pickle_by_value(agreement)
    yield
    if kept is None:
        del os.environ["PYSPARK_PYTHON"]


KINDS = ["local", "local cluster", "standalone", "connect"]


@pytest.fixture(scope="module", params=KINDS)
def session(request, workers_python, tmp_path_factory):
    """A session of each kind."""
    yield from make_session(request.param, tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="module")
def local(workers_python):
    """A classic session in two threads."""
    with spark.classic("local[2]") as started:
        yield started


def make_session(kind, folder):
    if kind == "connect":
        with spark.connect_server(folder) as address, spark.remote(address) as started:
            yield started
    elif kind == "standalone":
        with spark.cluster(folder) as master, spark.classic(master, **{"spark.executor.memory": "512m"}) as started:
            yield started
    else:
        with spark.classic("local[2]" if kind == "local" else "local-cluster[2,1,1024]") as started:
            yield started
