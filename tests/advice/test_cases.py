"""Cases: the committed cells are whole and consistent; curves are read off as they should be."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from discreet.advice import Facts
from discreet.advice.cases import ADVISED, NOTHING, REAL, Case, committed, rows

FACTS = Facts(100, 2, 3, 0, 0)


def case(curve, noiseless=0.9, largest=0.5):
    """A case of 100 records with signals from 1 to 100."""
    curves = np.array([curve] * len(ADVISED))
    epsilons = np.geomspace(0.01, 1, len(curve))
    return Case("made up", REAL, FACTS, epsilons, curves, np.full(len(ADVISED), noiseless), largest)


def read(made, *signals):
    """The accuracy of the first model at signals; all models are the same."""
    found = made.at(np.array(signals, dtype=float))
    assert (found == found[:1]).all()
    return found[0].tolist()


def test_between_measurements_a_curve_is_straight_in_the_logarithm():
    found = read(case([0.5, 0.7, 0.9]), 10, math.sqrt(10), 1e9)
    assert found == pytest.approx([0.7, 0.6, 0.9])
    assert read(case([0.5, 0.6, 0.7]), 100, math.inf) == pytest.approx([0.7, 0.9])


def test_below_what_was_measured_a_curve_goes_down_to_guessing():
    made = replace(case([0.6, 0.7, 0.9]), epsilons=np.array([0.3, 1.0, 3.0]))
    assert read(made, NOTHING, 0.001, math.sqrt(30 * NOTHING), 30) == pytest.approx([0.5, 0.5, 0.55, 0.6])
    weak = replace(case([0.55, 0.7, 0.9]), epsilons=np.array([0.001, 1.0, 3.0]))  # measured below that
    assert read(weak, 0.1, 0.01) == pytest.approx([0.55, 0.55])


def test_signals_are_those_of_a_class():
    made = replace(case([0.5, 0.7, 0.9]), facts=replace(FACTS, classes=4))
    assert read(made, 5) == pytest.approx([0.7])


def test_curves_never_fall():
    assert case([0.5, 0.8, 0.6]).curve[1][0] == pytest.approx([0.5, 0.5, 0.7, 0.7])
    assert case([0.4, 0.6, 0.9]).curve[1][0] == pytest.approx([0.45, 0.45, 0.6, 0.9])


def test_the_scale_goes_from_guessing_to_no_mistakes():
    made = replace(case([0.5, 0.5, 0.5]), facts=replace(FACTS, classes=4))
    assert made.scaled(np.array([0.25, 1.0, 0.1])) == pytest.approx([0, 1, -0.2])


def test_useful_is_a_twentieth_fewer_mistakes_than_with_the_largest_class():
    assert case([0.5, 0.7, 0.9], largest=1 - 0.3 / 0.95).useful_from() == pytest.approx(10)
    assert case([0.5, 0.6, 0.8], largest=1 - 0.3 / 0.95).useful_from() == pytest.approx(10 * math.sqrt(10))
    assert case([0.8, 0.8, 0.8], largest=0.39).useful_from() == pytest.approx(NOTHING)
    assert np.isinf(case([0.5, 0.6, 0.65], largest=0.65).useful_from()).all()
    assert np.isinf(case([0.5, 0.95, 0.952], largest=0.95).useful_from()).all()


def test_the_committed_cells_are_whole_and_consistent():
    cells = list(rows("cells.csv"))
    assert len({(row["data"], row["model"], row["epsilon"]) for row in cells}) == len(cells)
    assert {row["model"] for row in cells} == {*ADVISED, "majority"}
    assert {row["data"] for row in cells} == {row["data"] for row in rows("cases.csv")}
    for row in rows("cases.csv"):
        own = [each for each in cells if each["data"] == row["data"]]
        epsilons = {float(each["epsilon"]) for each in own}
        assert len(own) == len(ADVISED) * len(epsilons) + 1
        assert epsilons >= {0.01, 0.03, 0.1, 0.3, 1, 3, 10, math.inf}
        assert (min(epsilons) < 0.01) == (int(row["records"]) >= 900)  # weak signals of large tables too
    for row in cells:
        assert 0 <= float(row["mean"]) <= 1
        assert 0 <= float(row["deviation"]) <= 0.6
        assert int(row["runs"]) >= 1


def test_the_committed_cases_make_sense():
    cases = committed()
    assert [each.name for each in cases] == sorted(each.name for each in cases)
    assert sum(each.is_real for each in cases) >= 50
    assert len({each.family for each in cases}) >= 10
    for each in cases:
        assert each.facts.columns == each.facts.numeric + each.facts.categorical
        assert each.facts.categories >= each.facts.categorical
        assert each.facts.distance == 1
        assert all(first < second for first, second in pairwise(each.epsilons.tolist()))
        assert each.largest >= 1 / each.facts.classes - 0.01
        best = each.curve[1].max(axis=0)
        assert best[-1] <= each.noiseless.max() + 0.06
    gains = [each.accuracies[:, -1].max() - each.accuracies[:, 0].max() for each in cases if each.is_real]
    assert np.mean(gains) > 0.1  # noise costs accuracy


def test_the_committed_families_are_as_their_names_say():
    found = {each.name: each for each in committed() if not each.is_real}
    for name, each in found.items():
        best = each.noiseless.max() - each.largest
        if name.startswith("unrelated"):
            assert best < 0.03
        if name.startswith(("independent", "correlated", "dominant")):
            assert best > 0.03
        if name.startswith("imbalanced"):
            assert each.largest > 0.9
        if name.startswith("wide"):
            assert each.facts.columns == 60


def test_the_committed_facts_are_those_of_a_built_in_data_set():
    """Records are those that models were trained on, nine of ten."""
    from discreet.datasets import built_in

    found = {each.name: each for each in committed()}
    _, y, schema = built_in("iris")
    facts = Facts.of(schema)
    assert found["iris"].facts == replace(facts, records=facts.records * 9 // 10)
    assert found["iris"].largest == pytest.approx(np.unique(y, return_counts=True)[1].max() / len(y), abs=1e-4)
