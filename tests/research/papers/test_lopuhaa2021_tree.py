"""Lopuhaä-Zwakenberg et al. 2021, decision tree: the formulas, the exact loss, and neighbours that break the claim."""

import itertools
import math

import numpy as np
import pytest

from discreet import datasets
from discreet.errors import ParameterError
from discreet.research.papers import Lopuhaa2021Tree
from discreet.research.papers.lopuhaa2021_tree import gini
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric


def binary(count, **changes):
    columns = [Categorical(f"u{i}", [0, 1], unlisted=False) for i in range(count)]
    return Schema(columns, **{"target": "y", "classes": ["no", "yes"], **changes})


def nodes(tree):
    yield tree
    for child in tree.children:
        yield from nodes(child)


def clear_records():
    """Three binary attributes that matter less and less, so that one record changes no split."""
    X, y = [], []
    for bits in itertools.product((0, 1), repeat=3):
        yes = 10 + 40 * bits[0] + 12 * bits[1] + 4 * bits[2]
        X += [list(bits)] * 80
        y += ["yes"] * yes + ["no"] * (80 - yes)
    return X, y


def loss_of(fit_with, model, first, second):
    """Sum over all noisy counts of |change| * eps', for equal splits: the exact loss of Laplace noise of one scale."""
    one, two = (fit_with(model, *table, laplace=1.0) for table in (first, second))
    assert one.query_epsilon_ == two.query_epsilon_
    total = 0.0
    for left, right in zip(nodes(one.tree_), nodes(two.tree_), strict=True):
        assert left.attribute == right.attribute
        total += np.abs(left.noisy - right.noisy).sum() * one.query_epsilon_
    return total


def test_gini_is_that_of_equation_nine():
    counts = np.array([[[3.0, 1.0], [2.0, 4.0]], [[5.0, 0.5], [0.0, 4.5]]])
    by_hand = [sum(((m[v].sum() ** 2 - (m[v] ** 2).sum()) / (m[v].sum() * m.sum())) for v in (0, 1)) for m in counts]
    np.testing.assert_allclose(gini(counts), by_hand)
    impurities = [1 - ((m / m.sum(axis=1, keepdims=True)) ** 2).sum(axis=1) for m in counts]
    np.testing.assert_allclose(
        gini(counts), [m.sum(axis=1) / m.sum() @ g for m, g in zip(counts, impurities, strict=True)]
    )


def test_tree_without_noise(fit_with):
    X, y = clear_records()
    model = fit_with(Lopuhaa2021Tree(binary(3)), X, y)
    root = model.tree_
    assert [each.column for each in model.attributes_] == ["u0", "u1", "u2"]
    assert root.attribute == 0
    assert [child.attribute for child in root.children] == [1, 1]
    assert root.noisy.shape == (3, 2, 2)
    yes = [10, 14, 22, 26, 50, 54, 62, 66]
    np.testing.assert_allclose(root.noisy[0], [[320 - sum(yes[:4]), sum(yes[:4])], [320 - sum(yes[4:]), sum(yes[4:])]])
    np.testing.assert_allclose(root.noisy[2, 1], [320 - sum(yes[1::2]), sum(yes[1::2])])
    assert [child.noisy.shape for child in root.children] == [(2, 2, 2)] * 2  # u0 is not asked again
    leaves = [node for node in nodes(root) if node.attribute is None]
    np.testing.assert_allclose([leaf.noisy for leaf in leaves], [[136, 24], [112, 48], [56, 104], [32, 128]])
    assert model.predict([[0, 1, 1], [1, 0, 0]]).tolist() == ["no", "yes"]


def test_budget_is_split_by_attributes_and_levels(fit_with):
    X, y = clear_records()
    model = fit_with(Lopuhaa2021Tree(binary(3), epsilon=0.9), X, y, laplace=1.0)
    assert model.query_epsilon_ == pytest.approx(0.9 / (3 * (2 + 1)))
    again = fit_with(model, X, y, laplace=2.0)
    for one, two in zip(nodes(model.tree_), nodes(again.tree_), strict=True):
        np.testing.assert_allclose(two.noisy - one.noisy, 10)


def test_counts_of_splits_are_raised_and_those_of_leaves_are_not(fit_with):
    model = fit_with(Lopuhaa2021Tree(binary(1)), [[0], [1]], ["no", "yes"], laplace=-1000.0)
    assert (model.tree_.noisy == 1e-5).all()
    assert all((leaf.noisy < -1000).all() for leaf in model.tree_.children)


@pytest.mark.parametrize(("count", "depth"), [(1, 1), (2, 2), (4, 2), (5, 3), (9, 3), (16, 4), (22, 5)])
def test_depth_is_the_root_rounded_up(fit_with, count, depth):
    model = fit_with(Lopuhaa2021Tree(binary(count)), [[0] * count, [1] * count], ["no", "yes"])
    node = model.tree_
    for level in range(depth):
        assert node.noisy.shape == (count - level, 2, 2)
        node = node.children[1]
    assert node.attribute is None


@pytest.mark.parametrize("count", [1, 3])
def test_public_attributes_hold_under_add_remove(fit_with, count):
    """Every record that is added loses q eps', q = 1 + sum_{i<d} (A - i): all of epsilon for one attribute."""
    model = Lopuhaa2021Tree(binary(count), epsilon=1, attributes="schema")
    X, y = clear_records()
    X = [row[:count] for row in X]
    queries, allowed = (2, 2) if count == 1 else (1 + 3 + 2, 3 * 3)
    for bits in itertools.product((0, 1), repeat=count):
        for label in ("no", "yes"):
            loss = loss_of(fit_with, model, (X, y), ([*X, list(bits)], [*y, label]))
            assert loss == pytest.approx(queries / allowed)
    assert model.honest_epsilon() == pytest.approx(queries / allowed)
    assert model.honest_epsilon() <= model.claimed_epsilon


@pytest.mark.parametrize("count", [1, 3])
def test_replace_one_costs_up_to_twice_the_claim(fit_with, count):
    model = Lopuhaa2021Tree(binary(count, adjacency="replace-one"), epsilon=1, attributes="schema")
    X, y = clear_records()
    X = [row[:count] for row in X]
    losses = []
    for bits in itertools.product((0, 1), repeat=count):
        for label in ("no", "yes"):
            losses.append(loss_of(fit_with, model, (X, y), ([*X[:-1], list(bits)], [*y[:-1], label])))
    assert max(losses) == pytest.approx(2.0 if count == 1 else 12 / 9)
    assert max(losses) == pytest.approx(model.honest_epsilon())
    assert model.honest_epsilon() > model.claimed_epsilon


@pytest.mark.parametrize(("count", "expected"), [(1, 2), (2, 8 / 6), (22, 2 * 101 / 132), (117, 2 * 1233 / 1404)])
def test_replace_one_always_breaks_the_claim(count, expected):
    model = Lopuhaa2021Tree(binary(count, adjacency="replace-one"), epsilon=1, attributes="schema")
    assert model.honest_epsilon() == pytest.approx(expected)
    assert 1 < model.honest_epsilon() <= 2


def test_median_is_published_with_probability_one():
    """{1, 2, 3} and {1, 3, 3}: the threshold is 2 or 3, whatever the noise."""
    schema = Schema([Numeric("x", 0, 10)], target="y", classes=["no", "yes"])
    for seed in range(20):
        model = Lopuhaa2021Tree(schema, epsilon=1e-6, random_state=seed)
        assert model.fit([[1], [2], [3]], ["no"] * 3).attributes_[0].value == 2
        assert model.fit([[1], [3], [3]], ["no"] * 3).attributes_[0].value == 3
    assert model.honest_epsilon() == math.inf
    assert Lopuhaa2021Tree(schema, attributes="schema").fit([[1], [2]], ["no"] * 2).attributes_[0].value == 5


def test_category_of_one_record_is_an_attribute_with_probability_one():
    schema = Schema([Categorical("u", ["p", "q", "r", "s"])], target="y", classes=["no", "yes"])
    for seed in range(20):
        model = Lopuhaa2021Tree(schema, epsilon=1e-6, random_state=seed)
        assert [each.value for each in model.fit([["p"], ["q"], ["r"]], ["no"] * 3).attributes_] == [0, 1, 2]
        assert [each.value for each in model.fit([["p"], ["q"], ["s"]], ["no"] * 3).attributes_] == [0, 1, 3]
        assert [each.value for each in model.fit([["p"], ["q"], ["q"]], ["no"] * 3).attributes_] == [1]
        outside = model.fit([["p"], ["q"], ["r"], ["s"]], ["no", "no", "no", "elsewhere"])
        assert [each.value for each in outside.attributes_] == [0, 1, 2]
    public = Lopuhaa2021Tree(schema, attributes="schema").fit([["p"]], ["no"])
    assert [each.value for each in public.attributes_] == [0, 1, 2, 3, 4]


def test_medians_of_even_numbers_and_records_without_a_class(fit_with):
    schema = Schema([Numeric("x", 0, 10)], target="y", classes=["b", "a"])
    X, y = [[1], [2], [6], [9], [9], [9]], ["a", "a", "b", "b", "elsewhere", None]
    model = fit_with(Lopuhaa2021Tree(schema), X, y)
    assert model.attributes_[0].value == 4
    assert model.predict([[4], [4.1]]).tolist() == ["a", "b"]  # higher than the median is 1
    assert model.classes_.tolist() == ["a", "b"]


def test_depth_can_be_set_and_is_limited():
    model = Lopuhaa2021Tree(binary(3), max_depth=0, random_state=0).fit([[0, 0, 0]], ["yes"])
    assert model.tree_.attribute is None
    assert model.query_epsilon_ == pytest.approx(1 / 3)
    deep = Lopuhaa2021Tree(binary(2), max_depth=9, epsilon=100, random_state=0).fit([[0, 1]], ["yes"])
    assert deep.query_epsilon_ == pytest.approx(100 / (2 * 3))
    many = Schema([Categorical("u", range(400))], target="y", classes=["no", "yes"])
    with pytest.raises(ParameterError, match="max_depth"):
        Lopuhaa2021Tree(many, attributes="schema").fit([[0]], ["no"])
    assert Lopuhaa2021Tree(many, attributes="schema", max_depth=2).fit([[0]], ["no"]).predict([[7]]).shape == (1,)


@pytest.mark.parametrize("change", [{"attributes": "x"}, {"max_depth": -1}, {"max_depth": 17}, {"max_depth": True}])
def test_bad_parameters(change):
    with pytest.raises(ParameterError, match=f"{next(iter(change))}="):
        Lopuhaa2021Tree(binary(1), **change).fit(None, None)


@pytest.mark.parametrize(("name", "least"), [("iris", 0.65), ("breast-cancer", 0.8)])
def test_it_learns_at_a_large_epsilon(name, least):
    X, y, schema = datasets.load(name)
    scores = [Lopuhaa2021Tree(schema, epsilon=30, random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert least < np.mean(scores) < 0.99
    tiny = [Lopuhaa2021Tree(schema, epsilon=1e-3, random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert np.mean(tiny) < np.mean(scores)
