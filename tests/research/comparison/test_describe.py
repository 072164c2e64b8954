"""The report of a comparison: every table and picture, each with its command and seed."""

import math
import shlex

import pytest

from discreet import datasets
from discreet.models import MODELS
from discreet.privacy.receipt import Charge
from discreet.research.comparison import Grid, engine, noise_picture, spread_picture
from discreet.research.comparison.describe import describe, origin
from discreet.research.comparison.grid import MAJORITY
from discreet.research.comparison.summary import Cell
from discreet.research.report import Picture, ReportTable

GRID = Grid(["iris", "wine"], ["a", "b(c=1)"], [0.1, 1], folds=3, repeats=2, seed=7)


def cell(data, model, epsilon, mean, ratio=None):
    return Cell(data, model, epsilon, 6, mean, 0.01, ratio)


CELLS = [
    each
    for data in GRID.data
    for each in (
        cell(data, MAJORITY, "inf", 0.35),
        cell(data, "a", "inf", 0.8, 1.0),
        cell(data, "a", "1/10", 0.4, 0.5),
        cell(data, "a", "1", 0.7, 0.875),
        cell(data, "b(c=1)", "inf", 0.9, 1.0),
        cell(data, "b(c=1)", "1", 0.6, 0.667),
    )
]
CHARGES = ("iris, ε = 1", {"a": [Charge("best of 4", "permute-and-flip", 0.5, 1, 2.0)]})


def report(**changes):
    options = {"charges": CHARGES, "remarks": ["A remark."], "version": "9.9", **changes}
    return describe(GRID, CELLS, **options)


def parts(document, kind):
    return [part for section in document.sections for part in section.parts if isinstance(part, kind)]


def test_the_tables_hold_the_cells():
    tables = parts(report(drawn=False), ReportTable)
    assert [table.caption for table in tables[:2]] == ["iris", "wine"]
    assert list(tables[0].heads) == ["model", "ε = 0.1", "ε = 1", "ε = ∞"]
    rows = {row[0]: row[1:] for row in tables[0].rows}
    assert rows["a"] == ["0.400 ± 0.010 (50%)", "0.700 ± 0.010 (88%)", "0.800 ± 0.010"]
    assert rows["b(c=1)"] == ["–", "0.600 ± 0.010 (67%)", "0.900 ± 0.010"]
    assert rows[MAJORITY] == ["–", "–", "0.350 ± 0.010"]
    assert tables[2].rows == [["a", "1.00"], ["b(c=1)", "2.00"]]
    assert tables[3].rows[0][:5] == ["a", "b(c=1)", "2", "2", "0"]


def test_every_number_has_its_command_and_seed():
    document = report()
    for part in parts(document, ReportTable | Picture):
        assert part.origin == origin(GRID, "9.9") == document.origin
    words = shlex.split(document.origin)
    assert words[words.index("--seed") + 1] == "7"
    assert words[words.index("--models") + 1] == "a,b(c=1)"
    assert words[words.index("--epsilons") + 1] == "1/10,1"
    assert "not private" in document.notices[0]
    assert document.notices[1] == "A remark."


def test_all_pictures_are_there_or_none():
    assert [each.name for each in report().pictures()] == ["accuracy", "ranks", "p-values", "spread", "noise"]
    assert report(drawn=False).pictures() == []
    assert "noise" not in [each.name for each in report(charges=("", {})).pictures()]


def test_the_spread_has_a_box_for_each_epsilon_and_a_point_for_each_cell():
    accuracy, ratio = spread_picture.draw_spread(CELLS).axes
    assert [label.get_text() for label in accuracy.get_xticklabels()] == ["0.1", "1"]
    points = [line for line in accuracy.get_lines() if line.get_marker() == "."]
    assert [sorted(line.get_ydata()) for line in points] == [[0.4, 0.4], [0.6, 0.6, 0.7, 0.7]]
    points = [line for line in ratio.get_lines() if line.get_marker() == "."]
    assert [sorted(line.get_ydata()) for line in points] == [[0.5, 0.5], [0.667, 0.667, 0.875, 0.875]]


def test_the_noise_is_in_units_of_what_a_record_changes():
    charges = [
        Charge("SplineCounts(column='age', bins=5)", "discrete Laplace", 0.25, 16, 64.0),
        Charge("best of 4 columns", "permute-and-flip", 0.75, 1, 2.0),
    ]
    left, right = noise_picture.draw_noise({"a": charges}, "iris").axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["age by class", "best of 4 columns"]
    assert [bar.get_width() for bar in left.patches] == [0.25, 0.75]
    assert list(right.get_lines()[0].get_xdata()) == [4.0, 2.0]


def test_many_queries_are_summed_up():
    charges = [Charge(f"query {place}", "discrete Laplace", 1 / 64, 1, 64.0) for place in range(64)]
    left, right = noise_picture.draw_noise({"a": charges}, "wide").axes
    widths = [bar.get_width() for bar in left.patches]
    assert len(widths) == noise_picture.ROWS
    assert math.isclose(sum(widths), 1)
    assert left.get_yticklabels()[-1].get_text() == "55 more: sum, mean noise"
    assert right.get_lines()[0].get_xdata()[-1] == pytest.approx(64)


def test_charges_are_those_of_the_models():
    grid = Grid(["iris"], ["naive-bayes", "one-rule"], [0.1, 2, 10])
    where, found = engine.charges(grid, MODELS, None)
    assert "ε = 2" in where
    assert {name: sum(each.epsilon for each in own) for name, own in found.items()} == {"naive-bayes": 2, "one-rule": 2}
    assert len(found["naive-bayes"]) == len(datasets.load("iris")[2].columns)
    assert engine.charges(Grid(["iris"], ["one-rule"], ["inf"]), MODELS, None)[1] == {}
