"""What a request has to pass before its price is named or reserved: all that a quote and a job have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, exists, func, literal, select, true

from discreet.privacy.accounts.amounts import counted
from discreet.schema import Schema
from discreet.service.catalogue import KNOWN_VERSION, Version, known_version
from discreet.service.errors import NotAllowedError, NotFoundError, RequestError
from discreet.service.fitting import check_fit
from discreet.service.grants import HELD, Grant, the_active
from discreet.service.people import Person
from discreet.service.requests import epsilon_of, plain
from discreet.service.slots import LONGEST, seconds_of
from discreet.service.tables import datasets, jobs, versions


@dataclass(frozen=True)
class Admitted:
    """A request that may be made: who pays, for which version of the data, and how much.

    Attributes
    ----------
    epsilon, nano : the loss under the adjacency of the schema, and what the accounts count for it.
    """

    grant: Grant
    version: Version
    schema: Schema
    epsilon: Fraction
    nano: int


def _facts(*conditions: Any) -> Select[Any]:
    """The job of the same key, the data set, its newest ready version, and a row for each grant of the person for it.

    There is a row also if there is nothing of these, since all is joined to a row that is always there.
    """
    always, held, other = select(literal(1).label("one")).subquery(), HELD.subquery(), versions.alias()
    ready = (other.c.dataset_id == datasets.c.id) & (other.c.state == "ready")
    newest = select(func.max(other.c.number)).where(ready, *(each(other) for each in conditions)).scalar_subquery()
    same_key = (jobs.c.person_id == bindparam("by")) & (jobs.c.idempotency_key == bindparam("key"))
    return (
        select(
            jobs.c.id.label("stored_id"),
            jobs.c.request_hash.label("stored_hash"),
            datasets.c.id.label("found_id"),
            datasets.c.withdrawn_at.label("found_withdrawn_at"),
            exists().where(ready).label("is_ready"),
            *KNOWN_VERSION,
            *held.c,
        )
        .select_from(always)
        .outerjoin(jobs, same_key)
        .outerjoin(datasets, datasets.c.name == bindparam("wanted"))
        .outerjoin(versions, (versions.c.dataset_id == datasets.c.id) & (versions.c.number == newest))
        .outerjoin(held, true() & (held.c.dataset_id == datasets.c.id))
    )


_NEWEST = _facts()
_NUMBERED = _facts(lambda version: version.c.number == bindparam("number"))
"""Built once: every request asks one of them, and building a statement takes longer than running it."""


class Facts:
    """What the database knows about a request, by one statement: one state, and one message to the server and back."""

    def __init__(self, rows: Sequence[Row[Any]]) -> None:
        self._rows = rows

    @classmethod
    def about(
        cls, connection: Connection, person: Person, dataset: str, version: int | None = None, key: str = ""
    ) -> Facts:
        """What is known about a request of this person; no job has the key ""."""
        asked = {"by": person.id, "key": key, "wanted": dataset}
        if version is None:
            return cls(connection.execute(_NEWEST, asked).all())
        return cls(connection.execute(_NUMBERED, {**asked, "number": version}).all())

    @property
    def stored(self) -> tuple[str, str] | None:
        """Number and hash of the person's request of the same key, if there is one."""
        row = self._rows[0]
        return None if row.stored_id is None else (row.stored_id, row.stored_hash)

    def admit(self, connection: Connection, person: Person, request: Any, project: str | None) -> Admitted:
        """Check the right to ask, and whether the request fits the data; money is not looked at, nothing is written."""
        row = self._rows[0]
        is_open = row.found_id is not None and (person.is_owner or (row.found_withdrawn_at is None and row.is_ready))
        if not is_open:
            raise NotFoundError("there is no such data set")
        grant = the_active([each for each in self._rows if each.id is not None], project)
        if request.kind not in grant.kinds:
            raise NotAllowedError(f"your grant does not allow {request.kind}; it allows: {', '.join(grant.kinds)}")
        version = known_version(connection, row)
        schema = version.public_schema
        check_fit(connection, request, schema, person)
        _check_slot(request, version, schema)
        epsilon = epsilon_of(request)
        price = counted(epsilon, schema.adjacency, grant.population_adjacency)
        return Admitted(grant, version, schema, epsilon, price)


def _check_slot(request: Any, version: Version, schema: Schema) -> None:
    """Raise RequestError unless there is a slot for the request: its size and the declared records are public."""
    try:
        seconds = seconds_of(request.kind, schema, version.records_declared, plain(request))
    except OverflowError:  # a number of records that no float can hold
        seconds = math.inf
    if seconds > LONGEST.total_seconds():
        raise RequestError(
            f"a request for {request.kind} of this size on so many records needs a slot of more "
            f"than {LONGEST.days} days; ask for less, or ask the owner whether the number of records is right"
        )
