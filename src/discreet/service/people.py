"""People and their roles: owner, analyst, auditor. Passwords, tokens and sessions are checked in `security`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from discreet.service import log
from discreet.service.clock import now
from discreet.service.errors import NameTakenError, NotAllowedError, NotFoundError, RequestError
from discreet.service.names import NAME
from discreet.service.tables import people

ROLES = ("owner", "analyst", "auditor")


@dataclass(frozen=True)
class Person:
    """Someone with an account here."""

    id: int
    name: str
    display: str
    is_owner: bool
    is_analyst: bool
    is_auditor: bool
    disabled_at: datetime | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles, as words."""
        held = (self.is_owner, self.is_analyst, self.is_auditor)
        return tuple(role for role, has in zip(ROLES, held, strict=True) if has)


def checked_name(name: str, what: str = "name") -> str:
    """The name, if it is one that pages, addresses and accounts can carry; else RequestError."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RequestError(
            f"{what}: need 1 to 120 small letters, digits, dots or dashes, with a letter or digit at both ends"
        )
    return name


def require_owner(person: Person) -> None:
    """NotAllowedError unless the person is an owner."""
    if not person.is_owner:
        raise NotAllowedError("this is for owners")


def add_person(
    connection: Connection,
    name: str,
    display: str,
    roles: tuple[str, ...],
    *,
    by: Person | None = None,
    password_hash: str | None = None,
    oidc_subject: str | None = None,
) -> Person:
    """Make an account; NameTakenError if the name is in use. `by` is the owner who does it; None: a link."""
    checked_name(name)
    if not display.strip() or len(display) > 120:
        raise RequestError("display: need a name of 1 to 120 characters")
    if not roles or any(role not in ROLES for role in roles):
        raise RequestError(f"roles: need some of {', '.join(ROLES)}")
    if connection.execute(select(people.c.id).where(people.c.name == name)).first() is not None:
        raise NameTakenError(f"the name {name} is in use; choose another")
    held = {f"is_{role}": role in roles for role in ROLES}
    values = {"display": display.strip(), "password_hash": password_hash, "oidc_subject": oidc_subject, **held}
    made = connection.execute(insert(people).values(name=name, created_at=now(), **values))
    log.write(connection, None if by is None else by.id, "person.added", name, {"roles": list(roles)})
    return person_by_id(connection, int(made.inserted_primary_key[0]))  # type: ignore[index]


def person_by_id(connection: Connection, person_id: int) -> Person:
    """The person; NotFoundError if there is none."""
    return _one(connection, people.c.id == person_id)


def person_by_name(connection: Connection, name: str) -> Person:
    """The person; NotFoundError if there is none."""
    return _one(connection, people.c.name == name)


def person_by_subject(connection: Connection, oidc_subject: str) -> Person | None:
    """The person with this OpenID subject, if there is one."""
    try:
        return _one(connection, people.c.oidc_subject == oidc_subject)
    except NotFoundError:
        return None


def _one(connection: Connection, condition: Any) -> Person:
    row = connection.execute(select(people).where(condition)).first()
    if row is None:
        raise NotFoundError("there is no such person")
    return _person(row)


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.display, row.is_owner, row.is_analyst, row.is_auditor, row.disabled_at)


def all_people(connection: Connection) -> list[Person]:
    """Everybody, by name; for owners."""
    return [_person(row) for row in connection.execute(select(people).order_by(people.c.name))]


def has_owner(connection: Connection) -> bool:
    """Whether there is an owner who can sign in; if not, `discreet serve` prints a link that makes one."""
    wanted = select(func.count()).select_from(people).where(people.c.is_owner, people.c.disabled_at.is_(None))
    return bool(connection.execute(wanted).scalar_one())


def set_roles(connection: Connection, person_id: int, roles: tuple[str, ...], *, by: Person) -> Person:
    """Change what a person may do; owners only. The last owner stays one."""
    require_owner(by)
    person = person_by_id(connection, person_id)
    if not roles or any(role not in ROLES for role in roles):
        raise RequestError(f"roles: need some of {', '.join(ROLES)}")
    held = {f"is_{role}": role in roles for role in ROLES}
    connection.execute(update(people).where(people.c.id == person_id).values(**held))
    _keep_an_owner(connection)
    log.write(connection, by.id, "person.roles", person.name, {"roles": list(roles)})
    return person_by_id(connection, person_id)


def disable(connection: Connection, person_id: int, *, by: Person) -> None:
    """Close an account: its sessions and tokens end with it. Owners only; the last owner stays."""
    require_owner(by)
    person = person_by_id(connection, person_id)
    connection.execute(update(people).where(people.c.id == person_id).values(disabled_at=now()))
    _keep_an_owner(connection)
    log.write(connection, by.id, "person.disabled", person.name)


def enable(connection: Connection, person_id: int, *, by: Person) -> None:
    """Open an account again; owners only."""
    require_owner(by)
    person = person_by_id(connection, person_id)
    connection.execute(update(people).where(people.c.id == person_id).values(disabled_at=None))
    log.write(connection, by.id, "person.enabled", person.name)


def _keep_an_owner(connection: Connection) -> None:
    if not has_owner(connection):
        raise RequestError("this would leave no owner; make another owner first")
