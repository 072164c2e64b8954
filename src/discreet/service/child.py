"""One job in one process: reads the job from a pipe, answers on another, and ends.

It is forked from the preparer (preparer.py) or, where that is not possible, started anew; both have an almost empty
environment (spares.py). It gets the path of one snapshot, or one source to read for a draft, and nothing else that is
secret: no address of the service's database, no key. It writes no log; an error is answered by the name of its class,
since its message may quote data.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

from discreet.errors import BudgetError
from discreet.privacy.ledger import Ledger
from discreet.schema import Schema
from discreet.service.fitting import candidates_of, estimator_for, questions_of
from discreet.service.requests import CountRequest, ScoreRequest, TrainRequest, epsilon_of, read_request
from discreet.sources import Source
from discreet.sources.file import open_file

PREPARED = (
    "discreet.models",
    "discreet.doors.questions",
    "discreet.evaluation",
    "discreet.service.drafts",
    "discreet.service.snapshots",
    "discreet.service.source_file",
    "pyarrow.csv",
    "pyarrow.parquet",
    "opendp.domains",
    "opendp.measurements",
    "opendp.metrics",
    "opendp.mod",
)
"""What jobs need; loaded before the job is known, so that it does not count against the slot. Not opendp.prelude: it
loads polars where it is there, which starts threads."""
READY = b"\n"
"""What a child writes when it has loaded its packages and waits for a job."""


def answer(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a job, and return what the worker keeps of it."""
    if job["kind"] == "draft":
        return _draft(job)
    if job["kind"] == "snapshot":
        return _snapshot(job)
    schema, request = Schema.from_dict(job["schema"]), read_request(job["request"])
    epsilon = Fraction(job["epsilon"])
    if Fraction(request.epsilon) != epsilon or not schema.is_public or schema.chosen is not None:
        raise BudgetError("the request is not what was paid for")
    ledger = Ledger(epsilon, adjacency=schema.adjacency.value)
    source = open_file(Path(job["snapshot"]))
    content, card = _released(request, schema, source, ledger, job)
    check_paid(ledger, card, epsilon)
    return {"content": content, "card": card}


def check_paid(ledger: Ledger, card: Mapping[str, Any], epsilon: Fraction) -> None:
    """Raise BudgetError if more was used than was paid: the ledger refused it before, so this is a second lock.

    Guarantee  what a job releases is at most ε-DP, with ε the amount that was spent when it started.
    Proof      every door charges the ledger before it reads; the ledger's limit is ε, and it refuses what exceeds it.
    Test       tests/service/test_child.py::test_a_model_that_costs_more_is_refused_before_it_reads
    """
    stated = card["guarantee"]
    if not stated["holds"] or not Fraction(stated["epsilon"]) <= epsilon or not 0 < ledger.spent <= epsilon:
        raise BudgetError("the job used another epsilon than was paid for")


def _released(
    request: TrainRequest | ScoreRequest | CountRequest,
    schema: Schema,
    source: Source,
    ledger: Ledger,
    job: Mapping[str, Any],
) -> tuple[Any, dict[str, Any]]:
    if isinstance(request, TrainRequest):
        from discreet.models import saving

        model = estimator_for(request, schema).fit_from(source, ledger=ledger)
        content = saving.to_dict(model)
        return content, content["card"]
    if isinstance(request, ScoreRequest):
        from discreet.evaluation import evaluate_from
        from discreet.models.loading import from_dict

        scored = from_dict(job["model"])
        options = {"epsilon": request.epsilon, "ledger": ledger, "adjacency": schema.adjacency.value}
        score = evaluate_from(scored, source, **options).to_dict()
        return score, {**score, "model": scored.kind, "release": request.release}
    return _counts(request, schema, source, ledger)


def _counts(request: CountRequest, schema: Schema, source: Source, ledger: Ledger) -> tuple[Any, dict[str, Any]]:
    from discreet.doors.choice import select
    from discreet.doors.questions import ask
    from discreet.privacy.randomness import as_rng
    from discreet.released.answers import Answers

    epsilon, shares = epsilon_of(request), request.shares
    if request.choose is not None:
        candidates, wanted = candidates_of(request, schema), request.choose.wanted
        chosen = select(source, schema, candidates, wanted, epsilon, ledger, as_rng(None), "choice")
        answers = Answers((), chosen.receipt, schema, chosen.columns)
    else:
        answers = ask(source, schema, questions_of(request), epsilon, ledger, as_rng(None), "counts", shares=shares)
    content = answers.to_dict()
    charges = [charge.to_dict() for charge in answers.receipt.charges]
    return content, {"guarantee": content["guarantee"], "queries": len(answers), "charges": charges}


def _draft(job: Mapping[str, Any]) -> dict[str, Any]:
    from discreet.service.drafts import draft
    from discreet.service.source_file import SourceEntry

    entry = SourceEntry.from_dict(job["source_name"], job["source"])
    schema, found = draft(entry.open(), job["target"], job["ignore"])
    return {"draft": None if schema is None else schema.to_dict(), "found": found}


def _snapshot(job: Mapping[str, Any]) -> dict[str, Any]:
    from discreet.service.snapshots import write_snapshot
    from discreet.service.source_file import SourceEntry

    entry = SourceEntry.from_dict(job["source_name"], job["source"])
    return {"found": write_snapshot(entry.open(), Schema.from_dict(job["schema"]), Path(job["part"]))}


def limit_memory(gigabytes: float | None) -> None:
    """Let this process have this much address space beyond what its packages take. Set before a record is read.

    The limit is a public number. Whether a job needs more may depend on its records: like overrunning a slot, it ends
    as failed, spent, in the one text for all failures. Without a limit the system chooses which process it ends.
    """
    if gigabytes is None:
        return
    import resource

    most = _address_space() + int(gigabytes * 2**30)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space() -> int:
    """Bytes of address space that this process has; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def load() -> None:
    """Load what jobs need, as far as it is installed."""
    for name in PREPARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run(jobs: BinaryIO, answers: BinaryIO) -> None:
    """Tell that this process is ready, read one job and answer it. Nothing is written but the answer."""
    answers.write(READY)
    answers.flush()
    text = jobs.read()
    if not text:
        return  # the worker has ended, or needs no other child
    try:
        job = json.loads(text)
        signal.setitimer(signal.ITIMER_REAL, max(float(job["seconds"]), 0.1))  # without a handler, this ends it
        limit_memory(job.get("memory"))
        told = json.dumps(answer(job), allow_nan=False)
    except BaseException as error:
        told = json.dumps({"failed": type(error).__name__})
    answers.write(told.encode())
    answers.close()


def main() -> None:
    """One job in a process that was started for it. Nothing is printed but the answer."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    load()
    run(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
