"""Requests: one's own, or all for owners; what becomes of one; cancelling."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.responses import Response

from discreet.service import jobs
from discreet.service.job_views import get_job, list_jobs
from discreet.service.pages import views
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Asker, Visit

router = APIRouter(include_in_schema=False)
SHOWN = 50


@router.get("/jobs")
def show_jobs(visit: Asker) -> Response:
    """The newest requests; older ones by a link."""
    before = visit.request.query_params.get("before")
    with visit.here.reading() as connection:
        found = list_jobs(connection, visit.person, before=before, most=SHOWN)
    older = f"/jobs?before={found[-1].id}" if len(found) == SHOWN else None
    here = f"/jobs?before={before}" if before else "/jobs"
    listed = [views.job_view(job) for job in found]
    return visit.page("jobs.html", jobs=listed, show_person=visit.person.is_owner, next_page=older, here=here)


@router.get("/jobs/{job_id}")
def show_job(job_id: str, visit: Asker) -> Response:
    """One request and its state."""
    return _job(visit, job_id)


@router.post("/jobs/{job_id}/cancel")
def cancel(job_id: str, visit: Asker) -> Response:
    """Cancel a request that has not started; what was reserved is returned."""

    def act(connection: Connection) -> str:
        jobs.cancel(connection, job_id, visit.person)
        return f"/jobs/{job_id}?said=cancelled"

    return visit.change(act, lambda **shown: _job(visit, job_id, **shown))


def _job(visit: Visit, job_id: str, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        job = views.job_view(get_job(connection, job_id, visit.person))
    values = {"job": job, "show_person": visit.person.is_owner, "refresh": 5 if job["moving"] else None}
    return visit.page("job.html", notice=notice, status=status, **values)
