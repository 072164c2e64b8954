"""When a result appears: a public function of the request, never of the data.

Guarantee  what an analyst sees of a job, and when, up to the bit whether it failed, does not depend on the data: the
           state is `running` until `started_at + slot`, and from then on it is `released` or `failed`.
Proof      (1) `slot` is a function of the kind, the confirmed schema, the declared number of records, the request and
           `least_slot`, all public. (2) `visible_at` is written when the job starts, before the source is opened, in
           the transaction that spends. Whoever reads a job sees `running` before that time, whatever is stored, and
           `outcome`, or `failed` without one, from then on (`jobs.seen_state`). An outcome that arrives later is not
           stored (`jobs.end`). A release has the same time and is not readable before it. (3) A worker takes its next
           job only when the slot of the last one is over, even if it was restarted in between, so the time at which
           the next job starts depends on slots alone; which job that is depends on who asked, when and who was served
           when (queueing.py). Drafts and snapshots have a lane of their own (worker.py).
           (4) `finished_at` and `outcome` before the slot are read by nobody but the worker and the owner's log.
Rests on   a machine on which one job does not slow down the answers to other people measurably, and a clock that is
           not set back while a process restarts (clock.py). Whether a job overran its slot is one bit that may depend
           on the data; the slots are several times what jobs were measured to take, so that it is spent on broken
           sources and not on records.
Test       tests/service/test_slots.py::test_what_is_seen_in_time_is_the_same_on_neighbouring_tables
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from discreet.privacy.epsilon import as_epsilon
from discreet.schema import Categorical, Schema

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
"""Seconds per count query of a request: at least four times what the noise of the largest took."""
TEST_SECONDS, VALUE_SECONDS, LABEL_SECONDS, PAIR_SECONDS = 5e-4, 2.5e-5, 5e-6, 1.2e-6
"""Seconds per predicate of a count request, per value that predicates name, per label of the columns that they name,
and per query times value, since queries are compared pair by pair: four times what 256 queries of 16 tests took."""
PASS_SECONDS = 8e-9
"""Seconds per record that a query takes once, and again for each of its predicates and columns."""
CANDIDATE_SECONDS, CANDIDATE_RECORD_SECONDS = 4e-5, 2e-8
"""Seconds per candidate of a choice, for each column wanted and for each record."""
NODE_SECONDS, QUESTION_SECONDS, TREE_RECORD_SECONDS = 2.5e-4, 4e-7, 4e-5
"""Seconds that each tree takes per node, per question that a node may ask, and per record: four times what trees of 10
levels on 400 and 20,000 records of 15 columns took."""
STUMP_SECONDS = 2.6e-7
"""Seconds per stump that is compared at a leaf: four times what 40 classes in 20 columns took."""
SCORE_RECORD_SECONDS = 2.6e-5
"""Seconds per record that a score takes with the largest forest that can be asked for, whatever its columns."""
USUAL_TREES, USUAL_THRESHOLDS = 10, 260
"""Trees and thresholds per column unless the request says it: the most that "auto" takes."""
LEAST_DEPTH = 6
"""Trees count as having at least this many levels; how many "auto" grows follows from public facts, as in the model."""
COLUMN_SECONDS = 0.06
"""Seconds that a linear model takes per column and pair of classes, however few records there are: four times what 300
columns took."""
KNOTS = 32
"""With this many knots, a linear model takes twice as long as with few."""
REGISTRATION = timedelta(hours=1)
"""The longest that drafting a schema or writing a snapshot may take; only owners see these jobs."""
LONGEST = timedelta(days=7)
"""The longest slot that a request may have: for so long its worker runs nothing else."""
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
    seconds = seconds_of(kind, schema, records, request)
    return timedelta(seconds=least * math.ceil(seconds / least))


def seconds_of(kind: str, schema: Schema, records: int | None, request: dict[str, Any]) -> float:
    """The time that a slot provides for."""
    columns = len(schema.columns) + 1
    weight = _weight(request, schema) if kind == "train" else 1.0
    cells = (records or UNDECLARED) * columns
    seconds = START + CELL_SECONDS[kind] * weight * cells + counting(request, schema, records)
    seconds += SCORE_RECORD_SECONDS * (records or UNDECLARED) if kind == "score" else 0.0
    seconds += growing(request, schema, records) + _choosing(request.get("choose"), records)
    if kind == "train" and request.get("model", "auto") in ("auto", "svm"):
        seconds += COLUMN_SECONDS * len(schema.columns) * max(1.0, len(schema.classes) / 2)
    return seconds


def counting(request: dict[str, Any], schema: Schema, records: int | None) -> float:
    """Seconds for the queries of a count request: how many predicates and values they have is the asker's choice.

    As for `growing`: left out, they would let an asker choose how close to its deadline a count ends.
    """
    queries = request.get("queries", ())
    tests = [test for query in queries for test in query.get("where", ())]
    values = sum(2 + len(test.get("in", ())) for test in tests)
    labels = sum(_labels(schema, name) for name in {test["column"] for test in tests})
    passes = sum(1 + len(query.get("where", ())) + len(query.get("by", ())) for query in queries)
    public = QUERY_SECONDS * len(queries) + TEST_SECONDS * len(tests) + VALUE_SECONDS * values + LABEL_SECONDS * labels
    return public + PAIR_SECONDS * len(queries) * values + PASS_SECONDS * passes * (records or UNDECLARED)


def _labels(schema: Schema, name: str) -> int:
    if name not in schema:  # the target
        return len(schema.classes)
    column = schema[name]
    return len(column.categories) if isinstance(column, Categorical) else 0


def growing(request: dict[str, Any], schema: Schema, records: int | None) -> float:
    """Seconds for the trees that a request asks for: their number, depth and thresholds are the asker's choice.

    Were they left out, an asker could choose them such that a fit ends close to its deadline; whether it overran would
    then tell the time of the fit, which depends on the number of records, for the smallest price.
    """
    from discreet.models.trees import plan

    model = request.get("model")
    if model not in ("auto", "decision-tree", "random-forest"):
        return 0.0
    trees = _number(request, "n_trees", USUAL_TREES) if model == "random-forest" else 1.0
    questions = (len(schema.columns) + 1) * _number(request, "thresholds", USUAL_THRESHOLDS)
    depth = _number(request, "max_depth", _usual_depth(request, schema, questions))
    nodes = math.pow(2.0, min(depth, 64.0)) * (NODE_SECONDS + QUESTION_SECONDS * questions)
    by_record = 0.0 if model == "auto" else TREE_RECORD_SECONDS  # the weight of auto provides for its records
    stumps = STUMP_SECONDS * plan.most_compared(schema, depth)
    return trees * (nodes + by_record * (records or UNDECLARED)) + stumps


def _usual_depth(request: dict[str, Any], schema: Schema, questions: float) -> int:
    """The levels of a tree whose depth the request leaves open: a function of epsilon and of the declared records."""
    from discreet.models.trees import plan

    strength = plan.signal(schema, as_epsilon(request.get("epsilon", 1)), schema.records or UNDECLARED)
    return max(LEAST_DEPTH, plan.greedy_depth(strength, math.ceil(questions), len(schema.classes)))


def _number(request: dict[str, Any], name: str, usual: int) -> float:
    """A parameter of the request; the usual value if it is left out or a word."""
    value = (request.get("parameters") or {}).get(name)
    return float(min(max(value, 0), 10**6)) if isinstance(value, int | float) else float(usual)


def _choosing(choose: dict[str, Any] | None, records: int | None) -> float:
    if choose is None:
        return 0.0
    each = CANDIDATE_SECONDS * choose.get("wanted", 1) + CANDIDATE_RECORD_SECONDS * (records or UNDECLARED)
    return float(len(choose["candidates"]) * each)


def _weight(request: dict[str, Any], schema: Schema) -> float:
    """How much longer a model takes than a single table; linear models have weights for each class."""
    model = request.get("model", "auto")
    if model == "svm":
        return MODEL_WEIGHT[model] * max(1.0, len(schema.classes) / 2) * (1 + _number(request, "knots", 0) / KNOTS)
    return MODEL_WEIGHT[model] * (max(1.0, len(schema.classes) / 2) if model == "auto" else 1.0)


def deadline(whole: timedelta) -> timedelta:
    """How long the child process of a job may run: the slot, less the time to write the result down."""
    seconds = whole.total_seconds()
    return timedelta(seconds=seconds - min(RESERVE * seconds, 5.0))
