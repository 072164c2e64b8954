"""Run in an environment that has one extra alone: what it is for works, and what others are for names them.

python tests/support/extras.py plot
"""

import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from discreet import NaiveBayes, datasets
from discreet.errors import MissingExtra

X, y, schema = datasets.load("iris")
MODEL = NaiveBayes(schema, epsilon=1).fit(X, y)


def parquet(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from discreet import open_file

    pq.write_table(pa.table({**X, schema.target: y}), folder / "iris.parquet")
    NaiveBayes(schema, epsilon=1).fit_from(open_file(folder / "iris.parquet"))


def duckdb(folder: Path) -> None:
    import duckdb as engine

    from discreet.sources.duckdb import DuckDBSource

    with engine.connect(folder / "iris.duckdb") as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 1.0 sepal_length, 1.0 sepal_width, 1.0 petal_length, 1.0 petal_width"
        )
        connection.execute("ALTER TABLE t ADD COLUMN species VARCHAR")
        NaiveBayes(schema.replace(target="species"), epsilon=1).fit_from(DuckDBSource(connection, "t"))


def plot(folder: Path) -> None:
    MODEL.plot().savefig(folder / "model.png")


def federated(folder: Path) -> None:
    from discreet.federated import KeyPair

    assert KeyPair.generate().public


def accounts(folder: Path) -> None:
    from discreet import Ledger
    from discreet.cli.application import app

    try:
        app(["budget", "limit", f"sqlite:///{folder}/money.db#clinic", "2", "--adjacency", "add-remove"])
    except SystemExit as end:
        if end.code:
            raise
    ledger = Ledger(url=f"sqlite:///{folder}/money.db#clinic")
    NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)
    assert ledger.remaining == 1


def client(folder: Path) -> None:
    from discreet import Client

    Client("https://privacy.example.org", token="dsc_" + "x" * 43).close()


def service(folder: Path) -> None:
    from discreet.service.app import create_app
    from discreet.service.settings import Settings

    create_app(Settings.of(folder / "service"))


def postgres(folder: Path) -> None:
    importlib.import_module("psycopg")
    importlib.import_module("discreet.sources.postgres")


def fast(folder: Path) -> None:
    importlib.import_module("numba")


USES: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (parquet, duckdb, plot, federated, accounts, client, service, postgres, fast)
}
INCLUDED = {
    "duckdb": {"parquet"},
    "postgres": {"parquet"},
    "service": {"accounts", "client", "duckdb", "parquet"},
}
"""Extras that bring others along."""


def main(name: str) -> None:
    for use, run in USES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(Path(folder))
            except (MissingExtra, ModuleNotFoundError) as error:
                if use in {name} | INCLUDED.get(name, set()):
                    raise
                print(f"{use}: not here ({error})")
            else:
                print(f"{use}: works")


if __name__ == "__main__":
    main(sys.argv[1])
