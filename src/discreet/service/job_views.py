"""Jobs as people see them: their own, or all for owners; `running` until the slot is over (slots.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, or_, select

from discreet.service.clock import now
from discreet.service.errors import NotFoundError
from discreet.service.jobs import Prepared, seen_state
from discreet.service.people import Person
from discreet.service.tables import PAID_KINDS, datasets, grants, jobs, people, projects, releases, versions

MOST = 1000


@dataclass(frozen=True)
class Job:
    """A job as an analyst or an owner sees it at this moment."""

    id: str
    kind: str
    state: str
    person: str
    project: str
    dataset: str
    version: int
    request: dict[str, Any]
    epsilon: str
    nano: int
    created_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str
    started_at: datetime | None
    visible_at: datetime | None
    release: str | None
    """The id of the release, once it is visible."""


def _jobs(person: Person) -> Select[Any]:
    decider = people.alias("decider")
    wanted = (
        select(
            jobs,
            people.c.name.label("person"),
            projects.c.name.label("project"),
            datasets.c.name.label("dataset"),
            versions.c.number.label("version"),
            decider.c.name.label("decider"),
            releases.c.id.label("release_id"),
        )
        .join(people, people.c.id == jobs.c.person_id)
        .join(versions, versions.c.id == jobs.c.version_id)
        .join(datasets, datasets.c.id == versions.c.dataset_id)
        .join(grants, grants.c.id == jobs.c.grant_id)
        .join(projects, projects.c.id == grants.c.project_id)
        .outerjoin(decider, decider.c.id == jobs.c.decided_by)
        .outerjoin(releases, releases.c.job_id == jobs.c.id)
        .where(jobs.c.kind.in_(PAID_KINDS))
    )
    return wanted if person.is_owner else wanted.where(jobs.c.person_id == person.id)


def _job(row: Any, at: datetime) -> Job:
    state = seen_state(row, at)
    return Job(
        id=row.id,
        kind=row.kind,
        state=state,
        person=row.person,
        project=row.project,
        dataset=row.dataset,
        version=row.version,
        request=dict(row.request),
        epsilon=row.epsilon,
        nano=row.nano,
        created_at=row.created_at,
        expires_at=row.expires_at,
        decided_by=row.decider,
        decided_at=row.decided_at,
        note=row.note,
        started_at=row.started_at,
        visible_at=row.visible_at,
        release=row.release_id if state == "released" else None,
    )


def get_job(connection: Connection, job_id: str, person: Person) -> Job:
    """One job; NotFoundError unless it is the person's own, or the person is an owner."""
    row = connection.execute(_jobs(person).where(jobs.c.id == job_id)).first()
    if row is None:
        raise NotFoundError("there is no such job")
    return _job(row, now())


def entered(prepared: Prepared, person: Person) -> Job:
    """A job that was just entered for this person, as `get_job` finds it until somebody changes it."""
    row, grant = prepared.values, prepared.grant
    assert grant is not None, "what was entered has a grant"
    same = ("id", "kind", "state", "request", "epsilon", "nano", "created_at", "expires_at", "decided_at", "note")
    facts: dict[str, Any] = {name: row[name] for name in same}
    facts |= dict.fromkeys(("decided_by", "started_at", "visible_at", "release"))
    return Job(person=person.name, project=grant.project, dataset=grant.dataset, version=prepared.version, **facts)


def _seen(at: datetime) -> Any:
    """The state as people see it, as an expression of SQL; the same as `seen_state`."""
    over = and_(jobs.c.state == "running", jobs.c.visible_at <= at)
    return case((over, func.coalesce(jobs.c.outcome, "failed")), else_=jobs.c.state)


def list_jobs(
    connection: Connection,
    person: Person,
    *,
    states: Sequence[str] | None = None,
    dataset: str | None = None,
    before: str | None = None,
    most: int = 50,
) -> list[Job]:
    """The newest jobs that the person may see; `before` is the id of the last job of the page before."""
    at = now()
    wanted = _jobs(person)
    if states is not None:
        wanted = wanted.where(_seen(at).in_(states))
        wanted = wanted.where(jobs.c.state.in_({*states, "running"}))  # lets the database use its index
    if dataset is not None:
        wanted = wanted.where(datasets.c.name == dataset)
    if before is not None:
        last = get_job(connection, before, person)
        earlier = and_(jobs.c.created_at == last.created_at, jobs.c.id < last.id)
        wanted = wanted.where(or_(jobs.c.created_at < last.created_at, earlier))
    rows = connection.execute(wanted.order_by(jobs.c.created_at.desc(), jobs.c.id.desc()).limit(min(most, MOST)))
    return [_job(row, at) for row in rows]


def count_waiting(connection: Connection, person: Person) -> int:
    """How many requests wait for a decision, among those the person may see."""
    wanted = select(func.count()).select_from(jobs).where(jobs.c.state == "requested", jobs.c.kind.in_(PAID_KINDS))
    if not person.is_owner:
        wanted = wanted.where(jobs.c.person_id == person.id)
    return int(connection.execute(wanted).scalar_one())


def registration_jobs(connection: Connection, version_id: int) -> list[tuple[str, str]]:
    """Kind and state of the drafts and snapshots of a version, newest first; for owners."""
    wanted = select(jobs.c.kind, jobs.c.state).where(jobs.c.version_id == version_id, jobs.c.kind.not_in(PAID_KINDS))
    rows = connection.execute(wanted.order_by(jobs.c.created_at.desc()))
    return [(row.kind, row.state) for row in rows]
