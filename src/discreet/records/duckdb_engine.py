"""The package duckdb, which is an extra, and connections to a database of our own in memory."""

from __future__ import annotations

from typing import Any

from discreet.errors import MissingExtra
from discreet.records.tested_versions import check_version

OLDEST_DUCKDB = 2
"""Older major versions cannot read a Parquet file in which one text is not UTF-8."""


def duckdb_module() -> Any:
    """The package duckdb, or None where it is not installed; MissingExtra if it is too old, UntestedVersion if new."""
    try:
        import duckdb
    except ImportError:
        return None
    if int(duckdb.__version__.partition(".")[0]) < OLDEST_DUCKDB:
        raise MissingExtra("duckdb")
    check_version("duckdb", duckdb.__version__)
    return duckdb


def connect_duckdb() -> Any:
    """A connection to a database of our own, or None where duckdb is not installed; others' settings stay as they are.

    Table names are looked up in the catalog only, never among Python variables. The statistics stored in a file are not
    used in place of its values, since they leave NaN out. Memory is limited by DuckDB's default, a fraction of the
    machine's memory: with less, one long text could make a statement fail. Nothing is written to disk.
    """
    duckdb = duckdb_module()
    if duckdb is None:
        return None
    connection = duckdb.connect()
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET disabled_optimizers = 'statistics_propagation'")
    connection.execute("SET temp_directory = ''")  # no value is written beside the owner's files
    return connection
