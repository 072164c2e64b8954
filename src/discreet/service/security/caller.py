"""Who is asking, and what they may do by role and by the scopes of their token."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.service.people import Person
from discreet.service.problems import Problem, Problems


class Scope(StrEnum):
    """What a token may do, within what its person may do."""

    READ = "read"
    ASK = "ask"
    MANAGE = "manage"
    METRICS = "metrics"


ALL_SCOPES = frozenset(Scope)


@dataclass(frozen=True)
class Caller:
    """A person who is signed in. `csrf` is set where a cookie vouches for them: a browser sends cookies unasked."""

    person: Person
    scopes: frozenset[Scope] = ALL_SCOPES
    csrf: str | None = None
    session: str | None = None

    def need_role(self, *allowed: str) -> None:
        """Refuse whoever has none of these roles."""
        if not set(self.person.roles) & set(allowed):
            raise Problem(Problems.NOT_ALLOWED)

    def need_scope(self, scope: Scope) -> None:
        """Refuse a token without this scope."""
        if scope not in self.scopes:
            raise Problem(Problems.SCOPE, f"The token lacks the scope {scope.value}.")
