"""Populations, sources and data sets: registered by owners, known to analysts once they are ready."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi import Body as Sent
from pydantic import Field
from sqlalchemy import Connection
from starlette.responses import Response

from discreet.service import catalogue, datasets
from discreet.service.api.shapes import Answer, Body, Line, Money, Name, NamePath, Number, Text, Title, problems
from discreet.service.catalogue import Dataset, Version
from discreet.service.errors import NotFoundError
from discreet.service.people import Person
from discreet.service.problems import Problems
from discreet.service.security.caller import Caller
from discreet.service.web.access import Auditor, Here, Known, Owner, OwnerReads

router = APIRouter(tags=["data sets"])
VersionQuery = Annotated[int | None, Query(ge=1, le=2**31 - 1, description="The version; the newest if left out.")]
MOST_DUMMIES = 1000


class PopulationWanted(Body):
    """People whom tables are about. A new population is the owner's word that its people are in no other one."""

    name: Name
    limit: Money
    adjacency: Literal["add-remove", "replace-one"]


class PopulationShown(Answer):
    """A population and its account."""

    account: int
    name: str
    adjacency: str


class SourceShown(Answer):
    """A table that a worker can reach. Where it is, only the worker knows."""

    name: str
    kind: str
    described: str
    published_at: datetime


class DatasetWanted(Body):
    """A table to register. The worker drafts a schema next."""

    name: Name
    title: Title
    description: Text = ""
    population: Name
    limit: Money
    source: Line
    target: Line
    ignore: Annotated[tuple[Line, ...], Field(max_length=1000, strict=False)] = ()


class VersionWanted(Body):
    """A new state of a table of the same people."""

    source: Line
    target: Line
    ignore: Annotated[tuple[Line, ...], Field(max_length=1000, strict=False)] = ()


class Confirmation(Body):
    """The whole schema, and the names of the entries read from the data that the owner declares public as they are."""

    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    confirmed: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=20_000)]


class VersionShown(Answer):
    """One immutable state of a data set."""

    number: int
    state: str
    target: str
    schema_hash: str | None
    records_declared: int | None
    created_at: datetime


class DatasetShown(Answer):
    """A table that can be asked, with its versions, newest first."""

    name: str
    title: str
    description: str
    population: str
    versions: list[VersionShown]
    withdrawn_at: datetime | None


class DraftShown(Answer):
    """A draft that was read from the data, what has to be confirmed, and what did not fit; for owners only."""

    state: str
    draft: dict[str, Any] | None
    to_confirm: list[str]
    findings: dict[str, Any]


def _shown(connection: Connection, dataset: Dataset, person: Person) -> DatasetShown:
    versions = catalogue.versions_of(connection, dataset.id, for_owner=person.is_owner)
    return DatasetShown(
        name=dataset.name,
        title=dataset.title,
        description=dataset.description,
        population=dataset.population,
        versions=[VersionShown.model_validate(each) for each in versions],
        withdrawn_at=dataset.withdrawn_at,
    )


def _version(connection: Connection, name: str, number: int) -> Version:
    """A version in any state; for owners."""
    dataset = catalogue.dataset_named(connection, name)
    for version in catalogue.versions_of(connection, dataset.id, for_owner=True):
        if version.number == number:
            return version
    raise NotFoundError("there is no such version")


def _ready(connection: Connection, name: str, number: int | None, caller: Caller) -> Version:
    dataset = catalogue.dataset_named(connection, name, caller.person)
    return catalogue.ready_version(connection, dataset.id, number)


@router.get("/populations", responses=problems())
def list_populations(caller: Auditor, here: Here) -> list[PopulationShown]:
    """All populations."""
    with here.reading() as connection:
        found = catalogue.populations(connection)
    return [PopulationShown(account=account, name=name, adjacency=each.value) for account, name, each in found]


@router.post("/populations", status_code=201, responses=problems(Problems.CSRF, Problems.TAKEN))
def open_population(sent: Annotated[PopulationWanted, Sent()], caller: Owner, here: Here) -> PopulationShown:
    """Open a population's account. The log shows that its people were declared to be in no other one."""
    with here.writing() as connection:
        account = datasets.open_population(connection, sent.name, sent.limit, sent.adjacency, by=caller.person)
    return PopulationShown(account=account, name=sent.name, adjacency=sent.adjacency)


@router.get("/sources", responses=problems())
def list_sources(caller: OwnerReads, here: Here) -> list[SourceShown]:
    """The tables that workers can reach."""
    with here.reading() as connection:
        return [SourceShown.model_validate(each) for each in catalogue.known_sources(connection)]


@router.get("/datasets", responses=problems())
def list_datasets(caller: Known, here: Here) -> list[DatasetShown]:
    """The data sets that one may know of."""
    with here.reading() as connection:
        found = catalogue.all_datasets(connection, caller.person)
        return [_shown(connection, each, caller.person) for each in found]


@router.post("/datasets", status_code=201, responses=problems(Problems.CSRF, Problems.TAKEN))
def register(sent: Annotated[DatasetWanted, Sent()], caller: Owner, here: Here) -> DatasetShown:
    """Register a table. A worker drafts a schema; then confirm it."""
    with here.writing() as connection:
        datasets.register(
            connection,
            sent.name,
            title=sent.title,
            description=sent.description,
            population=sent.population,
            limit=sent.limit,
            source=sent.source,
            target=sent.target,
            ignore=sent.ignore,
            by=caller.person,
        )
        return _shown(connection, catalogue.dataset_named(connection, sent.name), caller.person)


@router.get("/datasets/{name}", responses=problems())
def read_dataset(name: NamePath, caller: Known, here: Here) -> DatasetShown:
    """One data set."""
    with here.reading() as connection:
        return _shown(connection, catalogue.dataset_named(connection, name, caller.person), caller.person)


@router.delete("/datasets/{name}", responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def withdraw(name: NamePath, caller: Owner, here: Here) -> DatasetShown:
    """Take a data set out of use: what waits is cancelled and returned; what was released stays."""
    with here.writing() as connection:
        return _shown(connection, datasets.withdraw(connection, name, by=caller.person), caller.person)


@router.get("/datasets/{name}/schema", responses=problems())
def read_schema(name: NamePath, caller: Known, here: Here, version: VersionQuery = None) -> dict[str, Any]:
    """The public schema of a version, as `discreet.Schema.from_dict` reads it."""
    with here.reading() as connection:
        return dict(_ready(connection, name, version, caller).public_schema.to_dict())


@router.get(
    "/datasets/{name}/dummy",
    response_class=Response,
    responses={**problems(), 200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def read_dummy(
    name: NamePath,
    caller: Known,
    here: Here,
    version: VersionQuery = None,
    rows: Annotated[int, Query(ge=1, le=MOST_DUMMIES, description="How many rows.")] = 100,
) -> Response:
    """Made-up rows, drawn from the schema alone, as CSV: to write code against."""
    with here.reading() as connection:
        schema = _ready(connection, name, version, caller).public_schema
    from discreet.service.dummy import dummy_csv

    return Response(dummy_csv(schema, rows), media_type="text/csv; charset=utf-8")


@router.get("/datasets/{name}/versions", responses=problems())
def list_versions(name: NamePath, caller: Known, here: Here) -> list[VersionShown]:
    """The versions, newest first; only ready ones unless for an owner."""
    with here.reading() as connection:
        return _shown(connection, catalogue.dataset_named(connection, name, caller.person), caller.person).versions


@router.post("/datasets/{name}/versions", status_code=201, responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def start_version(name: NamePath, sent: Annotated[VersionWanted, Sent()], caller: Owner, here: Here) -> VersionShown:
    """Start a new version; earlier ones stay as they are."""
    with here.writing() as connection:
        dataset = catalogue.dataset_named(connection, name)
        made = datasets.new_version(connection, dataset.id, sent.source, sent.target, sent.ignore, by=caller.person)
    return VersionShown.model_validate(made)


@router.get("/datasets/{name}/versions/{number}/draft", responses=problems())
def read_draft(name: NamePath, number: Number, caller: OwnerReads, here: Here) -> DraftShown:
    """The draft and the findings of a version. They were read from the data: for owners only."""
    with here.reading() as connection:
        version = _version(connection, name, number)
        return DraftShown(
            state=version.state,
            draft=catalogue.draft_of(connection, version.id),
            to_confirm=datasets.to_confirm(connection, version.id),
            findings=catalogue.findings_of(connection, version.id),
        )


@router.post("/datasets/{name}/versions/{number}/confirm", responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def confirm(
    name: NamePath, number: Number, sent: Annotated[Confirmation, Sent()], caller: Owner, here: Here
) -> VersionShown:
    """Make a schema public; a worker then writes the snapshot that all jobs of this version read."""
    with here.writing() as connection:
        version = _version(connection, name, number)
        done = datasets.confirm(connection, version.id, sent.schema_, sent.confirmed, by=caller.person)
    return VersionShown.model_validate(done)
