"""Limits of all accounts, by population; for owners."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, case, select
from starlette.responses import Response

from discreet.privacy.accounts.tables import KINDS, accounts
from discreet.service import datasets
from discreet.service.api.shapes import Number
from discreet.service.catalogue import populations
from discreet.service.pages.rendering import Notice
from discreet.service.pages.views import money_of
from discreet.service.pages.visits import Owner, Visit

router = APIRouter(include_in_schema=False)
SHOWN = 60
"""Accounts on one page."""


@router.get("/limits")
def show_limits(visit: Owner) -> Response:
    """Every account with its bar and its limit."""
    return _limits(visit)


@router.post("/limits/{account}")
def set_limit(account: Number, visit: Owner) -> Response:
    """Raise or lower a limit, never below what is spent and reserved."""

    def act(connection: Connection) -> str:
        datasets.set_limit(connection, account, visit.text("limit", 40), by=visit.person)
        return "/limits?said=limit"

    return visit.change(act, lambda **shown: _limits(visit, **shown))


def _limits(visit: Visit, *, notice: Notice | None = None, status: int = 200) -> Response:
    first = visit.place()
    order = case({kind: place for place, kind in enumerate(KINDS)}, value=accounts.c.kind)
    wanted = select(accounts).order_by(accounts.c.population_id, order, accounts.c.name)
    with visit.here.reading() as connection:
        rows = connection.execute(wanted.offset(first).limit(SHOWN + 1)).all()
        known = populations(connection)
    older = f"/limits?from={first + SHOWN}" if len(rows) > SHOWN else None
    listed: list[dict[str, Any]] = []
    for population, name, adjacency in known:
        own = [money_of(row) for row in rows[:SHOWN] if row.population_id == population]
        if own:
            listed.append({"name": name, "adjacency": adjacency.value, "accounts": own})
    return visit.page("limits.html", notice=notice, status=status, populations=listed, next_page=older)
