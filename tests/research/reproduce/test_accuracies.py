"""Accuracies of a study by data set, model and epsilon."""

import math

import pytest

from discreet.research.comparison.grid import MAJORITY
from discreet.research.comparison.summary import Cell
from discreet.research.reproduce.accuracies import Accuracies, loss_text, standard_error


def cell(model, epsilon, mean, data="iris"):
    return Cell(data, model, epsilon, 4, mean, 0.01, None)


def test_an_epsilon_is_found_however_it_is_written():
    found = Accuracies([cell("svm", "31623/1000000", 0.7), cell("svm", "inf", 0.9)])
    assert found.mean("iris", "svm", "0.031623") == found.mean("iris", "svm", 0.031623) == 0.7
    assert found.mean("iris", "svm") == found.mean("iris", "svm", math.inf) == 0.9
    assert found.mean("iris", "svm", "1") is None
    assert found.error("iris", "svm", "inf") == standard_error(found.cell("iris", "svm", "inf")) == 0.005
    assert found.error("iris", "svm", "1") == 0


def test_names_come_in_the_order_of_the_cells_and_the_largest_class_is_not_a_model():
    found = Accuracies(
        [cell(MAJORITY, "inf", 0.3), cell("b", "1", 0.8), cell("a", "1/10", 0.7), cell("b", "2", 1, "x")]
    )
    assert found.data == ["iris", "x"]
    assert found.models() == ["b", "a"]
    assert found.models("x") == ["b"]
    assert found.epsilons == ["1/10", "1", "2"]
    assert [height for _, height in found.largest_class("iris").points] == [0.3] * 3


def test_the_later_of_two_cells_counts():
    assert Accuracies([cell("a", "1", 0.1), cell("a", "1", 0.2)]).mean("iris", "a", "1") == 0.2


def test_missing_cells_are_dashes():
    found = Accuracies([cell("first", "1", 0.9), cell("first", "inf", 0.95), cell("second", "1/10", 0.8)])
    table = found.table("caption", "origin")
    assert table.heads == ["data", "model", "ε = 0.1", "ε = 1", "ε = ∞"]
    assert table.rows[0] == ["iris", "first", "–", "0.900 ± 0.010", "0.950 ± 0.010"]
    assert table.rows[1] == ["iris", "second", "0.800 ± 0.010", "–", "–"]


@pytest.mark.parametrize(("value", "text"), [(math.inf, "∞"), (1.234, "1.23"), (12345.6, "12,346")])
def test_losses_for_people(value, text):
    assert loss_text(value) == text
