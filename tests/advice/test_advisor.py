"""The advisor: what auto picks, sensible on made-up cases, monotone where it should be, and quick at its limits."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import Facts, advise, advisor, ranges
from discreet.advice.advisor import consider, strangeness
from discreet.advice.cases import ADVISED, Case, committed
from discreet.advice.neighbours import MADE_UP, distances, quantile, weights
from discreet.errors import ParameterError, SchemaError
from discreet.models.auto.pick import pick
from discreet.privacy.epsilon import as_epsilon

SCHEMA = Schema(
    [Numeric("age", 0, 99), *(Categorical(f"c{i}", list("abcd")) for i in range(7))], "ill", ["no", "yes"], records=5000
)
EPSILONS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
FACTS = Facts(1000, 2, 4, 4, 16)


def case(name, top=0.9, facts=FACTS, family="real"):
    """A case in which `auto` is at `top` at each epsilon and the others ten points below."""
    epsilons = np.geomspace(0.001, 10, 5)
    accuracies = np.full((len(ADVISED), 5), top - 0.1)
    accuracies[0] = top
    return Case(name, family, facts, epsilons, accuracies, accuracies[:, -1], 0.5)


def told(facts, cases, epsilon=0.1):
    """The choice at one epsilon by given cases."""
    return consider(facts, SCHEMA, [as_epsilon(epsilon)], cases).choices[0]


def test_what_auto_picks_is_told_for_the_records_that_are_given(monkeypatch):
    asked = []
    monkeypatch.setattr(advisor, "pick", lambda *given: (asked.append(given), pick(*given))[1])
    advice = advise(SCHEMA, ["0.1", 1], records=777)
    assert asked == [(SCHEMA, as_epsilon("0.1"), 777), (SCHEMA, as_epsilon(1), 777)]
    assert [each.picked for each in advice.choices] == [pick(*given) for given in asked]
    assert [each.first.model for each in advice.choices] == ["auto", "auto"]
    assert [each.model for each in advice.choices[0].expectations] == list(ADVISED)


def test_the_middle_is_the_mean_of_comparable_cases():
    cases = [case(f"a{i}", 0.6 + 0.1 * i) for i in range(4)]
    assert told(FACTS, cases).first.accuracy == pytest.approx(0.75)
    assert told(FACTS, cases).expectations[1].accuracy == pytest.approx(0.65)


def test_the_nearer_a_case_the_more_it_counts():
    near, far = Facts(1000, 2, 8, 0, 0), Facts(1000, 16, 8, 0, 0)
    cases = [case(f"a{i}", 0.9, near) for i in range(6)] + [case(f"b{i}", 0.9, far) for i in range(6)]
    found = [ranges.quantiles(facts, np.array([0.1]), cases)[1, 0, 0] for facts in (near, far)]
    scaled = (0.9 - 1 / 2) * 2, (0.9 - 1 / 16) * 16 / 15
    assert scaled[0] <= found[0] < sum(scaled) / 2 < found[1] <= scaled[1]


def test_a_made_up_table_counts_less_than_a_real_one():
    cases = [case("real", 0.9), case("made", 0.6, family="wide")]
    assert told(FACTS, cases).first.accuracy == pytest.approx((0.9 + MADE_UP * 0.6) / (1 + MADE_UP))


def test_a_signal_per_class_counts_and_not_its_parts():
    """The same 2 n epsilon / K is read off at the same place of each curve."""
    curve = np.linspace(0.5, 0.9, 5)
    made = [
        Case(f"m{i}", "real", FACTS, np.geomspace(0.001, 10, 5), np.array([curve] * len(ADVISED)), curve[-1:], 0.5)
        for i in range(6)
    ]
    assert told(FACTS, made, 0.01).first.accuracy == pytest.approx(0.6)
    assert told(replace(FACTS, distance=2), made, 0.02).first.accuracy == pytest.approx(0.6)
    assert told(replace(FACTS, records=10_000), made, 0.001).first.accuracy == pytest.approx(0.6)
    four = told(replace(FACTS, classes=4), made, 0.02).first.accuracy
    assert four == pytest.approx(0.25 + 0.75 * 0.2)  # a fifth of the way from guessing to no mistakes


def test_weights_are_a_bell_and_far_tables_still_have_five_neighbours():
    cases, facts = [each for each in committed() if each.is_real], Facts.of(SCHEMA)
    weight = weights(facts, cases)
    assert weight.sum() == pytest.approx(1)
    order = np.argsort(distances(facts, cases))
    assert (np.diff(weight[order]) <= 1e-12).all()
    strange = weights(Facts(10**9, 900, 5000, 0, 0), cases)
    assert np.sort(strange)[-5] > 0.02


def test_quantiles_of_weighted_values():
    values, weight = np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.5, 0.3])
    assert [quantile(values, weight, share) for share in (0.1, 0.5, 0.51, 0.8, 0.9)] == [1, 1, 2, 2, 3]
    assert quantile(np.array([1.0, math.inf]), np.array([0.4, 0.6]), 0.5) == math.inf
    table = np.column_stack([values, -values])
    assert quantile(table, weight, 0.5).tolist() == [1, -2]


@pytest.mark.parametrize("records", [150, 5000, 10**6])
def test_larger_epsilons_are_not_expected_to_be_worse(records):
    advice = advise(SCHEMA, EPSILONS, records=records)
    for place, _ in enumerate(ADVISED):
        for end in ("low", "accuracy", "high"):
            curve = np.array([getattr(choice.expectations[place], end) for choice in advice.choices])
            assert (np.diff(curve) >= -1e-9).all()
        for choice in advice.choices:
            each = choice.expectations[place]
            assert 0 <= each.low <= each.accuracy <= each.high <= 1
    assert advice.choices[-1].first.accuracy > advice.choices[0].first.accuracy


def test_more_records_make_models_useful_earlier():
    few, many = (advise(SCHEMA, [1], records=records) for records in (1000, 100_000))
    for first, second in zip(few.useful, many.useful, strict=True):
        assert second.epsilon < first.epsilon or first.epsilon == math.inf
        assert first.low <= first.epsilon <= first.high


def test_replacing_a_record_takes_twice_the_epsilon():
    added = advise(SCHEMA, [0.1])
    replaced = advise(SCHEMA.replace(adjacency="replace-one"), [0.2])
    assert added.choices[0].expectations == replaced.choices[0].expectations
    assert [2 * each.epsilon for each in added.useful] == pytest.approx([each.epsilon for each in replaced.useful])


def test_no_noise_is_an_epsilon_too():
    assert 0.5 < advise(SCHEMA, ["inf"]).choices[0].first.accuracy <= 1


@pytest.mark.parametrize("epsilons", [[0], [-1], [math.nan], ["x"], [], [1, "1.0"]])
def test_bad_epsilons_are_refused(epsilons):
    with pytest.raises(ParameterError, match="epsilon"):
        advise(SCHEMA, epsilons)


def test_the_nearest_real_data_sets_are_named():
    cases = [case("near"), case("made", family="wide"), case("far", facts=Facts(1000, 9, 4, 4, 16))]
    assert consider(FACTS, SCHEMA, [as_epsilon(1)], cases).nearest == ("near", "far")


@pytest.mark.parametrize(("columns", "classes"), [(1, 2), (10_000, 2), (3, 500), (10_000, 500)])
def test_limits_are_advised_on_quickly_and_said_to_be_guesses(columns, classes):
    advise(SCHEMA, [1])  # the package's cells are read once
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(columns)], "y", range(classes), records=1000)
    begun = time.perf_counter()
    choice = advise(wide, [0.1, 1]).choices[0]
    assert time.perf_counter() - begun < 5
    expected = {(1, 2): (), (10_000, 2): ("far",), (3, 500): ("many classes",), (10_000, 500): ("many classes",)}
    assert choice.strange == expected[columns, classes]
    assert 0 <= choice.first.low <= choice.first.accuracy <= choice.first.high <= 1


def test_one_class_and_no_columns_are_refused():
    with pytest.raises(ParameterError, match="one class"):
        advise(SCHEMA.replace(classes=["yes"]))
    with pytest.raises(SchemaError, match="no columns"):
        Schema([], "ill", ["no", "yes"])


def test_fewer_records_or_more_classes_than_in_any_case_are_a_guess():
    fewest = min(each.facts.records for each in committed())
    most = max(each.facts.classes for each in committed())
    facts = Facts.of(SCHEMA)
    assert strangeness(replace(facts, records=fewest - 1), committed()) == ("few records",)
    assert strangeness(replace(facts, records=fewest), committed()) == ()
    assert strangeness(replace(facts, records=10**7), committed()) == ()
    assert strangeness(replace(facts, classes=most), committed()) == ()
    assert strangeness(replace(facts, classes=most + 1), committed()) == ("many classes",)
    assert advise(SCHEMA, [1], records=1).choices[0].is_guess
    assert not advise(SCHEMA, [1]).choices[0].is_guess


def test_widening_is_measured_on_real_cases_and_by_their_number():
    """Four equal cases and one far off: to hold ⌈.8 × 6⌉ = 5 of 5, both ends must reach it."""
    cases = [case(f"a{i}", 0.7) for i in range(4)] + [case("off", 0.9)]
    assert ranges.widening(tuple(cases)) == pytest.approx((0.9 - 0.7) * 2)
    made = (*cases[:4], case("off", 0.9, family="wide"))
    assert ranges.widening(made) == pytest.approx(0, abs=1e-9)
    assert ranges.widening((cases[0],)) == 0


def test_guessing_is_what_accuracies_are_measured_from():
    """0.8 where guessing gets 0.25 is 0.55 / 0.75 of the way to 1."""
    facts = Facts(1000, 4, 4, 4, 16)
    made = [case(f"m{i}", 0.9, facts) for i in range(6)]
    assert ranges.quantiles(facts, np.array([0.1]), made)[1, 2, 0] == pytest.approx((0.8 - 0.25) / 0.75)
    assert told(facts, made).expectations[2].accuracy == pytest.approx(0.8)
