"""Releases: cards, files, and predictions of released models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Query
from fastapi import Body as Sent
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from discreet.service import predicting, releases
from discreet.service.api.shapes import Answer, Body, Identifier, Limit, Name, problems
from discreet.service.problems import Problem, Problems
from discreet.service.releases import Release
from discreet.service.web.access import Asker, Here, Known

router = APIRouter(tags=["releases"])
Cell = Annotated[str, Field(max_length=1000)] | float | bool | None
Record = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=200)], Cell], Field(max_length=predicting.MOST_COLUMNS)
]


class ReleaseShown(Answer):
    """Something that may be published, and the card that tells what it is."""

    id: str
    job_id: str
    kind: str
    person: str
    dataset: str
    version: int
    epsilon: str
    card: dict[str, Any]
    content_hash: str
    released_at: datetime


class RecordsSent(Body):
    """Records to classify. They are neither stored nor logged."""

    records: Annotated[list[Record], Field(min_length=1, max_length=1000)]


class Prediction(Answer):
    """The class of a record, and the probability of each class where the model gives them."""

    prediction: str | int | float | bool
    probabilities: dict[str, float] | None


async def csv_sent(request: Request) -> bytes:
    """The body, if it is said to be CSV; read here, so that the handler itself can run beside others."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "text/csv":
        raise Problem(Problems.MEDIA, remedy="Send text/csv.")
    return await request.body()


CsvSent: TypeAlias = Annotated[bytes, Depends(csv_sent)]


def _shown(release: Release) -> ReleaseShown:
    return ReleaseShown.model_validate(release)


@router.get("/releases", responses=problems())
def list_releases(
    caller: Known,
    here: Here,
    dataset: Annotated[Name | None, Query(description="Only of this data set.")] = None,
    kind: Annotated[Literal["train", "score", "count"] | None, Query(description="Only of this kind.")] = None,
    limit: Limit = 50,
) -> list[ReleaseShown]:
    """The newest releases that one may see."""
    with here.reading() as connection:
        found = releases.all_releases(connection, caller.person, dataset=dataset, kind=kind, most=limit)
    return [_shown(each) for each in found]


@router.get("/releases/{release_id}", responses=problems())
def read_release(release_id: Identifier, caller: Known, here: Here) -> ReleaseShown:
    """One release: its card."""
    with here.reading() as connection:
        return _shown(releases.get_release(connection, release_id, caller.person))


@router.get(
    "/releases/{release_id}/content",
    response_class=Response,
    responses={**problems(), 200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
def read_content(release_id: Identifier, caller: Known, here: Here) -> Response:
    """The file itself: a model that `discreet.load` reads, a score, or answers."""
    with here.reading() as connection:
        content = releases.content_of(connection, release_id, caller.person)
    name = f'attachment; filename="release-{release_id}.json"'
    return Response(content, media_type="application/json", headers={"Content-Disposition": name})


@router.post("/releases/{release_id}/predict", responses=problems(Problems.CSRF))
def predict(
    release_id: Identifier, sent: Annotated[RecordsSent, Sent()], caller: Asker, here: Here
) -> list[Prediction]:
    """Classify records by a released model. They are neither stored nor logged."""
    with here.reading() as connection:
        model = here.models.get(connection, release_id, caller.person)
    return [Prediction(**each) for each in predicting.predict(model, sent.records)]


@router.post(
    "/releases/{release_id}/predict.csv",
    response_class=Response,
    responses={
        **problems(Problems.CSRF, Problems.MEDIA),
        200: {"content": {"text/csv": {"schema": {"type": "string"}}}},
    },
    openapi_extra={
        "requestBody": {"required": True, "content": {"text/csv": {"schema": {"type": "string", "minLength": 1}}}}
    },
)
def predict_csv(release_id: Identifier, caller: Asker, here: Here, sent: CsvSent) -> Response:
    """Classify the records of a small CSV file; the answer is CSV in the same order."""
    with here.reading() as connection:
        model = here.models.get(connection, release_id, caller.person)
    found = predicting.predict(model, predicting.read_csv(sent))
    return Response(predicting.write_csv(found), media_type="text/csv; charset=utf-8")
