"""Trees as public structures: where a record ends, what one record can change, and what a file may hold."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.counts import release
from discreet.doors.tree_plans import Asked
from discreet.errors import ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.queries.trees import (
    MOST_CATEGORIES,
    MOST_DEPTH,
    SCORES,
    LeafCounts,
    LeafLabels,
    Split,
    candidates,
    complete_tree,
    gini_purity,
    majority,
)
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource

SCHEMA = Schema(
    [Numeric("n", 0, 8), Categorical("c", ["a", "b"]), Categorical("d", ["u", "v"], unlisted=False)], "y", ["0", "1"]
)
LEFT, RIGHT, MIDDLE = Split("n", 4, 0), Split("c", None, 2), Split("n", 4, 1)
TREE = complete_tree([[MIDDLE], [LEFT, RIGHT]])


def test_a_complete_tree_stands_in_preorder():
    assert TREE.nodes == (MIDDLE, LEFT, None, None, RIGHT, None, None)
    assert (TREE.leaves, TREE.depth, TREE.cells) == (4, 2, [Cells("n", 4), Cells("c")])
    assert TREE.links() == ([1, 2, -1, -1, 5, -1, -1], [4, 3, -1, -1, 6, -1, -1], [0, 1, 2, 2, 1, 2, 2])
    assert complete_tree([]).nodes == (None,)


def test_records_end_in_their_leaves():
    codes = {Cells("n", 4): np.array([0, 1, 2, 3, 2], dtype=np.uint8), Cells("c"): np.array([2, 2, 2, 0, 1])}
    assert TREE.leaf_of(codes, 5).tolist() == [0, 1, 2, 3, 3]
    assert complete_tree([]).leaf_of({}, 3).tolist() == [0, 0, 0]
    assert TREE.leaf_of({cells: np.zeros(0, dtype=int) for cells in codes}, 0).tolist() == []


@given(st.data())
def test_leaves_are_found_as_by_walking(data):
    """Against the plain way: one record at a time, from the root."""
    splits = candidates(SCHEMA, 4)
    levels = [
        [splits[data.draw(st.integers(0, len(splits) - 1))] for _ in range(2**level)]
        for level in range(data.draw(st.integers(0, 3)))
    ]
    tree = complete_tree(levels)
    records = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), max_size=6))
    cells = [Cells("n", 4), Cells("c"), Cells("d")]
    codes = {each: np.array([record[place] for record in records], dtype=int) for place, each in enumerate(cells)}
    expected = []
    for row in range(len(records)):
        place = 0
        for level in levels:
            split = level[place]
            code = codes[split.cells][row]
            place = 2 * place + int(not (code <= split.code if split.bins else code == split.code))
        expected.append(place)
    assert tree.leaf_of(codes, len(records)).tolist() == expected


def test_candidates_are_all_questions_with_two_answers():
    splits = candidates(SCHEMA, 4)
    assert [(split.column, split.code) for split in splits] == [
        ("n", 0), ("n", 1), ("n", 2), ("c", 0), ("c", 1), ("c", 2), ("d", 0)
    ]  # fmt: skip
    assert all(split.fits(SCHEMA) for split in splits)
    assert candidates(SCHEMA, 4, ["d"]) == (Split("d", None, 0),)
    lone = Schema([Categorical("one", ["a"], unlisted=False)], "y", ["0"])
    assert candidates(lone, 4) == ()
    wide = Schema([Categorical("zip", list(range(MOST_CATEGORIES + 1)))], "y", ["0"])
    assert candidates(wide, 4) == ()


def test_fine_thresholds_have_many_scales():
    """Steps of 1/256 and, near both bounds, 1/2048, 1/1024 and 1/512 of the range."""
    public = Schema([Numeric("n", 0, 2048)], "y", ["0"])
    splits = candidates(public, None)
    edges = [split.code + 1 for split in splits]
    assert edges == sorted({1, 2, 4, 2044, 2046, 2047, *range(8, 2048, 8)})
    assert all(split.fits(public) for split in splits)
    cells = Cells("n", 2048).codes(np.array([0.0, 0.99, 1.0, 7.9, 8.0, 2047.0, 2048.0]), public)
    assert [code <= edge - 1 for code, edge in zip(cells, (1, 1, 1, 8, 8, 2047, 2047), strict=True)] == [
        True, True, False, True, False, False, False
    ]  # fmt: skip


@pytest.mark.parametrize("grid", [2, 3, 10, 255, 256, 300, 1024, 2047, 2048, 65_000])
def test_fine_thresholds_divide_the_grid_points_each_in_another_way(grid):
    """None is twice the same on the column's grid; a grid of few points is divided at each."""
    public = Schema([Numeric("n", 0, 1, grid=grid)], "y", ["0"])
    splits = candidates(public, None)
    points = splits[0].cells.codes(np.arange(grid + 1) / grid, public)
    on_the_left = [int((points <= split.code).sum()) for split in splits]
    assert len(set(on_the_left)) == len(splits) == min(len(splits), 261)
    assert 0 < min(on_the_left) <= max(on_the_left) <= grid
    if grid < 256:
        assert on_the_left == list(range(1, grid + 1))


COUNTS = [np.array(counts, dtype=np.int64)[None] for counts in itertools.product(range(5), repeat=3)]


@pytest.mark.parametrize(("value", "sign", "reach"), [(majority, 1, 1), (gini_purity, -1, 2)])
def test_values_of_a_side_move_within_their_sensitivity(value, sign, reach):
    """Every table of three classes up to four records each, and up to 60 of two; the bound is attained."""
    moves = set()
    for counts in COUNTS + [np.array([[a, b]]) for a in range(61) for b in range(61)]:
        for label in range(counts.shape[1]):
            more = counts.copy()
            more[0, label] += 1
            moves.add(sign * int(value(more)[0] - value(counts)[0]))
    assert moves == set(range(reach + 1))


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_scores_move_within_their_sensitivity(score):
    """Exhaustive for two classes and both sides of two splits: one way when adding, within the bound when replacing."""
    tables = np.array(list(itertools.product((0, 1, 30), repeat=8))).reshape(-1, 2, 2, 2)
    before, reached = scores_of(score, tables), set()
    for place in itertools.product(range(2), repeat=3):
        added = tables.copy()
        added[(slice(None), *place)] += 1
        move = scores_of(score, added) - before
        assert ((move >= 0).all(axis=1) | (move <= 0).all(axis=1)).all()
        reached.update(np.abs(move).ravel().tolist())
        for other in itertools.product(range(2), repeat=3):
            some = added[(slice(None), *other)] > 0
            replaced = added[some]
            replaced[(slice(None), *other)] -= 1
            assert np.abs(scores_of(score, replaced) - before[some]).max() <= score.sensitivity
    assert max(reached) == score.sensitivity


@pytest.mark.parametrize("weights", [(1, 3), (16, 1), (2, 2)])
@pytest.mark.parametrize("plain", SCORES.values(), ids=SCORES)
def test_weighted_scores_move_within_their_sensitivity(plain, weights):
    """Exhaustive as above: a record of weight w counts as w records."""
    score, reached = plain.weighted(weights), set()
    assert score.sensitivity == plain.sensitivity * max(weights)
    tables = np.array(list(itertools.product((0, 1, 30), repeat=8))).reshape(-1, 2, 2, 2)
    before = scores_of(score, tables)
    for place in itertools.product(range(2), repeat=3):
        added = tables.copy()
        added[(slice(None), *place)] += 1
        move = scores_of(score, added) - before
        assert ((move >= 0).all(axis=1) | (move <= 0).all(axis=1)).all()
        reached.update(np.abs(move).ravel().tolist())
    assert max(reached) <= score.sensitivity
    assert max(reached) > plain.sensitivity * max(weights) / 2
    assert plain.weighted(None) is plain


@pytest.mark.parametrize("weights", [(0, 1), (1, 17), (1, 2.0), (True, 1), (-1, 1)])
def test_weights_that_have_no_proof(weights):
    with pytest.raises(ValueError, match="integers from 1 to 16"):
        SCORES["max"].weighted(weights)


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("side", [0, 1])
def test_scores_of_billions_of_records_move_within_their_sensitivity(score, side):
    """Squares of such counts do not fit 64 bits."""
    rng = np.random.default_rng(0)
    size = 10 ** rng.integers(8, 13, size=(4000, 1))
    total = rng.integers(0, size, size=(4000, 3))
    left = rng.integers(0, total + 1)[:, :, None]
    one = np.array([0, 1, 0])
    more, more_left = total + one, left + (1 - side) * one[:, None]
    move = score.of(more_left, more) - score.of(left, total)
    assert (move >= 0).all() or (move <= 0).all()
    assert np.abs(move).max() <= score.sensitivity


def scores_of(score, tables):
    """Scores by table and split, from counts by table, class, side of the first split and side of the second."""
    left = np.stack([tables[:, :, 0, :].sum(axis=2), tables[:, :, :, 0].sum(axis=2)], axis=2)
    return score.of(left, tables.sum(axis=(2, 3)))


def test_scores_prefer_the_better_split():
    left = np.array([[[10, 5], [0, 5]]])
    total = np.array([[10, 10]])
    for score in SCORES.values():
        first, second = score.of(left, total)[0]
        assert first > second


@pytest.mark.parametrize(("adjacency", "reach"), [("add-remove", 1), ("replace-one", 2)])
def test_leaf_counts_move_by_one_record(adjacency, reach):
    schema = SCHEMA.replace(adjacency=adjacency)
    assert Asked("leaves", 1).distance(schema) == reach
    moves = set()
    for first, second in itertools.product(itertools.product(range(4), range(3), range(3)), repeat=2):
        tables = []
        for n, c, label in (first, second):
            table = np.zeros((2, 4), dtype=int)
            if label < 2:  # else none of the classes
                table[label, TREE.leaf_of({Cells("n", 4): np.array([n]), Cells("c"): np.array([c])}, 1)[0]] += 1
            tables.append(table)
        moves.add(int(np.abs(tables[0] - (tables[1] if adjacency == "replace-one" else 0)).sum()))
    assert max(moves) == reach


def test_queries_are_plain_data_and_come_back():
    for kind in (LeafCounts, LeafLabels):
        query = kind(TREE.nodes)
        assert kind(**json.loads(json.dumps(query.__dict__))) == query
        assert query.shape(SCHEMA) == (2, 4)
        assert query.columns == ("n", "c")
        assert repr(query) == f"{kind.__name__}(4 leaves)"
    assert LeafCounts(TREE.nodes) != LeafLabels(TREE.nodes)
    ledger, asked = Ledger(1), Step(LeafCounts(TREE.nodes), DiscreteLaplace(1e9), Fraction(1))
    with pytest.raises(ParameterError, match="a door of its own"):
        release(MemorySource([]), SCHEMA, [asked], ledger, as_rng(0))
    assert ledger.spent == 0


@pytest.mark.parametrize(
    "nodes",
    [
        (),
        (None, None),
        (LEFT, None),
        (LEFT, None, None, None),
        (["n", 4, 0], None),
        (["n", 4], None, None),
        ([4, 4, 4], None, None),
        (["n", 4, 1.5], None, None),
        (["n", 4, True], None, None),
        (["n", 1, 0], None, None),
        (["n", 10**6, 0], None, None),
        ("leaf",),
        (["n", 4, 0],) * (MOST_DEPTH + 1) + (None,) * (MOST_DEPTH + 2),
    ],
)
def test_what_is_no_tree_is_refused(nodes):
    with pytest.raises(ValueError):
        LeafCounts(nodes)


@pytest.mark.parametrize(
    "split",
    [
        Split("unknown", None, 0),
        Split("c", 4, 0),
        Split("n", None, 0),
        Split("n", 4, 3),
        Split("n", 4, -1),
        Split("c", None, 3),
    ],
)
def test_a_tree_of_another_schema_is_refused(split):
    assert not split.fits(SCHEMA)
    with pytest.raises(ValueError, match="schema"):
        LeafCounts((split, None, None)).shape(SCHEMA)
