"""Grants: what an analyst may ask of a data set, in a project, from which account, and what a rule approves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select

from discreet.privacy.accounts.tables import accounts
from discreet.schema import Adjacency
from discreet.service.clock import now
from discreet.service.errors import NotAllowedError, NotFoundError
from discreet.service.tables import datasets, grants, people, project_accounts, projects


@dataclass(frozen=True)
class Grant:
    """An analyst's access to a data set; `approve_up_to_nano` = 0: a person decides each request."""

    id: int
    project_id: int
    project: str
    person_id: int
    person: str
    dataset_id: int
    dataset: str
    account: int
    project_account: int
    dataset_account: int
    population_account: int
    population_adjacency: Adjacency
    kinds: tuple[str, ...]
    approve_up_to_nano: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    closed: bool
    """Whether the data set was withdrawn, the person's account disabled, or their role of an analyst taken away."""

    @property
    def accounts(self) -> tuple[int, int, int, int]:
        """All that a request is charged to: population, data set, project, and analyst × data set."""
        return self.population_account, self.dataset_account, self.project_account, self.account

    def is_active(self, at: datetime) -> bool:
        """Whether requests may be made, and jobs may start, on this grant."""
        return not self.closed and self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


_GRANTS = (
    select(
        grants,
        projects.c.name.label("project"),
        people.c.name.label("person"),
        people.c.disabled_at,
        people.c.is_analyst,
        datasets.c.name.label("dataset"),
        datasets.c.withdrawn_at,
        datasets.c.dataset_account,
        datasets.c.population_account,
        project_accounts.c.account.label("project_account"),
        accounts.c.adjacency.label("population_adjacency"),
    )
    .join(projects, projects.c.id == grants.c.project_id)
    .join(people, people.c.id == grants.c.person_id)
    .join(datasets, datasets.c.id == grants.c.dataset_id)
    .join(accounts, accounts.c.id == datasets.c.population_account)
    .join(
        project_accounts,
        (project_accounts.c.project_id == grants.c.project_id)
        & (project_accounts.c.population_account == datasets.c.population_account),
    )
)
HELD = _GRANTS.where(grants.c.person_id == bindparam("by"), grants.c.revoked_at.is_(None))
"""The grants of a person, for any data set, that were not revoked."""
_BY_ID = _GRANTS.where(grants.c.id == bindparam("wanted"))
"""Built once: every request asks them, and building a statement takes longer than running it."""


def _grant(row: Any) -> Grant:
    closed = row.withdrawn_at is not None or row.disabled_at is not None or not row.is_analyst
    return Grant(
        id=row.id,
        project_id=row.project_id,
        project=row.project,
        person_id=row.person_id,
        person=row.person,
        dataset_id=row.dataset_id,
        dataset=row.dataset,
        account=row.account,
        project_account=row.project_account,
        dataset_account=row.dataset_account,
        population_account=row.population_account,
        population_adjacency=Adjacency(row.population_adjacency),
        kinds=tuple(row.kinds),
        approve_up_to_nano=row.approve_up_to_nano,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        closed=closed,
    )


def grant_by_id(connection: Connection, grant_id: int) -> Grant:
    """The grant with this number; for code that has checked who asks."""
    row = connection.execute(_BY_ID, {"wanted": grant_id}).first()
    if row is None:
        raise NotFoundError("there is no such grant")
    return _grant(row)


def grants_of(connection: Connection, person_id: int) -> list[Grant]:
    """All grants of a person, newest first."""
    rows = connection.execute(_GRANTS.where(grants.c.person_id == person_id).order_by(grants.c.id.desc()))
    return [_grant(row) for row in rows]


def all_grants(connection: Connection) -> list[Grant]:
    """All grants, newest first; for owners and auditors."""
    return [_grant(row) for row in connection.execute(_GRANTS.order_by(grants.c.id.desc()))]


def the_active(rows: Iterable[Any], project: str | None = None) -> Grant:
    """The grant, of these rows of HELD, that a request is charged to; NotAllowedError if there is none, or several."""
    at = now()
    held = [grant for row in rows if (grant := _grant(row)).is_active(at)]
    if project is not None:
        held = [each for each in held if each.project == project]
    if not held:
        raise NotAllowedError("you have no grant for this data set, or it has ended; ask its owner")
    if len(held) > 1:
        names = ", ".join(sorted(each.project for each in held))
        raise NotAllowedError(f"you have grants in several projects; name one of: {names}")
    return held[0]
