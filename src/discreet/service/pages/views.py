"""What pages show of accounts, jobs, grants and schemas, in words. Public facts only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, select

from discreet.privacy.accounts import as_fraction
from discreet.privacy.accounts.tables import accounts
from discreet.privacy.epsilon import shown_above
from discreet.schema import Categorical, Schema
from discreet.schema.columns import Column, text_of
from discreet.service.clock import now
from discreet.service.grants import Grant
from discreet.service.job_views import Job

MODELS = (
    ("auto", "Automatic", "picks among the others by public facts alone; a good first choice"),
    ("naive-bayes", "Naive Bayes", "one table per column; strong on small budgets"),
    ("one-rule", "One rule", "the single column that decides best; easy to explain"),
    ("decision-tree", "Decision tree", "questions in a tree; needs many records"),
    ("random-forest", "Random forest", "many trees; needs many records"),
    ("svm", "Linear model", "weights for each column"),
)
KINDS = (("train", "A model"), ("count", "Counts"), ("score", "A score"))
PREFIX = {"population": "Population", "dataset": "Table", "project": "Project", "grant": "Grant"}
MEANING: Mapping[str, str] = {
    "requested": "An owner decides. Nothing is charged yet.",
    "reserved": "The price is reserved; a worker takes the request in turn.",
    "running": "The price is spent, and the data are being read.",
    "released": "The answer is yours to use and to publish.",
    "failed": "No answer could be made. The price stays spent, because data were read.",
    "refused": "Nothing was charged.",
    "cancelled": "What was reserved is free again.",
    "expired": "Nobody decided in time. What was reserved is free again.",
}
LISTED = 12
"""The most values of a column that are named in a list; the schema's file has all."""


@dataclass(frozen=True)
class Money:
    """An account with what it has and may."""

    id: int
    kind: str
    name: str
    limit: Fraction
    reserved: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What can still be reserved."""
        return self.limit - self.reserved - self.spent


@dataclass(frozen=True)
class After:
    """What an account has left, now and after a price; None if that is too little."""

    name: str
    remaining: Fraction
    after: Fraction | None


def money(connection: Connection, ids: Iterable[int]) -> dict[int, Money]:
    """Accounts by their numbers."""
    wanted = select(accounts).where(accounts.c.id.in_(set(ids)))
    return {row.id: money_of(row) for row in connection.execute(wanted)}


def money_of(row: Any) -> Money:
    """A row of the accounts."""
    amounts = (as_fraction(each) for each in (row.limit_nano, row.reserved_nano, row.spent_nano))
    return Money(row.id, row.kind, f"{PREFIX[row.kind]} {row.name}", *amounts)


def after(account: Money, nano: int) -> After:
    """What would be left of an account."""
    left = account.remaining - as_fraction(nano)
    return After(account.name, account.remaining, left if left >= 0 else None)


def what(kind: str, request: Mapping[str, Any]) -> str:
    """A request in a few words."""
    if kind == "train":
        names = {name: shown for name, shown, _ in MODELS}
        return f"Model: {names.get(str(request.get('model')), str(request.get('model')))}"
    if kind == "score":
        return f"Score of model {str(request.get('release'))[:8]}"
    queries = request.get("queries", [])
    if len(queries) != 1:
        return f"Counts: {len(queries)} queries"
    by = [str(each["column"]) for each in queries[0].get("by", [])]
    where = [condition_words(each) for each in queries[0].get("where", [])]
    return "Counts" + (f" by {', '.join(by)}" if by else "") + (f" where {' and '.join(where)}" if where else "")


def condition_words(condition: Mapping[str, Any]) -> str:
    """A condition in words."""
    column = condition["column"]
    if condition.get("between") is not None:
        low, high = condition["between"]
        return f"{column} from {low} to {high}"
    if condition.get("in") is not None:
        return f"{column} is {' or '.join(map(str, condition['in'][:LISTED]))}"
    if condition.get("equals") is not None:
        return f"{column} is {condition['equals']}"
    return f"{column} is {'missing' if condition.get('missing') else 'unlisted'}"


def job_view(job: Job) -> dict[str, Any]:
    """A job for a template."""
    return {
        **{name: getattr(job, name) for name in ("id", "kind", "state", "person", "project", "dataset", "version")},
        **{name: getattr(job, name) for name in ("created_at", "expires_at", "visible_at", "note", "decided_by")},
        "release": job.release,
        "what": what(job.kind, job.request),
        "epsilon": epsilon_words(job.epsilon),
        "details": json.dumps(job.request, indent=2, ensure_ascii=False),
        "meaning": MEANING[job.state],
        "moving": job.state in ("requested", "reserved", "running"),
        "can_cancel": job.state in ("requested", "reserved"),
    }


def epsilon_words(text: str) -> str:
    """An exact epsilon as people read it: as a decimal number where it has six digits or fewer, else as a fraction.

    >>> epsilon_words("1/10"), epsilon_words("1/3")
    ('0.1', '1/3')
    """
    exact = Fraction(text)
    decimal = shown_above(exact)
    return decimal if Fraction(decimal) == exact else text


@dataclass(frozen=True)
class GrantView:
    """A grant for a template."""

    id: int
    person: str
    project: str
    dataset: str
    kinds: tuple[str, ...]
    account: Money
    rule: Fraction
    expires_at: datetime | None
    revoked: bool
    expired: bool


def grant_view(grant: Grant, accounts_of: Mapping[int, Money]) -> GrantView:
    """A grant with its account."""
    return GrantView(
        id=grant.id,
        person=grant.person,
        project=grant.project,
        dataset=grant.dataset,
        kinds=grant.kinds,
        account=accounts_of[grant.account],
        rule=as_fraction(grant.approve_up_to_nano),
        expires_at=grant.expires_at,
        revoked=grant.revoked_at is not None,
        expired=grant.expires_at is not None and grant.expires_at <= now(),
    )


def schema_view(schema: Schema) -> dict[str, Any]:
    """The public facts of a table, for the list of its columns."""
    columns = [{"name": each.name, "kind": each.kind, "shown": values_words(each)} for each in schema.columns]
    classes = [text_of(label) for label in schema.classes]
    return {"columns": columns, "target": schema.target, "classes": classes, "records": schema.records}


def values_words(column: Column) -> str:
    """The values that a column can have."""
    if isinstance(column, Categorical):
        named = ", ".join(text_of(label) for label in column.categories[:LISTED])
        more = len(column.categories) - LISTED
        return named + (f" and {more} more" if more > 0 else "") + ("; others count as unlisted" * column.unlisted)
    return f"{number_words(column.lower)} to {number_words(column.upper)}"


def number_words(value: float) -> str:
    """A number as people write it: 17 for 17.0."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
