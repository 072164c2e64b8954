"""Audits of a running service: two of its data sets, which differ in one record, are the neighbours.

The service is asked as by any analyst, and every run is charged; its data sets are made for the audit by their owner.
"""

from __future__ import annotations

from typing import Any

from discreet.audit.neighbours import Pair
from discreet.audit.tables import Table
from discreet.audit.target import Recipe, Target
from discreet.errors import ParameterError

ASKED = "discreet.client.audited:answer"
COLUMN = "data set"
NEEDED = (
    'name two data sets of the service that differ in one record, and what to ask: --with \'datasets=["one", '
    '"other"]\' --with \'request={"kind": "train", "model": "naive-bayes", "epsilon": "1"}\''
)


def as_remote(url: str, given: dict[str, Any]) -> Recipe:
    """The recipe of a service's address; ParameterError if data sets or the request are missing."""
    parameters = dict(given.get("parameters", {}))
    names, request = parameters.pop("datasets", None), parameters.get("request")
    if not (isinstance(names, list) and len(names) == 2 and all(isinstance(each, str) for each in names)):
        raise ParameterError(f"target {url}: {NEEDED}")
    if not isinstance(request, dict) or not request.get("epsilon"):
        raise ParameterError(f"target {url}: {NEEDED}")
    unknown = sorted(set(parameters) - {"request", "project"})
    if unknown or given.get("python"):
        raise ParameterError(f"target {url}: {unknown[0] if unknown else 'python'} is not used; {NEEDED}")
    target = Target(ASKED, parameters={**parameters, "url": url}, form="records", megabytes=given.get("megabytes"))
    first, second = (Table((COLUMN,), ("categorical",), (((each,), ""),)) for each in names)
    return Recipe(target, given=(Pair(first, second, f"the data sets {names[0]!r} and {names[1]!r}"),))
