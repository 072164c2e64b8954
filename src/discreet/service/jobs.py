"""The states of a job and the money that goes with each; nothing else changes `jobs.state`.

    requested ── approve ──▶ reserved ── start ──▶ running ── end, or the slot is over ──▶ released | failed
        │ refuse, cancel, expire  │ cancel, expire (returned)

Guarantee  no source is opened for a job unless its whole price was spent, committed before; what was spent stays spent;
           a job is run at most once; and a request with a key that was used before starts nothing new.
Proof      each transition locks the job's row, checks the state it leaves, and moves the money in the same transaction:
           `approve` reserves on all accounts, `cancel` and `expire` return what is reserved, `start` spends. Only the
           caller of `start` runs the job, after its transaction was committed, and no transition leads back from
           `running`. The worker may die at any time: the slot is its lease, and a job without an outcome when the slot
           is over has failed, spent. The key is unique for each person in the database itself.
Test       tests/service/test_jobs_model.py::TestJobs, tests/service/test_worker.py
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from discreet.errors import BudgetError
from discreet.privacy.accounts import Books
from discreet.schema import Adjacency
from discreet.service import log
from discreet.service.admission import Facts
from discreet.service.catalogue import Version, dataset_by_id, version_by_id
from discreet.service.clock import now
from discreet.service.errors import KeyReusedError, NotFoundError, RequestError, StateError
from discreet.service.grants import Grant, grant_by_id
from discreet.service.new_jobs import add_job
from discreet.service.people import Person, person_by_id, require_owner
from discreet.service.queueing import next_in_turn, planned
from discreet.service.requests import plain, read_request, request_hash
from discreet.service.tables import PAID_KINDS, jobs, releases, versions
from discreet.storage.envelope import content_hash

BOOKS = Books()
MOST_WAITING = 1000
"""The most requests of one person that wait at a time: a page of requests cannot be flooded."""
BY_RULE = "approved by the rule of the grant"
_STORED = select(jobs.c.id, jobs.c.request_hash).where(
    jobs.c.person_id == bindparam("by"), jobs.c.idempotency_key == bindparam("key")
)
_WAITING = (
    select(func.count()).select_from(jobs).where(jobs.c.person_id == bindparam("by"), jobs.c.state == "requested")
)


@dataclass(frozen=True)
class Started:
    """A job that a worker has taken: its price is spent, and it is this worker's alone."""

    id: str
    kind: str
    version: Version
    request: dict[str, Any]
    epsilon: str
    started_at: datetime
    visible_at: datetime


@dataclass(frozen=True)
class Made:
    """What a job has made: bytes that may be published, and the card that tells people about them."""

    content: bytes
    card: dict[str, Any]
    content_hash: str


@dataclass(frozen=True)
class Prepared:
    """A request that fits: the row to enter, the version asked and the grant that pays; or the job of the same key."""

    values: dict[str, Any]
    grant: Grant | None
    stored: str | None
    adjacency: Adjacency | None = None
    version: int = 0


def seen_state(row: Any, at: datetime) -> str:
    """The state that anyone is shown: `running` until the slot is over, whatever is stored (slots.py)."""
    if row.state == "running" and row.visible_at is not None and row.visible_at <= at:
        return row.outcome or "failed"
    return str(row.state)


def submit(
    connection: Connection,
    person: Person,
    dataset: str,
    content: Any,
    key: str,
    *,
    project: str | None = None,
    version: int | None = None,
    request_days: float = 14.0,
) -> tuple[str, bool]:
    """Ask for a model, a score or counts; returns the job's id, and whether it is new.

    The same key with the same request gives the stored job, whatever became of it; with another one, KeyReusedError.
    If the rule of the grant approves the price, it is reserved at once; else a person decides. `prepare` and `enter` in
    one: a server with many clients calls the former without the lock of a writer.
    """
    options: dict[str, Any] = {"project": project, "version": version, "request_days": request_days}
    return enter(connection, prepare(connection, person, dataset, content, key, **options))


def prepare(
    connection: Connection,
    person: Person,
    dataset: str,
    content: Any,
    key: str,
    *,
    project: str | None = None,
    version: int | None = None,
    request_days: float = 14.0,
) -> Prepared:
    """Check all of a request but money; writes nothing. A right that ends before the job starts stops it there."""
    if not isinstance(key, str) or not 1 <= len(key) <= 120 or not key.isascii() or not key.isprintable():
        raise RequestError("Idempotency-Key: need 1 to 120 printable ASCII characters")
    request = read_request(content)
    asked = request_hash(request, dataset, project, version)
    facts = Facts.about(connection, person, dataset, version, key)
    if facts.stored is not None:
        return Prepared({}, None, _same(*facts.stored, asked))
    admitted = facts.admit(connection, person, request, project)
    grant, at = admitted.grant, now()
    money = {"epsilon": str(admitted.epsilon), "nano": admitted.nano}
    ids = {"id": str(uuid.uuid4()), "person_id": person.id, "grant_id": grant.id, "version_id": admitted.version.id}
    what = {"kind": request.kind, "request": plain(request), "request_hash": asked, "idempotency_key": key}
    times = {"created_at": at, "expires_at": at + timedelta(days=request_days)}
    if admitted.nano <= grant.approve_up_to_nano:
        decided: dict[str, Any] = {"state": "reserved", "decided_at": at, "note": BY_RULE}
    else:
        _check_waiting(connection, person)
        decided = {"state": "requested", "decided_at": None, "note": ""}
    row = {**ids, **what, **money, **times, **decided}
    return Prepared(row, grant, None, admitted.schema.adjacency, admitted.version.number)


def enter(connection: Connection, prepared: Prepared) -> tuple[str, bool]:
    """Enter a request that was prepared; BudgetError if the rule approves it and an account is short.

    What is approved by the rule enters as reserved. Its price is reserved last, since others of the population wait
    from then on until the transaction ends.
    """
    values, grant = prepared.values, prepared.grant
    if prepared.stored is not None or grant is None:
        return str(prepared.stored), False
    job, asker, epsilon = values["id"], values["person_id"], values["epsilon"]
    lines = [log.line(asker, "job.requested", job, {"kind": values["kind"], "epsilon": epsilon})]
    if values["state"] == "reserved":
        lines.append(log.line(None, "job.approved", job, {"epsilon": epsilon}))
    if not add_job(connection, values, lines):  # the same key, at the same time
        stored = connection.execute(_STORED, {"by": asker, "key": values["idempotency_key"]}).one()
        return _same(*stored, values["request_hash"]), False
    if values["state"] == "reserved":
        BOOKS.reserve(connection, grant.accounts, epsilon, prepared.adjacency, _paid_for(values["kind"], job), job)
    return job, True


def submit_internal(connection: Connection, kind: str, version: Version, person: Person) -> str:
    """A job of an owner that costs nothing and releases nothing: draft or snapshot."""
    require_owner(person)
    if kind not in ("draft", "snapshot"):
        raise RequestError(f"kind {kind}: need draft or snapshot")
    at, job = now(), str(uuid.uuid4())
    request = {"kind": kind, "version": version.id}
    values = {"person_id": person.id, "version_id": version.id, "request": request, "idempotency_key": f"own:{job}"}
    times = {"created_at": at, "decided_at": at, "expires_at": at + timedelta(days=3650)}
    fixed = {"request_hash": content_hash(request), "epsilon": "0", "nano": 0, "state": "reserved", "note": ""}
    connection.execute(insert(jobs).values(id=job, kind=kind, **values, **times, **fixed))
    return job


def _same(job: str, known: str, asked: str) -> str:
    """The job of the same key, if it was for the same request."""
    if known != asked:
        raise KeyReusedError("this Idempotency-Key was used for another request; take a new key")
    return job


def _check_waiting(connection: Connection, person: Person) -> None:
    if connection.execute(_WAITING, {"by": person.id}).scalar_one() >= MOST_WAITING:
        raise StateError(f"you have {MOST_WAITING} requests that wait for a decision; cancel some")


def _locked(connection: Connection, job_id: str) -> Any:
    """The job's row, locked to the end of the transaction."""
    row = connection.execute(select(jobs).where(jobs.c.id == job_id).with_for_update()).first()
    if row is None:
        raise NotFoundError("there is no such job")
    return row


def _paid_for(kind: str, job_id: str) -> str:
    """What entries of the accounts call a job."""
    return f"{kind} {job_id}"


def approve(connection: Connection, job_id: str, by: Person, note: str = "") -> None:
    """Approve a request: its price is reserved on all four accounts, or BudgetError says which is short."""
    require_owner(by)
    row = _locked(connection, job_id)
    _check_state(row, "requested")
    grant = grant_by_id(connection, row.grant_id)
    if not grant.is_active(now()):
        raise StateError("the grant of this request has ended; refuse it")
    if row.kind not in grant.kinds:
        raise StateError("the grant no longer allows requests of this kind; refuse it")
    if row.expires_at <= now():
        raise StateError("this request has expired")
    adjacency = version_by_id(connection, row.version_id).public_schema.adjacency
    decided = {"decided_by": by.id, "decided_at": now(), "note": note[:400]}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(state="reserved", **decided))
    log.write(connection, by.id, "job.approved", job_id, {"epsilon": row.epsilon})
    BOOKS.reserve(connection, grant.accounts, row.epsilon, adjacency, _paid_for(row.kind, row.id), row.id)


def refuse(connection: Connection, job_id: str, by: Person, note: str = "") -> None:
    """Refuse a request; nothing was charged. The note is shown to the asker."""
    require_owner(by)
    row = _locked(connection, job_id)
    _check_state(row, "requested")
    decided = {"decided_by": by.id, "decided_at": now(), "note": note[:400]}
    connection.execute(update(jobs).where(jobs.c.id == job_id).values(state="refused", **decided))
    log.write(connection, by.id, "job.refused", job_id)


def cancel(connection: Connection, job_id: str, by: Person) -> None:
    """Cancel a job that has not started: by the asker or an owner. What was reserved is returned."""
    row = _locked(connection, job_id)
    if row.person_id != by.id and not by.is_owner:
        raise NotFoundError("there is no such job")
    if row.kind not in PAID_KINDS:
        raise StateError("drafts and snapshots are not cancelled; withdraw the data set")
    _check_state(row, "requested", "reserved")
    _drop(connection, row, "cancelled", by.id)


def cancel_waiting(connection: Connection, by: Person, *, grant_id: int | None = None, dataset_id: int = 0) -> int:
    """Cancel all jobs of a grant, or of a data set, that have not started; returns how many."""
    require_owner(by)
    of_dataset = select(versions.c.id).where(versions.c.dataset_id == dataset_id)
    part = jobs.c.version_id.in_(of_dataset) if grant_id is None else jobs.c.grant_id == grant_id
    return _drop_all(connection, part, "cancelled", by.id)


def expire(connection: Connection, at: datetime | None = None) -> int:
    """Let requests go whose time is over; what was reserved is returned. Returns how many."""
    return _drop_all(connection, jobs.c.expires_at <= (at or now()), "expired", None)


def _drop_all(connection: Connection, condition: Any, state: str, by: int | None) -> int:
    waiting = jobs.c.state.in_(("requested", "reserved"))
    wanted = select(jobs).where(waiting, condition).order_by(jobs.c.id).with_for_update()
    rows = connection.execute(wanted).all()
    for row in rows:
        _drop(connection, row, state, by)
    return len(rows)


def _drop(connection: Connection, row: Any, state: str, by: int | None) -> None:
    if row.state == "reserved" and row.kind in PAID_KINDS:
        BOOKS.give_back(connection, row.id)
    connection.execute(update(jobs).where(jobs.c.id == row.id).values(state=state))
    log.write(connection, by, f"job.{state}", row.id)


def _check_state(row: Any, *allowed: str) -> None:
    state = seen_state(row, now())
    if state not in allowed or row.state not in allowed:
        raise StateError(f"this job is {state}; it would have to be {' or '.join(allowed)}")


def start(connection: Connection, worker: str, kinds: Sequence[str], least_slot: float) -> Started | None:
    """Take the job whose turn it is, and spend its price; None if there is none.

    The caller commits, and only then opens the source. Two workers never take the same job. A job that cannot start is
    cancelled, and what was reserved for it returned; one without its reservation has failed.
    """
    while (row := next_in_turn(connection, kinds)) is not None:
        try:
            started = _taken(connection, row, worker, least_slot)
        except BudgetError:
            values = {"state": "failed", "outcome": "failed", "cause": "BudgetError"}
            connection.execute(update(jobs).where(jobs.c.id == row.id).values(**values))
            log.write(connection, None, "job.failed", row.id)
            continue
        if started is not None:
            return started
    return None


def _taken(connection: Connection, row: Any, worker: str, least_slot: float) -> Started | None:
    plan = planned(connection, row, least_slot) if _may_start(connection, row) else None
    if plan is None:
        _drop(connection, row, "cancelled", None)
        return None
    version, wait = plan
    epsilon = BOOKS.spend(connection, row.id) if row.kind in PAID_KINDS else row.epsilon  # what was paid, not asked
    at = now()
    times = {"started_at": at, "visible_at": at + wait}
    connection.execute(update(jobs).where(jobs.c.id == row.id).values(state="running", worker=worker, **times))
    log.write(connection, None, "job.started", row.id)
    return Started(row.id, row.kind, version, dict(row.request), epsilon, at, at + wait)


def _may_start(connection: Connection, row: Any) -> bool:
    """Whether the right to ask still holds; money and time are checked again, since days may have passed."""
    if row.grant_id is None:
        return dataset_by_id(connection, version_by_id(connection, row.version_id).dataset_id).withdrawn_at is None
    asker = person_by_id(connection, row.person_id)
    grant = grant_by_id(connection, row.grant_id)
    allowed = grant.is_active(now()) and row.kind in grant.kinds
    return asker.disabled_at is None and allowed and row.expires_at > now()


def end(connection: Connection, job: Started, worker: str, made: Made | None, cause: str = "") -> bool:
    """Store the outcome of a job that this worker runs; returns whether a result was kept.

    After the slot nothing is kept: everybody has seen `failed`. `cause` is a class name for the owner's log, where
    it enters with the outcome: a line before would show auditors, by the numbers of theirs, that a job has failed.
    """
    row = _locked(connection, job.id)
    at = now()
    if row.state != "running" or row.worker != worker or row.outcome is not None:
        raise StateError("this job is not run by this worker any more")
    late = row.visible_at <= at
    outcome = "released" if made is not None and not late else "failed"
    is_paid = row.kind in PAID_KINDS
    why = None if outcome == "released" else "late" if made is not None else (cause or "unknown")[:60]
    values = {"outcome": outcome, "finished_at": at, "state": "running" if is_paid else outcome, "cause": why}
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(**values))
    if outcome == "released" and made is not None and is_paid:
        content = {"content": made.content, "content_hash": made.content_hash, "card": made.card}
        ids = {"id": str(uuid.uuid4()), "job_id": job.id, "kind": row.kind}
        connection.execute(insert(releases).values(**ids, **content, visible_at=row.visible_at))
    return outcome == "released"


def settle(connection: Connection, at: datetime | None = None) -> int:
    """Write down what everybody sees of jobs whose slot is over; those that no worker has ended have failed, spent."""
    at = at or now()
    over = select(jobs).where(jobs.c.state == "running", jobs.c.visible_at <= at)
    rows = connection.execute(over.order_by(jobs.c.id).with_for_update(skip_locked=True)).all()
    for row in rows:
        outcome = row.outcome or "failed"
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(state=outcome, outcome=outcome))
        if outcome == "failed":
            log.write(connection, None, "job.cause", row.id, {"cause": row.cause or "lost"}, owner_only=True)
        if row.outcome is None and row.kind not in PAID_KINDS:
            connection.execute(update(versions).where(versions.c.id == row.version_id).values(state="failed"))
        log.write(connection, None, f"job.{outcome}", row.id, owner_only=row.kind not in PAID_KINDS)
    return len(rows)


def forfeit(connection: Connection) -> int:
    """After a backup was restored: spend what is reserved, and run none of it; returns how many jobs.

    Such a job may have run since the backup was made. To run it again would be a second release, not paid for.
    """
    waiting = select(jobs).where(jobs.c.state.in_(("requested", "reserved", "running"))).order_by(jobs.c.id)
    rows = connection.execute(waiting.with_for_update()).all()
    for row in rows:
        if row.state == "reserved" and row.kind in PAID_KINDS:
            BOOKS.spend(connection, row.id)
        state = "cancelled" if row.state == "requested" else "failed"
        outcome = {} if state == "cancelled" else {"outcome": row.outcome or "failed"}
        if row.state == "running" and row.outcome is not None:
            state = row.outcome
        connection.execute(update(jobs).where(jobs.c.id == row.id).values(state=state, **outcome))
        log.write(connection, None, f"job.{state}", row.id, {"restored": True})
        if row.kind not in PAID_KINDS:
            open_states = versions.c.state.in_(("drafting", "confirming"))
            connection.execute(
                update(versions).where(versions.c.id == row.version_id, open_states).values(state="failed")
            )
    return sum(row.state == "reserved" and row.kind in PAID_KINDS for row in rows)


def busy_until(connection: Connection, worker: str) -> datetime | None:
    """When the slot of the last job of a worker is over, if that is to come: it takes no other job before."""
    wanted = (
        select(jobs.c.visible_at)
        .where(jobs.c.worker == worker, jobs.c.kind.in_(PAID_KINDS), jobs.c.state == "running")
        .order_by(jobs.c.visible_at.desc())
        .limit(1)
    )
    found: datetime | None = connection.execute(wanted).scalar()
    return found
