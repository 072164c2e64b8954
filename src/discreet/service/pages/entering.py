"""Signing in and out, one-time links, and what people keep for themselves: tokens and the password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from sqlalchemy import Connection, update
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.errors import DiscreetError, ParameterError
from discreet.service import log
from discreet.service.api.shapes import Number
from discreet.service.pages.numbers import whole
from discreet.service.pages.rendering import SAID, Notice
from discreet.service.pages.visits import (
    Anyone,
    Sent,
    Visit,
    check_front,
    first_path,
    front_page,
    notice_of,
    safe_path,
    text_in,
)
from discreet.service.problems import Problem, Problems
from discreet.service.security import links, sessions
from discreet.service.security.caller import Scope
from discreet.service.security.secrets import SHORTEST_PASSWORD, hash_password, password_fits
from discreet.service.tables import people
from discreet.service.web.access import (
    address_of,
    end_session,
    find_caller,
    set_session,
    sign_in,
    spend_rate,
    spend_sign_in,
)
from discreet.service.web.context import Context, context
from discreet.service.web.failures import problem_of
from discreet.service.web.rates import SIGN_IN_ADDRESS

router = APIRouter(include_in_schema=False)
Here = Annotated[Context, Depends(context)]
OIDC = "/oidc/start"
SCOPES = (
    (Scope.READ, "read: see what I may see"),
    (Scope.ASK, "ask: request models, scores and counts"),
    (Scope.MANAGE, "manage: do what my role may do"),
    (Scope.METRICS, "metrics: read the measurements of the service"),
)


@router.get("/")
def first(visit: Anyone) -> Response:
    """To the page where a person begins."""
    return RedirectResponse(first_path(visit.person.roles), 303)


@router.get("/enter")
def show_enter(request: Request, here: Here) -> Response:
    """The form to sign in."""
    if find_caller(here, request) is not None:
        return RedirectResponse("/", 303)
    said = SAID.get(request.query_params.get("said", ""))
    return _enter(request, here, safe_path(request.query_params.get("next", "/")), notice=said)


@router.post("/enter")
def enter(request: Request, here: Here, form: Sent) -> Response:
    """Sign in."""
    check_front(request, form)
    name, path = text_in(form, "name", 120), safe_path(text_in(form, "next", 2000))
    password = form.get("password")
    try:
        made = sign_in(here, request, name, password if isinstance(password, str) else "")
    except Problem as problem:
        if problem.problem not in (Problems.WRONG_PASSWORD, Problems.TOO_MANY):
            raise
        return _enter(request, here, path, name, notice_of(problem), problem.status)
    answer = RedirectResponse(path, 303)
    set_session(here, answer, made)
    return answer


def _enter(
    request: Request, here: Context, path: str, name: str = "", notice: Notice | None = None, status: int = 200
) -> Response:
    values = {"next": path, "name": name, "oidc": OIDC if here.oidc is not None else None, "notice": notice}
    return front_page(request, here, "enter.html", values, status)


@router.post("/leave")
def leave(visit: Anyone) -> Response:
    """Sign out."""
    if visit.caller.session is not None:
        with visit.here.writing() as connection:
            sessions.sign_out(connection, visit.caller.session)
    answer = RedirectResponse("/enter?said=left", 303)
    end_session(visit.here, answer)
    return answer


@router.get("/links/{secret}")
def show_link(secret: str, request: Request, here: Here) -> Response:
    """What a one-time link is for, and the form to use it. Looking does not use it."""
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    return _link(request, here, secret)


@router.post("/links/{secret}")
def use_link(secret: str, request: Request, here: Here, form: Sent) -> Response:
    """Make the account, or set the new password, and sign in."""
    check_front(request, form)
    spend_rate(here, "sign-in address", address_of(request), SIGN_IN_ADDRESS)
    name, display = text_in(form, "name", 120), text_in(form, "display", 120)
    with here.reading() as connection:
        links.look_at(connection, secret)  # hashing is slow on purpose: not for links that are not in force
    try:
        hashed = _new_password(form)
        with here.writing() as connection:
            person = links.accept(connection, secret, name, display or name, hashed)
            made = sessions.open_session(connection, person.id, here.settings.session_hours)
    except DiscreetError as error:
        problem = problem_of(error)
        if problem.problem in (Problems.LINK, Problems.INTERNAL):
            raise
        return _link(request, here, secret, name, display, notice_of(problem), problem.status)
    answer = RedirectResponse("/", 303)
    set_session(here, answer, made)
    return answer


def _link(
    request: Request,
    here: Context,
    secret: str,
    name: str = "",
    display: str = "",
    notice: Notice | None = None,
    status: int = 200,
) -> Response:
    with here.reading() as connection:
        link = links.look_at(connection, secret)
    values = {"purpose": link.purpose, "role": link.role, "name": name, "display": display, "notice": notice}
    shown = {
        **values,
        "secret": secret,
        "oidc": OIDC if here.oidc is not None else None,
        "shortest_password": SHORTEST_PASSWORD,
    }
    return front_page(request, here, "link.html", shown, status)


def _new_password(form: Sent) -> str:
    password, again = form.get("password"), form.get("again")
    if not isinstance(password, str) or password != again:
        raise ParameterError("the two passwords differ; type the same one twice")
    return hash_password(password)


@router.get("/account")
def show_account(visit: Anyone) -> Response:
    """One's tokens and password."""
    return _account(visit)


@router.post("/account/tokens")
def make_token(visit: Anyone) -> Response:
    """Make a token, and show it once."""
    scopes, days = visit.texts("scopes"), visit.text("days", 4)
    name = visit.text("name", 120)
    try:
        if not name or whole(days) is None or any(each not in set(Scope) for each in scopes):
            raise ParameterError("a token has a name, at least one of the scopes, and a number of days")
        with visit.here.writing() as connection:
            made = sessions.make_token(connection, visit.person.id, name, [Scope(each) for each in scopes], int(days))
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _account(visit, **shown))
    return _account(visit, fresh=made.secret)


@router.post("/account/tokens/{number}")
def revoke_token(number: Number, visit: Anyone) -> Response:
    """Revoke one's own token."""

    def act(connection: Connection) -> str:
        sessions.revoke_token(connection, visit.person.id, number)
        return "/account?said=revoked"

    return visit.change(act, lambda **shown: _account(visit, **shown))


@router.post("/account/password")
def change_password(visit: Anyone) -> Response:
    """Set a new password; every other session and token ends."""
    old = visit.form.get("old")
    try:
        spend_sign_in(visit.here, visit.request, visit.person.name)
        with visit.here.reading() as connection:
            found = sessions.stored_password(connection, visit.person.name)
        if not password_fits(found[1] if found else None, old if isinstance(old, str) else ""):
            raise Problem(Problems.INVALID, "The present password is wrong.")
        hashed = _new_password(visit.form)
        with visit.here.writing() as connection:
            made = _set_password(connection, visit, hashed)
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _account(visit, **shown))
    answer = RedirectResponse("/account?said=password", 303)
    set_session(visit.here, answer, made)
    return answer


def _set_password(connection: Connection, visit: Visit, hashed: str) -> sessions.NewSession:
    sessions.sign_out_everywhere(connection, visit.person.id)
    connection.execute(update(people).where(people.c.id == visit.person.id).values(password_hash=hashed))
    log.write(connection, visit.person.id, "person.password", visit.person.name)
    return sessions.open_session(connection, visit.person.id, visit.here.settings.session_hours)


def _account(visit: Visit, *, fresh: str | None = None, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        tokens = sessions.list_tokens(connection, visit.person.id)
        found = sessions.stored_password(connection, visit.person.name)
    values = {"tokens": tokens, "fresh": fresh, "scopes": SCOPES, "has_password": bool(found and found[1])}
    return visit.page("account.html", notice=notice, status=status, public_url=visit.here.settings.public_url, **values)
