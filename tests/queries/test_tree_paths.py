"""What a path has decided: the candidates that are left are exactly those that still divide."""

import itertools

import pytest

from discreet import Categorical, Numeric, Schema
from discreet.queries.tree_paths import Candidates, branches
from discreet.queries.trees import candidates

SCHEMA = Schema(
    [Numeric("n", 0, 8), Categorical("c", ["a", "b"]), Categorical("d", ["u", "v"], unlisted=False)], "y", ["0", "1"]
)
SPLITS = candidates(SCHEMA, 4)
RECORDS = list(itertools.product(range(4), range(3), range(2)))
PLACE = {"n": 0, "c": 1, "d": 2}


def goes_left(record, split):
    code = record[PLACE[split.column]]
    return code == split.code if split.bins is None else code <= split.code


def dividing(records):
    """By trying all records: the splits with records on both sides; of those of a column that divide alike, the
    first."""
    found = {}
    for number, split in enumerate(SPLITS):
        sides = [frozenset(r for r in records if goes_left(r, split) == side) for side in (True, False)]
        if all(sides):
            found.setdefault((split.column, frozenset(sides)), number)
    return sorted(found.values())


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4])
def test_open_splits_are_those_that_divide_the_box(length):
    """All paths of up to four questions, also of questions that were decided before, to wherever a record can go."""
    asked = Candidates(SPLITS)
    for path in itertools.product(range(len(SPLITS)), repeat=length):
        boxes = [({}, RECORDS)]
        for number in path:
            split = SPLITS[number]
            boxes = [
                (half, [r for r in records if goes_left(r, split) == side])
                for box, records in boxes
                for half, side in zip(branches(box, split, SCHEMA), (True, False), strict=True)
            ]
        for box, records in boxes:
            if records:
                assert asked.open_to(box).tolist() == dividing(records)


def test_below_a_leaf_there_is_one_box_and_nothing_is_asked():
    box, _ = branches({}, SPLITS[0], SCHEMA)
    assert branches(box, None, SCHEMA) == (box, None)
    assert branches(None, SPLITS[0], SCHEMA) == (None, None)
    assert Candidates(SPLITS).open_to(None).tolist() == []
    assert Candidates(()).open_to({}).tolist() == []
