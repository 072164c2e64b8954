"""One-time links: the first owner's, invitations, and resets of passwords. The database holds their hashes only.

Guarantee  a link works once, before it expires, for what it was made, and while its maker is an owner who may sign in.
           Of several links that reset one password, the first that is used ends the others; of several of the command
           line that make an owner, too, since each start of a service without an owner prints another one.
Proof      `_take` marks it as used by an UPDATE whose WHERE clause requires that it is unused and in force, in the
           transaction that acts on it, so that of two at once one updates no row. `_in_force` looks at the maker in the
           same transaction.
Test       tests/service/test_links.py
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from discreet.service import log
from discreet.service.clock import now
from discreet.service.people import Person, add_person, person_by_id, require_owner
from discreet.service.problems import Problem, Problems
from discreet.service.security.secrets import digest, new_secret
from discreet.service.security.sessions import sign_out_everywhere
from discreet.service.tables import links, people

PATH = "/links/"
"""Where a link's page is; the secret follows."""


@dataclass(frozen=True)
class Link:
    """What a link is for; of a reset, whose."""

    purpose: str
    role: str | None
    person: Person | None


def make_owner_link(connection: Connection, hours: float) -> str:
    """The link that makes an owner; for the command line of the machine, which is trusted."""
    return _make(connection, hours, purpose="owner", role="owner")


def make_invitation(connection: Connection, role: str, hours: float, *, by: Person) -> str:
    """The link by which somebody makes their own account, with this role."""
    require_owner(by)
    secret = _make(connection, hours, purpose="invite", role=role, created_by=by.id)
    log.write(connection, by.id, "link.invite", role)
    return secret


def make_reset(connection: Connection, person_id: int, hours: float, *, by: Person) -> str:
    """The link by which a person sets a new password; signs them out everywhere when it is used."""
    require_owner(by)
    person = person_by_id(connection, person_id)
    secret = _make(connection, hours, purpose="reset", person_id=person.id, created_by=by.id)
    log.write(connection, by.id, "link.reset", person.name)
    return secret


def _make(connection: Connection, hours: float, **values: Any) -> str:
    secret = new_secret()
    connection.execute(insert(links).values(hash=digest(secret), expires_at=now() + timedelta(hours=hours), **values))
    return secret


def look_at(connection: Connection, secret: str) -> Link:
    """What a link in force is for, without using it."""
    row = connection.execute(
        select(links).where(links.c.hash == digest(secret), links.c.used_at.is_(None), links.c.expires_at > now())
    ).one_or_none()
    if row is None or not _in_force(connection, row):
        raise Problem(Problems.LINK)
    return Link(row.purpose, row.role, person_by_id(connection, row.person_id) if row.person_id else None)


def accept(connection: Connection, secret: str, name: str, display: str, password_hash: str) -> Person:
    """Use an owner's link or an invitation to make an account with a password, or a reset to set a new one.

    The password comes hashed (`secrets.hash_password`), since hashing is slow and the writer should not wait for it.
    """
    row = _take(connection, secret)
    if row.purpose != "reset":
        return add_person(connection, name, display, (row.role,), password_hash=password_hash)
    person = person_by_id(connection, row.person_id)
    if person.disabled_at is not None:
        raise Problem(Problems.LINK)
    sign_out_everywhere(connection, person.id)
    connection.execute(
        update(links).where(links.c.person_id == person.id, links.c.used_at.is_(None)).values(used_at=now())
    )
    connection.execute(update(people).where(people.c.id == person.id).values(password_hash=password_hash))
    log.write(connection, person.id, "person.reset", person.name)
    return person


def accept_with_subject(connection: Connection, secret: str, name: str, display: str, subject: str) -> Person:
    """Use an owner's link or an invitation to make an account that signs in by OIDC."""
    row = _take(connection, secret)
    if row.purpose == "reset":
        raise Problem(Problems.LINK)
    return add_person(connection, name, display, (row.role,), oidc_subject=subject)


def _take(connection: Connection, secret: str) -> Row[Any]:
    """Mark a link as used and return it. Raising later undoes this with the rest of the transaction."""
    unused = (links.c.purpose == "owner") & links.c.used_at.is_(None)
    ours = connection.execute(select(links.c.hash).where(unused, links.c.hash == digest(secret))).first()
    if ours is not None:  # two of them that are used at once would else wait for each other
        connection.execute(select(links.c.hash).where(unused).order_by(links.c.hash).with_for_update()).all()
    taken = connection.execute(
        update(links)
        .where(links.c.hash == digest(secret), links.c.used_at.is_(None), links.c.expires_at > now())
        .values(used_at=now())
    )
    if taken.rowcount != 1:
        raise Problem(Problems.LINK)
    row = connection.execute(select(links).where(links.c.hash == digest(secret))).one()
    if not _in_force(connection, row):
        raise Problem(Problems.LINK)
    if row.purpose == "owner":
        connection.execute(update(links).where(unused).values(used_at=now()))
    return row


def _in_force(connection: Connection, row: Row[Any]) -> bool:
    """Whether who made the link may still make it: an owner who was neither disabled nor made something else, or the
    command line."""
    if row.created_by is None:
        return True
    maker = person_by_id(connection, row.created_by)
    return maker.disabled_at is None and maker.is_owner
