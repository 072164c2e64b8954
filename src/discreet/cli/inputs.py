"""Opening and checking a command's inputs: data files, schemas and models. Nothing is charged or written here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, FileError, ParameterError, SchemaError
from discreet.records import files
from discreet.records.values import Columns
from discreet.schema import Dialect, Schema
from discreet.sources import Records, Source
from discreet.sources.database import open_address
from discreet.sources.file import is_list, listed, open_file
from discreet.sources.predictions import ignoring_others
from discreet.storage.addresses import Address

STRANGE = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
"""What our readers can raise on a JSON file that is not ours."""


def open_data(
    data: Path | Address, table: str | None, *, stream: bool = False, dialect: Dialect | None = None
) -> Source:
    """A data file, or a table at the address of a database, as a source; `dialect` says how a CSV file is written."""
    if isinstance(data, Address):
        return open_address(data, table, stream=stream)
    if stream:
        raise ParameterError(f"--stream is for tables of a database; {data} is a file: leave --stream out")
    _spare_memory()
    return open_file(data, table, dialect=dialect)


def as_written(schema: Schema, delimiter: str | None, decimal: str | None, encoding: str | None) -> Schema:
    """The schema, with the dialect of CSV files that the options name; what they leave out stays as the schema says."""
    return schema.replace(dialect=as_dialect(schema.dialect, delimiter, decimal, encoding))


def as_dialect(dialect: Dialect, delimiter: str | None, decimal: str | None, encoding: str | None) -> Dialect:
    """The dialect, with what the options change in it."""
    try:
        return dialect.changed(delimiter=delimiter, decimal=decimal, encoding=encoding)
    except SchemaError as error:
        raise ParameterError(f"--{error}") from None


def _spare_memory() -> None:
    """Let Arrow give back memory that it no longer uses; its usual allocator keeps some 60 MB of it.

    Here, in a process of our own: a library must not choose for the programs that use it.
    """
    with contextlib.suppress(ImportError, NotImplementedError):  # pyarrow is an extra, and not built with it everywhere
        import pyarrow

        pyarrow.set_memory_pool(pyarrow.jemalloc_memory_pool())
        pyarrow.jemalloc_set_decay_ms(0)


def data_files(data: Path | Address) -> list[Path]:
    """The data files, none of which may be written to; none for the address of a database."""
    if isinstance(data, Address):
        return []
    return listed(data) if is_list(data) else [data]


def check_structure(source: Source, path: Path | Address, schema: Schema, table: str | None = None) -> None:
    """Raise unless the table has the schema's columns; values are not read and not quoted."""
    if isinstance(path, Path):
        check_header(path, schema, table)
    with _named_errors(path):
        source.check(schema)


def check_labelled(source: Source, path: Path | Address, schema: Schema, table: str | None = None) -> None:
    """As `check_structure`, but columns that the schema does not name are passed over, not refused."""
    if isinstance(path, Path):
        check_header(path, schema, table)
    with _named_errors(path):
        source.check(ignoring_others(schema, source))


def structure_of(records: Records, path: Path | Address, schema: Schema, table: str | None = None) -> Columns:
    """The columns of the data without a record. Raises if a CSV file has no header for this schema."""
    if isinstance(path, Path):
        check_header(path, schema, table)
    with _named_errors(path):
        return records.structure()


@contextlib.contextmanager
def _named_errors(path: Path | Address) -> Iterator[None]:
    """Errors of a file get its name; what an engine says about another error may quote a row, and is not passed on."""
    try:
        yield
        return
    except FileError as error:
        raise FileError(_named(str(path), error)) from None
    except DiscreetError:
        raise
    except Exception:
        pass
    raise FileError(f"cannot read {path}; check that it is complete, and of the format that its name says")


def check_header(path: Path, schema: Schema, sheet: str | None = None) -> None:
    """Raise if a file has no header row: its first record must not be taken for column names, which are quoted."""
    if not files.is_text(path) and not files.is_sheet(path):
        return
    if not {*schema.all_names} & files.structure(path, schema.dialect, sheet).keys():
        raise FileError(
            f"the first line of {path} names no column of the schema; need a header row, for instance with "
            f"{schema.names[0]!r}, and commas between the columns (tabs in a .tsv file), or --delimiter"
        )


def load_schema(name: str, adjacency: str | None = None) -> Schema:
    """A schema file; `schemas.json#adult` picks one of several."""
    try:
        schema = Schema.load(name)
    except DiscreetError as error:
        raise type(error)(_named(name, error)) from None
    except STRANGE:
        raise FileError(f"{name} is not a schema of discreet; write one with `discreet schema draft`") from None
    return schema if adjacency is None else schema.replace(adjacency=adjacency)


def schema_file(name: str) -> Path:
    """The file of a schema that may be one of several in it: `schemas.json` for `schemas.json#adult`."""
    return Path(name.partition("#")[0])


def load_model(path: Path) -> Any:
    """A model file, ready to predict."""
    from discreet.models.loading import load

    try:
        return load(path)
    except DiscreetError as error:
        raise type(error)(_named(str(path), error)) from None
    except STRANGE:
        raise FileError(f"{path} is not a model of discreet, or was damaged; get it again from its owner") from None


def _named(name: str, error: DiscreetError) -> str:
    """The message with the file's name, once."""
    return str(error) if name.partition("#")[0] in str(error) else f"{name}: {error}"
