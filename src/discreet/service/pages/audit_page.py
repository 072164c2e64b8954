"""The ledger and the log; for owners and auditors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.responses import Response

from discreet.privacy.accounts import as_fraction, verification
from discreet.privacy.accounts.tables import accounts, entries
from discreet.privacy.epsilon import shown_above
from discreet.service import log
from discreet.service.catalogue import populations
from discreet.service.pages.numbers import whole
from discreet.service.pages.views import PREFIX
from discreet.service.pages.visits import Auditor, Visit

router = APIRouter(include_in_schema=False)
SHOWN = 100


@dataclass(frozen=True)
class Verified:
    """What verifying the chain of a population found."""

    holds: bool
    text: str


@router.get("/ledger")
def show_ledger(visit: Auditor) -> Response:
    """Every movement, newest first."""
    return _ledger(visit)


@router.post("/ledger/verify")
def verify(visit: Auditor) -> Response:
    """Compute everything again from the entries alone, and compare."""
    with visit.here.reading() as connection:
        done = verification.verify(connection)
    if not done.whole:
        return _ledger(visit, [Verified(False, each) for each in done.problems])
    told = "each entry follows from those before it"
    found = [f"{each.population}: {each.entries:,} entries, {told}. Head {each.head}" for each in done.populations]
    return _ledger(visit, [Verified(True, each) for each in found])


def _ledger(visit: Visit, verified: list[Verified] | None = None) -> Response:
    asked = visit.request.query_params
    before, wanted = whole(asked.get("before")), whole(asked.get("population"))
    with visit.here.reading() as connection:
        known = populations(connection)
        chosen = wanted if wanted in [account for account, _, _ in known] else (known[0][0] if known else 0)
        rows = _entries(connection, chosen, before)
        names = _names(connection, chosen)
    listed = [_entry(row, names) for row in rows]
    older = f"/ledger?population={chosen}&before={rows[-1].number}" if len(rows) == SHOWN else None
    tabs = [{"id": account, "name": name, "current": account == chosen} for account, name, _ in known]
    return visit.page("ledger.html", entries=listed, populations=tabs, next_page=older, verified=verified)


def _entries(connection: Connection, population: int, before: int | None) -> list[Any]:
    wanted = select(entries).where(entries.c.population_id == population)
    if before is not None:
        wanted = wanted.where(entries.c.number < before)
    return list(connection.execute(wanted.order_by(entries.c.number.desc()).limit(SHOWN)))


def _names(connection: Connection, population: int) -> dict[int, str]:
    wanted = select(accounts.c.id, accounts.c.kind, accounts.c.name).where(accounts.c.population_id == population)
    return {row.id: f"{PREFIX[row.kind]} {row.name}" for row in connection.execute(wanted)}


def _entry(row: Any, names: Mapping[int, str]) -> dict[str, Any]:
    touched = json.loads(row.accounts)
    ids = touched if isinstance(touched, list) else []
    return {
        "number": row.number,
        "kind": row.kind,
        "name": row.name,
        "epsilon": shown_above(as_fraction(row.nano)) if row.nano else "",
        "accounts": ", ".join(names.get(each, str(each)) for each in ids),
        "at": datetime.fromisoformat(row.at),
        "hash": row.hash,
    }


@router.get("/log")
def show_log(visit: Auditor) -> Response:
    """Who did what, newest first. Lines that depend on data are for owners."""
    before = whole(visit.request.query_params.get("before"))
    with visit.here.reading() as connection:
        lines = log.read(connection, for_owner=visit.person.is_owner, before=before, most=SHOWN)
    shown = [
        {
            "at": line.at,
            "person": line.person or "the service",
            "action": line.action,
            "subject": line.subject,
            "detail": ", ".join(f"{name}: {_plain(value)}" for name, value in line.detail.items()),
        }
        for line in lines
    ]
    older = f"/log?before={lines[-1].id}" if len(lines) == SHOWN else None
    return visit.page("log.html", entries=shown, next_page=older)


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
