"""Pairs of tables: neighbours indeed, of many kinds, and still neighbours when made smaller."""

from collections import Counter

import numpy as np
import pytest

from discreet import Adjacency, Categorical, Numeric, Schema
from discreet.audit.neighbours import LONGEST, Pair, pairs, random_pair, shown, smaller, varied
from discreet.audit.tables import DEFAULT, bases, empty

MIXED = Schema(
    [Numeric("age", 17, 90), Categorical("ward", ["a", "b", "rare"])], target="ill", classes=["no", "yes", "unknown"]
)


def distance(pair):
    """Records that must be removed and added to get from one table to the other, as multisets."""
    first, second = (Counter(map(repr, table.records)) for table in (pair.first, pair.second))
    return (first - second).total(), (second - first).total()


@pytest.mark.parametrize("schema", [DEFAULT, MIXED])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_all_pairs_are_neighbours(schema, adjacency):
    rng = np.random.default_rng(0)
    allowed = {(1, 0), (0, 1)} if adjacency is Adjacency.ADD_REMOVE else {(1, 1), (0, 0)}
    found = [*pairs(schema, adjacency), *(random_pair(schema, adjacency, rng) for _ in range(50))]
    for pair in found:
        assert distance(pair) in allowed, pair
        for each in smaller(pair):
            assert distance(each) in allowed, each
            assert len(each.first) < len(pair.first)
    if adjacency is Adjacency.REPLACE_ONE:
        assert all(len(pair.first) == len(pair.second) for pair in found)


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_varied_pairs_are_neighbours_and_stay_small(adjacency):
    rng, seen = np.random.default_rng(0), set()
    pair = pairs(MIXED, adjacency)[4]
    for _ in range(300):
        pair = varied(pair, MIXED, rng)
        assert sum(distance(pair)) in ({1} if adjacency is Adjacency.ADD_REMOVE else {0, 2})
        assert len(pair.first) <= LONGEST + 1
        seen.add(len(pair.first))
    assert len(seen) > 3
    assert pair.words.endswith(", varied")
    assert not pair.words.endswith(", varied, varied")


def test_the_list_has_what_mechanisms_get_wrong():
    words = "\n".join(pair.words for pair in pairs(MIXED, Adjacency.ADD_REMOVE))
    for kind in ("empty table", "only record of class", "NaN", "infinity", "1e308", "first record removed", "twice"):
        assert kind in words
    assert "unlisted value" in words
    assert "unlisted label" in words


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_record_decides_between_columns(adjacency):
    """On one table the first column tells more classes than the second; on its neighbour it does not."""

    def ahead(table):
        told = [sum(values[place] == label for values, label in table.records) for place in (0, 1)]
        return told[0] - told[1]

    rivals = [each for each in pairs(DEFAULT, adjacency) if "columns that agree" in each.words]
    assert len(rivals) == 2
    for pair in rivals:
        assert ahead(pair.first) == 1
        assert ahead(pair.second) == (0 if adjacency is Adjacency.ADD_REMOVE else -1)


def test_values_outside_the_schema_are_marked():
    for pair in pairs(MIXED, Adjacency.ADD_REMOVE):
        inside = all(
            isinstance(age, float) and 17 <= age <= 90 and ward in ("a", "b", "rare") and label in MIXED.classes
            for table in (pair.first, pair.second)
            for (age, ward), label in table.records
        )
        assert pair.within == inside, pair


def test_no_pair_twice_and_no_base_without_a_name():
    found = pairs(DEFAULT, Adjacency.ADD_REMOVE)
    assert len({(repr(pair.first), repr(pair.second)) for pair in found}) == len(found)
    assert all(words for words, _ in bases(DEFAULT))


def test_a_pair_that_was_made_smaller_is_called_what_it_is():
    pair = next(each for each in pairs(DEFAULT, Adjacency.ADD_REMOVE) if len(each.second) == 12)
    least = next(iter(smaller(pair)))
    assert least.words == f"1 record against 0 records, made smaller from: {pair.words}"
    assert next(iter(smaller(next(each for each in smaller(pair) if len(each.second) > 1)))).words.count("smaller") == 1


def test_the_record_that_one_table_has_alone_is_marked():
    start = empty(DEFAULT)
    same, own = ((0.0, 0.0), 0), ((1.0, 1.0), 1)
    first, second = shown(Pair(start.holding([same, own, same]), start.holding([same, same]), "two"))
    assert [line.endswith("only here") for line in first.split("\n")] == [False, True, False]
    assert "only here" not in second
    first, second = shown(Pair(start.holding([same, own]), start.holding([same, same]), "two"))
    assert first.count("only here") == second.count("only here") == 1


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_each_end_of_the_categories_is_in_one_table_of_some_pair_alone(adjacency):
    """What tells whether a category occurs at all must show, be it the first one or the last."""
    schema = Schema([Categorical("color", ["red", "green", "blue"])], "label", ["x", "y"])
    for color in ("red", "blue"):
        held = [
            [color in {values[0] for values, _ in table.records} for table in (pair.first, pair.second)]
            for pair in pairs(schema, adjacency)
        ]
        assert any(first != second for first, second in held)
