"""Data sets and their versions, as they are read. Registration is in `datasets.py`."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, exists, select

from discreet.privacy.accounts.tables import accounts
from discreet.schema import Adjacency, Schema
from discreet.service.errors import NotFoundError
from discreet.service.people import Person
from discreet.service.tables import datasets, findings, sources, versions


@dataclass(frozen=True)
class SourceName:
    """A table that a worker can reach: its name and kind. Where it is, only the worker knows."""

    name: str
    kind: str
    described: str
    published_at: datetime


@dataclass(frozen=True)
class Dataset:
    """A table that owners have registered."""

    id: int
    name: str
    title: str
    description: str
    population_account: int
    dataset_account: int
    population: str
    source_name: str
    created_at: datetime
    withdrawn_at: datetime | None


@dataclass(frozen=True)
class Version:
    """One immutable state of a data set; `schema` is there once the owner has confirmed it."""

    id: int
    dataset_id: int
    number: int
    state: str
    source_name: str
    target: str
    ignore: tuple[str, ...]
    schema: Schema | None
    schema_hash: str | None
    records_declared: int | None
    created_at: datetime

    @property
    def public_schema(self) -> Schema:
        """The schema that the owner confirmed; NotFoundError before that."""
        if self.schema is None:
            raise NotFoundError("this version has no confirmed schema yet")
        return self.schema


def known_sources(connection: Connection) -> list[SourceName]:
    """The sources that workers have published, by name; for owners."""
    rows = connection.execute(select(sources).order_by(sources.c.name))
    return [SourceName(row.name, row.kind, row.described, row.published_at) for row in rows]


_DATASETS = select(datasets, accounts.c.name.label("population")).join(
    accounts, accounts.c.id == datasets.c.population_account
)
_HAS_READY = exists().where(versions.c.dataset_id == datasets.c.id, versions.c.state == "ready")
_NAMED = _DATASETS.add_columns(_HAS_READY.label("is_ready")).where(datasets.c.name == bindparam("wanted"))
_NEWEST_READY = (
    select(versions)
    .where(versions.c.dataset_id == bindparam("of"), versions.c.state == "ready")
    .order_by(versions.c.number.desc())
    .limit(1)
)
"""Built once: every request asks them, and building a statement takes longer than running it."""


def _dataset(row: Any) -> Dataset:
    facts = row.id, row.name, row.title, row.description, row.population_account, row.dataset_account, row.population
    return Dataset(*facts, row.source_name, row.created_at, row.withdrawn_at)


def all_datasets(connection: Connection, person: Person) -> list[Dataset]:
    """What a person may know of, by name: owners see all; others those that are ready and not withdrawn."""
    wanted = _DATASETS.order_by(datasets.c.name)
    if not person.is_owner:
        ready = select(versions.c.dataset_id).where(versions.c.state == "ready")
        wanted = wanted.where(datasets.c.withdrawn_at.is_(None), datasets.c.id.in_(ready))
    return [_dataset(row) for row in connection.execute(wanted)]


def dataset_named(connection: Connection, name: str, person: Person | None = None) -> Dataset:
    """The data set; NotFoundError if there is none that the person may know of (None: whoever asks may)."""
    row = connection.execute(_NAMED, {"wanted": name}).first()
    if row is None:
        raise NotFoundError("there is no such data set")
    is_open = row.withdrawn_at is None and row.is_ready
    if person is not None and not person.is_owner and not is_open:
        raise NotFoundError("there is no such data set")
    return _dataset(row)


def dataset_by_id(connection: Connection, dataset_id: int) -> Dataset:
    """The data set with this number; for code that has checked who asks."""
    row = connection.execute(_DATASETS.where(datasets.c.id == dataset_id)).first()
    if row is None:
        raise NotFoundError("there is no such data set")
    return _dataset(row)


def versions_of(connection: Connection, dataset_id: int, *, for_owner: bool) -> list[Version]:
    """The versions, newest first; only ready ones unless for an owner."""
    wanted = select(versions).where(versions.c.dataset_id == dataset_id).order_by(versions.c.number.desc())
    if not for_owner:
        wanted = wanted.where(versions.c.state == "ready")
    return [_version(row) for row in connection.execute(wanted)]


def version_by_id(connection: Connection, version_id: int) -> Version:
    """The version with this number; for code that has checked who asks."""
    row = connection.execute(select(versions).where(versions.c.id == version_id)).first()
    if row is None:
        raise NotFoundError("there is no such version")
    return _version(row)


def ready_version(connection: Connection, dataset_id: int, number: int | None = None) -> Version:
    """The newest ready version, or that with a number; NotFoundError if there is none."""
    wanted = _NEWEST_READY if number is None else _NEWEST_READY.where(versions.c.number == number)
    row = connection.execute(wanted, {"of": dataset_id}).first()
    if row is None:
        raise NotFoundError("there is no such version, or it is not ready")
    return _version(row)


def _version(row: Any) -> Version:
    schema = None if row.schema is None else _read(row.schema_hash, json.dumps(row.schema))
    facts = row.id, row.dataset_id, row.number, row.state, row.source_name, row.target, tuple(row.ignore)
    return Version(*facts, schema, row.schema_hash, row.records_declared, row.created_at)


@functools.lru_cache(maxsize=256)
def _read(schema_hash: str, text: str) -> Schema:
    """The schema of a version; reading one of hundreds of columns takes a while, and it never changes."""
    return Schema.from_dict(json.loads(text))


KNOWN_VERSION = [each.label(f"version_{each.name}") for each in versions.c if each.name not in ("schema", "draft")]
"""The columns that `known_version` reads: all but the large ones."""
_SCHEMAS: dict[str, Schema] = {}
MOST_SCHEMAS = 256


def known_version(connection: Connection, row: Any) -> Version:
    """The ready version in a row with the columns KNOWN_VERSION; NotFoundError if the row has none.

    Its schema is read once: schemas with the same hash have the same content, and that of a ready version stays.
    """
    if row.version_id is None:
        raise NotFoundError("there is no such version, or it is not ready")
    schema = _SCHEMAS.get(row.version_schema_hash)
    if schema is None:
        schema = version_by_id(connection, row.version_id).public_schema
        if len(_SCHEMAS) >= MOST_SCHEMAS:
            _SCHEMAS.clear()
        _SCHEMAS[row.version_schema_hash] = schema
    facts = row.version_id, row.version_dataset_id, row.version_number, row.version_state, row.version_source_name
    columns = row.version_target, tuple(row.version_ignore), schema, row.version_schema_hash
    return Version(*facts, *columns, row.version_records_declared, row.version_created_at)


def draft_of(connection: Connection, version_id: int) -> dict[str, Any] | None:
    """The draft of a schema, as plain data, until it is confirmed; for owners only: it was read from the data."""
    row = connection.execute(select(versions.c.draft).where(versions.c.id == version_id)).first()
    return None if row is None or row.draft is None else dict(row.draft)


def findings_of(connection: Connection, version_id: int) -> dict[str, Any]:
    """What was found when the table was read: how many values did not fit. For owners only."""
    row = connection.execute(select(findings.c.content).where(findings.c.version_id == version_id)).first()
    return {} if row is None else dict(row.content)


def adjacency_of(connection: Connection, account: int) -> Adjacency:
    """The adjacency under which an account counts."""
    found = connection.execute(select(accounts.c.adjacency).where(accounts.c.id == account)).scalar_one()
    return Adjacency(found)


def populations(connection: Connection) -> list[tuple[int, str, Adjacency]]:
    """All populations: account, name and adjacency; for owners and auditors."""
    wanted = select(accounts).where(accounts.c.kind == "population").order_by(accounts.c.name)
    return [(row.id, row.name, Adjacency(row.adjacency)) for row in connection.execute(wanted)]


def population_named(connection: Connection, name: str) -> int:
    """The account of a population; NotFoundError if there is none."""
    for account, known, _ in populations(connection):
        if known == name:
            return account
    raise NotFoundError(f"there is no population {name[:120]}; open it first")
