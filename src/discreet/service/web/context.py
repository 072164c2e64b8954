"""What the handlers of one application share: settings, database, rates, metrics, log, sign-in by OIDC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine
from starlette.requests import Request

from discreet.privacy.accounts.database import reading, writing
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

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for reading."""
        with reading(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection for one transaction that writes."""
        with writing(self.engine) as connection:
            yield connection


def context(request: Request) -> Context:
    """The context of the application that answers this request."""
    found: Context = request.app.state.context
    return found
