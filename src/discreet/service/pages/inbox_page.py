"""The owner's inbox: requests that wait, with their price and what would remain; approving and refusing."""

from __future__ import annotations

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.responses import Response

from discreet.service import jobs, tables
from discreet.service.errors import RequestError
from discreet.service.job_views import Job, get_job, list_jobs
from discreet.service.pages import views
from discreet.service.pages.rendering import Notice
from discreet.service.pages.visits import Owner, Visit

router = APIRouter(include_in_schema=False)
SHOWN = 20
"""Requests on one page; the next ones follow when these are decided."""
LATELY = 15
"""The newest requests that are looked at for those that were decided: all of them would take long to sort."""


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
        lately = list_jobs(connection, visit.person, most=LATELY)
        left = _left(connection, waiting)
    shown = [{**views.job_view(job), "accounts": left[job.id]} for job in waiting]
    listed = [views.job_view(job) for job in lately if job.state != "requested"]
    return visit.page("inbox.html", notice=notice, status=status, waiting=shown, jobs=listed, show_person=True)


def _left(connection: Connection, waiting: list[Job]) -> dict[str, list[views.After]]:
    """What each request would leave of its four accounts; in two queries, however many requests wait."""
    wanted = (
        select(
            tables.jobs.c.id,
            tables.datasets.c.population_account,
            tables.datasets.c.dataset_account,
            tables.project_accounts.c.account.label("project_account"),
            tables.grants.c.account,
        )
        .join(tables.grants, tables.grants.c.id == tables.jobs.c.grant_id)
        .join(tables.datasets, tables.datasets.c.id == tables.grants.c.dataset_id)
        .join(
            tables.project_accounts,
            (tables.project_accounts.c.project_id == tables.grants.c.project_id)
            & (tables.project_accounts.c.population_account == tables.datasets.c.population_account),
        )
        .where(tables.jobs.c.id.in_([job.id for job in waiting]))
    )
    charged = {row.id: tuple(row)[1:] for row in connection.execute(wanted)}
    held = views.money(connection, {account for ids in charged.values() for account in ids})
    return {job.id: [views.after(held[account], job.nano) for account in charged[job.id]] for job in waiting}
