"""Calls of the service's API by HTTP: the token, problems as errors, and retries of what may be repeated.

A call is repeated only if that cannot do anything twice: reading, and asking with an Idempotency-Key, for which the
service returns the stored job. Everything else is sent once.
"""

from __future__ import annotations

import ipaddress
import json
import os
import random
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from discreet.client.refusals import RefusedError, refusal
from discreet.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    import httpx

API = "/api/v1"
TOKEN = "DISCREET_TOKEN"
ATTEMPTS = 5
FIRST_WAIT, LONGEST_WAIT = 0.25, 30.0
"""Seconds between attempts: doubled each time, with a random part, so that clients do not come back all at once."""
NEEDED = "need the address of a service, such as https://discreet.example.org"
AGAIN = frozenset({429, 502, 503, 504})


def checked_address(url: str, *, insecure: bool) -> str:
    """The address without a slash at its end; a token is not sent in clear over a network unless that is wanted."""
    library = _httpx()
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna").decode()  # as it is looked up
        is_usable = parts.scheme in ("http", "https") and bool(host) and parts.port != 0  # a bad port is an error
        library.URL(url)
    except (ValueError, AttributeError, TypeError, library.InvalidURL):
        raise ParameterError(f"url: this is not an address; {NEEDED}") from None
    if not is_usable or "?" in url or "#" in url or not url.isprintable() or " " in url:
        raise ParameterError(f"url: {NEEDED}")
    if "@" in parts.netloc:
        raise ParameterError(f"url: leave out name and password; {NEEDED}, and a token")
    if parts.scheme == "http" and not insecure and not _is_loopback(host):
        raise ParameterError("url: over http everybody on the way can read the token; use https, or insecure=True")
    return url.rstrip("/")


def checked_secret(token: str) -> str:
    """The token without blanks around it, as a header can carry it; a text that is no token is not repeated."""
    secret = token.strip() if isinstance(token, str) else ""
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise ParameterError("token: this is no token; need one of yours from the service's page, copied whole")
    return secret


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingExtra("client") from None
    return httpx


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Transport:
    """One connection pool to one service, with one token. Safe for threads."""

    def __init__(
        self, url: str, token: str | None = None, *, insecure: bool = False, timeout: float = 60.0, http: Any = None
    ) -> None:
        secret = token or os.environ.get(TOKEN)
        if not secret:
            raise ParameterError(f"token: need one of yours from the service's page, here or in {TOKEN}")
        self.url = checked_address(url, insecure=insecure)
        headers = {"Authorization": f"Bearer {checked_secret(secret)}", "Accept": "application/json"}
        library = _httpx()
        self._lost = library.HTTPError
        self._http: httpx.Client = library.Client(
            base_url=self.url + API, headers=headers, timeout=timeout, follow_redirects=False, transport=http
        )

    def __repr__(self) -> str:
        return f"Transport({self.url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """Read JSON."""
        return self._json(self.call("GET", path, query=query, repeat=True))

    def get_bytes(self, path: str, **query: Any) -> bytes:
        """Read bytes."""
        return self.call("GET", path, query=query, repeat=True).content

    def post(self, path: str, content: Any, *, key: str | None = None, repeat: bool = False) -> Any:
        """Send JSON; with an Idempotency-Key, or where nothing is changed (`repeat`), again if the answer was lost."""
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._json(self.call("POST", path, content=content, headers=headers, repeat=repeat or key is not None))

    def call(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        content: Any = None,
        headers: dict[str, str] | None = None,
        repeat: bool = False,
    ) -> httpx.Response:
        """One call, repeated where that is safe; RefusedError unless it succeeded."""
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        for attempt in range(ATTEMPTS if repeat else 1):
            last = attempt == (ATTEMPTS - 1 if repeat else 0)
            try:
                answer = self._http.request(method, path, params=wanted, json=content, headers=headers)
            except self._lost as error:
                if last:
                    text = f"{self.url} does not answer ({type(error).__name__}); check the address, or try again later"
                    raise RefusedError(text) from None
                time.sleep(_wait(attempt, None))
                continue
            if answer.status_code not in AGAIN or last:
                break
            time.sleep(_wait(attempt, answer.headers.get("Retry-After")))
        if not answer.is_success:
            raise refusal(answer.status_code, _content(answer))
        return answer

    def _json(self, answer: httpx.Response) -> Any:
        content = _content(answer)
        if content is None and answer.status_code != 204:
            raise RefusedError(f"{self.url} did not answer with JSON; check the address", status=answer.status_code)
        return content


def _content(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        return None


def _wait(attempt: int, said: str | None) -> float:
    """Seconds before the next attempt: as long as the service says, within bounds."""
    if said is not None and said.isdigit():
        return min(float(said), LONGEST_WAIT)
    return float(min(FIRST_WAIT * 2**attempt, LONGEST_WAIT) * random.uniform(1.0, 1.5))
