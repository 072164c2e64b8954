"""People, invitations and resets; for owners."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi import Body as Sent
from pydantic import Field

from discreet.service import people
from discreet.service.api.shapes import Answer, Body, Number, problems
from discreet.service.people import Person
from discreet.service.problems import Problems
from discreet.service.security import links, sessions
from discreet.service.web.access import Here, Owner, OwnerReads

router = APIRouter(tags=["people"])
Role = Literal["owner", "analyst", "auditor"]


class PersonShown(Answer):
    """Someone with an account."""

    id: int
    name: str
    display: str
    roles: list[str]
    disabled_at: datetime | None


class Invitation(Body):
    """The role of whoever uses the link."""

    role: Role


class LinkMade(Answer):
    """A link that works once. Hand it over by a way that you trust."""

    address: str
    hours: float


class Change(Body):
    """What is null stays as it is."""

    roles: Annotated[list[Role], Field(min_length=1, max_length=3)] | None = None
    disabled: bool | None = None


def _shown(person: Person) -> PersonShown:
    return PersonShown(
        id=person.id,
        name=person.name,
        display=person.display,
        roles=list(person.roles),
        disabled_at=person.disabled_at,
    )


@router.get("/people", responses=problems())
def list_people(caller: OwnerReads, here: Here) -> list[PersonShown]:
    """Everybody, by name."""
    with here.reading() as connection:
        return [_shown(person) for person in people.all_people(connection)]


@router.post("/invitations", status_code=201, responses=problems(Problems.CSRF))
def invite(sent: Annotated[Invitation, Sent()], caller: Owner, here: Here) -> LinkMade:
    """A one-time link by which somebody makes their own account."""
    hours = here.settings.link_hours
    with here.writing() as connection:
        secret = links.make_invitation(connection, sent.role, hours, by=caller.person)
    return LinkMade(address=here.settings.public_url.rstrip("/") + links.PATH + secret, hours=hours)


@router.post("/people/{number}/reset", status_code=201, responses=problems(Problems.CSRF))
def reset(number: Number, caller: Owner, here: Here) -> LinkMade:
    """A one-time link by which a person sets a new password."""
    hours = here.settings.link_hours
    with here.writing() as connection:
        secret = links.make_reset(connection, number, hours, by=caller.person)
    return LinkMade(address=here.settings.public_url.rstrip("/") + links.PATH + secret, hours=hours)


@router.patch("/people/{number}", responses=problems(Problems.CSRF))
def change_person(number: Number, sent: Annotated[Change, Sent()], caller: Owner, here: Here) -> PersonShown:
    """Change roles, or disable or enable an account. Disabling ends its sessions and tokens."""
    with here.writing() as connection:
        if sent.roles is not None:
            people.set_roles(connection, number, tuple(dict.fromkeys(sent.roles)), by=caller.person)
        if sent.disabled is True:
            people.disable(connection, number, by=caller.person)
            sessions.sign_out_everywhere(connection, number)
        if sent.disabled is False:
            people.enable(connection, number, by=caller.person)
        return _shown(people.person_by_id(connection, number))
