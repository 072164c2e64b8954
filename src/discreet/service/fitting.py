"""Whether a request fits a data set's public facts: columns, values, parameters, sizes. No data are looked at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.schema import Schema
from discreet.service.errors import RequestError
from discreet.service.requests import CountRequest, ScoreRequest, TrainRequest, epsilon_of, plain
from discreet.service.slots import growing

if TYPE_CHECKING:  # the process of a job has no database, and starts sooner without its packages
    from sqlalchemy import Connection

    from discreet.service.people import Person

PARAMETERS: dict[str, tuple[str, ...]] = {
    "auto": ("class_weight",),
    "naive-bayes": ("numeric", "bins", "split", "smoothing", "select", "temperature", "class_weight"),
    "one-rule": ("bins", "choosing"),
    "decision-tree": ("structure", "max_depth", "thresholds", "criterion", "prune", "class_weight"),
    "random-forest": (
        "n_trees",
        "structure",
        "max_columns",
        "max_depth",
        "thresholds",
        "criterion",
        "prune",
        "class_weight",
    ),
    "svm": ("huber", "regularisation", "knots", "select", "leaves", "ranges", "class_weight"),
}
"""The parameters that a request may set: public numbers and words. Never a seed, a schema or a path."""
MOST = {"n_trees": 50, "max_depth": 20, "bins": 1000, "thresholds": 1000, "knots": 64, "leaves": 256}
"""Bounds of parameters beyond those of the models: what a slot provides for."""
MOST_GROWING = 120.0
"""The most seconds of a slot for the size of trees alone: no request keeps the worker from others for long."""
MOST_CHOICES = 1 << 18
"""The most candidates of a choice times columns wanted: each round looks at all that are left."""
MOST_COUNTED = 1 << 18
"""The most cells that all candidates of a choice are counted in, as for count queries (doors/questions.py)."""


def estimator_for(request: TrainRequest, schema: Schema) -> Any:
    """The model that a request asks for, with its parameters, checked; RequestError says which parameter is wrong."""
    from discreet.models import MODELS

    allowed = PARAMETERS[request.model]
    for name, value in request.parameters.items():
        if name not in allowed:
            has = ", ".join(allowed) or "no parameters"
            raise RequestError(f"parameters.{name[:40]}: {request.model} has: {has}")
        if name in MOST and isinstance(value, int | float) and value > MOST[name]:
            raise RequestError(f"parameters.{name}: need at most {MOST[name]}")
    if growing(plain(request), schema, 1) > MOST_GROWING:
        raise RequestError("parameters: trees of this size take too long; take fewer, or less depth or thresholds")
    try:
        estimator = MODELS[request.model](schema, epsilon=request.epsilon)
        estimator.set_params(**request.parameters)
        estimator.check_parameters()
    except DiscreetError as error:
        raise RequestError(f"parameters: {str(error)[:300]}") from None
    except OverflowError:  # an integer that no float can hold
        raise RequestError("parameters: a number is too large") from None
    return estimator


def check_fit(
    connection: Connection, request: TrainRequest | ScoreRequest | CountRequest, schema: Schema, person: Person
) -> None:
    """Raise RequestError unless the request can be answered on tables of this schema."""
    if isinstance(request, TrainRequest):
        estimator_for(request, schema)
    elif isinstance(request, ScoreRequest):
        from discreet.service.releases import released_model

        check_same_columns(released_model(connection, request.release, person), schema)
    else:
        check_counts(request, schema)


def questions_of(request: CountRequest) -> list[Any]:
    """The questions of a request, in the library's words; RequestError if one cannot be read."""
    from discreet.queries.crossed import CrossedCounts

    try:
        return [CrossedCounts.from_plain(query) for query in plain(request)["queries"]]
    except DiscreetError as error:
        raise RequestError(f"queries: {str(error)[:300]}") from None


def check_counts(request: CountRequest, schema: Schema) -> list[Any]:
    """The questions of a request, or none if it is a choice; RequestError unless they can be answered and priced."""
    from discreet.doors.questions import priced

    if request.choose is not None:
        check_choice(request, schema)
        return []
    asked = questions_of(request)
    try:
        priced(schema, asked, epsilon_of(request), request.shares)
    except DiscreetError as error:
        raise RequestError(f"queries: {str(error)[:300]}") from None
    return asked


def planned_counts(request: CountRequest, schema: Schema) -> list[tuple[float, int, int]]:
    """For each query the scale of its noise, what one record adds in all, and its number of cells; all public."""
    from discreet.doors.questions import expected

    if not (asked := check_counts(request, schema)):
        return []
    told = expected(schema, asked, epsilon_of(request), request.shares)
    return [(*each, math.prod(query.shape(schema))) for each, query in zip(told, asked, strict=True)]


def candidates_of(request: CountRequest, schema: Schema) -> list[Any]:
    """The candidates of a choice, in the library's words; RequestError if one does not fit the schema."""
    from discreet.queries.candidates import candidate_from_plain

    try:
        return [candidate_from_plain(each, schema) for each in plain(request)["choose"]["candidates"]]
    except DiscreetError as error:
        raise RequestError(f"choose: {str(error)[:300]}") from None


def check_choice(request: CountRequest, schema: Schema) -> None:
    """Raise RequestError unless columns can be chosen so."""
    from discreet.doors.choice import planned_choice

    assert request.choose is not None, "a choice is asked for"
    candidates, wanted = candidates_of(request, schema), request.choose.wanted
    if len(candidates) * wanted > MOST_CHOICES:
        raise RequestError(f"choose: candidates times wanted is above {MOST_CHOICES}; choose fewer at a time")
    counted = sum(cells.size(schema) for cells in {each.cells(schema) for each in candidates}) * len(schema.classes)
    if counted > MOST_COUNTED:
        raise RequestError(f"choose: all candidates have {counted} cells; need at most {MOST_COUNTED}: use fewer bins")
    try:
        planned_choice(schema, candidates, wanted, epsilon_of(request))
    except DiscreetError as error:
        raise RequestError(f"choose: {str(error)[:300]}") from None


def check_same_columns(model: Any, schema: Schema) -> None:
    """Raise RequestError unless a model can be asked about records of this schema: its columns, its target."""
    asked: Schema = model.schema_
    absent = [name for name in asked.names if name not in schema.names]
    if absent or asked.target != schema.target:
        raise RequestError("release: the model asks for columns that this data set does not have")
    for column in asked.columns:
        if column.kind != schema[column.name].kind:
            raise RequestError(f"release: column {column.name} is of another kind in this data set")
