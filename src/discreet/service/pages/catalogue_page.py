"""The catalogue, a table's public facts and dummy rows, and one's own budget; for analysts, and owners who look."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.responses import Response

from discreet.service.catalogue import Dataset, all_datasets, dataset_named, ready_version, versions_of
from discreet.service.clock import now
from discreet.service.dummy import dummy_csv
from discreet.service.grants import grants_of
from discreet.service.pages import views
from discreet.service.pages.visits import Analyst, Asker, Visit

router = APIRouter(include_in_schema=False)
DUMMY_ROWS = 100


@router.get("/catalogue")
def show_catalogue(visit: Asker) -> Response:
    """The tables that one may know of, with what one may still ask."""
    with visit.here.reading() as connection:
        known = [each for each in all_datasets(connection, visit.person) if each.withdrawn_at is None]
        held = _grants(connection, visit)
        shown = [_listed(connection, each, held) for each in known]
    return visit.page("catalogue.html", datasets=[each for each in shown if each is not None])


def _grants(connection: Connection, visit: Visit) -> list[views.GrantView]:
    own = [each for each in grants_of(connection, visit.person.id) if each.is_active(now())]
    accounts = views.money(connection, [each.account for each in own])
    return [views.grant_view(each, accounts) for each in own]


def _listed(connection: Connection, dataset: Dataset, held: list[views.GrantView]) -> dict[str, Any] | None:
    ready = versions_of(connection, dataset.id, for_owner=False)[:1]
    if not ready:
        return None
    schema = ready[0].public_schema
    facts = {"columns": len(schema.columns), "target": schema.target, "records": schema.records}
    names = {"name": dataset.name, "title": dataset.title, "description": dataset.description}
    return {**names, **facts, "grants": [each for each in held if each.dataset == dataset.name]}


@router.get("/catalogue/{name}")
def show_dataset(name: str, visit: Asker) -> Response:
    """The public facts of a table."""
    with visit.here.reading() as connection:
        dataset = dataset_named(connection, name, visit.person)
        schema = ready_version(connection, dataset.id).public_schema
        held = [each for each in _grants(connection, visit) if each.dataset == name]
    return visit.page("dataset.html", dataset=dataset, grants=held, **views.schema_view(schema))


@router.get("/catalogue/{name}/dummy.csv")
def dummy(name: str, visit: Asker) -> Response:
    """Rows drawn from the schema alone."""
    with visit.here.reading() as connection:
        dataset = dataset_named(connection, name, visit.person)
        schema = ready_version(connection, dataset.id).public_schema
    return attachment(dummy_csv(schema, DUMMY_ROWS), "text/csv; charset=utf-8", f"{name}-dummy.csv")


@router.get("/catalogue/{name}/schema.json")
def schema_file(name: str, visit: Asker) -> Response:
    """The schema as `discreet.Schema.load` reads it."""
    with visit.here.reading() as connection:
        dataset = dataset_named(connection, name, visit.person)
        schema = ready_version(connection, dataset.id).public_schema
    text = json.dumps(schema.to_dict(), indent=2, ensure_ascii=False)
    return attachment(text, "application/json", f"{name}-schema.json")


def attachment(content: str | bytes, media_type: str, name: str) -> Response:
    """A file to be saved; its name is made of names that this service has checked."""
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.get("/budget")
def show_budget(visit: Analyst) -> Response:
    """What one may still ask for."""
    with visit.here.reading() as connection:
        own = grants_of(connection, visit.person.id)
        accounts = views.money(connection, [each.account for each in own])
    return visit.page("budget.html", grants=[views.grant_view(each, accounts) for each in own])
