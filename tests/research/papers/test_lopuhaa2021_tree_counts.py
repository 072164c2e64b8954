"""Lopuhaä 2021, decision tree: all nodes of a level are counted at once, and each as if it were alone."""

import numpy as np
import pytest

from discreet.records.tables import Table
from discreet.research.papers import Lopuhaa2021Tree
from discreet.research.papers.lopuhaa2021_tree import BinaryRecords
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

CLASSES = ["a", "b", "c"]


def records(rows=400, seed=0):
    """A column of four categories, one of two, a number, and a class that depends on all."""
    draw = np.random.default_rng(seed)
    columns = {"u": draw.integers(0, 4, rows), "v": draw.integers(0, 2, rows), "x": draw.uniform(0, 10, rows)}
    places = (columns["u"] + columns["v"] + (columns["x"] > 5) + draw.integers(0, 2, rows)) % 3
    return columns, np.array(CLASSES, dtype=object)[places]


@pytest.fixture
def schema():
    columns = [Categorical("u", range(4)), Categorical("v", [0, 1], unlisted=False), Numeric("x", 0, 10)]
    return Schema(columns, "y", CLASSES)


def holds(attribute, columns):
    """By definition."""
    values = columns[attribute.column]
    return values > attribute.value if attribute.column == "x" else values == attribute.value


def check(node, unused, rows, model, columns, labels):
    """Every noisy count without noise, node by node, by a loop."""
    if node.attribute is None:
        assert node.noisy.tolist() == [np.sum(labels[rows] == each) for each in CLASSES]
        return 1
    sides = [
        [rows & (holds(model.attributes_[place], columns) == value) for value in (False, True)] for place in unused
    ]
    expected = [[[np.sum(labels[side] == each) for each in CLASSES] for side in both] for both in sides]
    np.testing.assert_allclose(node.noisy, np.maximum(expected, 1e-5))
    side = holds(model.attributes_[node.attribute], columns)
    left = [place for place in unused if place != node.attribute]
    return sum(
        check(child, left, rows & (side == value), model, columns, labels)
        for value, child in zip((False, True), node.children, strict=True)
    )


@pytest.mark.parametrize("rows", [400, 5])
def test_counts_are_those_of_each_node(schema, fit_with, rows):
    columns, labels = records(rows)
    model = fit_with(Lopuhaa2021Tree(schema, attributes="schema"), columns, labels)
    attributes = len(model.attributes_)
    assert [each.column for each in model.attributes_] == ["u"] * 5 + ["v", "x"]
    assert check(model.tree_, range(attributes), np.ones(rows, dtype=bool), model, columns, labels) == 2**3


def test_one_attribute_for_all_records_or_one_for_each(schema, fit_with):
    columns, labels = records()
    model = fit_with(Lopuhaa2021Tree(schema), columns, labels)
    chosen = np.arange(400) % 2 == 0
    read = BinaryRecords.read(model.attributes_, Table(columns, schema), schema, chosen)
    expected = np.array([holds(each, columns)[chosen] for each in model.attributes_])
    places = np.arange(200) % len(expected)
    assert (read.hold(places, np.arange(200)) == expected[places, np.arange(200)]).all()
    assert (read.hold(3, np.arange(200)) == expected[3]).all()
