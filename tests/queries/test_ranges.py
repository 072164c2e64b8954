"""The parts of its range that a number may fill, and how much one record can change which of them leads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.queries.hyperplanes import PARTS
from discreet.queries.ranges import CANDIDATES, MOST_FAVOUR, MOST_HALVINGS, Filled
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, neighbours, schema


def scores(rows, public, column="near", favour=0, enough=MOST_FAVOUR):
    query = Filled(column, favour, enough)
    if not rows:
        return query.scores(np.zeros((3, PARTS), dtype=np.int64))
    cells = query.cells(public)
    return query.scores(MemorySource(rows).count([cells], public).counts[cells])


def test_the_candidates_are_parts_that_overlap():
    assert CANDIDATES[0] == ((0, PARTS), 0)
    assert [part for part, halvings in CANDIDATES if halvings == 1] == [(0, 32), (16, 48), (32, 64)]
    assert len({part for part, _ in CANDIDATES}) == len(CANDIDATES) == 120
    for (low, high), halvings in CANDIDATES:
        assert 0 <= low < high <= PARTS
        assert high - low == PARTS >> halvings >= 2
    assert max(halvings for _, halvings in CANDIDATES) == MOST_HALVINGS


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_leads_move_by_at_most_the_distance_and_attain_it(adjacency, data):
    public, column = schema(adjacency), data.draw(st.sampled_from(["near", "far"]))
    enough = data.draw(st.integers(-1, 12))
    one, other = (scores(rows, public, column, -3, enough) for rows in data.draw(neighbours(adjacency)))
    moved = one - other
    assert moved.max() - moved.min() <= Filled(column, -3).distance(public)
    if adjacency == "add-remove":
        assert np.isin(moved, (0, 1)).all() or np.isin(moved, (0, -1)).all(), "all the same way"
    low, high = {"near": -1, "label": "x"}, {"near": 1, "label": "x"}
    pair = ([low], [low, high]) if adjacency == "add-remove" else ([low, low], [low, high])
    moved = scores(pair[0], public) - scores(pair[1], public)
    assert moved.max() - moved.min() == Filled("near", 0).distance(public)


def test_scores_are_records_and_favours():
    public = schema()
    rows = [{"near": value, "label": label} for value in (-1, -0.99, 0.6, 5, None) for label in ("x", "nobody")]
    found = dict(zip([part for part, _ in CANDIDATES], scores(rows, public, favour=10), strict=True))
    assert found[0, PARTS] == 5
    assert found[0, 32] == 2 + 10
    assert found[16, 48] == 1 + 10, "a missing number is in the middle"
    assert found[32, 64] == 3 + 10
    assert found[0, 2] == 2 + 50
    assert found[62, 64] == 1 + 50
    capped = dict(zip([part for part, _ in CANDIDATES], scores(rows, public, favour=10, enough=2), strict=True))
    assert (capped[0, PARTS], capped[0, 2], capped[16, 48]) == (2, 2 + 50, 1 + 10)


@pytest.mark.parametrize("favour", [1.5, True, MOST_FAVOUR + 1, -MOST_FAVOUR - 1])
def test_favours_that_could_wrap_around_are_refused(favour):
    for given_ in ((favour,), (0, favour)):
        with pytest.raises(ValueError, match="need an integer"):
            Filled("near", *given_)
