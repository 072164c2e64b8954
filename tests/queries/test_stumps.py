"""Stumps: what they classify, that each is there once, and that one record counts once."""

import itertools

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.queries.stumps import PARTS, Stumps, along, among, counts_of
from discreet.queries.trees import Tree
from discreet.records.encoding import Cells

QUARTERS, EDGES = 4, (1, 2, 4, PARTS - 4, PARTS - 2, PARTS - 1)
FAMILIES = [
    *along("x", 2, (QUARTERS, 8, EDGES), 10_000),
    *along("x", 3, (2, QUARTERS, 8), 10_000),
    *among("c", 4, 2, 1000),
    *among("c", 5, 3, 1000),
]


def classes_of(family):
    return 2 if family in FAMILIES[:3] or (not family.cuts and family.cells == 4) else 3


def labels_by_cell(family, classes):
    """The class of each cell, stump by stump."""
    ways = family.ways(classes)
    labels = np.repeat(ways.base[:, None], family.cells, axis=1)
    for number, runs in enumerate(zip(ways.start.tolist(), ways.stop.tolist(), ways.label.tolist(), strict=True)):
        for start, stop, label in zip(*runs, strict=True):
            labels[number, start:stop] = label
    return labels


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_record_counts_once_for_each_stump(family):
    """A record raises the score by one if its class is that of its cell, and else by nothing."""
    classes = classes_of(family)
    counts = np.random.default_rng(0).integers(50, size=(2, classes, family.cells))
    before, labels = family.ways(classes).right(counts), labels_by_cell(family, classes)
    assert before.shape == (2, family.number(classes))
    for own, cell in itertools.product(range(classes), range(family.cells)):
        more = counts.copy()
        more[1, own, cell] += 1
        moved = family.ways(classes).right(more) - before
        assert not moved[0].any()
        assert np.array_equal(moved[1], labels[:, cell] == own)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_a_stump_as_a_tree_gives_each_cell_its_class(family):
    classes, codes = classes_of(family), np.arange(family.cells)
    for number, labels in enumerate(labels_by_cell(family, classes)):
        nodes, of_leaves = family.nodes(number, classes)
        tree = Tree(tuple(nodes))
        assert tree.leaves == len(of_leaves) <= family.leaves
        assert np.array_equal(np.array(of_leaves)[tree.leaf_of({family.read: codes}, len(codes))], labels)


@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 6), (6, 8), (8, 10)])
def test_no_stump_is_there_twice_and_none_is_a_single_class(first, last):
    rows = [tuple(row) for each in FAMILIES[first:last] for row in labels_by_cell(each, classes_of(each)).tolist()]
    assert len(rows) == len(set(rows))
    assert all(len(set(row)) > 1 for row in rows)


def test_all_divisions_of_a_few_categories_are_there():
    rows = [row for each in FAMILIES[6:8] for row in labels_by_cell(each, 2).tolist()]
    assert len(rows) == 2**4 - 2


def test_along_numbers_the_class_changes_once_for_two_classes_and_twice_for_more():
    for classes, most in ((2, 1), (3, 2), (7, 2)):
        for family in along("x", classes, (QUARTERS,), 10_000):
            labels = labels_by_cell(family, classes)
            assert (labels[:, 1:] != labels[:, :-1]).sum(axis=1).max() == most


def test_families_stay_within_the_most_stumps():
    for classes, most in itertools.product((2, 5, 20), (10, 100, 5000)):
        families = [*along("x", classes, (2, QUARTERS, 8, EDGES), most), *among("c", 12, classes, most)]
        assert all(0 < family.number(classes) <= most for family in families)
        assert sum(family.number(classes) for family in families if family.cuts) <= most
    assert not list(among("c", 1, 2, 1000))
    assert not list(along("x", 1, (QUARTERS,), 1000))
    assert not list(among("c", 900, 8, 1000))
    (lone,) = among("c", 900, 2, 2000)  # thousands of pairs are left out, single categories are not
    assert lone == Stumps("c", 900, 1, 1)


def test_counts_of_cells_come_from_counts_on_the_left():
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a", "b", "d"], unlisted=False)], "y", [0, 1])
    counts = np.random.default_rng(1).integers(9, size=(3, 2, PARTS))
    left = np.cumsum(counts, axis=2)[:, :, :-1]
    assert np.array_equal(counts_of(left, counts.sum(axis=2), ordered=True), counts)
    assert np.array_equal(counts_of(counts[:, :, :3], counts.sum(axis=2), ordered=False), counts[:, :, :3])
    for family in (*along("x", 2, (QUARTERS,), 100), *among("c", 3, 2, 100)):
        assert all(split.fits(schema) for split in family.splits)
        assert family.read in (Cells("x", PARTS), Cells("c"))


BOXES = [
    {},
    {Cells("x", 2048): range(300, 1024)},
    {Cells("x", 2048): range(1025, 2048), Cells("c"): frozenset({0, 2, 3})},
    {Cells("x", 128): range(17), Cells("c"): frozenset({1, 2})},
    {Cells("c"): frozenset({3})},
]


@pytest.mark.parametrize("box", BOXES, ids=str)
@pytest.mark.parametrize(("first", "last"), [(0, 3), (3, 6), (6, 8), (8, 10)])
def test_open_stumps_are_those_that_divide_the_box(box, first, last):
    """On the cells of the box they differ from each other and from a single class, and no other division is lost."""
    families = FAMILIES[first:last]
    inside = np.arange(families[0].cells)
    for cells, left in box.items():
        if cells.column == families[0].column and isinstance(left, range):
            inside = inside[(inside + 1) * cells.bins > left.start * PARTS]
            inside = inside[inside * cells.bins < left.stop * PARTS]
        elif cells.column == families[0].column:
            inside = np.array(sorted(left))
    kept, every = [], set()
    for family in families:
        classes = classes_of(family)
        labels = labels_by_cell(family, classes)[:, inside]
        every |= {tuple(row) for row in labels.tolist() if len(set(row)) > 1}
        kept += [tuple(row) for row in labels[family.open_to(box, classes)].tolist()]
    assert set(kept) == every
    if families[0].cuts:  # of categories, a stump with another base may say the same in the box
        assert len(kept) == len(set(kept))
