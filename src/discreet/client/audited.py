"""What `discreet audit URL` runs: one request to a data set of a service, and its answer."""

from __future__ import annotations

from typing import Any

from discreet.client.client import Client
from discreet.client.credentials import connection

COLUMN = "data set"
"""The column of the auditor's tables that names the data set."""


def answer(records: Any, _: Any, url: str, request: dict[str, Any], project: str | None = None) -> Any:
    """What the service publishes of the data set that the one record names; it is charged like any other request."""
    address, token = connection(url)
    with Client(address, token=token) as client:
        asked = client.dataset(records[0][COLUMN], project=project)
        return asked.submit(request).wait(progress=lambda _: None).content()
