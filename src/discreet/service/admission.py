"""What a request has to pass before its price is named or reserved: all that a quote and a job have in common."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection

from discreet.privacy.accounts.amounts import counted
from discreet.schema import Schema
from discreet.service.catalogue import Version, dataset_named, ready_version
from discreet.service.errors import NotAllowedError
from discreet.service.fitting import check_fit
from discreet.service.grants import Grant, active_grant
from discreet.service.people import Person
from discreet.service.requests import epsilon_of


@dataclass(frozen=True)
class Admitted:
    """A request that may be made: who pays, for which version of the data, and how much.

    Attributes
    ----------
    epsilon, nano : the loss under the adjacency of the schema, and what the accounts count for it.
    """

    grant: Grant
    version: Version
    schema: Schema
    epsilon: Fraction
    nano: int


def admit(
    connection: Connection, person: Person, dataset: str, request: Any, project: str | None, version: int | None
) -> Admitted:
    """Check the right to ask and whether the request fits the data; money is not looked at, and nothing is written."""
    found = dataset_named(connection, dataset, person)
    grant = active_grant(connection, person.id, found.id, project)
    if request.kind not in grant.kinds:
        raise NotAllowedError(f"your grant does not allow {request.kind}; it allows: {', '.join(grant.kinds)}")
    ready = ready_version(connection, found.id, version)
    schema = ready.public_schema
    check_fit(connection, request, schema, person)
    epsilon = epsilon_of(request)
    return Admitted(grant, ready, schema, epsilon, counted(epsilon, schema.adjacency, grant.population_adjacency))
