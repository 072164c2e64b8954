"""What was released: models, scores and answers, with the card that tells people what they are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, select

from discreet.service.clock import now
from discreet.service.errors import NotFoundError, RequestError
from discreet.service.people import Person
from discreet.service.tables import datasets, jobs, people, releases, versions


@dataclass(frozen=True)
class Release:
    """A result that may be published; `content` is read separately, since it may be large."""

    id: str
    job_id: str
    kind: str
    person: str
    dataset: str
    version: int
    epsilon: str
    card: dict[str, Any]
    content_hash: str
    released_at: datetime


def _visible(person: Person, at: datetime) -> Select[Any]:
    wanted = (
        select(
            releases.c.id,
            releases.c.job_id,
            releases.c.kind,
            people.c.name.label("person"),
            datasets.c.name.label("dataset"),
            versions.c.number.label("version"),
            jobs.c.epsilon,
            releases.c.card,
            releases.c.content_hash,
            releases.c.visible_at,
        )
        .join(jobs, jobs.c.id == releases.c.job_id)
        .join(people, people.c.id == jobs.c.person_id)
        .join(versions, versions.c.id == jobs.c.version_id)
        .join(datasets, datasets.c.id == versions.c.dataset_id)
        .where(releases.c.visible_at <= at)
    )
    return wanted if person.is_owner else wanted.where(jobs.c.person_id == person.id)


def _release(row: Any) -> Release:
    return Release(
        id=row.id,
        job_id=row.job_id,
        kind=row.kind,
        person=row.person,
        dataset=row.dataset,
        version=row.version,
        epsilon=row.epsilon,
        card=dict(row.card),
        content_hash=row.content_hash,
        released_at=row.visible_at,
    )


def get_release(connection: Connection, release_id: str, person: Person) -> Release:
    """The release, if it is the person's own or the person is an owner, and its slot is over; else NotFoundError."""
    row = connection.execute(_visible(person, now()).where(releases.c.id == release_id)).first()
    if row is None:
        raise NotFoundError("there is no such release")
    return _release(row)


def release_of_job(connection: Connection, job_id: str, person: Person) -> Release | None:
    """The release of a job, once its slot is over."""
    row = connection.execute(_visible(person, now()).where(releases.c.job_id == job_id)).first()
    return None if row is None else _release(row)


def all_releases(
    connection: Connection, person: Person, *, dataset: str | None = None, kind: str | None = None, most: int = 100
) -> list[Release]:
    """The newest releases that the person may see."""
    wanted = _visible(person, now())
    if dataset is not None:
        wanted = wanted.where(datasets.c.name == dataset)
    if kind is not None:
        wanted = wanted.where(releases.c.kind == kind)
    # each order has an index that leads to the rows wanted, however long the history is
    whole, own = (releases.c.visible_at.desc(), releases.c.id), (jobs.c.created_at.desc(), jobs.c.id)
    rows = connection.execute(wanted.order_by(*(whole if person.is_owner else own)).limit(min(most, 1000)))
    return [_release(row) for row in rows]


def content_of(connection: Connection, release_id: str, person: Person) -> bytes:
    """The bytes of a release: a model file, or JSON with a score or answers."""
    get_release(connection, release_id, person)
    return bytes(connection.execute(select(releases.c.content).where(releases.c.id == release_id)).scalar_one())


def released_model(connection: Connection, release_id: str, person: Person) -> Any:
    """The model of a release, ready to predict; RequestError if the release is not a model."""
    from discreet.models.loading import from_dict

    try:
        release = get_release(connection, release_id, person)
    except NotFoundError:
        raise RequestError("release: there is no such model") from None
    if release.kind != "train":
        raise RequestError("release: this is not a model; name the release of a training")
    return from_dict(json.loads(content_of(connection, release_id, person)))
