"""Verdicts on models: better than a guess only if that is certain, and otherwise with a reason."""

import numpy as np
import pytest

from discreet import Auto, Categorical, Schema
from discreet.evaluation import evaluate
from discreet.evaluation.confusion import confusion
from discreet.evaluation.verdict import verdict


def matrix(counts, classes=("no", "yes")):
    return confusion(np.array(counts), 8.0, 12, None, classes, 0.95)


@pytest.mark.parametrize(
    ("counts", "begins", "because"),
    [
        ([[900, 100], [100, 900]], "Better than a guess", ""),
        ([[500, 500], [500, 500]], "Worth nothing", "the columns say little"),
        ([[1900, 0], [100, 0]], "Worth nothing", "class yes is hardly ever found"),
        ([[6, 2], [3, 4]], "Worth nothing", "too few records"),
        ([[100, 900], [900, 100]], "Worth nothing", "wrong more often than a guess"),
        ([[0, 0], [0, 0]], "Worth nothing", "too few records"),
        ([[-9, 3], [2, -12]], "Worth nothing", "too few records"),  # nothing but noise
    ],
)
def test_verdicts(counts, begins, because):
    said = verdict(matrix(counts))
    assert said.startswith(begins)
    assert because in said
    assert ("Because" in said) is bool(because)


def test_three_classes_have_another_guess():
    counts = [[400, 300, 300], [300, 400, 300], [300, 300, 400]]
    assert "where a guess has 0.333" in verdict(matrix(counts, ("a", "b", "c")))
    assert verdict(matrix(counts, ("a", "b", "c"))).startswith("Better than a guess")
    assert verdict(matrix([[5]], ("a",))).startswith("Worth nothing: the schema has a single class")


def test_remarks_are_reasons_and_doubts():
    assert verdict(matrix([[500, 500], [500, 500]]), ["sex: unlisted"]).endswith("Because: sex: unlisted.")
    assert verdict(matrix([[900, 100], [100, 900]]), ["sex: unlisted"]).endswith("But: sex: unlisted.")


def test_a_verdict_is_a_function_of_published_numbers():
    """It can be made again from what was published, and nothing is charged for it."""
    schema = Schema([Categorical("x", ["a", "b"])], "y", ["no", "yes"], records=2000)
    table = {"x": ["a", "b"] * 1000, "y": ["no", "yes"] * 1000}
    found = evaluate(Auto(schema, epsilon=1, random_state=0).fit(table), table, epsilon=1, random_state=1)
    assert found.receipt.epsilon == 1
    again = confusion(np.array(found.confusion.counts), 0.0, 0, None, found.confusion.classes, 0.95)
    assert verdict(found.confusion).startswith("Better than a guess")
    assert verdict(again).startswith("Better than a guess")
