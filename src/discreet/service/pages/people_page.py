"""People: inviting by one-time links, roles, disabling. For owners."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.responses import Response

from discreet.errors import DiscreetError
from discreet.service import people
from discreet.service.api.shapes import Number
from discreet.service.clock import now
from discreet.service.errors import RequestError
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Owner, Visit
from discreet.service.security import links, sessions

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class MadeLink:
    """A one-time link, shown once."""

    role: str
    url: str
    expires_at: datetime


@router.get("/people")
def show_people(visit: Owner) -> Response:
    """Everybody, and the form to invite."""
    return _people(visit)


@router.post("/people")
def invite(visit: Owner) -> Response:
    """A one-time link for a new person."""
    role = visit.text("role", 12)
    try:
        if role not in people.ROLES:
            raise RequestError(f"role: need one of {', '.join(people.ROLES)}")
        with visit.here.writing() as connection:
            secret = links.make_invitation(connection, role, visit.here.settings.link_hours, by=visit.person)
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _people(visit, **shown))
    return _people(visit, link=_made(visit, f"a new {role}", secret))


@router.post("/people/{number}")
def change_person(number: Number, visit: Owner) -> Response:
    """Set roles, disable, enable, or make a link for a new password."""
    if visit.text("change", 12) == "reset":
        return _reset(visit, number)

    def act(connection: Connection) -> str:
        change = visit.text("change", 12)
        if change == "roles":
            people.set_roles(connection, number, tuple(dict.fromkeys(visit.texts("roles"))), by=visit.person)
        elif change == "disable":
            people.disable(connection, number, by=visit.person)
            sessions.sign_out_everywhere(connection, number)
        elif change == "enable":
            people.enable(connection, number, by=visit.person)
        else:
            raise RequestError("change: need roles, disable, enable or reset")
        return "/people?said=changed"

    return visit.change(act, lambda **shown: _people(visit, **shown))


def _reset(visit: Visit, number: int) -> Response:
    try:
        with visit.here.writing() as connection:
            secret = links.make_reset(connection, number, visit.here.settings.link_hours, by=visit.person)
            name = people.person_by_id(connection, number).name
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _people(visit, **shown))
    return _people(visit, link=_made(visit, f"the password of {name}", secret))


def _made(visit: Visit, role: str, secret: str) -> MadeLink:
    settings = visit.here.settings
    expires_at = now() + timedelta(hours=settings.link_hours)
    return MadeLink(role, settings.public_url.rstrip("/") + links.PATH + secret, expires_at)


def _people(visit: Visit, *, link: MadeLink | None = None, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        known = people.all_people(connection)
    return visit.page("people.html", notice=notice, status=status, people=known, link=link)
