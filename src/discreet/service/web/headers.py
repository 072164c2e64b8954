"""Security headers of every response, the limit on the size of a request, and addresses that hold no NUL."""

from __future__ import annotations

import json

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.service.problems import MEDIA_TYPE, Problem, Problems

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""No inline script or style, nothing from elsewhere. Sign-in by OIDC is a plain redirect, which form-action of a GET
link does not concern."""
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STRICT_TRANSPORT = "max-age=31536000; includeSubDomains"
LARGEST_BODY = 1_000_000
"""Bytes of a request. The largest that is sensible is a file to classify, or a schema to confirm."""


class SecurityHeaders:
    """Adds HEADERS to every response; HSTS when the service is reached by https; nothing but static files is cached."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self.app = app
        self.https = https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if self.https:
                    headers.setdefault("strict-transport-security", STRICT_TRANSPORT)
                if not scope["path"].startswith("/static/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)


class SizeLimit:
    """Refuses a body that is larger than allowed: by its stated length at once, else when the bytes exceed it."""

    def __init__(self, app: ASGIApp, *, most: int = LARGEST_BODY) -> None:
        self.app = app
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if not stated.isdigit() or len(stated) > 12 or int(stated) > self.most:
            await _refuse(send)
            return
        received, started, refused = 0, False, False

        async def bounded() -> Message:
            nonlocal received, refused
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most and not refused:
                refused = True
                if not started:
                    await _refuse(send)
            return {"type": "http.disconnect"} if refused else message

        async def watched(message: Message) -> None:
            nonlocal started
            if not refused:
                started = True
                await send(message)

        await self.app(scope, bounded, watched)


class PlainAddress:
    """Refuses an address with a NUL, which no name or number has, and which a database would refuse with an error."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "\0" in scope["path"]:
            await _refuse(send, Problems.NOT_FOUND)
        elif scope["type"] == "http" and any(each in scope["query_string"] for each in (b"\0", b"%00")):
            await _refuse(send, Problems.MALFORMED)
        else:
            await self.app(scope, receive, send)


async def _refuse(send: Send, why: Problems = Problems.TOO_LARGE) -> None:
    problem = Problem(why)
    body = json.dumps(problem.body()).encode()
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
