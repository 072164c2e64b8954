"""What was released: cards, pictures, counts with their intervals, files, and predictions by a form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import Response

from discreet.errors import DiscreetError
from discreet.service import predicting
from discreet.service.errors import RequestError
from discreet.service.pages import answers, asking, model_pictures, views
from discreet.service.pages.catalogue_page import attachment
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Asker, Visit
from discreet.service.releases import Release, all_releases, content_of, get_release

router = APIRouter(include_in_schema=False)
SHOWN = 100
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
"""For the picture alone: matplotlib writes styles into it, and nothing in it runs."""


@router.get("/releases")
def show_releases(visit: Asker) -> Response:
    """The newest answers that one may see."""
    with visit.here.reading() as connection:
        found = all_releases(connection, visit.person, most=SHOWN)
    return visit.page("releases.html", releases=[_view(each) for each in found], next_page=None)


def _view(release: Release) -> dict[str, Any]:
    words = {"train": "Model", "score": "Score", "count": "Counts"}[release.kind]
    model = str(release.card.get("model", "")) if release.kind == "train" else ""
    names = {name: shown for name, shown, _ in views.MODELS}
    return {
        "id": release.id,
        "job_id": release.job_id,
        "kind": release.kind,
        "dataset": release.dataset,
        "created_at": release.released_at,
        "what": f"{words}: {names.get(model, model) or release.dataset}",
        "epsilon": views.epsilon_words(release.epsilon),
    }


@router.get("/releases/{release_id}")
def show_release(release_id: str, visit: Asker) -> Response:
    """One answer."""
    return _release(visit, release_id)


@router.get("/releases/{release_id}/file")
def release_file(release_id: str, visit: Asker) -> Response:
    """The file itself: a model that `discreet.load` reads, a score, or answers."""
    with visit.here.reading() as connection:
        release = get_release(connection, release_id, visit.person)
        content = content_of(connection, release_id, visit.person)
    return attachment(content, "application/json", f"{release.kind}-{release.id}.json")


@router.get("/releases/{release_id}/picture.svg")
def release_picture(release_id: str, visit: Asker) -> Response:
    """The picture of a released model."""
    with visit.here.reading() as connection:
        release = get_release(connection, release_id, visit.person)
        model = visit.here.models.get(connection, release_id, visit.person)
    drawn = model_pictures.picture(release.content_hash, model)
    headers = {"Content-Security-Policy": PICTURE_POLICY, "Cache-Control": "private, max-age=86400"}
    return Response(drawn, media_type="image/svg+xml", headers=headers)


@router.post("/releases/{release_id}/predict")
def predict_one(release_id: str, visit: Asker) -> Response:
    """Classify one record that was typed; it is neither stored nor logged."""
    try:
        with visit.here.reading() as connection:
            model = visit.here.models.get(connection, release_id, visit.person)
        found = predicting.predict(model, [_record(model.schema_, visit)])[0]
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _release(visit, release_id, **shown))
    return _release(visit, release_id, predicted=_predicted(found))


@router.post("/releases/{release_id}/predict-file")
def predict_file(release_id: str, visit: Asker) -> Response:
    """Classify the records of a small CSV file; the answer is a CSV file, and nothing is kept."""
    try:
        with visit.here.reading() as connection:
            model = visit.here.models.get(connection, release_id, visit.person)
        sent = visit.form.get("file")
        if not isinstance(sent, UploadFile):
            raise RequestError("file: choose a CSV file")
        found = predicting.predict(model, predicting.read_csv(sent.file.read()))
    except DiscreetError as error:
        return visit.refused(error, lambda **shown: _release(visit, release_id, **shown))
    return attachment(predicting.write_csv(found), "text/csv; charset=utf-8", f"predictions-{release_id}.csv")


def _record(schema: Any, visit: Visit) -> dict[str, str | None]:
    columns = asking.columns_of(schema, target=False)
    return {column.name: visit.text(f"column-{place}", 1000) or None for place, column in enumerate(columns)}


def _predicted(found: Mapping[str, Any]) -> dict[str, Any]:
    chances = [(label, f"{chance:.0%}") for label, chance in (found["probabilities"] or {}).items()]
    return {"label": found["prediction"], "chances": chances}


def _release(
    visit: Visit,
    release_id: str,
    *,
    predicted: dict[str, Any] | None = None,
    notice: Notice | None = None,
    status: int = 200,
) -> Response:
    with visit.here.reading() as connection:
        release = get_release(connection, release_id, visit.person)
        content = content_of(connection, release_id, visit.person)
        model = visit.here.models.get(connection, release_id, visit.person) if release.kind == "train" else None
    values: dict[str, Any] = {"release": _view(release), "card": answers.card_view(release, content)}
    values |= {"predicted": predicted, "trouble": None, "form": visit.fields()}
    if model is not None:
        fields = asking.column_fields(model.schema_, visit.form, target=False)
        values |= {"fields": fields, "words": model.explain(), "picture": model_pictures.can_draw()}
        values |= {"target": model.schema_.target, "most_records": f"{predicting.MOST_RECORDS:,}"}
    elif release.kind == "count":
        values["tables"] = answers.tables(json.loads(content))
    else:
        values["score"] = answers.score_view(json.loads(content))
    return visit.page("release.html", notice=notice, status=status, **values)
