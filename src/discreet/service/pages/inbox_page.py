"""The owner's inbox: requests that wait, with their price and what would remain; approving and refusing."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.responses import Response

from discreet.service import jobs, tables
from discreet.service.errors import RequestError
from discreet.service.grants import Grant, grant_by_id
from discreet.service.job_views import Job, get_job, list_jobs
from discreet.service.pages import views
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Owner, Visit

router = APIRouter(include_in_schema=False)
SHOWN = 20
"""Requests on one page; the next ones follow when these are decided."""
DECIDED = ("reserved", "running", "released", "failed", "refused", "cancelled", "expired")


@router.get("/inbox")
def show_inbox(visit: Owner) -> Response:
    """What waits, and what was decided lately."""
    return _inbox(visit)


@router.post("/inbox/{job_id}")
def decide(job_id: str, visit: Owner) -> Response:
    """Approve a request, which reserves its price, or refuse it."""
    decision, note = visit.text("decision", 12), visit.text("note", 400)

    def act(connection: Connection) -> str:
        get_job(connection, job_id, visit.person)
        if decision == "approve":
            jobs.approve(connection, job_id, visit.person, note)
            return "/inbox?said=approved"
        if decision == "refuse":
            jobs.refuse(connection, job_id, visit.person, note)
            return "/inbox?said=refused"
        raise RequestError("decision: need approve or refuse")

    return visit.change(act, lambda **shown: _inbox(visit, **shown))


def _inbox(visit: Visit, *, notice: Notice | None = None, status: int = 200) -> Response:
    with visit.here.reading() as connection:
        waiting = list_jobs(connection, visit.person, states=("requested",), most=SHOWN)
        decided = list_jobs(connection, visit.person, states=DECIDED, most=10)
        shown = [_waiting(connection, job) for job in waiting]
    listed = [views.job_view(job) for job in decided]
    return visit.page("inbox.html", notice=notice, status=status, waiting=shown, jobs=listed, show_person=True)


def _waiting(connection: Connection, job: Job) -> dict[str, Any]:
    grant = _grant_of(connection, job)
    held = views.money(connection, grant.accounts)
    left = [views.after(held[each], job.nano) for each in grant.accounts]
    return {**views.job_view(job), "accounts": left}


def _grant_of(connection: Connection, job: Job) -> Grant:
    number = connection.execute(select(tables.jobs.c.grant_id).where(tables.jobs.c.id == job.id)).scalar_one()
    return grant_by_id(connection, int(number))
