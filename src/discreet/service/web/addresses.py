"""The rate limit of an address, before anything else is done for a request."""

from __future__ import annotations

import math

from starlette.types import ASGIApp, Receive, Scope, Send

from discreet.service.problems import Problem, Problems
from discreet.service.web.failures import as_json
from discreet.service.web.rates import ADDRESS, Rates


class AddressLimit:
    """Refuses what comes too often from one address."""

    def __init__(self, app: ASGIApp, *, rates: Rates) -> None:
        self.app = app
        self.rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            who = scope["client"][0] if scope.get("client") else "unknown"
            seconds = self.rates.wait("address", who, ADDRESS)
            if seconds > 0:
                problem = Problem(Problems.TOO_MANY, headers={"Retry-After": str(math.ceil(seconds))})
                await as_json(problem)(scope, receive, send)
                return
        await self.app(scope, receive, send)
