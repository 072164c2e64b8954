"""Asking: a form beside its price, and what would remain; for analysts with a grant."""

from __future__ import annotations

import uuid
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from discreet.errors import DiscreetError
from discreet.privacy.accounts import as_fraction
from discreet.schema import Schema
from discreet.service import jobs
from discreet.service.catalogue import Dataset, dataset_named, ready_version
from discreet.service.clock import now
from discreet.service.errors import NotFoundError
from discreet.service.grants import Grant, grants_of
from discreet.service.pages import asking, quoting, views
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Analyst, Visit, notice_of
from discreet.service.problems import Problems
from discreet.service.quotes import Quote, quote
from discreet.service.releases import all_releases
from discreet.service.web.failures import problem_of

router = APIRouter(include_in_schema=False)


@router.get("/ask/{name}/{kind}")
def show_form(name: str, kind: str, visit: Analyst) -> Response:
    """The form, filled in with usual values, and the price of that."""
    return _ask(visit, name, kind)


@router.post("/ask/{name}/{kind}")
def ask(name: str, kind: str, visit: Analyst) -> Response:
    """Show the price of what the form says, or ask for it."""
    if visit.text("then", 12) != "ask":
        return _ask(visit, name, kind)
    try:
        with visit.here.writing() as connection:
            schema = _known(connection, visit, name)[1]
            content = asking.request_of(kind, visit.form, schema)
            job, _ = jobs.submit(
                connection,
                visit.person,
                name,
                content,
                visit.text("key", 120),
                project=visit.text("grant", 120) or None,
                request_days=visit.here.settings.request_days,
            )
    except DiscreetError as error:
        problem = problem_of(error)
        if problem.problem in (Problems.NOT_FOUND, Problems.INTERNAL, Problems.UNAVAILABLE):
            raise
        return _ask(visit, name, kind, notice=notice_of(problem), status=problem.status)
    return RedirectResponse(f"/jobs/{job}?said=asked", 303)


def _known(connection: Connection, visit: Visit, name: str) -> tuple[Dataset, Schema]:
    dataset = dataset_named(connection, name, visit.person)
    return dataset, ready_version(connection, dataset.id).public_schema


def _ask(visit: Visit, name: str, kind: str, *, notice: Notice | None = None, status: int = 200) -> Response:
    if kind not in [known for known, _ in views.KINDS]:
        raise NotFoundError("there is no such kind of request")
    with visit.here.reading() as connection:
        dataset, schema = _known(connection, visit, name)
        held = _grants(connection, visit, dataset)
        values = _fields(connection, visit, kind, schema)
        shown, trouble = None, None
        if held and not (kind == "score" and not values["releases"]):
            shown, trouble = _priced(connection, visit, kind, dataset, schema, held)
    form = {field: value for field, value in visit.form.items() if isinstance(value, str)}
    values |= {"dataset": dataset, "kind": kind, "kinds": views.KINDS, "form": form, "key": str(uuid.uuid4())}
    values |= {"grants": [(each.project, f"Project {each.project}") for each in held], "granted": bool(held)}
    return visit.page("ask.html", status=status, notice=notice, quote=shown, trouble=trouble, **values)


def _grants(connection: Connection, visit: Visit, dataset: Dataset) -> list[Grant]:
    own = grants_of(connection, visit.person.id)
    return [each for each in own if each.dataset_id == dataset.id and each.is_active(now())]


def _fields(connection: Connection, visit: Visit, kind: str, schema: Schema) -> dict[str, Any]:
    if kind == "train":
        return {"models": views.MODELS, "parameters": asking.parameters()}
    if kind == "score":
        found = all_releases(connection, visit.person, kind="train")
        return {"releases": [(each.id, f"{each.card.get('model', 'model')} · {each.id[:8]}") for each in found]}
    fields = asking.column_fields(schema, visit.form, target=True)
    return {"columns": fields[: asking.MOST_SHOWN], "hidden_columns": max(0, len(fields) - asking.MOST_SHOWN)}


def _priced(
    connection: Connection, visit: Visit, kind: str, dataset: Dataset, schema: Schema, held: list[Grant]
) -> tuple[dict[str, Any] | None, Notice | None]:
    """The quote for what the form says, or what is wrong with it."""
    form = visit.form
    if kind == "score" and not form.get("release"):
        newest = all_releases(connection, visit.person, kind="train", most=1)[0]
        form = FormData([*form.multi_items(), ("release", newest.id)])
    project = visit.text("grant", 120) or held[0].project
    try:
        content = asking.request_of(kind, form, schema)
        least = visit.here.settings.least_slot
        found = quote(connection, visit.person, dataset.name, content, project=project, least_slot=least)
    except DiscreetError as error:
        problem = problem_of(error)
        if problem.problem is Problems.INTERNAL:
            raise
        return None, notice_of(problem)
    return _shown(connection, found, next(each for each in held if each.project == project)), None


def _shown(connection: Connection, found: Quote, grant: Grant) -> dict[str, Any]:
    accounts = views.money(connection, (grant.account, grant.project_account))
    left = [views.after(accounts[each], found.nano) for each in (grant.account, grant.project_account)]
    if not found.enough:
        decision = "The budget does not allow this now: ask for less, or ask an owner to raise it."
    elif found.approved_by_rule:
        decision = "Approved at once by the rule of your grant."
    else:
        decision = "An owner decides."
    return {
        "price": views.epsilon_words(str(as_fraction(found.nano))),
        "decision": decision,
        "enough": found.enough,
        "expected": quoting.sentences(found.expected),
        "accounts": left,
        "slot": quoting.duration(found.slot),
    }
