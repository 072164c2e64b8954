"""Tokens on this machine: a file that only its owner can read, and signing in once to get one.

A token in the file belongs to one address, and is never sent to another one.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from discreet.client.refusals import refusal
from discreet.client.transport import API, TOKEN, Transport, checked_address
from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.storage.locking import lock_module

PLACE = "DISCREET_CREDENTIALS"
"""The environment variable that names another file for tokens."""
ADDRESS = "DISCREET_URL"
"""The environment variable that names the service."""
SCOPES = ("read", "ask")


def credentials_file() -> Path:
    """Where tokens are kept: in the folder for settings of this account, or where DISCREET_CREDENTIALS says."""
    if named := os.environ.get(PLACE):
        return Path(named)
    settings = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(settings) / "discreet" / "credentials.json"


def connection(url: str | None, *, insecure: bool = False) -> tuple[str, str]:
    """Address and token: as given and as in the environment, else as in the file, else ParameterError says what to do.

    Without an address, the one that was signed in to last is meant.
    """
    kept = _read()
    address = url or os.environ.get(ADDRESS) or kept["last"]
    if not address:
        raise ParameterError(f"no service is known; sign in by `discreet remote login URL`, or set {ADDRESS}")
    address = checked_address(address, insecure=insecure)
    token = os.environ.get(TOKEN) or kept["tokens"].get(address)
    if not token:
        raise ParameterError(f"no token for {address}; sign in by `discreet remote login {address}`, or set {TOKEN}")
    return address, token


def keep(url: str, token: str) -> Path:
    """Keep the token of an address, and remember the address as the last one; returns the file."""
    with _changed() as kept:
        kept["tokens"][url], kept["last"] = token, url
    return credentials_file()


def forget(url: str | None) -> str | None:
    """Forget the token of an address, or of the last one; returns the address, or None if there was no token."""
    with _changed() as kept:
        address = (url or kept["last"] or "").rstrip("/")
        if kept["last"] == address:
            kept["last"] = None
        return address if kept["tokens"].pop(address, None) is not None else None


def sign_in(url: str, name: str, password: str, *, label: str, days: int, insecure: bool = False) -> str:
    """A new token with the scopes `read` and `ask`, by name and password; the session is ended at once."""
    address = checked_address(url, insecure=insecure)
    try:
        import httpx
    except ImportError:
        raise MissingExtra("client") from None
    from discreet.client.refusals import RefusedError

    with httpx.Client(base_url=address + API, timeout=60.0, follow_redirects=False) as http:

        def call(method: str, path: str, csrf: str = "", **content: Any) -> Any:
            try:
                answer = http.request(method, path, headers={"X-CSRF-Token": csrf}, **content)
            except httpx.HTTPError as error:
                text = f"{address} does not answer ({type(error).__name__}); check the address, or try again later"
                raise RefusedError(text) from None
            try:
                told = answer.json() if answer.content else None
            except ValueError:
                told = None
            if not answer.is_success or (told is None and answer.status_code != 204):
                raise refusal(answer.status_code, told)
            return told

        csrf = str(call("POST", "/sessions", json={"name": name, "password": password})["csrf"])
        try:
            made = call("POST", "/tokens", csrf, json={"name": label, "scopes": list(SCOPES), "days": days})
        finally:
            with contextlib.suppress(RefusedError):
                call("DELETE", "/sessions/current", csrf)
        return str(made["secret"])


def checked_token(url: str, token: str, *, insecure: bool = False) -> dict[str, Any]:
    """Who a token belongs to; RefusedError if the service does not know it."""
    transport = Transport(url, token, insecure=insecure)
    try:
        return dict(transport.get("/me"))
    finally:
        transport.close()


class _changed:  # noqa: N801 - a context manager, used as a function
    """The content of the file, to be changed; it is written when the block ends, by one process at a time."""

    def __enter__(self) -> dict[str, Any]:
        path = credentials_file()
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise FileError(f"cannot keep a token in {path}: {error.strerror}; set {PLACE} or {TOKEN}") from None
        locking = lock_module(path)
        locking.flock(self._lock, locking.LOCK_EX)
        try:
            self._kept = _read()
        except BaseException:
            os.close(self._lock)
            raise
        return self._kept

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                _write(self._kept)
        finally:
            os.close(self._lock)


def _read() -> dict[str, Any]:
    path = credentials_file()
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise FileError(f"{path} can be read by others; its tokens may be known: revoke them, and chmod 600 it")
        content = json.loads(path.read_text(encoding="utf-8"))
        last, tokens = content["last"], content["tokens"]
        if not isinstance(last, str | None) or not all(
            isinstance(each, str) for pair in tokens.items() for each in pair
        ):
            raise TypeError
    except FileError:
        raise
    except FileNotFoundError:
        return {"last": None, "tokens": {}}
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; set {PLACE} or {TOKEN}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileError(f"{path} does not hold tokens; remove it, and sign in again") from None
    return {"last": last, "tokens": dict(tokens)}


def _write(kept: dict[str, Any]) -> None:
    """Replace the file; the new one is readable by its owner alone from its first byte on (mkstemp)."""
    path = credentials_file()
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".credentials")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(kept, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise FileError(f"cannot keep a token in {path}: {error.strerror}; set {PLACE} or {TOKEN}") from None
