"""Zorarpacı 2019, naive Bayes: the formulas, and the true loss on the exact law."""

import itertools

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.research.papers import Zorarpaci2019NaiveBayes
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

COLUMNS = [Categorical("u", ["p", "q"], unlisted=False), Categorical("v", [0, 1], unlisted=True)]
SCHEMA = Schema(COLUMNS, target="y", classes=["a", "b"])


def test_parameters_without_noise(fit_with):
    X, y = [["p", 0], ["p", 1], ["q", 7], ["q", 0]], ["a", "a", "a", "b"]
    model = fit_with(Zorarpaci2019NaiveBayes(SCHEMA), X, y)
    np.testing.assert_array_equal(model.parameters_.classes, [3, 1])
    np.testing.assert_array_equal(model.parameters_.tables["u"], [[2, 1], [0, 1]])
    np.testing.assert_array_equal(model.parameters_.tables["v"], [[1, 1, 1], [1, 0, 0]])
    np.testing.assert_allclose(model.likelihoods_.prior, [4 / 6, 2 / 6])
    np.testing.assert_allclose(model.likelihoods_.tables["u"], [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(model.likelihoods_.tables["v"], [[1 / 3, 1 / 3, 1 / 3], [1 / 2, 1 / 4, 1 / 4]])
    joint, other = 4 / 6 * 2 / 5 * 1 / 3, 2 / 6 * 2 / 3 * 1 / 2
    np.testing.assert_allclose(model.predict_proba([["q", 0]])[0], [joint / (joint + other), other / (joint + other)])


def test_numbers_are_counted_in_public_bins(fit_with):
    schema = Schema([Numeric("x", 0, 10)], target="y", classes=["a"])
    X = [[-5], [0], [2.4], [2.5], [9.9], [50], [float("nan")]]
    model = fit_with(Zorarpaci2019NaiveBayes(schema, bins=4), X, ["a"] * 7)
    np.testing.assert_array_equal(model.parameters_.tables["x"], [[3, 1, 1, 2]])
    assert Zorarpaci2019NaiveBayes(schema, bins=4).query_epsilon == 1 / 4


def test_scales_are_those_of_all_cells(law_of):
    """Nursery: 5 classes, 8 columns with 27 values."""
    sizes = [3, 5, 4, 4, 3, 2, 3, 3]
    columns = [Categorical(f"u{i}", range(size), unlisted=False) for i, size in enumerate(sizes)]
    model = Zorarpaci2019NaiveBayes(Schema(columns, target="y", classes=range(5)), epsilon=2)
    assert model.query_epsilon == pytest.approx(2 / (5 * 27))
    _, scales = law_of(model, [[0] * 8], [0])
    for table in (scales.classes, *scales.tables.values()):
        np.testing.assert_allclose(table, 5 * 27 / 2)
    assert model.honest_epsilon() == pytest.approx(2 * 9 / 135)
    wasted = model.claimed_epsilon / (8 * model.query_epsilon)  # of what the tables alone could have had
    assert wasted == pytest.approx(16.9, abs=0.05)


def all_records():
    return [([u, v], label) for u, v, label in itertools.product("pq", (0, 1, 9), "ab")]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_true_loss_over_all_neighbours(laplace_loss, adjacency):
    """The largest loss over every record added, or replaced by any other, equals the honest one."""
    model = Zorarpaci2019NaiveBayes(SCHEMA.replace(adjacency=adjacency), epsilon=1)
    rest = [(["p", 1], "b")]
    records = all_records()

    def table(*extra):
        rows = [*rest, *extra]
        return [x for x, _ in rows], [label for _, label in rows]

    if adjacency == "add-remove":
        losses = [laplace_loss(model, table(), table(record)) for record in records]
        expected = 3 * model.query_epsilon
    else:
        losses = [laplace_loss(model, table(records[0]), table(record)) for record in records]
        expected = 2 * 3 * model.query_epsilon
    assert max(losses) == pytest.approx(expected)
    assert max(losses) == pytest.approx(model.honest_epsilon())
    assert model.honest_epsilon() <= model.claimed_epsilon


def test_columns_of_one_cell_break_the_claim_under_replace_one(laplace_loss):
    schema = Schema([Categorical("u", ["p"], unlisted=False)], "y", ["a", "b"], adjacency="replace-one")
    model = Zorarpaci2019NaiveBayes(schema, epsilon=1)
    loss = laplace_loss(model, ([["p"]], ["a"]), ([["p"]], ["b"]))
    assert loss == pytest.approx(model.honest_epsilon())
    assert loss > model.claimed_epsilon


def test_negative_counts_predict_as_zero(fit_with):
    model = fit_with(Zorarpaci2019NaiveBayes(SCHEMA), [["p", 0]], ["a"], laplace=-1.0)
    assert (model.parameters_.classes < 0).all()
    np.testing.assert_allclose(model.predict_proba([["p", 0]]), [[0.5, 0.5]])


@pytest.mark.parametrize("bins", [0, 2.0, True, None, 10**6])
def test_bad_bins(bins):
    with pytest.raises(ParameterError, match="bins="):
        Zorarpaci2019NaiveBayes(SCHEMA, bins=bins).fit(None, None)
