"""Records outside the schema: how much one record can change their number."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.queries.outside import Outside, Worst, is_watched, watching
from discreet.queries.tags import from_plain, to_plain
from discreet.schema.columns import Categorical, Numeric
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, neighbours, schema

NAMES = ("near", "far", "open")


def tables(rows, public):
    source, queries = MemorySource(rows), [Outside(name) for name in NAMES]
    if not rows:
        return np.zeros((len(NAMES), 2), dtype=np.int64)
    counts = source.count([query.cells(public) for query in queries], watching(public)).counts
    return np.concatenate([query.fold(counts[query.cells(public)], public) for query in queries])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_sensitivity_bounds_every_neighbour_and_is_attained(adjacency, data):
    public = schema(adjacency)
    one, other = (tables(rows, public) for rows in data.draw(neighbours(adjacency)))
    assert np.abs(one - other).sum(axis=1).max() <= Outside("near").distance(public)
    good = {"near": 0, "far": 100, "open": "a", "closed": "a", "label": "x"}
    bad = {**good, "near": None}
    pair = ([good], [good, bad]) if adjacency == "add-remove" else ([good], [bad])
    reached = np.abs(tables(pair[0], public) - tables(pair[1], public)).sum(axis=1)
    assert reached[0] == Outside("near").distance(public)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_lead_moves_by_at_most_the_distance(adjacency, data):
    public = schema(adjacency)
    one, other = (tables(rows, public)[:, 1] for rows in data.draw(neighbours(adjacency)))
    leads = (one[:, None] - one[None, :]) - (other[:, None] - other[None, :])
    assert np.abs(leads).max() <= Worst(NAMES).distance(public)


def test_what_cannot_be_noticed_is_not_watched():
    assert is_watched(Numeric("n", 0, 1))
    assert is_watched(Categorical("c", ["a"]))
    assert not is_watched(Categorical("c", ["a"], unlisted=False))
    assert not is_watched(Numeric("n", 0, 1.79e308))
    assert not is_watched(Numeric("n", 2.0**60, 2.0**60 + 1024)), "no float lies just below the lower bound"
    assert watching(schema()).columns[2:] == schema().columns[2:]


def test_it_can_be_written_to_a_file():
    assert from_plain(to_plain(Outside("near"))) == Outside("near")
    assert Outside("near").shape(schema()) == (1, 2)
