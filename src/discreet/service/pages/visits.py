"""One visit of a page: who it is, what their form says, and how they are answered.

Guarantee: a form changes something only if it comes from a page of this service. Proof: `visitor` is a dependency of
every handler for people who are signed in, and compares the form's hidden field with the session's CSRF token whenever
the method is POST; forms of people who are not signed in carry a secret that only their browser's cookie has
(`check_front`). Test: tests/service/test_pages.py::test_forms_from_elsewhere_are_refused
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias
from urllib.parse import quote

from fastapi import Depends
from sqlalchemy import Connection, func, select
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from discreet.errors import DiscreetError
from discreet.service.pages.numbers import whole
from discreet.service.pages.rendering import SAID, Notice, forgery_field, page, places_of
from discreet.service.people import Person
from discreet.service.problems import Problem, Problems
from discreet.service.security.caller import Caller
from discreet.service.security.secrets import new_secret, same
from discreet.service.tables import jobs
from discreet.service.web.access import check_csrf, find_caller
from discreet.service.web.context import Context, context
from discreet.service.web.failures import problem_of

MOST_FIELDS = 10_000
"""Of one form: a table of thousands of columns can be confirmed; the size of a request is limited anyway."""
FRONT = "discreet_front"
"""The cookie of browsers that are not signed in."""
NOT_HERE = (Problems.INTERNAL, Problems.NOT_FOUND, Problems.NOT_SIGNED_IN, Problems.NOT_ALLOWED, Problems.UNAVAILABLE)
"""What is shown on a page of its own, not above the form that caused it."""


async def sent(request: Request) -> AsyncIterator[FormData]:
    """The fields of a form; none for a GET. Files stay in memory: they are smaller than what would go to a disk."""
    if request.method != "POST":
        yield FormData()
        return
    async with request.form(max_files=1, max_fields=MOST_FIELDS) as form:
        yield form


Sent: TypeAlias = Annotated[FormData, Depends(sent)]


@dataclass(frozen=True)
class Visit:
    """A person who is signed in, on one page."""

    here: Context
    request: Request
    caller: Caller
    form: FormData

    @property
    def person(self) -> Person:
        """Who it is."""
        return self.caller.person

    def text(self, name: str, most: int = 4000) -> str:
        """A field of the form without spaces around it; empty if it is absent."""
        return text_in(self.form, name, most)

    def texts(self, name: str) -> list[str]:
        """All values of a field that can be ticked several times."""
        return [each for each in self.form.getlist(name) if isinstance(each, str)]

    def fields(self) -> dict[str, str]:
        """The form as it was sent, to be shown again; without the passwords and the hidden field."""
        hidden = ("csrf", "password", "again", "old")
        return {name: each for name, each in self.form.items() if isinstance(each, str) and name not in hidden}

    def place(self) -> int:
        """From which entry on a long list is shown, as the address says (`?from=50`)."""
        return whole(self.request.query_params.get("from")) or 0

    def page(self, template: str, *, notice: Notice | None = None, status: int = 200, **values: Any) -> Response:
        """A page for this person."""
        waiting = 0
        if self.person.is_owner:
            with self.here.reading() as connection:
                waiting = number_waiting(connection)
        path = self.request.url.path
        frame = {
            "visitor": self.person,
            "places": places_of(self.person.roles, path, waiting),
            "forgery": forgery_field(self.caller.csrf),
            "notice": notice or SAID.get(self.request.query_params.get("said", "")),
            "here": path,
        }
        return page(template, {**frame, **values}, status)

    def change(self, act: Callable[[Connection], str], again: Callable[..., Response]) -> Response:
        """Act in one transaction, then go where it says; what is refused is said on the page that `again` makes."""
        try:
            with self.here.writing() as connection:
                path = act(connection)
        except DiscreetError as error:
            return self.refused(error, again)
        return RedirectResponse(path, 303)

    def refused(self, error: DiscreetError, again: Callable[..., Response]) -> Response:
        """The page that `again` makes, with what is wrong above it."""
        problem = problem_of(error)
        if problem.problem in NOT_HERE:
            raise problem
        return again(notice=notice_of(problem), status=problem.status)


def text_in(form: FormData, name: str, most: int = 4000) -> str:
    """A field of a form without spaces around it; a Problem if it is longer than `most` or cannot be stored."""
    value = form.get(name)
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > most or "\0" in text:
        raise Problem(Problems.INVALID, f"{name}: need at most {most} characters, none of them NUL.")
    return text


def notice_of(problem: Problem) -> Notice:
    """A problem as the sentence above a page."""
    told = problem.problem is Problems.BUDGET  # its message says what to do
    return Notice(str(problem.body()["detail"]), "bad", "" if told else problem.remedy)


def number_waiting(connection: Connection) -> int:
    """How many requests wait for an owner, up to 100: more are not counted, so that a flood does not slow pages."""
    some = select(jobs.c.id).where(jobs.c.state == "requested").limit(100).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def visitor(*roles: str) -> Callable[..., Visit]:
    """A dependency: whoever is signed in and has one of the roles (any if none is given), and their form."""

    def dependency(request: Request, form: Sent, here: Annotated[Context, Depends(context)]) -> Visit:
        caller = find_caller(here, request)
        if caller is None or caller.csrf is None:
            raise Problem(Problems.NOT_SIGNED_IN)
        if request.method == "POST":
            sent_token = form.get("csrf")
            check_csrf(caller, sent_token if isinstance(sent_token, str) else None)
        if roles:
            caller.need_role(*roles)
        return Visit(here, request, caller, form)

    return dependency


Anyone: TypeAlias = Annotated[Visit, Depends(visitor())]
Owner: TypeAlias = Annotated[Visit, Depends(visitor("owner"))]
Analyst: TypeAlias = Annotated[Visit, Depends(visitor("analyst"))]
Asker: TypeAlias = Annotated[Visit, Depends(visitor("analyst", "owner"))]
Auditor: TypeAlias = Annotated[Visit, Depends(visitor("owner", "auditor"))]


def front_token(request: Request) -> str:
    """The secret that ties forms of people who are not signed in to their browser: that of its cookie, or a new one."""
    known = request.cookies.get(FRONT, "")
    return known if len(known) >= 40 and known.isascii() and known.isprintable() else new_secret()


def front_page(request: Request, here: Context, template: str, values: dict[str, Any], status: int = 200) -> Response:
    """A page for somebody who is not signed in; its form carries the secret that the cookie has."""
    token = front_token(request)
    answer = page(template, {**values, "forgery": forgery_field(token)}, status)
    answer.set_cookie(FRONT, token, path="/", secure=here.https, httponly=True, samesite="strict")
    return answer


def check_front(request: Request, form: FormData) -> None:
    """Refuse a form that no page of ours gave to this browser: another site knows neither secret."""
    field, cookie = form.get("csrf"), request.cookies.get(FRONT, "")
    if not cookie or not isinstance(field, str) or not same(cookie, field):
        raise Problem(Problems.CSRF)


def safe_path(path: str) -> str:
    """A path of this service to go to after signing in; anything else becomes the first page."""
    plain = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if plain else "/"


async def show_problem(request: Request, problem: Problem) -> Response:
    """A problem as a page; whoever is not signed in is asked to sign in."""
    if problem.problem is Problems.NOT_SIGNED_IN and request.method == "GET":
        return RedirectResponse(f"/enter?next={quote(request.url.path)}", 303)
    back = {"problem": problem.body(), "back": "/", "forgery": ""}
    answer = page("problem.html", back, problem.status)
    answer.headers.update(problem.headers)
    return answer


def first_path(roles: Sequence[str]) -> str:
    """Where a person begins."""
    return {"owner": "/inbox", "analyst": "/catalogue", "auditor": "/ledger"}[roles[0]]
