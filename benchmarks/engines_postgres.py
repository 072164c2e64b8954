"""How long counting takes in PostgreSQL, and streamed from it, as ratios to the database's own sums in the same run.

    python benchmarks/engines_postgres.py [--url postgresql://…] [--rows 5000000] [--copies 40] [--repeats 3]

Without --url a server is started from installed packages. Tables: ten columns of numbers, and adult (numbers and texts,
needs DISCREET_DATA) many times over. The sums are sum(x) of each number and sum(length(t)) of each text. Cells: ten
bins per number, as naive Bayes asks of a large table, and the grid of 2048, as sums need.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from pathlib import Path

import psycopg

from discreet import DecisionTree, Numeric, Schema, datasets
from discreet.records.encoding import Cells
from discreet.records.sql_types import identifier
from discreet.sources.postgres import PostgresSource

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def numbers(connection: psycopg.Connection, rows: int) -> Schema:
    """Ten columns of uniform numbers."""
    columns = ", ".join(f"random() AS x{place}" for place in range(10))
    connection.execute(
        f"CREATE UNLOGGED TABLE bench AS SELECT {columns}, (ARRAY['a', 'b'])[1 + (random() < 0.4)::int] AS y "
        f"FROM generate_series(1, {rows})"
    )
    return Schema([Numeric(f"x{place}", 0, 1) for place in range(10)], "y", ["a", "b"])


def adult(connection: psycopg.Connection, copies: int) -> Schema:
    """The data set adult, so many times."""
    X, y, schema = datasets.load("adult")
    columns = {name: list(X[name]) for name in schema.names} | {schema.target: list(y)}
    kinds = {each.name: "float8" if isinstance(each, Numeric) else "text" for each in schema.columns}
    heads = ", ".join(f"{identifier(name)} {kinds.get(name, 'text')}" for name in columns)
    connection.execute(f"CREATE UNLOGGED TABLE once ({heads})")
    with connection.cursor().copy("COPY once FROM STDIN") as copy:
        for row in zip(*columns.values(), strict=True):
            copy.write_row([None if value != value else value for value in row])
    connection.execute(f"CREATE UNLOGGED TABLE bench AS SELECT once.* FROM once, generate_series(1, {copies})")
    connection.execute("DROP TABLE once")
    return schema


def sums(schema: Schema) -> str:
    """The database's own sums of all columns."""
    texts = [f"sum(length({identifier(schema.target)}))"]
    for column in schema.columns:
        name = identifier(column.name)
        texts.append(f"sum({name})" if isinstance(column, Numeric) else f"sum(length({name}))")
    return f"SELECT {', '.join(texts)} FROM bench"


def seconds(work: object) -> float:
    began = time.perf_counter()
    work()  # type: ignore[operator]
    return time.perf_counter() - began


def measure(connection: psycopg.Connection, url: str, schema: Schema, title: str, repeats: int) -> None:
    """Print the least of several runs, each beside the sums of the same run."""
    connection.execute("VACUUM ANALYZE bench")
    few = [Cells(each.name, 10 if isinstance(each, Numeric) else None) for each in schema.columns]
    fine = [Cells(each.name) for each in schema.columns]
    own = min(seconds(lambda: connection.execute(sums(schema)).fetchall()) for _ in range(repeats + 1))
    print(f"{title}: own sums {own:.2f} s", flush=True)
    for name, stream, cells in (
        ("in the database, 10 bins", False, few),
        ("in the database, grid", False, fine),
        ("streamed, 10 bins", True, few),
        ("streamed, grid", True, fine),
    ):
        with PostgresSource(url, table="bench", stream=stream) as source:
            source.check(schema)
            least = min(seconds(lambda: source.count(cells, schema)) for _ in range(repeats))  # noqa: B023
        own = min(own, seconds(lambda: connection.execute(sums(schema)).fetchall()))
        print(f"  {name:26s} {least:6.2f} s   ratio {least / own:5.1f}", flush=True)
    level = grown(url, schema)
    print(f"  {'a level of a tree':26s} {level:6.2f} s   ratio {level / own:5.1f}", flush=True)
    connection.execute("DROP TABLE bench")


def grown(url: str, schema: Schema, depth: int = 4) -> float:
    """Seconds for a level of a tree that is grown in the database."""
    model = DecisionTree(schema.replace(records=100_000), epsilon=1, structure="greedy", max_depth=depth)
    return seconds(lambda: model.fit_from(PostgresSource(url, table="bench"))) / depth


@contextlib.contextmanager
def database(url: str | None):
    if url is not None:
        yield url
        return
    from support.postgres_server import server

    with server() as folder:
        yield f"postgresql://owner@/postgres?host={folder}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--copies", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with database(given.url) as url, psycopg.connect(url, autocommit=True) as connection:
        measure(connection, url, numbers(connection, given.rows), f"{given.rows} x 10 numbers", given.repeats)
        if os.environ.get("DISCREET_DATA"):
            measure(connection, url, adult(connection, given.copies), f"adult x {given.copies}", given.repeats)


if __name__ == "__main__":
    main()
