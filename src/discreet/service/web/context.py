"""What the handlers of one application share: settings, database, rates, metrics, log, sign-in by OIDC."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine
from starlette.requests import Request

from discreet.privacy.accounts.database import reading, reading_apart, writing
from discreet.service.predicting import Models
from discreet.service.security.oidc import SignIn
from discreet.service.settings import Settings
from discreet.service.web.metrics import Metrics
from discreet.service.web.rates import Rates


@dataclass(frozen=True)
class Context:
    """Kept as `app.state.context`; `context(request)` finds it."""

    settings: Settings
    engine: Engine
    log: Any
    oidc: SignIn | None = None
    rates: Rates = field(default_factory=Rates)
    metrics: Metrics = field(default_factory=Metrics)
    models: Models = field(default_factory=Models)

    @property
    def https(self) -> bool:
        """Whether people reach the service by https; then cookies are for https only."""
        return self.settings.public_url.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the session's cookie. With the prefix __Host- no other host can set it, which needs https."""
        return "__Host-discreet" if self.https else "discreet_session"

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection for reading."""
        return reading(self.engine)

    def reading_apart(self) -> AbstractContextManager[Connection]:
        """A connection for reading by statements that need not see the same state."""
        return reading_apart(self.engine)

    def writing(self) -> AbstractContextManager[Connection]:
        """A connection for one transaction that writes."""
        return writing(self.engine)


async def context(request: Request) -> Context:
    """The context of the application that answers this request; async, since it needs no thread of its own."""
    found: Context = request.app.state.context
    return found
