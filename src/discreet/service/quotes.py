"""What a request would cost and is expected to give, before anything is charged: a function of public facts only."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection

from discreet.errors import DiscreetError
from discreet.evaluation.accuracy import expected_margin, plan
from discreet.privacy.accounts import Books, as_fraction
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.schema import Schema
from discreet.service.admission import Facts
from discreet.service.catalogue import Version
from discreet.service.fitting import planned_counts
from discreet.service.grants import Grant
from discreet.service.people import Person
from discreet.service.requests import CountRequest, TrainRequest, plain, read_request
from discreet.service.slots import slot

BOOKS = Books()


@dataclass(frozen=True)
class Quote:
    """The price of a request and what to expect of it.

    Attributes
    ----------
    epsilon, nano : the loss under the data set's adjacency, and what the accounts count for it.
    enough : whether all four accounts could pay now; another request may come first.
    approved_by_rule : whether the grant's rule approves it; otherwise an owner decides.
    remaining : what would be left of the asker's own grant and of the project, if it is paid.
    slot : how long after its start the result appears.
    expected : for a model `accuracy`, `low`, `high`, `model` and `is_guess`; for a score the `margin` of both numbers;
        for counts, one entry per query with `deviation` and `margin` (95 %) of each of its `cells`.
    """

    epsilon: str
    nano: int
    enough: bool
    approved_by_rule: bool
    remaining: dict[str, Fraction]
    slot: timedelta
    expected: dict[str, Any] = field(default_factory=dict)


def quote(
    connection: Connection,
    person: Person,
    dataset: str,
    content: Any,
    *,
    project: str | None = None,
    version: int | None = None,
    least_slot: float = 10.0,
) -> Quote:
    """The quote for a request; refused for the same reasons as the request itself would be, but for money."""
    request = read_request(content)
    admitted = Facts.about(connection, person, dataset, version).admit(connection, person, request, project)
    grant, price, schema = admitted.grant, admitted.nano, admitted.schema
    return Quote(
        epsilon=str(admitted.epsilon),
        nano=price,
        enough=_is_enough(connection, grant, price),
        approved_by_rule=price <= grant.approve_up_to_nano,
        remaining=_remaining(connection, grant, price),
        slot=slot(request.kind, schema, admitted.version.records_declared, plain(request), least_slot),
        expected=_expected(request, admitted.version, schema, admitted.epsilon),
    )


def _is_enough(connection: Connection, grant: Grant, price: int) -> bool:
    cost = as_fraction(price)
    return all(BOOKS.standing(connection, account).remaining >= cost for account in grant.accounts)


def _remaining(connection: Connection, grant: Grant, price: int) -> dict[str, Fraction]:
    """Of the accounts that the asker may see: their own grant and their project."""
    own = {"grant": grant.account, "project": grant.project_account}
    cost = as_fraction(price)
    return {name: BOOKS.standing(connection, account).remaining - cost for name, account in own.items()}


def _expected(request: Any, version: Version, schema: Schema, epsilon: Fraction) -> dict[str, Any]:
    if isinstance(request, TrainRequest):
        return _expected_accuracy(request.model, schema, version.records_declared, epsilon)
    if isinstance(request, CountRequest):
        return {"queries": _expected_noise(request, schema)}
    _, steps = plan(schema, epsilon)
    return {"margin": expected_margin(steps, len(schema.classes), 0.95)}


def _expected_accuracy(model: str, schema: Schema, records: int | None, epsilon: Fraction) -> dict[str, Any]:
    """What `advise` says; nothing if the number of records is not public, since all depends on it."""
    from discreet.advice import advise

    if records is None:
        return {}
    try:
        choice = advise(schema, [epsilon], records=records).choices[0]
    except DiscreetError:
        return {}
    told = {each.model: each for each in choice.expectations}
    each = told.get(model)
    if each is None:
        return {}
    facts = {"model": choice.picked.model if model == "auto" else model, "is_guess": choice.is_guess}
    return {"accuracy": each.accuracy, "low": each.low, "high": each.high, **facts}


def _expected_noise(request: CountRequest, schema: Schema) -> list[dict[str, Any]]:
    """Standard deviation and half of the 95 % interval of each count of each query."""
    from discreet.released.intervals import half_width

    return [
        {
            "cells": cells,
            "deviation": math.sqrt(DiscreteLaplace(scale).variance) / unit,
            "margin": half_width(scale, 0.95) / unit,
        }
        for scale, unit, cells in planned_counts(request, schema)
    ]
