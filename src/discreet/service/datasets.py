"""Registering a table: a source, a draft of its schema, every public fact confirmed, and a snapshot.

    register ─▶ drafting ─▶ drafted ─ confirm ─▶ confirming ─▶ ready          (failed: findings say why, to the owner)

Guarantee  a version becomes ready only with a schema all of whose entries an owner has confirmed or changed, and only
           under an adjacency that its population can count. It is never changed afterwards: a new state of the table is
           a new version, of the same people, paid from the same population.
Proof      `confirm` compares the schema with the draft, entry by entry: what was read from the data and is still the
           same must be in the owner's list. The schema's own list of such entries is empty afterwards, without which
           no model states a guarantee. No function sets a schema twice, since `confirm` needs the state `drafted`.
Test       tests/service/test_registration.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from discreet.errors import DiscreetError
from discreet.privacy.accounts import Books
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric
from discreet.service import jobs, log
from discreet.service.catalogue import (
    Dataset,
    Version,
    adjacency_of,
    dataset_by_id,
    dataset_named,
    draft_of,
    known_sources,
    population_named,
    version_by_id,
)
from discreet.service.clock import now
from discreet.service.errors import NameTakenError, NotFoundError, RequestError, StateError
from discreet.service.people import Person, checked_name, require_owner
from discreet.service.tables import datasets, findings, sources, versions

BOOKS = Books()
MOST_RECORDS = 10**10
"""The most records that an owner can declare: slots grow with them, and more cannot be counted within one."""


def open_population(connection: Connection, name: str, limit: object, adjacency: str, *, by: Person) -> int:
    """Open the account of a population: the people whom tables are about. The log shows it.

    A new population is the word of the owner that its people are in no other: tables about the same people share one.
    """
    require_owner(by)
    checked_name(name, "population")
    account = BOOKS.open_account(connection, "population", name, limit, adjacency=adjacency)
    log.write(connection, by.id, "population.opened", name, {"limit": str(limit), "adjacency": str(adjacency)})
    return account


def set_limit(connection: Connection, account: int, limit: object, *, by: Person) -> None:
    """Change the limit of a population, data set, project or grant; never below what is spent and reserved."""
    require_owner(by)
    BOOKS.set_limit(connection, account, limit)
    log.write(connection, by.id, "account.limit", str(account), {"limit": str(limit)})


def register(
    connection: Connection,
    name: str,
    *,
    title: str,
    description: str,
    population: str,
    limit: object,
    source: str,
    target: str,
    ignore: Sequence[str] = (),
    by: Person,
) -> Version:
    """Register a table of a population; the worker drafts a schema next."""
    require_owner(by)
    checked_name(name, "name")
    _check_texts(title, description)
    if connection.execute(select(datasets.c.id).where(datasets.c.name == name)).first() is not None:
        raise NameTakenError(f"the name {name} is in use; choose another")
    home = population_named(connection, population)
    account = BOOKS.open_account(connection, "dataset", name, limit, population=home)
    values = {"title": title, "description": description, "population_account": home, "dataset_account": account}
    made = connection.execute(
        insert(datasets).values(name=name, source_name=source, created_by=by.id, created_at=now(), **values)
    )
    log.write(connection, by.id, "dataset.registered", name, {"population": population, "limit": str(limit)})
    return new_version(connection, int(made.inserted_primary_key[0]), source, target, ignore, by=by)  # type: ignore[index]


def new_version(
    connection: Connection, dataset_id: int, source: str, target: str, ignore: Sequence[str] = (), *, by: Person
) -> Version:
    """Start a version; earlier ones stay as they are. It is about the same people, so it opens no new account."""
    require_owner(by)
    dataset = dataset_by_id(connection, dataset_id)
    if dataset.withdrawn_at is not None:
        raise StateError("this data set was withdrawn")
    if source not in [each.name for each in known_sources(connection)]:
        raise NotFoundError("no worker has published a source of this name")
    for column in (target, *ignore):
        if not isinstance(column, str) or not 1 <= len(column) <= 120:
            raise RequestError("target, ignore: need names of columns, of 1 to 120 characters")
    wanted = select(func.coalesce(func.max(versions.c.number), 0)).where(versions.c.dataset_id == dataset_id)
    number = int(connection.execute(wanted).scalar_one()) + 1
    values = {"source_name": source, "target": target, "ignore": list(ignore), "state": "drafting"}
    made = connection.execute(insert(versions).values(dataset_id=dataset_id, number=number, created_at=now(), **values))
    version = version_by_id(connection, int(made.inserted_primary_key[0]))  # type: ignore[index]
    jobs.submit_internal(connection, "draft", version, by)
    log.write(connection, by.id, "version.started", dataset.name, {"version": number})
    return version


def _check_texts(title: str, description: str) -> None:
    if not title.strip() or len(title) > 200:
        raise RequestError("title: need 1 to 200 characters")
    if len(description) > 10_000:
        raise RequestError("description: need at most 10,000 characters")


def to_confirm(connection: Connection, version_id: int) -> list[str]:
    """The entries of a draft that an owner has to confirm or change, such as "age.lower"; public facts all of them."""
    draft = draft_of(connection, version_id)
    return [] if draft is None else list(draft["from_data"])


def confirm(
    connection: Connection,
    version_id: int,
    schema: Mapping[str, Any],
    confirmed: Sequence[str],
    *,
    by: Person,
) -> Version:
    """Make a schema public: every entry that was read from the data must be confirmed by name, or changed."""
    require_owner(by)
    version = version_by_id(connection, version_id)
    dataset = dataset_by_id(connection, version.dataset_id)
    if dataset.withdrawn_at is not None:
        raise StateError("this data set was withdrawn")
    draft = draft_of(connection, version_id)
    if version.state != "drafted" or draft is None:
        raise StateError(f"this version is {version.state}; only a draft can be confirmed")
    public = _confirmed(Schema.from_dict(draft), schema, confirmed)
    if public.target != version.target:
        raise RequestError("target: need the one that the version was started with; start another version to change it")
    population = adjacency_of(connection, dataset.population_account)
    if population.counted(1.0, public.adjacency) == math.inf:
        raise RequestError(f"adjacency: this population counts under {population.value}; the schema needs the same")
    values = {"schema": public.to_dict(), "schema_hash": public.hash, "records_declared": public.records}
    still = update(versions).where(versions.c.id == version_id, versions.c.state == "drafted")
    if connection.execute(still.values(state="confirming", draft=None, **values)).rowcount != 1:
        raise StateError("this version was confirmed meanwhile; only a draft can be confirmed")
    jobs.submit_internal(connection, "snapshot", version_by_id(connection, version_id), by)
    detail = {"version": version.number, "schema": public.hash, "confirmed": len(confirmed)}
    log.write(connection, by.id, "version.confirmed", dataset.name, detail)
    return version_by_id(connection, version_id)


def _confirmed(draft: Schema, content: Mapping[str, Any], confirmed: Sequence[str]) -> Schema:
    try:
        schema = Schema.from_dict({**content, "from_data": []})
    except DiscreetError as error:
        raise RequestError(f"schema: {str(error)[:300]}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, OverflowError):
        raise RequestError("schema: this is not a schema; change the draft, and send it whole") from None
    if schema.chosen is not None:
        raise RequestError("schema.chosen: columns that were chosen with these data at a cost are not public")
    if schema.records is not None and schema.records > MOST_RECORDS:
        raise RequestError(f"records: need at most {MOST_RECORDS}, or null if the number is not public")
    known = {*draft.names, *draft.ignore}
    added = [name for name in schema.all_names if name not in known and name != draft.target]
    if added:
        raise RequestError(f"schema: column {added[0][:120]} is not in the draft")
    open_entries = [mark for mark in draft.from_data if mark not in confirmed and not _differs(draft, schema, mark)]
    if open_entries:
        raise RequestError(
            f"confirmed: confirm or change each entry read from the data: {', '.join(open_entries)[:300]}"
        )
    dropped = [name for name in draft.names if name not in schema.names and name not in schema.ignore]
    return schema.replace(ignore=[*schema.ignore, *dropped])


def _differs(draft: Schema, schema: Schema, mark: str) -> bool:
    """Whether the owner has changed an entry, or left its column out."""
    if mark == "records":
        return schema.records != draft.records
    if mark == "classes":
        return schema.classes != draft.classes
    name, _, entry = mark.rpartition(".")
    if name not in schema.names:
        return True
    drafted, chosen = draft[name], schema[name]
    if isinstance(drafted, Numeric) and isinstance(chosen, Numeric):
        return bool(getattr(drafted, entry) != getattr(chosen, entry))
    if isinstance(drafted, Categorical) and isinstance(chosen, Categorical):
        return tuple(drafted.categories) != tuple(chosen.categories)
    return True


def withdraw(connection: Connection, name: str, *, by: Person) -> Dataset:
    """Take a data set out of use: nothing can be asked, what waits is cancelled. Releases and entries stay."""
    require_owner(by)
    dataset = dataset_named(connection, name)
    if dataset.withdrawn_at is not None:
        raise StateError("this data set was withdrawn already")
    jobs.cancel_waiting(connection, by, dataset_id=dataset.id)
    connection.execute(update(datasets).where(datasets.c.id == dataset.id).values(withdrawn_at=now()))
    connection.execute(update(versions).where(versions.c.dataset_id == dataset.id).values(draft=None))
    log.write(connection, by.id, "dataset.withdrawn", name)
    return dataset_by_id(connection, dataset.id)


def drafted(connection: Connection, version_id: int, draft: Schema | None, found: Mapping[str, Any]) -> None:
    """What the worker drafted, or None if it could not; for the worker. Of a data set that was withdrawn meanwhile no
    draft is kept."""
    if dataset_by_id(connection, version_by_id(connection, version_id).dataset_id).withdrawn_at is not None:
        draft, found = None, {}
    state = "failed" if draft is None else "drafted"
    content = None if draft is None else draft.to_dict()
    changed = update(versions).where(versions.c.id == version_id, versions.c.state == "drafting")
    connection.execute(changed.values(state=state, draft=content))
    keep_findings(connection, version_id, found)


def written(connection: Connection, version_id: int, snapshot_hash: str | None, found: Mapping[str, Any]) -> None:
    """The keyed hash of the snapshot that the worker wrote, or None if it could not; for the worker."""
    state = "failed" if snapshot_hash is None else "ready"
    changed = update(versions).where(versions.c.id == version_id, versions.c.state == "confirming")
    connection.execute(changed.values(state=state, snapshot_hash=snapshot_hash))
    keep_findings(connection, version_id, found)


def keep_findings(connection: Connection, version_id: int, found: Mapping[str, Any]) -> None:
    """Keep what was found, for owners; it replaces what was found before."""
    connection.execute(delete(findings).where(findings.c.version_id == version_id))
    connection.execute(insert(findings).values(version_id=version_id, content=dict(found)))


def publish_sources(connection: Connection, known: Sequence[tuple[str, str, str]]) -> None:
    """Tell the service which sources a worker can reach: name, kind and description; for the worker."""
    for name, kind, described in known:
        connection.execute(delete(sources).where(sources.c.name == name))
        values = {"kind": kind, "described": described[:400], "published_at": now()}
        connection.execute(insert(sources).values(name=name, **values))
