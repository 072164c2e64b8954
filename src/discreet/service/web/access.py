"""Recognising the caller of a request: bearer token or cookie, CSRF, rates. Dependencies of all handlers.

A bearer token is sent on purpose; a cookie is sent by a browser whatever page caused the request. So a request that
changes something and is vouched for by a cookie must also carry the session's CSRF token, in a header or a form
field, which no other site can read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, TypeAlias

from fastapi import Depends, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import Request
from starlette.responses import Response

from discreet.service.problems import Problem, Problems
from discreet.service.security.caller import Caller, Scope
from discreet.service.security.secrets import password_fits, same
from discreet.service.security.sessions import (
    NewSession,
    open_session,
    recognise_session,
    recognise_token,
    stored_password,
    touch,
)
from discreet.service.web.context import Context, context
from discreet.service.web.rates import REQUESTS, SIGN_IN, SIGN_IN_ADDRESS, Rate

CSRF_HEADER = "X-CSRF-Token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

Here: TypeAlias = Annotated[Context, Depends(context)]
_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token of the service: dsc_…")
_cookie = APIKeyCookie(
    name="discreet_session",
    auto_error=False,
    scheme_name="session",
    description=f"A browser's session. Calls that change something also need the header {CSRF_HEADER}.",
)


def address_of(request: Request) -> str:
    """The address of the peer. Behind a proxy, uvicorn puts in what the proxy says, if it is told to trust it."""
    return request.client.host if request.client else "unknown"


def spend_rate(here: Context, what: str, who: str, rate: Rate) -> None:
    """Refuse when `who` asks too often."""
    seconds = here.rates.wait(what, who, rate)
    if seconds > 0:
        raise Problem(Problems.TOO_MANY, headers={"Retry-After": str(math.ceil(seconds))})


def spend_sign_in(here: Context, request: Request, name: str) -> None:
    """Refuse when too many attempts came from this address, or for this name, whether or not it exists."""
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    spend_rate(here, "sign-in", name, SIGN_IN)


def sign_in(here: Context, request: Request, name: str, password: str) -> NewSession:
    """A session for whoever knows the password; in all other cases one problem, after the same work.

    The password is checked outside any transaction: hashing is slow on purpose, and would keep the writer waiting.
    """
    spend_sign_in(here, request, name)
    with here.reading() as connection:
        found = stored_password(connection, name)
    fits = password_fits(found[1] if found else None, password)
    if found is None or not fits:
        raise Problem(Problems.WRONG_PASSWORD)
    with here.writing() as connection:
        return open_session(connection, found[0], here.settings.session_hours)


def find_caller(here: Context, request: Request) -> Caller | None:
    """Who asks; None if nobody is signed in. A token that is not in force is nobody, whatever cookie comes with it."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    cookie = request.cookies.get(here.cookie)
    stale = None
    with here.reading_apart() as connection:
        if kind:
            found = recognise_token(connection, secret.strip()) if kind.lower() == "bearer" else None
            caller, stale = found or (None, None)
        else:
            caller = recognise_session(connection, cookie) if cookie else None
    if stale is not None:
        with here.writing() as connection:
            touch(connection, stale)
    if caller is not None:
        request.scope["discreet.person"] = caller.person.id
        spend_rate(here, "person", str(caller.person.id), REQUESTS)
    return caller


def check_csrf(caller: Caller, sent: str | None) -> None:
    """Refuse unless the token of the session was sent; a caller with a bearer token needs none."""
    if caller.csrf is not None and not same(caller.csrf, sent or ""):
        raise Problem(Problems.CSRF)


def may(scope: Scope, *roles: str) -> Callable[..., Caller]:
    """A dependency: the caller, if their token has the scope, and they have one of the roles (if any are given)."""

    def dependency(
        request: Request,
        here: Here,
        _token: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
        _session: Annotated[str | None, Security(_cookie)],
    ) -> Caller:
        caller = find_caller(here, request)
        if caller is None:
            raise Problem(Problems.NOT_SIGNED_IN)
        if request.method not in SAFE:
            check_csrf(caller, request.headers.get(CSRF_HEADER))
        caller.need_scope(scope)
        if roles:
            caller.need_role(*roles)
        return caller

    return dependency


def set_session(here: Context, response: Response, session: NewSession) -> None:
    """Give the browser its cookie: not for scripts, not for other sites' posts, for https only where that is used."""
    response.set_cookie(
        here.cookie,
        session.secret,
        expires=session.expires_at,
        path="/",
        secure=here.https,
        httponly=True,
        samesite="lax",
    )


def end_session(here: Context, response: Response) -> None:
    """Take the cookie away."""
    response.delete_cookie(here.cookie, path="/", secure=here.https, httponly=True, samesite="lax")


AnyCaller: TypeAlias = Annotated[Caller, Depends(may(Scope.READ))]
Analyst: TypeAlias = Annotated[Caller, Depends(may(Scope.ASK, "analyst"))]
Owner: TypeAlias = Annotated[Caller, Depends(may(Scope.MANAGE, "owner"))]
OwnerReads: TypeAlias = Annotated[Caller, Depends(may(Scope.READ, "owner"))]
Auditor: TypeAlias = Annotated[Caller, Depends(may(Scope.READ, "owner", "auditor"))]
Known: TypeAlias = Annotated[Caller, Depends(may(Scope.READ, "owner", "analyst"))]
Asker: TypeAlias = Annotated[Caller, Depends(may(Scope.ASK, "owner", "analyst"))]
