"""Run in an environment that has one extra alone: what it is for works, and what others are for names them.

python tests/support/extras.py plot      (or "none", where discreet is installed without any)
"""

import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from discreet import Client, Ledger, NaiveBayes, PostgresSource, datasets, open_file
from discreet.errors import FileError, MissingExtra
from discreet.federated import KeyPair
from discreet.sources.kernels import kernels

X, y, SCHEMA = datasets.load("iris")
MODEL = NaiveBayes(SCHEMA, epsilon=1).fit(X, y)
TABLE = {**X, SCHEMA.target: y}


def parquet(folder: Path) -> None:
    path = folder / "iris.parquet"
    path.write_bytes(b"")
    if find_spec("pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({name: list(values) for name, values in TABLE.items()}), path)
    NaiveBayes(SCHEMA, epsilon=1).fit_from(open_file(path))


def duckdb(folder: Path) -> None:
    path = folder / "iris.duckdb"
    if find_spec("duckdb"):
        import duckdb as engine

        with engine.connect(str(path)) as connection:
            columns = ", ".join(f'"{name}" {"VARCHAR" if name == SCHEMA.target else "DOUBLE"}' for name in TABLE)
            connection.execute(f"CREATE TABLE iris ({columns})")
            marks = ", ".join("?" * len(TABLE))
            connection.executemany(f"INSERT INTO iris VALUES ({marks})", _rows())
    else:
        path.write_bytes(b"")
    NaiveBayes(SCHEMA, epsilon=1).fit_from(open_file(path, "iris"))


def _rows() -> list[list[str | float]]:
    return [
        [str(each) if isinstance(each, str) else float(each) for each in row]
        for row in zip(*TABLE.values(), strict=True)
    ]


def plot(folder: Path) -> None:
    MODEL.plot().savefig(folder / "model.png")
    assert (folder / "model.png").stat().st_size > 1000


def excel(folder: Path) -> None:
    from support.sheets import write_sheets

    path = folder / "iris.xlsx"
    write_sheets(path, iris=[list(TABLE), *_rows()])
    NaiveBayes(SCHEMA, epsilon=1).fit_from(open_file(path))


def federated(folder: Path) -> None:
    assert len(KeyPair.generate().public) == 64


def accounts(folder: Path) -> None:
    from discreet.cli.application import app

    place = f"sqlite:///{folder}/money.db#clinic"
    if find_spec("sqlalchemy") and find_spec("alembic"):
        app(["budget", "limit", place, "2", "--adjacency", "add-remove"], standalone_mode=False)
    ledger = Ledger(url=place)
    NaiveBayes(SCHEMA, epsilon=1).fit(X, y, ledger=ledger)
    assert ledger.remaining == 1


def client(folder: Path) -> None:
    Client("https://privacy.example.org", token="dsc_" + "x" * 43).close()


def service(folder: Path) -> None:
    from discreet.cli.serving import settings_of

    settings = settings_of(folder / "service", None)
    from discreet.service.app import create_app
    from discreet.service.database import open_database

    open_database(settings).dispose()
    assert create_app(settings).routes


def postgres(folder: Path) -> None:
    """Without a server: the driver is there, and says that nobody answers."""
    try:
        PostgresSource("postgresql://nobody@127.0.0.1:9/nowhere", table="t").check(SCHEMA)
    except FileError as error:
        print(f"  {error}")
    else:
        raise AssertionError("somebody answered")


def fast(folder: Path) -> None:
    if kernels(10**6) is None:
        raise MissingExtra("fast")


USES: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (parquet, duckdb, plot, excel, federated, accounts, client, service, postgres, fast)
}
INCLUDED = {
    "duckdb": {"parquet"},
    "postgres": {"parquet"},
    "service": {"accounts", "client", "duckdb", "parquet"},
    "all": {"duckdb", "parquet", "excel", "plot", "federated"},
}
"""Extras that bring others along."""
ALSO = {"service": {"federated"}}
"""What works because of a package that an extra needs for something else."""


def main(names: list[str]) -> None:
    has = set(names).union(*(INCLUDED.get(name, set()) for name in names))
    also = set().union(*(ALSO.get(name, set()) for name in has))
    for use, run in USES.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                run(Path(folder))
            except MissingExtra as error:
                if use in has:
                    raise
                if f"discreet[{use}]" not in str(error):
                    raise AssertionError(f"{use} asks for another extra: {error}") from error
                print(f"{use}: not here ({error})")
            else:
                if use not in has | also:
                    raise AssertionError(f"{use} works without its extra")
                print(f"{use}: works")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1].split(","))
