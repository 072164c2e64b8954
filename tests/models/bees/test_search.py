"""The search for rules: every candidate is worth what brute force says, and planted rules are found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.models.bees.colony import stream
from discreet.models.bees.coverage import axes_of, bits_of
from discreet.models.bees.rules import Between, Equals, Rule, similarity, weighted_laplace
from discreet.models.bees.search import MOST_RULES, Candidate, RuleLandscape, RuleSearch

SCHEMA = Schema(
    [Numeric("x", 0, 10), Numeric("z", -1, 1), Categorical("c", ["a", "b", "d"])], target="y", classes=[0, 1]
)
EARLIER = [
    Rule(1, (Between("x", 2, 5), Equals("c", 0)), 0, 0),
    Rule(1, (Between("x", 5, 6), Between("z", -1, 0.5)), 0, 0),
]


def draw(rows, seed):
    rng = np.random.default_rng(seed)
    encoded = {"x": rng.uniform(0, 10, rows), "z": rng.integers(-1, 2, rows) / 1.0, "c": rng.integers(0, 4, rows)}
    return encoded, rng.integers(0, 2, rows)


def check(candidate, axes, encoded, labels, active, earlier):
    """Value, bit sets and similarity against masks and conditions."""
    rule = Rule(
        1, tuple(a.condition(g) for a, g, u in zip(axes, candidate.genes, candidate.used, strict=True) if u), 0, 0
    )
    assert rule.conditions
    covered = (rule.violations(encoded, len(labels)) == 0) & active
    inside = int((covered & (labels == 1)).sum())
    assert candidate.value == inside - 0.5 * (int(covered.sum()) - inside)
    assert candidate.similarity == similarity(rule, earlier)


@given(seed=st.integers(0, 10**6), rows=st.integers(0, 90), with_earlier=st.booleans(), F=st.sampled_from([0, 0.6, 1]))
def test_candidates_are_worth_what_brute_force_says(seed, rows, with_earlier, F):
    encoded, labels = draw(rows, seed)
    active = np.random.default_rng(seed).random(rows) < 0.8
    earlier = EARLIER if with_earlier else []
    axes = axes_of(encoded, SCHEMA, public_bounds=False)
    uniform = stream(seed)
    land = RuleLandscape(
        axes, bits_of(labels == 1), bits_of(active), lambda p, n: p - 0.5 * n, uniform, F=F, earlier=earlier
    )
    swarm = [land.draw() for _ in range(4)]
    for candidate in swarm:
        check(candidate, axes, encoded, labels, active, earlier)
    for step in range(40):
        moved = land.neighbour(swarm[step % 4], swarm[(step + 1) % 4])
        check(moved, axes, encoded, labels, active, earlier)
        swarm[step % 4] = moved
    for candidate in swarm:
        check(candidate, axes, encoded, labels, active, earlier)


def land(uniform, F=0.6):
    encoded, labels = draw(30, 0)
    axes = axes_of(encoded, SCHEMA, public_bounds=True)
    return RuleLandscape(axes, bits_of(labels == 1), 2**30 - 1, lambda p, n: p - n, uniform, F=F)


@pytest.mark.parametrize(
    ("own", "other", "draw", "expected"),
    [
        (True, True, 0.59, False),
        (True, True, 0.6, True),
        (True, False, 0.59, False),
        (True, False, 0.6, True),
        (False, True, 0.59, True),
        (False, True, 0.6, False),
        (False, False, 0.59, False),
        (False, False, 0.6, False),
    ],
)
def test_the_bit_of_the_moved_attribute(own, other, draw, expected):
    """Below F: equal bits give 0, different ones the other's; from F on it stays."""
    draws = iter([0.0, draw, 0.5, 0.5])
    genes = [(1.0, 2.0), (0.0, 0.5), (1.0, 1.0)]
    landscape = land(uniform=draws.__next__)
    current = Candidate([own, True, False], genes, [2**30 - 1] * 3)
    moved = landscape.neighbour(current, Candidate([other, False, True], genes, []))
    assert moved.used == [expected, True, False]
    assert moved.genes == genes, "phi is 0"
    assert current.used == [own, True, False]


def test_a_rule_never_loses_its_last_condition():
    draws = iter([0.0, 0.1, 0.5, 0.5, 0.99])
    genes = [(1.0, 2.0), (0.0, 0.5), (1.0, 1.0)]
    current = Candidate([True, False, False], genes, [2**30 - 1] * 3)
    assert land(uniform=draws.__next__).neighbour(current, current).used == [False, False, True]


def test_selection_needs_both():
    landscape = land(stream(0))

    def scored(value, similarity):
        return Candidate([], [], [], value, similarity)

    current = scored(1.0, 3)
    accepted = {(v, s): landscape.accepts(scored(v, s), current) for v in (0.9, 1.0, 1.1) for s in (2, 3, 4)}
    assert {key for key, yes in accepted.items() if yes} == {(1.0, 2), (1.0, 3), (1.1, 2), (1.1, 3)}
    better = {(v, s): landscape.is_better(scored(v, s), current) for v in (0.9, 1.0, 1.1) for s in (2, 3, 4)}
    assert {key for key, yes in better.items() if yes} == {(1.0, 2), (1.1, 2), (1.1, 3), (1.1, 4)}


def planted(rows=600, seed=3):
    encoded, _ = draw(rows, seed)
    labels = ((encoded["x"] >= 3) & (encoded["x"] <= 6) & (encoded["c"] == 1)).astype(np.intp)
    return encoded, labels


@pytest.mark.parametrize("strategy", ["sequential", "wlapms", "one-rule"])
def test_a_planted_rule_is_found(strategy):
    encoded, labels = planted()
    rules = RuleSearch(strategy).find(encoded, labels, SCHEMA, stream(0), False)
    for_one = [rule for rule in rules if rule.label == 1]
    best = max(for_one, key=lambda rule: rule.inside - rule.outside)
    assert best.inside >= 0.9 * labels.sum()
    assert best.outside <= 0.05 * labels.sum()
    assert Equals("c", 1) in best.conditions
    interval = next(condition for condition in best.conditions if condition.column == "x")
    assert (interval.lower, interval.upper) == (pytest.approx(3, abs=0.3), pytest.approx(6, abs=0.3))


@pytest.mark.parametrize("strategy", ["sequential", "wlapms", "one-rule"])
def test_rules_know_what_they_cover_of_all_records(strategy):
    encoded, labels = draw(120, 5)
    for rule in RuleSearch(strategy, max_iter=40).find(encoded, labels, SCHEMA, stream(1), False):
        covered = rule.violations(encoded, 120) == 0
        assert rule.inside == (covered & (labels == rule.label)).sum()
        assert rule.outside == (covered & (labels != rule.label)).sum()


def test_numbers_of_rules_and_order_of_classes():
    encoded, labels = draw(120, 5)
    found = RuleSearch("wlapms", n_rules=4, max_iter=20).find(encoded, labels, SCHEMA, stream(0), False)
    assert [rule.label for rule in found] == [0] * 4 + [1] * 4
    found = RuleSearch("one-rule", n_rules=4, max_iter=20).find(encoded, labels, SCHEMA, stream(0), False)
    assert [rule.label for rule in found] == [0, 1]
    only = RuleSearch("one-rule", max_iter=20).find(encoded, np.ones(120, dtype=np.intp), SCHEMA, stream(0), False)
    assert [rule.label for rule in only] == [1], "a class without records is skipped"


def test_covering_goes_on_until_one_in_twenty_is_left():
    encoded, labels = planted(200, 8)
    rules = RuleSearch("sequential").find(encoded, labels, SCHEMA, stream(0), False)
    for label in (0, 1):
        own = [rule for rule in rules if rule.label == label]
        size = int((labels == label).sum())
        left = labels == label
        for rule in own:
            assert 20 * left.sum() > size, "no rule after the end"
            covered = rule.violations(encoded, 200) == 0
            assert (left & covered).any(), "every rule covers some that are left"
            left &= ~covered
        assert 20 * left.sum() <= size
        assert len(own) < MOST_RULES


@pytest.mark.parametrize("strategy", ["sequential", "wlapms", "one-rule"])
def test_what_each_search_is_asked(monkeypatch, strategy):
    """On which records, by which quality, and beside which rules; a rule that covers 7 and 5 others stands for any."""
    encoded, labels = draw(150, 4)
    asked, search = [], RuleSearch._best

    def spy(self, training, active, quality, uniform, earlier=()):
        best = search(self, training, active, quality, uniform, earlier)
        asked.append((training.label, active, quality(7, 5), list(earlier), training.rule(best)))
        return best

    monkeypatch.setattr(RuleSearch, "_best", spy)
    RuleSearch(strategy, alpha=0.3, beta=0.7, max_iter=150).find(encoded, labels, SCHEMA, stream(0), False)
    before, left = [], np.ones(150, dtype=bool)
    for position, (label, active, worth, earlier, rule) in enumerate(asked):
        if position == 0 or label != asked[position - 1][0]:
            before, left = [], np.ones(150, dtype=bool)
        inside = int((labels[left] == label).sum())
        laplace = weighted_laplace(7, 5, inside, int(left.sum()) - inside)
        support = 7 / (0.3 * inside + 0.7 * 5)
        assert active == bits_of(left)
        assert worth == {"sequential": laplace, "wlapms": laplace * support, "one-rule": support}[strategy]
        assert earlier == ([] if strategy == "sequential" else before)
        before = [*before, rule]
        if strategy == "sequential":
            left &= rule.violations(encoded, 150) > 0
    assert len(asked) >= {"sequential": 4, "wlapms": 6, "one-rule": 2}[strategy]


def test_a_hard_class_is_not_given_up():
    """Indistinguishable records, the class being rare: by the formula a rule that covers none would be worth more."""
    encoded = {"x": np.full(100, 5.0), "z": np.zeros(100), "c": np.zeros(100, dtype=np.intp)}
    labels = (np.arange(100) < 10).astype(np.intp)
    assert weighted_laplace(0, 0, 10, 90) > weighted_laplace(10, 90, 10, 90)
    rules = RuleSearch("sequential", max_iter=20).find(encoded, labels, SCHEMA, stream(0), False)
    assert [rule.label for rule in rules] == [0, 1]


def test_a_seed_repeats_the_search():
    encoded, labels = draw(100, 2)
    first, again, other = (
        RuleSearch("wlapms", max_iter=30).find(encoded, labels, SCHEMA, stream(seed), False) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
