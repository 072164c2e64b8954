"""Tables at the address of a database or a cluster, as sources; a driver is loaded when an address asks for it."""

from __future__ import annotations

from discreet.errors import ParameterError
from discreet.sources import Source
from discreet.storage.addresses import POSTGRES, SPARK, Address


def open_address(address: Address, table: str | None, *, stream: bool = False) -> Source:
    """The table of a database as a source; `stream` allows its rows to travel to this process."""
    if address.scheme not in (*POSTGRES, *SPARK):
        word = f"{address.scheme}://" if address.scheme else "this"
        raise ParameterError(
            f"{word} is not an address that discreet can read; need postgresql://host/database, spark://host:7077 or sc://host"
        )
    if not table:
        raise ParameterError(f"{address} is a database; name its table (--table SCHEMA.NAME)")
    if address.scheme in SPARK:
        from discreet.sources.spark_session import StartedSpark

        return StartedSpark(address.url, table=table, stream=stream, shown=str(address))
    from discreet.sources.postgres import PostgresSource

    return PostgresSource(address.url, table=table, stream=stream)
