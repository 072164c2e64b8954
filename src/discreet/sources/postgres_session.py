"""A connection to PostgreSQL with one read-only snapshot, and the words for what can go wrong before it is read.

Nothing that PostgreSQL or its drivers say is passed on: their messages may quote a row, a password or an address.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.records.encoding import UNREADABLE
from discreet.records.sql_types import identifier
from discreet.sources.postgres_sql import kind_of
from discreet.storage.addresses import as_address

SECONDS = 10
"""How long to wait for a server, unless the address says otherwise."""
FETCHED = 1 << 14
"""Rows of a result that are fetched at a time: bounds memory if a column has millions of distinct values."""
LOST = (
    "the table could not be read to its end by PostgreSQL, so nothing was learned; check the connection, the server "
    "and what its views compute"
)
"""The one message for all that fails once values are read: the cause could depend on a value."""
REFUSED = (
    "the database refuses a read-only snapshot on this connection; need a PostgreSQL server, and no pool in between"
)
BEGIN = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

T = TypeVar("T")
Rows = list[tuple[Any, ...]]


def driver() -> Any:
    """The package psycopg, which is an extra."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtra("postgres") from None
    return psycopg


class Session:
    """One read-only REPEATABLE READ transaction: every statement meets the table as it was when the session began.

    A connection of our own is closed at the end. A given one must not be in a transaction; it gets one of ours, which
    is rolled back at the end, and its settings stay as they are.
    """

    def __init__(self, connection: Any, *, owned: bool) -> None:
        self.connection, self._owned, self._ended = connection, owned, False
        result = connection.pgconn.exec_(BEGIN)  # psycopg itself would begin a transaction of another kind
        if result.status != driver().pq.ExecStatus.COMMAND_OK:
            raise FileError(REFUSED)
        encoding = connection.info.parameter_status("server_encoding")
        self.is_utf8 = encoding == "UTF8"
        self.run(f"SET LOCAL client_encoding = '{encoding}'")  # the server must not convert: it fails on some texts
        self.run("SET LOCAL extra_float_digits = 1")  # floats are written exactly

    def run(self, text: str) -> Rows:
        """The rows of a statement that reads no value; errors are PostgreSQL's own."""
        cursor = self._cursor()
        cursor.execute(text, prepare=False)
        return list(cursor.fetchall()) if cursor.description else []

    def fetch(self, text: str, values: Sequence[Any] = ()) -> Iterator[Rows]:
        """The rows of a SELECT, some at a time; FileError, always the same, if anything fails.

        `values` take the places `%s` of the text, one after another; they are sent apart from it.
        """
        return quietly(self._fetched(text, values))

    def _fetched(self, text: str, values: Sequence[Any]) -> Iterator[Rows]:
        with contextlib.closing(_streamed(self._cursor(), text, values)) as rows:
            while chunk := list(islice(rows, FETCHED)):
                yield chunk

    def export(self) -> str:
        """The name of the snapshot, under which another connection can read it too."""
        return str(self.run("SELECT pg_export_snapshot()")[0][0])

    def close(self) -> None:
        """End the transaction, once; close the connection if it is ours. Never fails."""
        if self._ended:
            return
        self._ended = True
        with contextlib.suppress(Exception):
            self.connection.pgconn.exec_(b"ROLLBACK")
        if self._owned:
            with contextlib.suppress(Exception):
                self.connection.close()

    def _cursor(self) -> Any:
        psycopg = driver()
        cursor = psycopg.Cursor(self.connection, row_factory=psycopg.rows.tuple_row)
        for form in psycopg.pq.Format:
            cursor.adapters.register_loader("text", _quiet_text(psycopg, form))
        return cursor


def _streamed(cursor: Any, text: str, values: Sequence[Any]) -> Any:
    chunked = driver().capabilities.has_stream_chunked()
    return cursor.stream(text, list(values) or None, binary=True, **({"size": 1000} if chunked else {}))


def _quiet_text(psycopg: Any, form: Any) -> Any:
    class QuietText(psycopg.adapt.Loader):  # type: ignore[misc]
        """Each text by itself: one that is not valid in the database's encoding becomes UNREADABLE."""

        format = form

        def load(self, data: Any) -> Any:
            codec = self.connection.info.encoding if self.connection else "utf-8"
            try:
                return bytes(data).decode("utf-8" if codec == "ascii" else codec)
            except UnicodeDecodeError:
                return UNREADABLE

    return QuietText


def quietly(items: Iterator[T]) -> Iterator[T]:
    """The items; whatever fails on the way is one FileError, which says nothing of its cause and is chained to none."""
    while True:
        failed = False
        try:
            item = next(items)
        except StopIteration:
            return
        except Exception:
            failed = True  # an engine's message may quote a row
        if failed:
            raise FileError(LOST)
        yield item


def connected(address: str) -> Any:
    """A connection of our own; FileError with a remedy if there is none."""
    psycopg = driver()
    try:
        parts = psycopg.conninfo.conninfo_to_dict(address)
        options = {"application_name": "discreet", "connect_timeout": SECONDS} | parts
        return psycopg.connect(autocommit=True, **options)
    except psycopg.ProgrammingError:
        problem = "is not an address of a database; need postgresql://host/database"
    except Exception as error:
        words = str(error).lower()
        refused = any(word in words for word in ("password", "authentication", "role ", "pg_hba"))
        problem = "refused the user or the password" if refused else "cannot be reached"
        problem += (
            "; give the user in the address, the password by PGPASSWORD, ~/.pgpass or a service file"
            if refused
            else "; check host, port and database, and that the server runs"
        )
    shown = as_address(address)
    raise FileError(f"{'the database' if shown is None else shown} {problem}")


def begun(connection: Any, *, owned: bool) -> Session:
    """A session on a connection; FileError if the server does not allow one."""
    try:
        return Session(connection, owned=owned)
    except Exception:
        if owned:
            connection.close()
    raise FileError(REFUSED)


def check_idle(connection: Any) -> None:
    """Raise ParameterError unless a given connection is open and in no transaction."""
    psycopg = driver()
    if not isinstance(connection, psycopg.Connection):
        raise ParameterError(
            f"connection={type(connection).__name__}; need a psycopg.Connection, or an address such as "
            "postgresql://host/database"
        )
    if connection.closed:
        raise FileError("the connection is closed; open it again")
    if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise FileError("the connection is in a transaction; end it (commit or rollback), or give the address instead")


CATALOG = """SELECT n.nspname::text, c.relname::text, pg_catalog.pg_table_is_visible(c.oid), c.oid
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')"""

COLUMNS = """WITH RECURSIVE base AS (
SELECT a.attnum, a.attname, t.typname, t.typcategory, t.typtype, t.typbasetype
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = {oid} AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT base.attnum, base.attname, t.typname, t.typcategory, t.typtype, t.typbasetype
FROM base JOIN pg_catalog.pg_type t ON t.oid = base.typbasetype WHERE base.typtype = 'd')
SELECT attname::text, typname::text, typcategory::text FROM base WHERE typtype <> 'd' ORDER BY attnum"""


def named(session: Session, table: str) -> tuple[str, dict[str, str], int]:
    """The full name of a table or view as SQL, the kinds of its columns, and its number in the catalog.

    FileError unless there is one. A name is taken letter for letter; if there is none, upper and lower case are equal.
    """
    rows = [row for row in session.run(CATALOG) if UNREADABLE not in row]
    found = _matching(rows, table, str) or _matching(rows, table, str.lower)
    if len(found) != 1:
        problem = "several tables have this name" if found else "there is no table or view with this name"
        raise FileError(f"table {table!r}: {problem}; need the name of one, as schema.name")
    schema, name, _, oid = found[0]
    columns = session.run(COLUMNS.format(oid=oid))
    return f"{identifier(schema)}.{identifier(name)}", {row[0]: kind_of(row[1], row[2]) for row in columns}, int(oid)


def _matching(rows: list[tuple[Any, ...]], table: str, spelled: Callable[[str], str]) -> list[tuple[Any, ...]]:
    whole = [row for row in rows if spelled(f"{row[0]}.{row[1]}") == spelled(table)]
    visible = [row for row in rows if spelled(row[1]) == spelled(table) and row[2]]
    return whole or visible
