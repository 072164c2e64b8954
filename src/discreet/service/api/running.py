"""Health for whoever watches the process, and metrics for the owner."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from sqlalchemy import func, select
from starlette.responses import Response

from discreet.service.api.shapes import Answer, problems
from discreet.service.problems import Problem, Problems
from discreet.service.security.caller import Caller, Scope
from discreet.service.tables import jobs
from discreet.service.web.access import Here, may
from discreet.service.web.metrics import MEDIA_TYPE

router = APIRouter(tags=["running"])


class Health(Answer):
    """One word."""

    status: str


@router.get("/health/live", responses=problems())
def live() -> Health:
    """The process answers."""
    return Health(status="live")


@router.get("/health/ready", responses=problems())
def ready(here: Here) -> Health:
    """The database answers too; 503 otherwise."""
    with here.reading() as connection:
        connection.execute(select(1)).scalar_one()
    return Health(status="ready")


@router.get(
    "/metrics",
    response_class=Response,
    responses={**problems(Problems.SCOPE), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(caller: Annotated[Caller, Depends(may(Scope.METRICS))], here: Here) -> Response:
    """Metrics for Prometheus; for an owner, or an owner's token with the scope `metrics`."""
    if not caller.person.is_owner:
        raise Problem(Problems.NOT_ALLOWED)
    wanted = select(jobs.c.kind, jobs.c.state, func.count()).group_by(jobs.c.kind, jobs.c.state)
    with here.reading() as connection:
        found = [(str(kind), str(state), int(number)) for kind, state, number in connection.execute(wanted)]
    return Response(here.metrics.text(found), media_type=MEDIA_TYPE)
