"""Sessions of browsers and tokens of scripts: made, recognised, ended. The database holds hashes only.

Guarantee  whoever reads the database cannot sign in with what they read, and nobody is recognised by a session or token
           that expired, was revoked, or belongs to a disabled person.
Proof      `recognise_session` and `recognise_token` look up SHA-256 of 256 random bits, and their WHERE clauses require
           each of these. The CSRF token is readable there, and worth nothing without the session.
Test       tests/service/test_sessions.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from discreet.errors import ParameterError
from discreet.service.clock import now
from discreet.service.people import Person
from discreet.service.problems import Problem, Problems
from discreet.service.security.caller import Caller, Scope
from discreet.service.security.secrets import TOKEN_PREFIX, digest, new_secret
from discreet.service.tables import people, sessions, tokens

MOST_TOKENS = 50
"""Tokens in force of one person."""
LONGEST_TOKEN_DAYS = 400
TOUCH = timedelta(minutes=10)
"""`last_used_at` is written at most this often, so that reading does not always write."""


_SESSION = (
    select(people, sessions.c.csrf)
    .join(sessions, sessions.c.person_id == people.c.id)
    .where(
        sessions.c.hash == bindparam("digest"),
        sessions.c.expires_at > bindparam("at"),
        people.c.disabled_at.is_(None),
    )
)
_TOKEN = (
    select(people, tokens.c.id.label("token_id"), tokens.c.scopes, tokens.c.last_used_at)
    .join(tokens, tokens.c.person_id == people.c.id)
    .where(
        tokens.c.hash == bindparam("digest"),
        tokens.c.revoked_at.is_(None),
        or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("at")),
        people.c.disabled_at.is_(None),
    )
)
"""Built once: every request asks one of them, and building a statement takes longer than running it."""


@dataclass(frozen=True)
class NewSession:
    """The secret is for the cookie; csrf is for forms and for scripts on a page."""

    secret: str
    csrf: str
    expires_at: datetime


@dataclass(frozen=True)
class NewToken:
    """The secret is shown once."""

    id: int
    secret: str
    expires_at: datetime


def stored_password(connection: Connection, name: str) -> tuple[int, str | None] | None:
    """The number and the password's hash of a person who is not disabled; None if there is no such person."""
    row = connection.execute(
        select(people.c.id, people.c.password_hash).where(people.c.name == name, people.c.disabled_at.is_(None))
    ).one_or_none()
    return None if row is None else (row.id, row.password_hash)


def open_session(connection: Connection, person_id: int, hours: float) -> NewSession:
    """A session for a person who proved who they are; ended sessions are swept away."""
    made = NewSession(new_secret(), new_secret(), now() + timedelta(hours=hours))
    connection.execute(delete(sessions).where(sessions.c.expires_at <= now()))
    connection.execute(
        insert(sessions).values(
            hash=digest(made.secret),
            person_id=person_id,
            csrf=made.csrf,
            created_at=now(),
            expires_at=made.expires_at,
        )
    )
    return made


def sign_out(connection: Connection, secret: str) -> None:
    """End one session."""
    connection.execute(delete(sessions).where(sessions.c.hash == digest(secret)))


def sign_out_everywhere(connection: Connection, person_id: int) -> None:
    """End all sessions of a person and revoke their tokens: after a reset, or when they are disabled."""
    connection.execute(delete(sessions).where(sessions.c.person_id == person_id))
    connection.execute(
        update(tokens).where(tokens.c.person_id == person_id, tokens.c.revoked_at.is_(None)).values(revoked_at=now())
    )


def recognise_session(connection: Connection, secret: str) -> Caller | None:
    """Who a cookie belongs to, if it is in force."""
    row = connection.execute(_SESSION, {"digest": digest(secret), "at": now()}).one_or_none()
    if row is None:
        return None
    return Caller(_person(row), csrf=row.csrf, session=secret)


def recognise_token(connection: Connection, secret: str) -> tuple[Caller, int | None] | None:
    """Who a token belongs to, if it is in force; and its number when its use should be noted (`touch`)."""
    if not secret.startswith(TOKEN_PREFIX):
        return None
    row = connection.execute(_TOKEN, {"digest": digest(secret), "at": now()}).one_or_none()
    if row is None:
        return None
    stale = row.last_used_at is None or now() - row.last_used_at > TOUCH
    scopes = frozenset(Scope(each) for each in row.scopes)
    return Caller(_person(row), scopes), row.token_id if stale else None


def _person(row: Row[Any]) -> Person:
    return Person(row.id, row.name, row.display, row.is_owner, row.is_analyst, row.is_auditor, row.disabled_at)


def touch(connection: Connection, token_id: int) -> None:
    """Note that a token was used."""
    connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=now()))


def make_token(connection: Connection, person_id: int, name: str, scopes: Iterable[Scope], days: int) -> NewToken:
    """A token for a script. It ends after `days`."""
    wanted = sorted({Scope(each).value for each in scopes})
    if not wanted or not 1 <= days <= LONGEST_TOKEN_DAYS:
        raise ParameterError(f"a token has at least one scope and lasts 1 to {LONGEST_TOKEN_DAYS} days")
    if len(list_tokens(connection, person_id)) >= MOST_TOKENS:
        raise ParameterError(f"at most {MOST_TOKENS} tokens; revoke one first")
    secret, expires_at = new_secret(TOKEN_PREFIX), now() + timedelta(days=days)
    values = {"name": name, "hash": digest(secret), "scopes": wanted, "expires_at": expires_at}
    result = connection.execute(insert(tokens).values(person_id=person_id, created_at=now(), **values))
    assert result.inserted_primary_key is not None
    return NewToken(result.inserted_primary_key[0], secret, expires_at)


def list_tokens(connection: Connection, person_id: int) -> list[Row[Any]]:
    """The tokens in force of a person, newest first; nothing here lets anybody in."""
    columns = (c for c in tokens.c if c.name != "hash")
    return list(
        connection.execute(
            select(*columns)
            .where(
                tokens.c.person_id == person_id,
                tokens.c.revoked_at.is_(None),
                or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now()),
            )
            .order_by(tokens.c.id.desc())
        )
    )


def revoke_token(connection: Connection, person_id: int, token_id: int) -> None:
    """Revoke one's own token."""
    done = connection.execute(
        update(tokens)
        .where(tokens.c.id == token_id, tokens.c.person_id == person_id, tokens.c.revoked_at.is_(None))
        .values(revoked_at=now())
    )
    if done.rowcount != 1:
        raise Problem(Problems.NOT_FOUND)
