"""Zorarpacı 2019: the one-rule classifier, and its true loss."""

import itertools
import math
import os

import numpy as np
import pytest

from discreet import datasets
from discreet.errors import ParameterError
from discreet.research.papers import Zorarpaci2019OneRule
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

COLUMNS = [Categorical("u", ["p", "q"], unlisted=False), Categorical("v", [0, 1], unlisted=True)]
SCHEMA = Schema(COLUMNS, target="y", classes=["a", "b"])


def test_rule_without_noise(fit_with):
    X, y = [["p", 0], ["p", 1], ["q", 7], ["q", 0], ["q", 7]], ["a", "a", "b", "b", "a"]
    model = fit_with(Zorarpaci2019OneRule(SCHEMA), X, y)
    np.testing.assert_array_equal(model.parameters_.tables["u"], [[2, 1], [0, 2]])
    np.testing.assert_array_equal(model.parameters_.tables["v"], [[1, 1, 1], [1, 0, 1]])
    assert model.attribute_ == "u"  # 2 + 2 of 5 are right, by v 1 + 1 + 1
    assert model.predict([["p", 7], ["q", 0], ["unheard of", 0]]).tolist() == ["a", "b", "a"]


def test_the_column_with_most_right_wins_and_the_first_of_equals(fit_with):
    swapped = SCHEMA.replace(columns=COLUMNS[::-1])
    X, y = [[0, "p"], [1, "q"]] * 3, ["a", "b"] * 3
    assert fit_with(Zorarpaci2019OneRule(swapped), X, y).attribute_ == "v"
    X[0], y[0] = [1, "p"], "a"
    assert fit_with(Zorarpaci2019OneRule(swapped), X, y).attribute_ == "u"


def test_right_is_counted_by_value_not_by_class(fit_with):
    X = [["p", 0], ["p", 0], ["p", 1], ["p", 1], ["p", 9], ["p", 9], ["p", 9]]
    assert fit_with(Zorarpaci2019OneRule(SCHEMA), X, ["a"] * 4 + ["b"] * 3).attribute_ == "v"


def test_classes_are_sorted_whatever_the_schema_says(fit_with):
    schema = SCHEMA.replace(classes=["b", "c", "a"])
    model = fit_with(Zorarpaci2019OneRule(schema), [["p", 0], ["q", 0]] * 4, ["c", "a"] * 4)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict([["p", 0], ["q", 0]]).tolist() == ["c", "a"]


def test_numbers_are_counted_in_public_bins(fit_with):
    schema = Schema([Numeric("x", 0, 10)], target="y", classes=["a", "b"])
    X, y = [[-5], [2.4], [2.5], [9.9], [50]], ["a", "a", "b", "a", "a"]
    model = fit_with(Zorarpaci2019OneRule(schema, bins=4), X, y)
    np.testing.assert_array_equal(model.parameters_.tables["x"], [[2, 0, 0, 2], [0, 1, 0, 0]])
    assert model.predict([[4], [8]]).tolist() == ["b", "a"]


def test_scales_are_those_of_all_cells(law_of):
    """Nursery: 5 classes, 8 columns with 27 values; parallel composition would allow 16.9 times less noise."""
    sizes = [3, 5, 4, 4, 3, 2, 3, 3]
    columns = [Categorical(f"u{i}", range(size), unlisted=False) for i, size in enumerate(sizes)]
    model = Zorarpaci2019OneRule(Schema(columns, target="y", classes=range(5)), epsilon=2)
    assert model.query_epsilon == pytest.approx(2 / (5 * 27))
    _, scales = law_of(model, [[0] * 8], [0])
    for table in scales.tables.values():
        np.testing.assert_allclose(table, 5 * 27 / 2)
    assert model.honest_epsilon() == pytest.approx(2 * 8 / 135)
    assert model.claimed_epsilon / model.honest_epsilon() == pytest.approx(16.9, abs=0.05)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_true_loss_over_all_neighbours(laplace_loss, adjacency):
    """The largest loss over every record added, or replaced by any other, equals the honest one."""
    model = Zorarpaci2019OneRule(SCHEMA.replace(adjacency=adjacency), epsilon=1)
    records = [([u, v], label) for u, v, label in itertools.product("pq", (0, 1, 9), "ab")]

    def table(*extra):
        rows = [(["p", 1], "b"), *extra]
        return [x for x, _ in rows], [label for _, label in rows]

    if adjacency == "add-remove":
        losses = [laplace_loss(model, table(), table(record)) for record in records]
        assert losses == pytest.approx([2 / 10] * len(records))
    else:
        losses = [laplace_loss(model, table(records[0]), table(record)) for record in records]
        assert max(losses) == pytest.approx(2 * 2 / 10)
    assert max(losses) == pytest.approx(model.honest_epsilon())
    assert model.honest_epsilon() <= model.claimed_epsilon


def test_the_claim_holds_even_for_columns_of_one_cell(laplace_loss):
    """K sum V >= 2 A for two classes: the smallest schema spends exactly epsilon under replace-one."""
    schema = Schema([Categorical("u", ["p"], unlisted=False)], "y", ["a", "b"], adjacency="replace-one")
    model = Zorarpaci2019OneRule(schema, epsilon=1)
    assert laplace_loss(model, ([["p"]], ["a"]), ([["p"]], ["b"])) == pytest.approx(1)
    assert model.honest_epsilon() == pytest.approx(1)
    alone = Zorarpaci2019OneRule(schema.replace(classes=["a"]), epsilon=1)
    assert alone.honest_epsilon() == 0
    assert laplace_loss(alone, ([["p"]], ["a"]), ([["p"]], ["a"])) == 0


@pytest.mark.parametrize("bins", [0, 2.0, True, None, 10**6])
def test_bad_bins(bins):
    with pytest.raises(ParameterError, match="bins="):
        Zorarpaci2019OneRule(SCHEMA, bins=bins).fit(None, None)


def test_infinite_epsilon_is_the_textbook_rule():
    X, y, schema = datasets.load("iris")
    model = Zorarpaci2019OneRule(schema, epsilon=math.inf, random_state=0).fit(X, y)
    assert model.attribute_ in ("petal_width", "petal_length")
    assert model.score(X, y) > 0.93


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "epsilon", "published"),
    [
        ("nursery", 1, 0.707),
        ("nursery", 0.5, 0.691),
        ("nursery", 0.25, 0.545),
        ("mushroom", 3, 0.968),
        ("breast-w", 3, 0.772),
        ("breast-w", 1, 0.675),
        ("breast-w", 0.5, 0.614),
    ],
)
def test_accuracy_is_that_of_the_thesis(name, epsilon, published):
    """Tables 5.17, 5.21 and 5.22, without feature selection: 10-fold, mean of five draws, within four hundredths."""
    if not os.environ.get("DISCREET_DATA"):
        pytest.skip("looked for the data in the folder that the variable DISCREET_DATA names")
    X, y, schema = datasets.load(name)
    rng = np.random.default_rng(0)
    folds = rng.permutation(len(y)) % 10
    scores = []
    for seed, fold in itertools.product(range(5), range(10)):
        train, test = folds != fold, folds == fold
        model = Zorarpaci2019OneRule(schema, epsilon=epsilon, random_state=100 * seed + fold)
        model.fit({each: values[train] for each, values in X.items()}, y[train])
        predicted = model.predict({each: values[test] for each, values in X.items()})
        scores.append(np.mean(predicted.astype(str) == y[test].astype(str)))
    assert np.mean(scores) == pytest.approx(published, abs=0.04)
