"""Cases: the committed cells are whole and consistent; curves are read off as they should be."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from discreet.advice import Facts
from discreet.advice.cases import ADVISED, NOTHING, Case, committed, rising, rows

FACTS = Facts(100, 2, 3, 0, 0)


def case(curve, noiseless=0.9, largest=0.5):
    curves = np.array([curve] * len(ADVISED))
    signals = np.geomspace(1, 100, len(curve))
    return Case("made up", FACTS, signals, curves, np.full(len(ADVISED), noiseless), largest)


def test_between_measurements_a_curve_is_straight_in_the_logarithm():
    made = case([0.5, 0.7, 0.9])
    assert made.at(10) == pytest.approx(0.7)
    assert made.at(math.sqrt(10)) == pytest.approx(0.6)
    assert made.at(1e9) == pytest.approx(0.9)
    assert case([0.5, 0.6, 0.7]).at(math.inf) == pytest.approx(0.9)


def test_below_what_was_measured_a_curve_goes_down_to_guessing():
    made = replace(case([0.6, 0.7, 0.9]), signals=np.array([30.0, 100.0, 300.0]))
    assert made.at(NOTHING) == pytest.approx(0.5)
    assert made.at(0.001) == pytest.approx(0.5)
    assert made.at(math.sqrt(30 * NOTHING)) == pytest.approx(0.55)
    assert made.at(30) == pytest.approx(0.6)


def test_rising_curves_never_fall():
    assert rising(case([0.5, 0.8, 0.6])).accuracies[0] == pytest.approx([0.5, 0.5, 0.7, 0.7])
    assert rising(case([0.4, 0.6, 0.9])).accuracies[0] == pytest.approx([0.45, 0.45, 0.6, 0.9])


def test_useful_is_half_of_the_way_and_for_good():
    assert case([0.5, 0.7, 0.9]).useful_from() == pytest.approx(10)
    assert case([0.5, 0.6, 0.8]).useful_from() == pytest.approx(10 * math.sqrt(10))
    assert case([0.8, 0.6, 0.8]).useful_from() == pytest.approx(10 * math.sqrt(10))
    assert case([0.8, 0.8, 0.8]).useful_from() == pytest.approx(1)
    assert np.isinf(case([0.5, 0.6, 0.65]).useful_from()).all()
    assert np.isnan(case([0.5, 0.5, 0.5], noiseless=0.51).useful_from()).all()


def test_the_committed_cells_are_whole_and_consistent():
    cells = list(rows("cells.csv"))
    assert len({(row["data"], row["model"], row["epsilon"]) for row in cells}) == len(cells)
    assert {row["model"] for row in cells} == {*ADVISED, "majority"}
    epsilons = {row["epsilon"] for row in cells}
    names = {row["data"] for row in cells}
    assert names == {row["data"] for row in rows("cases.csv")}
    assert len(cells) == len(names) * (len(ADVISED) * len(epsilons) + 1)
    for row in cells:
        assert 0 <= float(row["mean"]) <= 1
        assert 0 <= float(row["deviation"]) <= 0.6
        assert int(row["runs"]) >= 1


def test_the_committed_cases_make_sense():
    cases = committed()
    assert [each.name for each in cases] == sorted(each.name for each in cases)
    assert len(cases) >= 12
    for each in cases:
        assert each.facts.columns == each.facts.numeric + each.facts.categorical
        assert each.facts.categories >= each.facts.categorical
        assert each.facts.distance == 1
        assert all(first < second for first, second in pairwise(each.signals.tolist()))
        assert each.largest >= 1 / each.facts.classes - 0.01
        assert each.noiseless.max() > each.largest - 0.01
        best = each.accuracies.max(axis=0)
        assert best[-1] > best[0] + 0.05  # noise costs accuracy
        assert best[-1] <= each.noiseless.max() + 0.03


def test_the_committed_facts_are_those_of_the_built_in_data_sets():
    from discreet.datasets import built_in

    found = {each.name: each for each in committed()}
    for name in ("iris", "wine", "breast-cancer"):
        _, y, schema = built_in(name)
        assert found[name].facts == Facts.of(schema)
        share = np.unique(y, return_counts=True)[1].max() / len(y)
        assert found[name].largest == pytest.approx(share, abs=0.01)
