"""Zorarpacı 2019: columns chosen on the exact records, and neighbours that tell themselves apart."""

import itertools
import math

import numpy as np
import pytest

from discreet import datasets
from discreet.errors import ParameterError
from discreet.models.bees.selection import SubsetSearch
from discreet.research.papers import Zorarpaci2019NaiveBayes, Zorarpaci2019OneRule, Zorarpaci2019Pipeline
from discreet.schema import Schema
from discreet.schema.columns import Categorical

SCHEMA = Schema(
    [Categorical("a", [0, 1], unlisted=False), Categorical("b", [0, 1], unlisted=False)],
    target="y",
    classes=["no", "yes"],
    adjacency="replace-one",
)


def neighbours():
    """Column a tells every class and b all but one record's; in the second table that record is replaced."""
    X, y = [[0, 0], [1, 1]] * 15, ["no", "yes"] * 15
    return ([*X[:-1], [1, 0]], y), ([*X[:-1], [0, 1]], y)


def test_best_columns_are_published_whatever_epsilon_is():
    """The chosen column is a on one table and b on its neighbour, for every seed that was tried."""
    for seed in range(12):
        model = Zorarpaci2019Pipeline(SCHEMA, epsilon=1e-6, max_iter=3, random_state=seed)
        first, second = (model.fit(*table).columns_ for table in neighbours())
        assert (first, second) == (["a"], ["b"])
    assert model.honest_epsilon() == math.inf > model.claimed_epsilon


def test_a_population_of_equal_subsets_never_changes():
    """The one way to the worse column, of probability (3/8)^P: no move leads out of it, whatever is drawn next."""
    values = {(True, False): 29 / 30, (False, True): 1.0, (True, True): 1.0}
    for seed in range(20):
        draws = itertools.chain([0.1, 0.9] * 20, iter(np.random.default_rng(seed).random(10**5)))
        best = SubsetSearch(population=20, max_iter=50).best(2, values.__getitem__, draws.__next__)
        assert best.bits == (True, False)
        free = SubsetSearch(population=20, max_iter=50).best(2, values.__getitem__, draws.__next__)
        assert free.bits == (False, True)


@pytest.mark.slow
def test_loss_of_the_search_alone_is_that_of_the_docstring():
    """Four subsets: column a is chosen with probability 1 - (5/8)^4 or more, and on the neighbour with (3/8)^4."""
    frequencies = []
    for table in neighbours():
        chosen = [
            Zorarpaci2019Pipeline(SCHEMA, epsilon=1e-6, population=4, max_iter=1, random_state=seed)
            .fit(*table)
            .columns_
            for seed in range(300)
        ]
        frequencies.append(chosen.count(["a"]))
    assert frequencies[0] / 300 > 1 - (5 / 8) ** 4 - 0.05
    assert 0 < frequencies[1] / 300 < (3 / 8) ** 4 + 0.03
    assert round(20 * math.log(8 / 3) + math.log1p(-((5 / 8) ** 20)), 1) == 19.6


@pytest.mark.parametrize(
    ("name", "kind"), [("one-rule", Zorarpaci2019OneRule), ("naive-bayes", Zorarpaci2019NaiveBayes)]
)
def test_learner_spends_all_of_epsilon_on_the_chosen_columns(fit_with, name, kind):
    X, y = neighbours()[0]
    model = fit_with(Zorarpaci2019Pipeline(SCHEMA, learner=name, epsilon=2), X, y)
    assert type(model.learner_) is kind
    assert model.columns_ == ["a"]
    assert model.learner_.schema.names == ["a"]
    assert model.learner_.query_epsilon == 2 / (2 * 2)
    np.testing.assert_array_equal(model.learner_.parameters_.tables["a"], [[15, 0], [0, 15]])
    assert model.predict([[0, 1], [1, 0]]).tolist() == ["no", "yes"]


def test_bins_reach_the_learner():
    X, y, schema = datasets.load("iris")
    model = Zorarpaci2019Pipeline(schema, bins=4, epsilon=100, max_iter=1, random_state=0).fit(X, y)
    assert {len(table.T) for table in model.learner_.parameters_.tables.values()} == {4}
    assert "columns" in model.learner_.schema.from_data


@pytest.mark.parametrize(("name", "least"), [("one-rule", 0.7), ("naive-bayes", 0.75)])
def test_it_learns_at_a_large_epsilon(name, least):
    X, y, schema = datasets.load("iris")
    models = [
        Zorarpaci2019Pipeline(schema, learner=name, epsilon=10, max_iter=5, random_state=seed).fit(X, y)
        for seed in range(3)
    ]
    assert all(0 < len(model.columns_) < 4 for model in models)
    assert least < np.mean([model.score(X, y) for model in models]) < 0.99


@pytest.mark.parametrize(
    "change", [{"learner": "x"}, {"learner": None}, {"bins": 0}, {"population": 3}, {"max_iter": 0}, {"max_iter": "x"}]
)
def test_bad_parameters(change):
    with pytest.raises(ParameterError, match=f"{next(iter(change))}="):
        Zorarpaci2019Pipeline(SCHEMA, **change).fit(None, None)
