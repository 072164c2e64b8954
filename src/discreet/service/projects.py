"""Projects, their members and limits, and grants: who may ask what of which data set, from which account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from discreet.privacy.accounts import Books, limit_nano
from discreet.privacy.accounts.tables import accounts
from discreet.service import jobs, log
from discreet.service.catalogue import dataset_by_id, population_named
from discreet.service.clock import now
from discreet.service.errors import NameTakenError, NotFoundError, RequestError, StateError
from discreet.service.grants import Grant, grant_by_id
from discreet.service.people import Person, checked_name, person_by_id, require_owner
from discreet.service.tables import PAID_KINDS, grants, members, people, project_accounts, projects

BOOKS = Books()


@dataclass(frozen=True)
class Project:
    """Work that people do together, with a limit of its own for each population."""

    id: int
    name: str
    title: str
    created_at: datetime


def create_project(connection: Connection, name: str, title: str, *, by: Person) -> Project:
    """Open a project; it can spend nothing until it has a limit for a population."""
    require_owner(by)
    checked_name(name)
    if not title.strip() or len(title) > 200:
        raise RequestError("title: need 1 to 200 characters")
    if connection.execute(select(projects.c.id).where(projects.c.name == name)).first() is not None:
        raise NameTakenError(f"the name {name} is in use; choose another")
    connection.execute(insert(projects).values(name=name, title=title, created_at=now()))
    log.write(connection, by.id, "project.created", name)
    return project_named(connection, name)


def project_named(connection: Connection, name: str, person: Person | None = None) -> Project:
    """The project; NotFoundError if there is none that the person may know of."""
    for project in all_projects(connection, person):
        if project.name == name:
            return project
    raise NotFoundError("there is no such project")


def all_projects(connection: Connection, person: Person | None = None) -> list[Project]:
    """All projects by name; those that the person is a member of, unless it is an owner or an auditor (or None)."""
    wanted = select(projects).order_by(projects.c.name)
    if person is not None and not person.is_owner and not person.is_auditor:
        own = select(members.c.project_id).where(members.c.person_id == person.id)
        wanted = wanted.where(projects.c.id.in_(own))
    rows = connection.execute(wanted)
    return [Project(row.id, row.name, row.title, row.created_at) for row in rows]


def members_of(connection: Connection, project_id: int) -> list[str]:
    """Names of the members."""
    wanted = select(people.c.name).join(members, members.c.person_id == people.c.id)
    return list(connection.execute(wanted.where(members.c.project_id == project_id).order_by(people.c.name)).scalars())


def add_member(connection: Connection, project_id: int, person_id: int, *, by: Person) -> None:
    """Make an analyst a member."""
    require_owner(by)
    person, project = person_by_id(connection, person_id), _project(connection, project_id)
    if not person.is_analyst:
        raise RequestError("person: only analysts are members of projects")
    if person.name not in members_of(connection, project_id):
        connection.execute(insert(members).values(project_id=project_id, person_id=person_id))
        log.write(connection, by.id, "project.member", project, {"person": person.name})


def remove_member(connection: Connection, project_id: int, person_id: int, *, by: Person) -> None:
    """End a membership, and with it the person's grants in the project."""
    require_owner(by)
    held = select(grants.c.id).where(grants.c.project_id == project_id, grants.c.person_id == person_id)
    for grant_id in connection.execute(held.where(grants.c.revoked_at.is_(None))).scalars().all():
        revoke(connection, grant_id, by=by)
    row = (members.c.project_id == project_id) & (members.c.person_id == person_id)
    connection.execute(delete(members).where(row))
    name = person_by_id(connection, person_id).name
    log.write(connection, by.id, "project.left", _project(connection, project_id), {"person": name})


def _project(connection: Connection, project_id: int) -> str:
    name: str | None = connection.execute(select(projects.c.name).where(projects.c.id == project_id)).scalar()
    if name is None:
        raise NotFoundError("there is no such project")
    return name


def project_account(connection: Connection, project_id: int, population_account: int) -> int | None:
    """The account of a project for a population, if it has one."""
    wanted = select(project_accounts.c.account).where(
        project_accounts.c.project_id == project_id, project_accounts.c.population_account == population_account
    )
    found: int | None = connection.execute(wanted).scalar()
    return found


def set_project_limit(connection: Connection, project_id: int, population: str, limit: object, *, by: Person) -> int:
    """Set what a project may spend on a population; returns the account."""
    require_owner(by)
    name, home = _project(connection, project_id), population_named(connection, population)
    account = project_account(connection, project_id, home)
    if account is None:
        account = BOOKS.open_account(connection, "project", name, limit, population=home)
        values = {"project_id": project_id, "population_account": home, "account": account}
        connection.execute(insert(project_accounts).values(**values))
    else:
        BOOKS.set_limit(connection, account, limit)
    log.write(connection, by.id, "project.limit", name, {"population": population, "limit": str(limit)})
    return account


def give_grant(
    connection: Connection,
    project_id: int,
    person_id: int,
    dataset_id: int,
    limit: object,
    *,
    kinds: Sequence[str] = PAID_KINDS,
    approve_up_to: object = 0,
    expires_at: datetime | None = None,
    by: Person,
) -> Grant:
    """Let a member of a project ask a data set, up to a limit; requests up to `approve_up_to` need no person.

    An analyst has one account for a data set: a new grant continues it, with what was spent before.
    """
    require_owner(by)
    person, dataset = person_by_id(connection, person_id), dataset_by_id(connection, dataset_id)
    if dataset.withdrawn_at is not None or person.disabled_at is not None:
        raise StateError("this data set was withdrawn, or the person's account is closed")
    if person.name not in members_of(connection, project_id):
        raise RequestError("person: not a member of the project; add the member first")
    if not kinds or any(kind not in PAID_KINDS for kind in kinds) or len(set(kinds)) != len(kinds):
        raise RequestError(f"kinds: need some of {', '.join(PAID_KINDS)}")
    home = project_account(connection, project_id, dataset.population_account)
    if home is None:
        raise StateError("the project has no limit for this population; set one first")
    _check_only(connection, project_id, person_id, dataset_id)
    account = _grant_account(connection, f"{person.name}/{dataset.name}", limit, dataset, home)
    who = {"project_id": project_id, "person_id": person_id, "dataset_id": dataset_id, "account": account}
    rule = {"kinds": list(kinds), "approve_up_to_nano": limit_nano(approve_up_to), "expires_at": expires_at}
    made = connection.execute(insert(grants).values(created_at=now(), **who, **rule))
    detail = {"person": person.name, "limit": str(limit), "kinds": list(kinds), "approve_up_to": str(approve_up_to)}
    log.write(connection, by.id, "grant.given", dataset.name, detail)
    return grant_by_id(connection, int(made.inserted_primary_key[0]))  # type: ignore[index]


def _check_only(connection: Connection, project_id: int, person_id: int, dataset_id: int) -> None:
    same = (grants.c.project_id == project_id) & (grants.c.person_id == person_id) & (grants.c.dataset_id == dataset_id)
    live = select(grants.c.expires_at).where(same, grants.c.revoked_at.is_(None))
    if any(ends is None or ends > now() for ends in connection.execute(live).scalars()):
        raise StateError("this person has such a grant already; change or revoke it")


def _grant_account(connection: Connection, name: str, limit: object, dataset: Any, project: int) -> int:
    wanted = select(accounts.c.id).where(
        accounts.c.kind == "grant", accounts.c.name == name, accounts.c.population_id == dataset.population_account
    )
    found: int | None = connection.execute(wanted).scalar()
    if found is not None:
        BOOKS.set_limit(connection, found, limit)
        return found
    places = {"population": dataset.population_account, "dataset": dataset.dataset_account, "project": project}
    return BOOKS.open_account(connection, "grant", name, limit, **places)


def change_grant(
    connection: Connection,
    grant_id: int,
    *,
    limit: object = None,
    approve_up_to: object = None,
    kinds: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    by: Person,
) -> Grant:
    """Change a grant that is in force: what is None stays as it is."""
    require_owner(by)
    grant = grant_by_id(connection, grant_id)
    if grant.revoked_at is not None:
        raise StateError("this grant was revoked; give a new one")
    if not grant.is_active(now()):  # another may have taken its place
        raise StateError("this grant has expired; give a new one")
    if limit is not None:
        BOOKS.set_limit(connection, grant.account, limit)
    changes: dict[str, Any] = {}
    if approve_up_to is not None:
        changes["approve_up_to_nano"] = limit_nano(approve_up_to)
    if kinds is not None:
        if not kinds or any(kind not in PAID_KINDS for kind in kinds):
            raise RequestError(f"kinds: need some of {', '.join(PAID_KINDS)}")
        changes["kinds"] = list(kinds)
    if expires_at is not None:
        changes["expires_at"] = expires_at
    if changes:
        connection.execute(update(grants).where(grants.c.id == grant_id).values(**changes))
    detail = {"person": grant.person, "limit": str(limit), "approve_up_to": str(approve_up_to)}
    log.write(connection, by.id, "grant.changed", grant.dataset, detail)
    return grant_by_id(connection, grant_id)


def revoke(connection: Connection, grant_id: int, *, by: Person) -> None:
    """End a grant: what waits is cancelled and returned; what has started goes on, since it is spent."""
    require_owner(by)
    grant = grant_by_id(connection, grant_id)
    if grant.revoked_at is not None:
        raise StateError("this grant was revoked already")
    jobs.cancel_waiting(connection, by, grant_id=grant_id)
    connection.execute(update(grants).where(grants.c.id == grant_id).values(revoked_at=now()))
    log.write(connection, by.id, "grant.revoked", grant.dataset, {"person": grant.person})
