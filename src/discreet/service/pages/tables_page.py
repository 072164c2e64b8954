"""Tables: registering one from a source's name, confirming its public facts, versions, withdrawing. For owners."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.responses import Response

from discreet.service import datasets
from discreet.service.catalogue import (
    Dataset,
    Version,
    adjacency_of,
    all_datasets,
    dataset_named,
    draft_of,
    findings_of,
    known_sources,
    populations,
    versions_of,
)
from discreet.service.errors import StateError
from discreet.service.pages import confirming, views
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Owner, Visit

router = APIRouter(include_in_schema=False)
FIELDS = ("source", "name", "title", "description", "target", "ignore", "limit", "population")
NEW_POPULATION = ("new_population", "population_limit", "adjacency")


@router.get("/tables")
def show_tables(visit: Owner) -> Response:
    """All tables, and the sources that workers offer."""
    with visit.here.reading() as connection:
        known = all_datasets(connection, visit.person)
        held = views.money(connection, [each.dataset_account for each in known])
        shown = [_listed(connection, each, held[each.dataset_account]) for each in known]
        offered = known_sources(connection)
    return visit.page("tables.html", datasets=shown, sources=offered)


def _listed(connection: Connection, dataset: Dataset, account: views.Money) -> dict[str, Any]:
    newest = versions_of(connection, dataset.id, for_owner=True)[:1]
    state = "withdrawn" if dataset.withdrawn_at else newest[0].state if newest else "drafting"
    names = {"name": dataset.name, "title": dataset.title, "population": dataset.population}
    return {**names, "source": dataset.source_name, "state": state, "account": account}


@router.get("/tables/new")
def show_new(visit: Owner) -> Response:
    """The form to register a table."""
    return _new(visit)


@router.post("/tables/new")
def register(visit: Owner) -> Response:
    """Register a table, and open its population if it is new."""

    def act(connection: Connection) -> str:
        name, population = visit.text("name", 120), visit.text("population", 120)
        if not population:
            population = visit.text("new_population", 120)
            limit, adjacency = visit.text("population_limit", 40), visit.text("adjacency", 16)
            datasets.open_population(connection, population, limit, adjacency, by=visit.person)
        datasets.register(
            connection,
            name,
            title=visit.text("title", 200) or name,
            description=visit.text("description"),
            population=population,
            limit=visit.text("limit", 40),
            source=visit.text("source", 120),
            target=visit.text("target", 120),
            ignore=_lines(visit.text("ignore")),
            by=visit.person,
        )
        return f"/tables/{name}?said=registered"

    return visit.change(act, lambda **shown: _new(visit, **shown))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _new(visit: Visit, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        offered = [(each.name, f"{each.name} ({each.kind})") for each in known_sources(connection)]
        known = populations(connection)
        held = views.money(connection, [account for account, _, _ in known])
    groups = [{"name": name, "remaining": held[a].remaining, "limit": held[a].limit} for a, name, _ in known]
    sent = visit.fields()
    form = {name: sent.get(name, "") for name in (*FIELDS, *NEW_POPULATION)}
    form["chosen"] = sent.get("population", known[0][1] if known else "")
    return visit.page("table_new.html", notice=notice, status=status, sources=offered, populations=groups, form=form)


@router.get("/tables/{name}")
def show_table(name: str, visit: Owner) -> Response:
    """A table: its newest version, what is to be confirmed, findings and budget."""
    return _table(visit, name)


@router.post("/tables/{name}/confirm")
def confirm(name: str, visit: Owner) -> Response:
    """Make the schema public; every entry that was read from the data is confirmed or changed."""

    def act(connection: Connection) -> str:
        dataset = dataset_named(connection, name)
        version = _newest(connection, dataset)
        draft = draft_of(connection, version.id) if version else None
        if version is None or draft is None or visit.text("version", 12) != str(version.number):
            raise StateError("this version has no draft to confirm; look at the table again")
        adjacency = adjacency_of(connection, dataset.population_account)
        content, confirmed = confirming.confirmed_schema(draft, visit.fields(), adjacency)
        datasets.confirm(connection, version.id, content, confirmed, by=visit.person)
        return f"/tables/{name}?said=confirmed"

    return visit.change(act, lambda **shown: _table(visit, name, **shown))


@router.post("/tables/{name}/version")
def new_version(name: str, visit: Owner) -> Response:
    """Draft a new version from the same source."""

    def act(connection: Connection) -> str:
        dataset = dataset_named(connection, name)
        last = _newest(connection, dataset)
        if last is None:
            raise StateError("this table has no version to follow")
        datasets.new_version(connection, dataset.id, last.source_name, last.target, last.ignore, by=visit.person)
        return f"/tables/{name}?said=drafting"

    return visit.change(act, lambda **shown: _table(visit, name, **shown))


@router.post("/tables/{name}/withdraw")
def withdraw(name: str, visit: Owner) -> Response:
    """Take the table out of use."""

    def act(connection: Connection) -> str:
        datasets.withdraw(connection, name, by=visit.person)
        return f"/tables/{name}?said=withdrawn"

    return visit.change(act, lambda **shown: _table(visit, name, **shown))


def _newest(connection: Connection, dataset: Dataset) -> Version | None:
    found = versions_of(connection, dataset.id, for_owner=True)
    return found[0] if found else None


def _table(visit: Visit, name: str, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        dataset = dataset_named(connection, name)
        known = versions_of(connection, dataset.id, for_owner=True)
        version = known[0] if known else None
        draft = draft_of(connection, version.id) if version else None
        found = findings_of(connection, version.id) if version else {}
        held = views.money(connection, (dataset.dataset_account, dataset.population_account))
    values: dict[str, Any] = {"dataset": dataset, "version": version, "versions": known, "findings": _plain(found)}
    values["account"], values["population"] = held[dataset.dataset_account], held[dataset.population_account]
    values["groups"] = confirming.groups(draft, visit.fields()) if draft else []
    if version is not None and version.schema is not None:
        values.update(views.schema_view(version.schema))
    values["refresh"] = 5 if version is not None and version.state in ("drafting", "confirming") else None
    here = f"/tables/{dataset.name}"
    return visit.page("table.html", notice=notice, status=status, **{**values, "here": here, "claim": confirming.CLAIM})


def _plain(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Findings as lines: nested ones are named by their path."""
    lines: list[tuple[str, str]] = []
    for name, value in found.items():
        if isinstance(value, dict):
            lines += [(f"{name}: {inner}", shown) for inner, shown in _plain(value)]
        else:
            lines.append((str(name), ", ".join(map(str, value)) if isinstance(value, list) else str(value)))
    return lines
