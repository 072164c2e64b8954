"""Neighbouring tables of an awkward schema, for every suite that compares two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema

ADJACENCIES = ("add-remove", "replace-one")


def schema(adjacency: str = "add-remove", records: int | None = 40) -> Schema:
    """Bounds near and far from zero, categories with and without a cell for strays, three classes."""
    return Schema(
        [
            Numeric("near", -1, 1),
            Numeric("far", 100, 101, fill=100.0),
            Categorical("open", ["a", "b"]),
            Categorical("closed", ["a", "b", "?"], unlisted=False, missing="?"),
        ],
        target="label",
        classes=["x", "y", "z"],
        adjacency=adjacency,
        records=records,
    )


NUMBERS = st.one_of(
    st.floats(-2, 2), st.floats(99.5, 101.5), st.sampled_from([None, np.nan, np.inf, -np.inf, "?", "100.5", 1e308])
)


TEXTS = st.sampled_from(["a", "b", "?", None, "", "stray", 1, np.nan])


RECORDS = st.fixed_dictionaries(
    {
        "near": NUMBERS,
        "far": NUMBERS,
        "open": TEXTS,
        "closed": TEXTS,
        "label": st.sampled_from(["x", "y", "z", "x", "y", "z", None, "unlisted"]),
    }
)


TABLES = st.lists(RECORDS, max_size=12)


@st.composite
def neighbours(draw: Any, adjacency: str, *, reordered: bool = True) -> tuple[list[dict], list[dict]]:
    """Two neighbouring tables: one record dropped, or one replaced (perhaps only its label); rows reordered."""
    table = draw(TABLES)
    extra = draw(RECORDS)
    if adjacency == "add-remove":
        other = [*table, extra]
    else:
        flipped = {**extra, "label": draw(st.sampled_from(["x", "y", "z", None]))}
        changed = draw(st.sampled_from([flipped, draw(RECORDS)]))
        table, other = [*table, extra], [*table, changed]
    other = draw(st.permutations(other)) if reordered else other
    return (other, table) if draw(st.booleans()) else (table, other)


EDGES = {
    "none": [],
    "one record": [{"near": 0, "far": 100.5, "open": "a", "closed": "b", "label": "x"}],
    "single class": [{"near": 0.1, "far": 100.1, "open": "a", "closed": "b", "label": "x"}] * 5,
    "no class at all": [{"near": 0.1, "far": 100.1, "open": "a", "closed": "b", "label": "?"}] * 5,
    "far out": [{"near": 1e300, "far": -1e300, "open": "zzz", "closed": 4, "label": "y"}] * 3,
}


BASE = {"near": -1, "far": 100, "open": "a", "closed": "a", "label": "y"}


ODD = {"near": 1, "far": 101, "open": "b", "closed": "b", "label": "x"}
