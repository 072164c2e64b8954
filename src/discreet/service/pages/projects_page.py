"""Projects, their members, grants and rules of approval; for owners."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.responses import Response

from discreet.service import projects
from discreet.service.api.shapes import Number
from discreet.service.catalogue import all_datasets, dataset_by_id
from discreet.service.errors import NotFoundError, RequestError
from discreet.service.grants import Grant, all_grants, grant_by_id
from discreet.service.pages import views
from discreet.service.pages.numbers import whole
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Owner, Visit
from discreet.service.people import all_people
from discreet.service.tables import project_accounts

router = APIRouter(include_in_schema=False)
SHOWN = 50
"""Grants on one page."""
FIELDS = ("person", "dataset", "limit", "project_limit", "rule", "expires")


@router.get("/projects")
def show_projects(visit: Owner) -> Response:
    """All projects, and the form for a new one."""
    return _projects(visit)


@router.post("/projects")
def create(visit: Owner) -> Response:
    """Open a project."""
    name = visit.text("name", 120)

    def act(connection: Connection) -> str:
        projects.create_project(connection, name, visit.text("title", 200) or name, by=visit.person)
        return f"/projects/{name}?said=created"

    return visit.change(act, lambda **shown: _projects(visit, **shown))


def _projects(visit: Visit, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        given = all_grants(connection)
        shown = [
            {
                "name": each.name,
                "title": each.title,
                "members": projects.members_of(connection, each.id),
                "grants": sum(grant.project_id == each.id and grant.revoked_at is None for grant in given),
            }
            for each in projects.all_projects(connection)
        ]
    sent = visit.fields()
    form = {name: sent.get(name, "") for name in ("name", "title")}
    return visit.page("projects.html", notice=notice, status=status, projects=shown, form=form)


@router.get("/projects/{name}")
def show_project(name: str, visit: Owner) -> Response:
    """A project: people, grants and budget."""
    return _project(visit, name)


@router.post("/projects/{name}/members")
def change_members(name: str, visit: Owner) -> Response:
    """Add an analyst, or let one go, which revokes their grants in this project."""

    def act(connection: Connection) -> str:
        project, person = projects.project_named(connection, name), _number(visit.text("person", 12))
        if visit.text("change", 12) == "remove":
            projects.remove_member(connection, project.id, person, by=visit.person)
            return f"/projects/{name}?said=changed"
        projects.add_member(connection, project.id, person, by=visit.person)
        return f"/projects/{name}?said=member"

    return visit.change(act, lambda **shown: _project(visit, name, **shown))


@router.post("/projects/{name}/grants")
def give_grant(name: str, visit: Owner) -> Response:
    """Let a member ask of a table; sets the project's limit on its people first, if one is given."""

    def act(connection: Connection) -> str:
        project = projects.project_named(connection, name)
        dataset = dataset_by_id(connection, _number(visit.text("dataset", 12)))
        if limit := visit.text("project_limit", 40):
            projects.set_project_limit(connection, project.id, dataset.population, limit, by=visit.person)
        projects.give_grant(
            connection,
            project.id,
            _number(visit.text("person", 12)),
            dataset.id,
            visit.text("limit", 40),
            kinds=visit.texts("kinds"),
            approve_up_to=visit.text("rule", 40) or "0",
            expires_at=_end_of(visit.text("expires", 10)),
            by=visit.person,
        )
        return f"/projects/{name}?said=granted"

    return visit.change(act, lambda **shown: _project(visit, name, **shown))


@router.post("/projects/{name}/grants/{number}")
def change_grant(name: str, number: Number, visit: Owner) -> Response:
    """Change the limit and the rule of a grant, or revoke it."""

    def act(connection: Connection) -> str:
        if grant_by_id(connection, number).project != name:
            raise NotFoundError("there is no such grant")
        if visit.text("change", 12) == "revoke":
            projects.revoke(connection, number, by=visit.person)
            return f"/projects/{name}?said=revoked"
        limit, rule = visit.text("limit", 40), visit.text("rule", 40)
        projects.change_grant(connection, number, limit=limit, approve_up_to=rule or "0", by=visit.person)
        return f"/projects/{name}?said=changed"

    return visit.change(act, lambda **shown: _project(visit, name, **shown))


def _number(text: str) -> int:
    number = whole(text)
    if number is None:
        raise RequestError("person, dataset: choose one of the list")
    return number


def _end_of(day: str) -> datetime | None:
    """The end of a day in UTC; None for an empty field."""
    if not day:
        return None
    try:
        return datetime.combine(date.fromisoformat(day), time.max, UTC)
    except ValueError:
        raise RequestError("expires: need a day such as 2027-12-31") from None


def _project(visit: Visit, name: str, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        project = projects.project_named(connection, name)
        own = [grant for grant in all_grants(connection) if grant.project_id == project.id]
        wanted = select(project_accounts.c.account).where(project_accounts.c.project_id == project.id)
        homes = list(connection.execute(wanted).scalars())
        held = views.money(connection, [*homes, *(grant.account for grant in own)])
        values = _people_and_tables(connection, visit, project.id)
    sent = visit.fields()
    form = {field: sent.get(field, "") for field in FIELDS}
    first = visit.place()
    shown = [views.grant_view(grant, held) for grant in _in_force_first(own)[first : first + SHOWN]]
    values["next_page"] = f"/projects/{name}?from={first + SHOWN}" if len(own) > first + SHOWN else None
    values |= {"project": project, "grants": shown, "accounts": [held[each] for each in homes]}
    return visit.page("project.html", notice=notice, status=status, form=form, kinds=views.KINDS, **values)


def _people_and_tables(connection: Connection, visit: Visit, project_id: int) -> dict[str, Any]:
    inside = projects.members_of(connection, project_id)
    analysts = [each for each in all_people(connection) if each.is_analyst and each.disabled_at is None]
    tables = [each for each in all_datasets(connection, visit.person) if each.withdrawn_at is None]
    return {
        "members": [(each.id, each.display) for each in analysts if each.name in inside],
        "others": [(each.id, each.display) for each in analysts if each.name not in inside],
        "datasets": [(each.id, each.title) for each in tables],
    }


def _in_force_first(given: list[Grant]) -> list[Grant]:
    return sorted(given, key=lambda grant: grant.revoked_at is not None)
