"""One line of JSON for each request: method, route template, status, person, bucket of duration. Nothing else.

Guarantee  a line holds no value of a request or response.
Proof      `Lines` writes six fields: the method and the route are from closed lists ("other" otherwise), as are status
           and bucket; the person is an integer; the identifier is random. Paths, queries, headers and bodies are never
           given to the logger; uvicorn's access log is off.
Test       tests/service/test_request_log.py
"""

from __future__ import annotations

import logging
import secrets
import sys
import time
from bisect import bisect_left
from typing import Any, TextIO

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Seconds, upper ends: a duration is logged as the smallest of these that holds it."""
API = "/api/v1"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def bucket(seconds: float) -> str:
    """The bucket of a duration, as text."""
    place = bisect_left(BUCKETS, seconds)
    return f"<={BUCKETS[place]:g}s" if place < len(BUCKETS) else f">{BUCKETS[-1]:g}s"


def logger(stream: TextIO | None = None) -> Any:
    """A structured logger that writes JSON lines to standard error."""
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


def route_of(scope: Scope) -> str:
    """The template of the route that answered, such as /api/v1/jobs/{job_id}; never the path itself."""
    template = getattr(scope.get("route"), "path", None)
    if not isinstance(template, str):
        return "other"
    is_api = scope["path"].startswith(API + "/") and not template.startswith(API)
    return API + template if is_api else template


class Lines:
    """Middleware that writes the line, and hands durations and statuses to the metrics."""

    def __init__(self, app: ASGIApp, *, log: Any, observe: Any) -> None:
        self.app = app
        self.log = log
        self.observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        scope["discreet.id"] = secrets.token_hex(8)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in METHODS else "other"
            route = route_of(scope)
            self.observe(method, route, status, seconds)
            self.log.info(
                "request",
                method=method,
                route=route,
                status=status,
                person=scope.get("discreet.person"),
                duration=bucket(seconds),
                id=scope["discreet.id"],
            )
