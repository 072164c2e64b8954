"""Sessions, tokens, links and me: how a person or a script becomes a caller."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi import Body as Sent
from pydantic import Field, StringConstraints
from starlette.requests import Request

from discreet.service.api.shapes import Answer, Body, Line, Name, Number, problems
from discreet.service.people import Person
from discreet.service.problems import Problems
from discreet.service.security import links, sessions
from discreet.service.security.caller import Caller, Scope
from discreet.service.security.secrets import LONGEST_PASSWORD, SHORTEST_PASSWORD, hash_password
from discreet.service.web.access import AnyCaller, Here, address_of, end_session, may, set_session, sign_in, spend_rate
from discreet.service.web.rates import SIGN_IN_ADDRESS

router = APIRouter(tags=["signing in"])
Password = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PASSWORD)]
NewPassword = Annotated[str, StringConstraints(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)]
Secret = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]
Manager = Annotated[Caller, Depends(may(Scope.MANAGE))]


class Credentials(Body):
    """Name and password."""

    name: Line
    password: Password


class Me(Answer):
    """Who is asking."""

    id: int
    name: str
    display: str
    roles: list[str]
    scopes: list[str]


class SessionMade(Answer):
    """The session is in the cookie; the CSRF token goes into the header X-CSRF-Token of calls that change something."""

    csrf: str
    expires_at: datetime


class TokenWanted(Body):
    """A token for a script."""

    name: Line
    scopes: Annotated[list[Annotated[Scope, Field(strict=False)]], Field(min_length=1, max_length=len(Scope))]
    days: Annotated[int, Field(ge=1, le=sessions.LONGEST_TOKEN_DAYS)] = 90


class TokenShown(Answer):
    """A token, without its secret."""

    id: int
    name: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class TokenMade(Answer):
    """The secret is shown this once."""

    id: int
    secret: str
    expires_at: datetime


class LinkUsed(Body):
    """The secret of a link, and the account that it makes; a reset ignores the names."""

    link: Secret
    name: Name
    display: Line
    password: NewPassword


def me_of(caller: Caller) -> Me:
    """The caller as shown."""
    person: Person = caller.person
    return Me(
        id=person.id,
        name=person.name,
        display=person.display,
        roles=list(person.roles),
        scopes=sorted(each.value for each in caller.scopes),
    )


@router.post("/sessions", status_code=201, responses=problems(Problems.WRONG_PASSWORD))
def open_session(sent: Annotated[Credentials, Sent()], here: Here, request: Request, response: Response) -> SessionMade:
    """Sign in with a password. The session is an HttpOnly cookie."""
    made = sign_in(here, request, sent.name, sent.password)
    set_session(here, response, made)
    return SessionMade(csrf=made.csrf, expires_at=made.expires_at)


@router.delete("/sessions/current", status_code=204, responses=problems(Problems.CSRF))
def close_session(caller: AnyCaller, here: Here, response: Response) -> None:
    """Sign out. With a token there is no session, and nothing happens."""
    if caller.session is not None:
        with here.writing() as connection:
            sessions.sign_out(connection, caller.session)
    end_session(here, response)


@router.get("/me", responses=problems())
def read_me(caller: AnyCaller) -> Me:
    """Who is asking, with which roles and scopes."""
    return me_of(caller)


@router.get("/me/csrf", responses=problems())
def read_csrf(caller: AnyCaller) -> dict[str, str]:
    """The CSRF token of this session; empty for a token, which needs none."""
    return {"csrf": caller.csrf or ""}


@router.get("/tokens", responses=problems())
def list_tokens(caller: AnyCaller, here: Here) -> list[TokenShown]:
    """One's own tokens in force."""
    with here.reading() as connection:
        return [_shown(row) for row in sessions.list_tokens(connection, caller.person.id)]


def _shown(row: Any) -> TokenShown:
    return TokenShown.model_validate(row)


@router.post("/tokens", status_code=201, responses=problems(Problems.CSRF, Problems.SCOPE))
def make_token(sent: Annotated[TokenWanted, Sent()], caller: Manager, here: Here) -> TokenMade:
    """Make a token. A token makes none that may do more than itself."""
    for scope in sent.scopes:
        caller.need_scope(scope)
    with here.writing() as connection:
        made = sessions.make_token(connection, caller.person.id, sent.name, sent.scopes, sent.days)
    return TokenMade(id=made.id, secret=made.secret, expires_at=made.expires_at)


@router.delete("/tokens/{number}", status_code=204, responses=problems(Problems.CSRF))
def revoke_token(number: Number, caller: Manager, here: Here) -> None:
    """Revoke one's own token."""
    with here.writing() as connection:
        sessions.revoke_token(connection, caller.person.id, number)


@router.post("/links/use", status_code=201, responses=problems(Problems.LINK, Problems.TAKEN))
def use_link(sent: Annotated[LinkUsed, Sent()], here: Here, request: Request, response: Response) -> SessionMade:
    """Use a one-time link: make an account, or set a new password; and sign in."""
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    with here.reading() as connection:
        links.look_at(connection, sent.link)
    hashed = hash_password(sent.password)
    with here.writing() as connection:
        person = links.accept(connection, sent.link, sent.name, sent.display, hashed)
        made = sessions.open_session(connection, person.id, here.settings.session_hours)
    set_session(here, response, made)
    return SessionMade(csrf=made.csrf, expires_at=made.expires_at)
