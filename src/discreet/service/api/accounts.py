"""Accounts, the ledger's entries, the log, and the check of the chain: what was spent, and that nobody altered it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Body as Sent

from discreet.service import catalogue, datasets, log, standings
from discreet.service.api.shapes import Amount, Answer, Before, Body, Limit, Money, Name, Number, problems, shown
from discreet.service.problems import Problems
from discreet.service.standings import Account
from discreet.service.web.access import AnyCaller, Auditor, Here, Owner

router = APIRouter(tags=["accounts"])


class AccountShown(Answer):
    """An account, in exact amounts."""

    id: int
    kind: str
    name: str
    population: str
    adjacency: str
    limit: Amount
    reserved: Amount
    spent: Amount
    remaining: Amount


class NewLimit(Body):
    """The new limit; never below what is spent and reserved."""

    limit: Money


class EntryShown(Answer):
    """One movement; `hash` covers it and the hash before."""

    number: int
    kind: str
    reservation_id: str | None
    name: str
    epsilon: str
    adjacency: str | None
    nano: int
    accounts: str
    at: str
    previous: str
    hash: str


class LineShown(Answer):
    """Who did what."""

    id: int
    at: datetime
    person: str | None
    action: str
    subject: str
    detail: dict[str, Any]


class Head(Answer):
    """The end of a population's chain, to be noted elsewhere."""

    population: str
    entries: int
    head: str


class Verified(Answer):
    """Whether all chains and balances follow from the entries, and what was found if not."""

    valid: bool
    found: list[str]
    heads: list[Head]


def _shown(account: Account) -> AccountShown:
    return AccountShown(
        id=account.id,
        kind=account.kind,
        name=account.name,
        population=account.population,
        adjacency=account.adjacency,
        limit=shown(account.limit),
        reserved=shown(account.reserved),
        spent=shown(account.spent),
        remaining=shown(account.remaining),
    )


@router.get("/accounts", responses=problems())
def list_accounts(caller: AnyCaller, here: Here) -> list[AccountShown]:
    """An analyst's own accounts; all of them for owners and auditors."""
    with here.reading() as connection:
        return [_shown(each) for each in standings.accounts_of(connection, caller.person)]


@router.get("/accounts/{number}", responses=problems())
def read_account(number: Number, caller: AnyCaller, here: Here) -> AccountShown:
    """One account."""
    with here.reading() as connection:
        return _shown(standings.account_of(connection, number, caller.person))


@router.patch("/accounts/{number}", responses=problems(Problems.CSRF, Problems.BUDGET))
def change_limit(number: Number, sent: Annotated[NewLimit, Sent()], caller: Owner, here: Here) -> AccountShown:
    """Change the limit of an account."""
    with here.writing() as connection:
        standings.account_of(connection, number, caller.person)
        datasets.set_limit(connection, number, sent.limit, by=caller.person)
        return _shown(standings.account_of(connection, number, caller.person))


@router.get("/audit/entries", responses=problems())
def list_entries(
    caller: Auditor,
    here: Here,
    population: Annotated[Name, Query(description="Whose chain.")],
    before: Before = None,
    limit: Limit = 100,
) -> list[EntryShown]:
    """The entries of a population's chain, newest first."""
    with here.reading() as connection:
        home = catalogue.population_named(connection, population)
        found = standings.entries_of(connection, home, before=before, most=limit)
    return [EntryShown.model_validate(each) for each in found]


@router.get("/audit/log", responses=problems())
def list_log(caller: Auditor, here: Here, before: Before = None, limit: Limit = 100) -> list[LineShown]:
    """The log, newest first. Lines that depend on the data are shown to owners alone."""
    with here.reading() as connection:
        found = log.read(connection, for_owner=caller.person.is_owner, before=before, most=limit)
    return [LineShown.model_validate(each) for each in found]


@router.get("/audit/verify", responses=problems())
def verify(caller: Auditor, here: Here) -> Verified:
    """Compute all chains and balances again from the entries alone."""
    from discreet.privacy.accounts.verification import verify as verify_accounts

    with here.reading() as connection:
        done = verify_accounts(connection)
    heads = [Head(population=each.population, entries=each.entries, head=each.head) for each in done.populations]
    return Verified(valid=done.whole, found=list(done.problems), heads=heads)
