"""Quotes and jobs: what a request would cost, asking for it, and deciding on it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Response
from fastapi import Body as Sent
from pydantic import Field, StringConstraints

from discreet.privacy.accounts import as_fraction
from discreet.service import job_views, jobs
from discreet.service.api.shapes import Amount, Answer, Body, Identifier, Limit, Name, Note, problems, shown
from discreet.service.job_views import Job
from discreet.service.problems import Problems
from discreet.service.quotes import Quote
from discreet.service.quotes import quote as quote_for
from discreet.service.requests import CountRequest, ScoreRequest, TrainRequest, plain
from discreet.service.web.access import Analyst, Asker, Here, Known, Owner

router = APIRouter(tags=["asking"])
State = Literal["requested", "reserved", "running", "released", "failed", "refused", "cancelled", "expired"]
Key = Annotated[str, StringConstraints(pattern=r"^[!-~]+$", min_length=1, max_length=120)]
Asked = Annotated[TrainRequest | ScoreRequest | CountRequest, Field(discriminator="kind")]


class JobWanted(Body):
    """A request and what it is asked of. The project may be left out by whoever has one grant for the data set."""

    dataset: Name
    project: Name | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    request: Asked


class Decision(Body):
    """A note for the asker."""

    note: Note = ""


class Nothing(Body):
    """No fields."""


class JobShown(Answer):
    """A job as its asker or an owner sees it now. Until `visible_at` a started job is `running`, whatever happened."""

    id: str
    kind: str
    state: State
    person: str
    project: str
    dataset: str
    version: int
    request: dict[str, Any]
    epsilon: str
    price: Amount
    created_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str
    started_at: datetime | None
    visible_at: datetime | None
    release: str | None


class JobPage(Answer):
    """Jobs, newest first, and the cursor of the next page."""

    jobs: list[JobShown]
    next: str | None


class QuoteShown(Answer):
    """The price of a request and what to expect of it, from public facts alone."""

    epsilon: str
    price: Amount
    enough: bool
    approved_by_rule: bool
    remaining: dict[str, str]
    slot_seconds: float
    expected: dict[str, Any]


def _quote(quote: Quote) -> QuoteShown:
    return QuoteShown(
        epsilon=quote.epsilon,
        price=shown(as_fraction(quote.nano)),
        enough=quote.enough,
        approved_by_rule=quote.approved_by_rule,
        remaining={name: shown(amount) for name, amount in quote.remaining.items()},
        slot_seconds=quote.slot.total_seconds(),
        expected=quote.expected,
    )


def _shown(job: Job) -> JobShown:
    facts = {name: getattr(job, name) for name in JobShown.model_fields if name != "price"}
    return JobShown(**facts, price=shown(as_fraction(job.nano)))


def _answer(job: JobShown, status: int) -> Response:
    """A job as JSON; written here, since the framework would check it once more in another thread."""
    return Response(job.model_dump_json(), status, media_type="application/json")


@router.post("/quotes", responses=problems())
def quote(sent: Annotated[JobWanted, Sent()], caller: Analyst, here: Here) -> QuoteShown:
    """What a request would cost, what would remain, and what to expect of it: from public facts alone, for nothing."""
    with here.reading() as connection:
        found = quote_for(
            connection,
            caller.person,
            sent.dataset,
            plain(sent.request),
            project=sent.project,
            version=sent.version,
            least_slot=here.settings.least_slot,
        )
    return _quote(found)


@router.post(
    "/jobs",
    status_code=201,
    response_model=JobShown,
    responses={
        **problems(
            Problems.KEY_NEEDED,
            Problems.CSRF,
            Problems.OTHER_REQUEST,
            Problems.BUDGET,
            Problems.WRONG_STATE,
        ),
        200: {"description": "The job that was made with this key before", "model": JobShown},
    },
)
def ask(
    sent: Annotated[JobWanted, Sent()],
    caller: Analyst,
    here: Here,
    idempotency_key: Annotated[Key, Header(description="A new one for a new request, such as a UUID.")],
) -> Response:
    """Ask for a model, a score or counts. The same key gives the same job, and costs nothing again."""
    with here.reading_apart() as connection:
        prepared = jobs.prepare(
            connection,
            caller.person,
            sent.dataset,
            sent.request,
            idempotency_key,
            project=sent.project,
            version=sent.version,
            request_days=here.settings.request_days,
        )
    with here.writing() as connection:
        job, is_new = jobs.enter(connection, prepared)
    if is_new:
        return _answer(_shown(job_views.entered(prepared, caller.person)), 201)
    with here.reading() as connection:
        return _answer(_shown(job_views.get_job(connection, job, caller.person)), 200)


@router.get("/jobs", responses=problems())
def list_jobs(
    caller: Known,
    here: Here,
    state: Annotated[list[State] | None, Query(max_length=8, description="Only in these states.")] = None,
    dataset: Annotated[Name | None, Query(description="Only of this data set.")] = None,
    cursor: Annotated[str | None, Query(pattern=r"^[0-9a-f-]{36}$", description="`next` of the page before.")] = None,
    limit: Limit = 50,
) -> JobPage:
    """One's own jobs, newest first; all of them for owners."""
    with here.reading() as connection:
        found = job_views.list_jobs(
            connection, caller.person, states=state, dataset=dataset, before=cursor, most=limit + 1
        )
    page = found[:limit]
    return JobPage(jobs=[_shown(each) for each in page], next=page[-1].id if len(found) > limit else None)


@router.get("/jobs/{job_id}", responses=problems())
def read_job(job_id: Identifier, caller: Known, here: Here) -> JobShown:
    """One job."""
    with here.reading() as connection:
        return _shown(job_views.get_job(connection, job_id, caller.person))


@router.post("/jobs/{job_id}/cancel", responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def cancel(job_id: Identifier, caller: Asker, here: Here, sent: Annotated[Nothing | None, Sent()] = None) -> JobShown:
    """Cancel a job that has not started; what was reserved is returned."""
    with here.writing() as connection:
        job_views.get_job(connection, job_id, caller.person)
        jobs.cancel(connection, job_id, caller.person)
        return _shown(job_views.get_job(connection, job_id, caller.person))


@router.post("/jobs/{job_id}/approve", responses=problems(Problems.CSRF, Problems.WRONG_STATE, Problems.BUDGET))
def approve(job_id: Identifier, caller: Owner, here: Here, sent: Annotated[Decision, Sent()]) -> JobShown:
    """Approve a request: its price is reserved on all accounts, or the problem names the one that is short."""
    with here.writing() as connection:
        job_views.get_job(connection, job_id, caller.person)
        jobs.approve(connection, job_id, caller.person, sent.note)
        return _shown(job_views.get_job(connection, job_id, caller.person))


@router.post("/jobs/{job_id}/refuse", responses=problems(Problems.CSRF, Problems.WRONG_STATE))
def refuse(job_id: Identifier, caller: Owner, here: Here, sent: Annotated[Decision, Sent()]) -> JobShown:
    """Refuse a request; nothing was charged."""
    with here.writing() as connection:
        job_views.get_job(connection, job_id, caller.person)
        jobs.refuse(connection, job_id, caller.person, sent.note)
        return _shown(job_views.get_job(connection, job_id, caller.person))
