"""Stage *one run with canaries*: for estimators that are too slow to be fitted thousands of times.

Many canaries are put into one table, each by the toss of a coin; the fitted model's opinion of each is the guess. See
`one_run.py` for the bound. It needs few fits, and finds gross leaks only.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit import workers
from discreet.audit.findings import Finding, StageResult
from discreet.audit.inside import canaries as inside
from discreet.audit.one_run import one_run_bound
from discreet.audit.tables import Record, Table, Value, empty
from discreet.errors import ParameterError
from discreet.schema import Adjacency, Numeric, Schema

if TYPE_CHECKING:
    from discreet.audit.session import Session

CANARIES = 200
"""Canaries per run; more would crowd small schemas."""
MOST_RUNS, SHARE = 20, 0.1
"""The most runs, and the share of the time that is left which this stage may take."""
WAITED = 20
"""A fit on so many records is waited for as long as for so many runs on small tables."""
GUESSED = (1.0, 0.5, 0.2, 0.05)
"""Shares of the canaries whose coins are guessed: the surest ones. All are tried; the risk is divided among them."""


class Canaries:
    """Tosses coins, fits, guesses."""

    name = "one run with canaries"

    def run(self, session: Session) -> StageResult:
        """As many runs as the share of the time allows, at least one."""
        began, end = time.monotonic(), session.left() * (1 - SHARE)
        scores: list[NDArray[np.float64]] = []
        coins: list[NDArray[np.bool_]] = []
        while len(scores) < MOST_RUNS and (session.left() > end or not scores):
            tossed = session.rng.random(CANARIES) < 0.5
            told = _fitted(session, tossed)
            if told is None:
                break
            scores.append(told)
            coins.append(tossed)
        if not scores:
            return StageResult(self.name, time.monotonic() - began, ["no estimator that says labels of records"], [])
        findings = _guessed(session, np.concatenate(scores), np.concatenate(coins))
        tried = [f"{len(scores)} runs with {CANARIES} canaries each; shares guessed: {GUESSED}"]
        return StageResult(self.name, time.monotonic() - began, tried, findings)


def canaries(schema: Schema, number: int, rng: Any) -> tuple[Table, list[Value]]:
    """Random records of the schema, and for each another label, for its twin."""
    records: list[Record] = []
    twins: list[Value] = []
    for _ in range(number):
        values: list[Value] = []
        for column in schema.columns:
            if isinstance(column, Numeric):
                values.append(float(column.lower) + float(rng.random()) * (float(column.upper) - float(column.lower)))
            else:
                values.append(column.categories[int(rng.integers(len(column.categories)))])
        own, other = rng.choice(len(schema.classes), 2, replace=len(schema.classes) < 2)
        records.append((tuple(values), schema.classes[int(own)]))
        twins.append(schema.classes[int(other)])
    return empty(schema).holding(records), twins


def _fitted(session: Session, tossed: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """The scores of all canaries after one fit on those that are in; None if the target cannot say."""
    table, twins = canaries(session.schema, len(tossed), session.rng)
    replaced = session.adjacency is Adjacency.REPLACE_ONE
    records = [
        each if heads else (each[0], twins[place])
        for place, (each, heads) in enumerate(zip(table.records, tossed, strict=True))
        if heads or replaced
    ]
    request: dict[str, Any] = {"op": "canaries", "table": table.holding(records).to_dict(), "canaries": table.to_dict()}
    request["twins"] = twins if replaced else [None] * len(twins)
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        _, answer = session.ask(request, session.wait(WAITED))
    except (workers.Ended, ParameterError):
        return None
    told = answer.get("scores")
    return np.array(told, dtype=np.float64) if told is not None and len(told) == len(tossed) else None


def _guessed(session: Session, scores: NDArray[np.float64], coins: NDArray[np.bool_]) -> list[Finding]:
    """Guess heads for the highest scores and tails for the lowest; a finding if the claim does not allow as many."""
    order = np.argsort(scores + 1e-12 * session.rng.random(len(scores)), kind="stable")
    best, words = 0.0, ""
    for share in GUESSED:
        half = max(1, int(share * len(scores) / 2))
        correct = int(np.count_nonzero(coins[order[-half:]]) + np.count_nonzero(~coins[order[:half]]))
        confidence = 1 - session.risk / len(GUESSED)
        epsilon = one_run_bound(len(scores), 2 * half, correct, confidence, session.claim.delta)
        if epsilon > best:
            best, words = epsilon, f"{correct} of {2 * half} guesses were right, of {len(scores)} canaries"
    if best <= session.claim.epsilon:
        return []
    finding = Finding(Canaries.name, best, session.confidence, f"whether a record was in the table: {words}", None)
    session.findings.append(finding)
    return [finding]
