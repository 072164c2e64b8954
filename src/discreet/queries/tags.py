"""Queries as plain data, for files. Each kind has a tag that stays the same even if its class is renamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.margins import Margins
from discreet.queries.outside import Outside
from discreet.queries.tables import ClassCounts, Counts, Moments, SoftCounts, SplineCounts, StoredQuery, Total
from discreet.queries.trees import LeafCounts, LeafLabels

TAGS: dict[str, Any] = {
    "Counts": Counts,
    "SplineCounts": SplineCounts,
    "SoftCounts": SoftCounts,
    "ClassCounts": ClassCounts,
    "Total": Total,
    "Outside": Outside,
    "Moments": Moments,
    "Hyperplanes": Hyperplanes,
    "LeafCounts": LeafCounts,
    "LeafLabels": LeafLabels,
    "Margins": Margins,
}
"""The queries whose answers a file may hold."""
_TAG_OF = {kind: tag for tag, kind in TAGS.items()}


def to_plain(query: StoredQuery) -> dict[str, Any]:
    """A query as it is written to a file."""
    return {"kind": _TAG_OF[type(query)], **query.__dict__}


def from_plain(content: Mapping[str, Any]) -> Any:
    """The inverse of `to_plain`; ValueError or TypeError if it is not a query of ours."""
    fields = dict(content)
    tag = fields.pop("kind")
    if tag not in TAGS:
        raise ValueError(f"query kind {tag!r} is not known; need one of: {', '.join(TAGS)}")
    return TAGS[tag](**fields)
