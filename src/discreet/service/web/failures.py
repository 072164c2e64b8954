"""From whatever was raised to a problem of the closed list; what is unexpected becomes `internal` without any text."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import InterfaceError, OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.errors import BudgetError, DataError, DiscreetError, FileError, ParameterError, SchemaError
from discreet.service import errors
from discreet.service.problems import MEDIA_TYPE, Problem, Problems

Renderer = Callable[[Request, Problem], Awaitable[Response]]
"""How a problem is shown to a browser; the API shows JSON."""
LONGEST_FIELD = 64
MOST_ERRORS = 20
OF_STATUS: Mapping[int, Problems] = {
    400: Problems.MALFORMED,
    401: Problems.NOT_SIGNED_IN,
    403: Problems.NOT_ALLOWED,
    404: Problems.NOT_FOUND,
    405: Problems.METHOD,
    413: Problems.TOO_LARGE,
    415: Problems.MEDIA,
    429: Problems.TOO_MANY,
    503: Problems.UNAVAILABLE,
}
OF_ERROR: Mapping[type[Exception], tuple[Problems, bool]] = {
    errors.NotFoundError: (Problems.NOT_FOUND, False),
    errors.NotAllowedError: (Problems.NOT_ALLOWED, True),
    errors.StateError: (Problems.WRONG_STATE, True),
    errors.KeyReusedError: (Problems.OTHER_REQUEST, True),
    errors.NameTakenError: (Problems.TAKEN, True),
    errors.RequestError: (Problems.INVALID, True),
    BudgetError: (Problems.BUDGET, True),
    ParameterError: (Problems.INVALID, True),
    SchemaError: (Problems.INVALID, True),
    DataError: (Problems.INVALID, True),
    FileError: (Problems.UNAVAILABLE, False),
    OperationalError: (Problems.UNAVAILABLE, False),
    InterfaceError: (Problems.UNAVAILABLE, False),
}
"""The problem, and whether the message is shown. Messages of ours are made of public facts and of what the asker wrote;
that of NotFoundError is left out, so that what is missing and what is hidden look the same. FileError means that the
database is lost, busy or full."""


def problem_of(error: Exception) -> Problem:
    """The problem that an exception becomes."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return _validation(error)
    if isinstance(error, HTTPException):
        return Problem(OF_STATUS.get(error.status_code, Problems.MALFORMED), headers=error.headers)
    for kind, (problem, tells) in OF_ERROR.items():
        if isinstance(error, kind):
            return Problem(problem, str(error) if tells else None)
    return Problem(Problems.INTERNAL)


def _validation(error: RequestValidationError) -> Problem:
    """Names of fields and of rules, never what was sent."""
    found = error.errors()
    if any(each["type"] == "json_invalid" for each in found):
        return Problem(Problems.MALFORMED)
    if any(each["type"] == "missing" and each["loc"] == ("header", "idempotency-key") for each in found):
        return Problem(Problems.KEY_NEEDED)
    fields = [
        {"field": ".".join(str(part)[:LONGEST_FIELD] for part in each["loc"][:8]), "rule": str(each["type"])}
        for each in found[:MOST_ERRORS]
    ]
    named = ", ".join(dict.fromkeys(each["field"] for each in fields))
    return Problem(Problems.INVALID, f"These fields do not fit: {named}.", errors=fields)


def as_json(problem: Problem) -> JSONResponse:
    """The response of RFC 9457."""
    headers = dict(problem.headers)
    if problem.status == 401:
        headers.setdefault("WWW-Authenticate", 'Bearer realm="discreet"')
    return JSONResponse(problem.body(), problem.status, headers=headers, media_type=MEDIA_TYPE)


def wants_page(request: Request) -> bool:
    """Whether a browser asked for a page: then a problem is shown as one."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI, allowed: Callable[[str], str], render: Renderer | None = None) -> None:
    """Let every exception of a handler end as a problem.

    `allowed` names the methods that a path takes, for the header Allow: the framework knows those of one route, and a
    path may have several. `render` shows a problem as a page where a browser asked for one.
    """

    async def answer(request: Request, error: Exception) -> Response:
        problem = problem_of(error)
        if problem.problem is Problems.INTERNAL:
            raise error  # to CatchAll, which logs where it happened
        if problem.problem is Problems.METHOD:
            problem.headers["Allow"] = allowed(request.url.path) or problem.headers.get("Allow", "GET")
        if render is not None and wants_page(request):
            return await render(request, problem)
        return as_json(problem)

    for kind in (DiscreetError, RequestValidationError, HTTPException, OperationalError, InterfaceError):
        app.add_exception_handler(kind, answer)


class CatchAll:
    """The last net: an unexpected exception is answered with an identifier, and logged by its class and place alone.

    The message of an exception could hold what was sent, so neither the answer nor the log has it.
    """

    def __init__(self, app: ASGIApp, *, log: Any) -> None:
        self.app = app
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            self.log.error(
                "failure", id=scope["discreet.id"], cause=type(error).__name__, place=f"{place.name}:{place.lineno}"
            )
            if not started:
                problem = Problem(Problems.INTERNAL, f"Something failed here; identifier {scope['discreet.id']}.")
                await as_json(problem)(scope, receive, send)
