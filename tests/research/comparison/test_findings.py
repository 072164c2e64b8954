"""Findings: the best first, with what may be chance and what is of no use."""

from discreet.research.comparison.findings import best_cells, findings
from discreet.research.comparison.grid import MAJORITY
from discreet.research.comparison.summary import Cell


def cell(data, model, epsilon, mean):
    return Cell(data, model, epsilon, 6, mean, 0.01, None)


CELLS = [
    cell("iris", MAJORITY, "inf", 0.35),
    cell("iris", "a", "1/10", 0.3),
    cell("iris", "a", "1", 0.7),
    cell("iris", "b", "1/10", 0.5),
    cell("iris", "b", "1", 0.7),
]


def test_one_sentence_for_each_finding():
    told = findings(CELLS)
    assert told[0].startswith("b has the best average rank, 1.25 over 2 pairs of data set and ε; a is next with 1.75, ")
    assert "which may be chance" in told[0]
    assert told[1] == "iris: the most accurate is b at ε = 0.1 (0.500), a and b at ε = 1 (0.700)."
    assert told[2] == "No better than always predicting the largest class: a on iris at ε = 0.1."
    assert len(told) == 3


def test_many_pairs_are_no_chance():
    many = [cell(f"d{place}", model, "1", mean) for place in range(20) for model, mean in (("a", 0.9), ("b", 0.5))]
    assert "more than chance" in findings(many)[0]


def test_ties_and_single_models():
    tied = [cell("iris", "a", "1", 0.7), cell("iris", "b", "1", 0.7)]
    assert findings(tied)[0] == "a and b share the best average rank, 1.50, over one data set and ε."
    assert findings(CELLS[1:3]) == []
    assert findings([]) == []


def test_the_best_of_each_epsilon_are_marked():
    assert best_cells(CELLS, ["1/10", "1", "inf"]) == {(2, 1), (1, 2), (2, 2)}
