"""The advisor: sensible on made-up cases, monotone where it should be, and as good as it says when left alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import Facts, advise, advisor, ranges
from discreet.advice.advisor import consider, standing
from discreet.advice.cases import ADVISED, Case, committed
from discreet.advice.neighbours import distances, quantile, weights
from discreet.errors import ParameterError

SCHEMA = Schema(
    [Numeric("age", 0, 99), *(Categorical(f"c{i}", list("abcd")) for i in range(7))], "ill", ["no", "yes"], records=5000
)
EPSILONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def case(name, best, facts=None, top=0.9):
    """A case in which one model is at `top` and the others ten points below, at each signal."""
    signals = np.geomspace(1, 1e4, 5)
    accuracies = np.full((len(ADVISED), 5), top - 0.1)
    accuracies[ADVISED.index(best)] = top
    return Case(name, facts or Facts(1000, 2, 4, 4, 16), signals, accuracies, accuracies[:, -1], 0.5)


def test_cases_of_as_many_classes_decide():
    near = Facts(1000, 2, 0, 8, 32)
    far = Facts(1000, 40, 100, 0, 0)
    cases = [case(f"a{i}", "svm", near) for i in range(5)] + [case(f"b{i}", "one-rule", far) for i in range(6)]
    assert consider(near, [0.1], cases).choices[0].first.model == "svm"
    assert consider(far, [0.1], cases).choices[0].first.model == "one-rule"


def test_simulated_worlds_have_their_say():
    cases = [case(f"a{i}", "svm") for i in range(5)]
    worlds = [case(f"w{i}", "one-rule") for i in range(4)]
    weight = 1 / (len(cases) + 1)  # all worlds together are one more case
    choice = consider(cases[0].facts, [0.1], cases, worlds).choices[0]
    found = {each.model: each.loss for each in choice.expectations}
    assert found["svm"] == pytest.approx(weight * 0.1)
    assert found["one-rule"] == pytest.approx((1 - weight) * 0.1)
    assert found["decision-tree"] == pytest.approx(0.1)


def test_a_signal_counts_and_not_its_parts():
    """The same n times epsilon is read off at the same place of each curve."""
    facts = Facts(1000, 2, 4, 4, 16)
    signals, curve = np.geomspace(1, 1e4, 5), np.linspace(0.5, 0.9, 5)
    made = [Case(f"m{i}", facts, signals, np.array([curve] * 6), np.full(6, 0.9), 0.5) for i in range(6)]
    choice = consider(facts, [0.01], made).choices[0]
    assert choice.first.accuracy == pytest.approx(0.6)
    doubled = consider(replace(facts, distance=2), [0.02], made).choices[0]
    assert doubled.first.accuracy == pytest.approx(0.6)


def test_weights_are_a_bell_and_far_tables_still_have_five_neighbours():
    cases, facts = committed(), Facts.of(SCHEMA)
    weight = weights(facts, cases)
    assert weight.sum() == pytest.approx(1)
    order = np.argsort(distances(facts, cases))
    assert (np.diff(weight[order]) <= 1e-12).all()
    strange = weights(Facts(10**9, 900, 5000, 0, 0), cases)
    assert np.sort(strange)[-5] > 0.05


def test_quantiles_of_weighted_values():
    values, weight = np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3])
    assert [quantile(values, weight, share) for share in (0.1, 0.5, 0.51, 0.8, 0.9)] == [1, 1, 2, 2, 3]
    assert quantile(np.array([1.0, math.inf]), np.array([0.4, 0.6]), 0.5) == math.inf


def test_larger_epsilons_are_not_expected_to_be_worse():
    for records in (150, 5000, 10**6):
        advice = advise(SCHEMA, EPSILONS, records=records, simulated=False)
        for model in ADVISED:
            found = [next(e for e in choice.expectations if e.model == model) for choice in advice.choices]
            for ends in ("low", "accuracy", "high"):
                curve = np.array([getattr(each, ends) for each in found])
                assert (np.diff(curve) > -0.01).all(), (
                    records,
                    model,
                    ends,
                    curve,
                )  # where a forest ceases to be a tree
        first, last = advice.choices[0].first, advice.choices[-1].first
        assert last.accuracy >= first.accuracy - 0.02


def test_more_records_make_models_useful_earlier():
    few, many = (advise(SCHEMA, [1], records=records, simulated=False) for records in (1000, 100_000))
    for model in ADVISED:
        first, second = (next(e for e in advice.useful if e.model == model) for advice in (few, many))
        assert second.epsilon < first.epsilon or first.epsilon == math.inf
        assert first.low <= first.epsilon <= first.high


def test_replacing_a_record_takes_twice_the_epsilon():
    added = advise(SCHEMA, [0.1], simulated=False)
    replaced = advise(SCHEMA.replace(adjacency="replace-one"), [0.2], simulated=False)
    assert added.choices[0].expectations == replaced.choices[0].expectations
    assert [2 * each.epsilon for each in added.useful] == pytest.approx([each.epsilon for each in replaced.useful])


def test_no_noise_is_an_epsilon_too():
    choice = advise(SCHEMA, ["inf"], simulated=False).choices[0]
    assert 0.5 < choice.first.accuracy <= 1


@pytest.mark.parametrize("epsilons", [[0], [-1], [math.nan], ["x"], [], [1, "1.0"]])
def test_bad_epsilons_are_refused(epsilons):
    with pytest.raises(ParameterError, match="epsilon"):
        advise(SCHEMA, epsilons, simulated=False)


def test_thousands_of_columns_are_advised_on():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(2000)], "y", ["no", "yes"], records=1000)
    choice = advise(wide, [1], simulated=False).choices[0]
    assert choice.apart > advisor.FAR
    assert choice.strange == ("far",)


def test_the_share_of_good_cases_is_that_of_cases_with_as_many_classes():
    near, far = Facts(1000, 2, 0, 8, 32), Facts(1000, 40, 100, 0, 0)
    cases = [case(f"a{i}", "svm", near) for i in range(5)] + [case(f"b{i}", "one-rule", far) for i in range(5)]
    found = standing(near, 10.0, cases)
    assert found.close[ADVISED.index("svm")] == 1
    assert found.close[ADVISED.index("one-rule")] == 0
    assert found.close_in[ADVISED.index("svm")] == 5
    assert found.cases == 5
    third = standing(Facts(1000, 3, 0, 8, 32), 10.0, cases)
    assert third.close[ADVISED.index("one-rule")] == 1
    alone = standing(Facts(1000, 3, 0, 8, 32), 10.0, cases[:5])
    assert alone.close[ADVISED.index("svm")] == 1  # there are no others to ask


def test_fewer_records_or_more_classes_than_in_any_case_are_a_guess():
    fewest = min(each.facts.records for each in committed())
    most = max(each.facts.classes for each in committed())
    found = {n: advise(SCHEMA, [1], records=n, simulated=False).choices[0] for n in (fewest - 1, fewest, 10**7)}
    assert found[fewest - 1].strange == ("few records",)
    assert found[fewest - 1].is_guess
    assert not found[fewest].is_guess
    assert "few records" not in found[10**7].strange
    classes = {n: advise(SCHEMA.replace(classes=range(n)), [1], simulated=False).choices[0] for n in (most, most + 1)}
    assert not classes[most].is_guess
    assert classes[most + 1].strange == ("many classes",)


def test_widening_makes_ranges_hold_four_times_in_five():
    """By construction, were each case the next table; and ranges that hold everything are not narrowed below that."""
    cases = committed()
    wider = ranges.widening(cases)
    held = []
    for place, left in enumerate(cases):
        others = [*cases[:place], *cases[place + 1 :]]
        for signal in left.signals.tolist():
            low, _, high = ranges.quantiles(left.facts, signal, others).T
            floor = 1 / left.facts.classes
            true = (left.at(signal) - floor) / (1 - floor)
            held += ((low - wider - 1e-9 <= true) & (true <= high + wider + 1e-9)).tolist()
    assert np.mean(held) == pytest.approx(ranges.NOMINAL, abs=0.01)


def test_guessing_is_what_accuracies_are_measured_from():
    """0.8 where guessing gets 0.25 is 0.55 / 0.75 of the way to 1."""
    facts = Facts(1000, 4, 4, 4, 16)
    made = [case(f"m{i}", "svm", facts, top=0.9) for i in range(6)]
    low = [ADVISED.index("one-rule")]
    assert ranges.quantiles(facts, 10.0, made)[low, 1] == pytest.approx((0.8 - 0.25) / 0.75)
    found = consider(facts, [0.01], made).choices[0]
    assert next(e.accuracy for e in found.expectations if e.model == "one-rule") == pytest.approx(0.8)


def test_of_twins_the_simpler_is_advised():
    """Where the forest is a tree, cases in which it was not must not make the difference."""
    schema = SCHEMA.replace(records=1000)
    cases = [case(f"a{i}", "random-forest", Facts.of(schema)) for i in range(6)]
    assert consider(Facts.of(schema), [0.1], cases).choices[0].first.model == "random-forest"
    found = {e.model: e for e in consider(Facts.of(schema), [0.1], cases, (), schema).choices[0].expectations}
    assert replace(found["random-forest"], model="decision-tree") == found["decision-tree"]
    ranked = [e.model for e in advise(schema, [0.01], simulated=False).choices[0].expectations]
    assert ranked.index("decision-tree") == ranked.index("random-forest") - 1
    assert ranked.index("naive-bayes") == ranked.index("naive-bayes(select=auto)") - 1
