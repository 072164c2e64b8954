"""Models that are one and the same by their own public rules."""

import math

import pytest

from discreet import DecisionTree, NaiveBayes, Numeric, RandomForest, Schema
from discreet.advice.twins import twins
from discreet.advice.worlds import drawn, independent
from discreet.privacy.epsilon import as_epsilon


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.3, 1, 5, 20, 60, math.inf])
@pytest.mark.parametrize("classes", [2, 5])
def test_twins_do_the_same(classes, epsilon):
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(6)], "y", range(classes), records=300)
    table = drawn(independent, schema, 300, 0)
    same = twins(schema, as_epsilon(epsilon))
    forest = RandomForest(schema, epsilon=epsilon, random_state=1).fit(table.X, table.y)
    tree = DecisionTree(schema, epsilon=epsilon, random_state=1).fit(table.X, table.y)
    assert (forest.receipt_.charges == tree.receipt_.charges) == ("random-forest" in same)
    chooser = NaiveBayes(schema, epsilon=epsilon, select="auto", random_state=1).fit(table.X, table.y)
    plain = NaiveBayes(schema, epsilon=epsilon, random_state=1).fit(table.X, table.y)
    assert (chooser.receipt_.charges == plain.receipt_.charges) == ("naive-bayes(select=auto)" in same)


def test_both_kinds_occur():
    schema = Schema([Numeric(f"x{i}", 0, 1) for i in range(6)], "y", ["a", "b"], records=1000)
    assert twins(schema, as_epsilon(0.01)) == {
        "random-forest": "decision-tree",
        "naive-bayes(select=auto)": "naive-bayes",
    }
    assert twins(schema, as_epsilon(100)) == {"naive-bayes(select=auto)": "naive-bayes"}
