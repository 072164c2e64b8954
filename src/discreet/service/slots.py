"""When a result appears: a public function of the request, never of the data.

Guarantee  what an analyst sees of a job, and when, up to the bit whether it failed, does not depend on the data: the
           state is `running` until `started_at + slot`, and from then on it is `released` or `failed`.
Proof      (1) `slot` is a function of the kind, the confirmed schema, the declared number of records, the request and
           `least_slot`, all public. (2) `visible_at` is written when the job starts, before the source is opened, in
           the transaction that spends. Whoever reads a job sees `running` before that time, whatever is stored, and
           `outcome`, or `failed` without one, from then on (`jobs.seen_state`). An outcome that arrives later is not
           stored (`jobs.end`). A release has the same time and is not readable before it. (3) A worker takes its next
           job only when the slot of the last one is over, even if it was restarted in between, so the time at which
           the next job starts depends on slots alone. Drafts and snapshots have a lane of their own (worker.py).
           (4) `finished_at` and `outcome` before the slot are read by nobody but the worker and the owner's log.
Rests on   a machine on which one job does not slow down the answers to other people measurably, and a clock that is
           not set back. Whether a job overran its slot is one bit that may depend on the data; the slots are several
           times what jobs were measured to take, so that it is spent on broken sources and not on records.
Test       tests/service/test_slots.py::test_what_is_seen_in_time_is_the_same_on_neighbouring_tables
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from discreet.schema import Schema

UNDECLARED = 100_000
"""The number of records that a slot provides for if the owner declares none."""
CELL_SECONDS = {"count": 5e-7, "score": 1e-6, "train": 2e-6}
"""Seconds per record and column, times the weight of a model: at least four times what a table of 30,000 records and 15
columns in Parquet took on one core."""
MODEL_WEIGHT = {
    "naive-bayes": 1.0,
    "one-rule": 1.0,
    "decision-tree": 3.0,
    "random-forest": 6.0,
    "svm": 8.0,
    "auto": 8.0,
}
QUERY_SECONDS = 0.05
"""Seconds per count query of a request."""
REGISTRATION = timedelta(hours=1)
"""The longest that drafting a schema or writing a snapshot may take; only owners see these jobs."""
START = 2.0
"""Seconds that a job takes in any case: checking the snapshot, starting, writing the result down."""
RESERVE = 0.2
"""This part of a slot, but at most 5 seconds, is kept for writing the result down: the child has the rest."""


def slot(kind: str, schema: Schema | None, records: int | None, request: dict[str, Any], least: float) -> timedelta:
    """How long after its start the outcome of a job appears: a whole multiple of the least slot.

    >>> from discreet import Categorical
    >>> schema = Schema([Categorical("sex", ["F", "M"])], "ill", ["no", "yes"])
    >>> slot("count", schema, 1000, {"queries": [{}]}, 10.0), slot("train", schema, 10**7, {"model": "auto"}, 10.0)
    (datetime.timedelta(seconds=10), datetime.timedelta(seconds=330))
    """
    if kind in ("draft", "snapshot") or schema is None:
        return REGISTRATION
    columns = len(schema.columns) + 1
    weight = _weight(request, schema) if kind == "train" else 1.0
    cells = (records or UNDECLARED) * columns
    seconds = START + CELL_SECONDS[kind] * weight * cells + QUERY_SECONDS * len(request.get("queries", ()))
    return timedelta(seconds=least * math.ceil(seconds / least))


def _weight(request: dict[str, Any], schema: Schema) -> float:
    """How much longer a model takes than a single table; linear models have weights for each class."""
    model = request.get("model", "auto")
    return MODEL_WEIGHT[model] * (max(1.0, len(schema.classes) / 2) if model in ("svm", "auto") else 1.0)


def deadline(whole: timedelta) -> timedelta:
    """How long the child process of a job may run: the slot, less the time to write the result down."""
    seconds = whole.total_seconds()
    return timedelta(seconds=seconds - min(RESERVE * seconds, 5.0))
