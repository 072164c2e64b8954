"""Sign-in by OpenID Connect: two redirects of a browser. Only people who were invited get in."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse

from discreet.service.people import person_by_subject
from discreet.service.problems import Problem, Problems
from discreet.service.security import links, sessions
from discreet.service.security.oidc import COOKIE, MINUTES, Identity, SignIn
from discreet.service.web.access import Here, address_of, set_session, spend_rate
from discreet.service.web.context import Context
from discreet.service.web.rates import SIGN_IN_ADDRESS

router = APIRouter(include_in_schema=False)
START, FINISH = "/oidc/start", "/oidc/finish"


def _provider(here: Context) -> SignIn:
    if here.oidc is None:
        raise Problem(Problems.NOT_FOUND)
    return here.oidc


@router.get(START)
def start(
    here: Here, request: Request, link: Annotated[str | None, Query(pattern=r"^[A-Za-z0-9_-]{20,100}$")] = None
) -> RedirectResponse:
    """Send the browser to the provider; with an invitation, to accept it there."""
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    attempt = _provider(here).start(link)
    response = RedirectResponse(attempt.address, 303)
    response.set_cookie(
        COOKIE, attempt.cookie, max_age=60 * MINUTES, path="/oidc", secure=here.https, httponly=True, samesite="lax"
    )
    return response


@router.get(FINISH)
def finish(here: Here, request: Request, state: str | None = None, code: str | None = None) -> RedirectResponse:
    """Take the browser back, verify who came, and open a session."""
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    identity = _provider(here).finish(request.cookies.get(COOKIE), state, code)
    with here.writing() as connection:
        person = person_by_subject(connection, identity.subject)
        if person is None and identity.link is not None:
            name = _free_name(identity)
            person = links.accept_with_subject(connection, identity.link, name, identity.name or name, identity.subject)
        if person is None or person.disabled_at is not None:
            raise Problem(Problems.NOT_SIGNED_IN, remedy="Ask the owner for an invitation, and open its link first.")
        made = sessions.open_session(connection, person.id, here.settings.session_hours)
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE, path="/oidc")
    set_session(here, response, made)
    return response


def _free_name(identity: Identity) -> str:
    """A name for an account, from what the provider calls the person; using the link fails if it is taken."""
    name = re.sub(r"[^a-z0-9._@-]+", "-", identity.name.lower())[:100].strip("._@-")
    return name or "person"
