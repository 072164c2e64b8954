"""The closed list of what can go wrong over HTTP, as problems of RFC 9457: type, title, status, detail, remedy.

Guarantee  no problem tells anything about a record.
Proof      title, status and remedy are constants of this file; a detail is one of these constants or the message of an
           error about the request itself, which was raised without reading data (the web process has no route to the
           data); an unexpected exception becomes `internal`, whose only variable is a random identifier.
Test       tests/service/test_problems.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from discreet.errors import DiscreetError

MEDIA_TYPE = "application/problem+json"
BASE = "/problems/"
"""Where the types live: a relative address, so that no host name is baked in."""


@dataclass(frozen=True)
class Kind:
    """One line of the list."""

    name: str
    status: int
    title: str
    remedy: str

    @property
    def type(self) -> str:
        """The identifier of RFC 9457."""
        return BASE + self.name


class Problems(Enum):
    """Every problem that the service answers with. A new one is a line here and a case in the tests."""

    MALFORMED = Kind("malformed", 400, "The request cannot be read", "Send JSON as the API's description says.")
    KEY_NEEDED = Kind(
        "idempotency-key-needed",
        400,
        "The Idempotency-Key is missing",
        "Send a header Idempotency-Key, such as a UUID.",
    )
    NOT_SIGNED_IN = Kind(
        "not-signed-in",
        401,
        "This needs a person who is signed in",
        "Sign in, or send a token that is valid: Authorization: Bearer dsc_…",
    )
    WRONG_PASSWORD = Kind(
        "wrong-password", 401, "Name or password is wrong", "Try again, or ask the owner for a link that resets it."
    )
    NOT_ALLOWED = Kind("not-allowed", 403, "Your role does not allow this", "Ask the owner.")
    SCOPE = Kind("scope-missing", 403, "The token lacks a scope", "Make a token that has the scope of this call.")
    CSRF = Kind(
        "csrf", 403, "The request does not come from a page of this service", "Send the session's X-CSRF-Token; reload."
    )
    NOT_FOUND = Kind("not-found", 404, "There is no such thing, or none that you may know of", "Check the address.")
    METHOD = Kind("method-not-allowed", 405, "This address does not take this method", "See the header Allow.")
    TAKEN = Kind("taken", 409, "This name is taken", "Choose another name.")
    WRONG_STATE = Kind("wrong-state", 409, "It is not in a state that allows this", "Reload, and look at its state.")
    OTHER_REQUEST = Kind(
        "key-used", 409, "This Idempotency-Key was used for another request", "Send a new key for a new request."
    )
    BUDGET = Kind(
        "budget-short",
        409,
        "The budget does not allow this",
        "Use a smaller epsilon, or ask the owner to raise the limit.",
    )
    LINK = Kind("link-used", 410, "The link is not valid, or no longer", "Ask for a new link.")
    TOO_LARGE = Kind("too-large", 413, "The request is too large", "Send less at a time.")
    MEDIA = Kind("unsupported-media-type", 415, "This content type is not read here", "Send application/json.")
    INVALID = Kind("invalid-request", 422, "The request does not fit", "Change the fields that are named.")
    TOO_MANY = Kind("too-many-requests", 429, "Too many requests", "Wait as long as the header Retry-After says.")
    INTERNAL = Kind("internal", 500, "Something failed here", "Tell the owner the identifier; nothing was released.")
    UNAVAILABLE = Kind("unavailable", 503, "The service cannot answer now", "Try again later, with the same key.")

    @property
    def kind(self) -> Kind:
        """The line itself."""
        return self.value


BY_NAME: Mapping[str, Problems] = {each.kind.name: each for each in Problems}
"""For a client: the problem of a type's last part."""


class Problem(DiscreetError):  # noqa: N818 - the word of RFC 9457
    """A refusal that is shown to the asker: one of `Problems`, perhaps with a detail about the request."""

    def __init__(
        self,
        problem: Problems,
        detail: str | None = None,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(detail or problem.kind.title)
        self.problem = problem
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.remedy = remedy or problem.kind.remedy

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.problem.kind.status

    def body(self) -> dict[str, Any]:
        """The JSON object of RFC 9457, with the remedy as an extension."""
        kind = self.problem.kind
        body: dict[str, Any] = {
            "type": kind.type,
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail or kind.title + ".",
            "remedy": self.remedy,
        }
        if self.errors:
            body["errors"] = [dict(each) for each in self.errors]
        return body
