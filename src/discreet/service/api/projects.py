"""Projects, members, and grants: who may ask what of which data set, from which account."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi import Body as Sent
from pydantic import Field
from sqlalchemy import Connection

from discreet.privacy.accounts import as_fraction
from discreet.service import catalogue, grants, people, projects
from discreet.service.api.shapes import Amount, Answer, Body, Money, Name, NamePath, Number, Title, problems, shown
from discreet.service.errors import NotFoundError, RequestError
from discreet.service.grants import Grant
from discreet.service.people import Person
from discreet.service.problems import Problems
from discreet.service.projects import Project
from discreet.service.web.access import AnyCaller, Here, Owner

router = APIRouter(tags=["projects and grants"])
Kind = Literal["train", "score", "count"]
Kinds = Annotated[tuple[Kind, ...], Field(min_length=1, max_length=3, strict=False)]
Moment = Annotated[datetime, Field(strict=False)]


class ProjectWanted(Body):
    """Work that people do together."""

    name: Name
    title: Title


class ProjectShown(Answer):
    """A project and its members."""

    name: str
    title: str
    members: list[str]


class LimitWanted(Body):
    """What a project may spend on a population."""

    limit: Money


class GrantWanted(Body):
    """Let a member ask a data set, up to a limit; requests up to `approve_up_to` need no person."""

    project: Name
    person: Name
    dataset: Name
    limit: Money
    kinds: Kinds = ("train", "score", "count")
    approve_up_to: Money = "0"
    expires_at: Moment | None = None


class GrantChange(Body):
    """What is null stays as it is."""

    limit: Money | None = None
    kinds: Kinds | None = None
    approve_up_to: Money | None = None
    expires_at: Moment | None = None


class GrantShown(Answer):
    """An analyst's access to a data set."""

    id: int
    project: str
    person: str
    dataset: str
    account: int
    kinds: list[str]
    approve_up_to: Amount
    expires_at: datetime | None
    revoked_at: datetime | None


def _project(connection: Connection, project: Project) -> ProjectShown:
    members = projects.members_of(connection, project.id)
    return ProjectShown(name=project.name, title=project.title, members=members)


def _grant(grant: Grant) -> GrantShown:
    return GrantShown(
        id=grant.id,
        project=grant.project,
        person=grant.person,
        dataset=grant.dataset,
        account=grant.account,
        kinds=list(grant.kinds),
        approve_up_to=shown(as_fraction(grant.approve_up_to_nano)),
        expires_at=grant.expires_at,
        revoked_at=grant.revoked_at,
    )


def _known_grant(connection: Connection, number: int, person: Person) -> Grant:
    grant = grants.grant_by_id(connection, number)
    if grant.person_id != person.id and not person.is_owner and not person.is_auditor:
        raise NotFoundError("there is no such grant")
    return grant


@router.get("/projects", responses=problems())
def list_projects(caller: AnyCaller, here: Here) -> list[ProjectShown]:
    """The projects that one is a member of; all of them for owners and auditors."""
    with here.reading() as connection:
        return [_project(connection, each) for each in projects.all_projects(connection, caller.person)]


@router.post("/projects", status_code=201, responses=problems(Problems.CSRF, Problems.TAKEN))
def create_project(sent: Annotated[ProjectWanted, Sent()], caller: Owner, here: Here) -> ProjectShown:
    """Open a project. It can spend nothing until it has a limit for a population."""
    with here.writing() as connection:
        return _project(connection, projects.create_project(connection, sent.name, sent.title, by=caller.person))


@router.get("/projects/{name}", responses=problems())
def read_project(name: NamePath, caller: AnyCaller, here: Here) -> ProjectShown:
    """One project."""
    with here.reading() as connection:
        return _project(connection, projects.project_named(connection, name, caller.person))


@router.put("/projects/{name}/members/{person}", responses=problems(Problems.CSRF))
def add_member(name: NamePath, person: NamePath, caller: Owner, here: Here) -> ProjectShown:
    """Make an analyst a member."""
    with here.writing() as connection:
        project = projects.project_named(connection, name)
        who = people.person_by_name(connection, person)
        projects.add_member(connection, project.id, who.id, by=caller.person)
        return _project(connection, project)


@router.delete("/projects/{name}/members/{person}", responses=problems(Problems.CSRF))
def remove_member(name: NamePath, person: NamePath, caller: Owner, here: Here) -> ProjectShown:
    """End a membership, and the member's grants in the project."""
    with here.writing() as connection:
        project = projects.project_named(connection, name)
        if person not in projects.members_of(connection, project.id):
            raise NotFoundError("there is no such member")
        who = people.person_by_name(connection, person)
        projects.remove_member(connection, project.id, who.id, by=caller.person)
        return _project(connection, project)


@router.put("/projects/{name}/limits/{population}", responses=problems(Problems.CSRF, Problems.BUDGET))
def set_project_limit(
    name: NamePath, population: NamePath, sent: Annotated[LimitWanted, Sent()], caller: Owner, here: Here
) -> dict[str, int]:
    """Set what a project may spend on a population; the answer names the account."""
    with here.writing() as connection:
        project = projects.project_named(connection, name)
        account = projects.set_project_limit(connection, project.id, population, sent.limit, by=caller.person)
    return {"account": account}


@router.get("/grants", responses=problems())
def list_grants(caller: AnyCaller, here: Here) -> list[GrantShown]:
    """One's own grants, newest first; all of them for owners and auditors."""
    with here.reading() as connection:
        everyone = caller.person.is_owner or caller.person.is_auditor
        found = grants.all_grants(connection) if everyone else grants.grants_of(connection, caller.person.id)
    return [_grant(each) for each in found]


@router.post("/grants", status_code=201, responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def give_grant(sent: Annotated[GrantWanted, Sent()], caller: Owner, here: Here) -> GrantShown:
    """Let a member of a project ask a data set."""
    with here.writing() as connection:
        made = projects.give_grant(
            connection,
            projects.project_named(connection, sent.project).id,
            people.person_by_name(connection, sent.person).id,
            catalogue.dataset_named(connection, sent.dataset).id,
            sent.limit,
            kinds=list(dict.fromkeys(sent.kinds)),
            approve_up_to=sent.approve_up_to,
            expires_at=_with_zone(sent.expires_at),
            by=caller.person,
        )
    return _grant(made)


@router.get("/grants/{number}", responses=problems())
def read_grant(number: Number, caller: AnyCaller, here: Here) -> GrantShown:
    """One grant: one's own, unless for owners and auditors."""
    with here.reading() as connection:
        return _grant(_known_grant(connection, number, caller.person))


@router.patch("/grants/{number}", responses=problems(Problems.CSRF, Problems.WRONG_STATE, Problems.BUDGET))
def change_grant(number: Number, sent: Annotated[GrantChange, Sent()], caller: Owner, here: Here) -> GrantShown:
    """Change limit, kinds, rule or end of a grant in force."""
    with here.writing() as connection:
        changed = projects.change_grant(
            connection,
            number,
            limit=sent.limit,
            approve_up_to=sent.approve_up_to,
            kinds=None if sent.kinds is None else list(dict.fromkeys(sent.kinds)),
            expires_at=_with_zone(sent.expires_at),
            by=caller.person,
        )
    return _grant(changed)


@router.delete("/grants/{number}", responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def revoke_grant(number: Number, caller: Owner, here: Here) -> GrantShown:
    """End a grant: what waits is cancelled and returned; what has started is spent and goes on."""
    with here.writing() as connection:
        projects.revoke(connection, number, by=caller.person)
        return _grant(grants.grant_by_id(connection, number))


def _with_zone(moment: datetime | None) -> datetime | None:
    """A time; without a zone it is meant in UTC."""
    if moment is None or moment.tzinfo is None:
        return moment and moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # the first or the last day that a calendar has
        raise RequestError("expires_at: need a time that exists in UTC as well") from None
