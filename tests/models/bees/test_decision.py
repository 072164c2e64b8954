"""Which class several rules, one rule or none decide for."""

import numpy as np
import pytest

from discreet.models.bees import decision
from discreet.models.bees.decision import RuleSet
from discreet.models.bees.rules import Between, Rule

PRIOR = np.array([0.2, 0.5, 0.3])


def low(label, upper, inside, outside):
    return Rule(label, (Between("x", 0, upper),), inside, outside)


def decide(rules, values, **options):
    x = np.array(values, dtype=float)
    votes = RuleSet(rules, PRIOR, **options).probabilities({"x": x, "z": x}, len(x))
    np.testing.assert_allclose(votes.sum(axis=1), 1)
    return votes


def test_the_most_precise_rule_decides():
    rules = [low(0, 5, 2, 2), low(2, 9, 8, 1), low(1, 3, 1, 4)]  # precisions 3/7, 9/12, 2/8
    votes = decide(rules, [1, 4, 8], resolve="best")
    assert votes.argmax(axis=1).tolist() == [2, 2, 2]
    np.testing.assert_allclose(votes[0], np.array([3 / 7, 1 / 4, 3 / 4]) / (3 / 7 + 1 / 4 + 3 / 4))
    np.testing.assert_allclose(votes[2], [0, 0, 1])


def test_votes_add_up():
    rules = [low(0, 5, 2, 2), low(0, 5, 2, 2), low(2, 9, 8, 1)]
    assert decide(rules, [1], resolve="best").argmax() == 2
    votes = decide(rules, [1, 7], resolve="vote")
    first, last = 2 * (3 / 7 - 0.2), 9 / 12 - 0.3  # what each is more precise than the share of its class
    np.testing.assert_allclose(votes[0], np.array([first, 0, last]) / (first + last))
    assert votes.argmax(axis=1).tolist() == [0, 2]


def test_a_rule_no_better_than_chance_has_next_to_no_vote():
    rules = [low(1, 9, 1, 9), low(1, 9, 1, 9), low(0, 9, 1, 2)]  # 2/13 in a class of one half; 2/6 in one of a fifth
    assert decide(rules, [1], resolve="vote").argmax() == 0
    assert decide(rules[:2], [1], resolve="vote").argmax() == 1


def test_ties_go_to_larger_coverage_then_to_the_first_class():
    rules = [low(0, 5, 1, 0), low(2, 5, 3, 2)]  # 2/4 and 4/8
    assert rules[0].precision(3) == rules[1].precision(3)
    assert decide(rules, [1], resolve="best").argmax() == 2
    assert decide([low(2, 5, 1, 0), low(1, 5, 1, 0)], [1], resolve="best").argmax() == 1


@pytest.mark.parametrize("resolve", ["best", "vote"])
def test_where_no_rule_matches(resolve):
    rules = [
        Rule(0, (Between("x", 0, 1), Between("z", 0, 1)), 9, 0),
        Rule(2, (Between("x", 0, 1), Between("z", 4, 9)), 5, 1),
        Rule(1, (Between("x", 3, 9), Between("z", 0, 1)), 5, 2),
    ]
    np.testing.assert_allclose(decide(rules, [6], resolve=resolve, default="majority")[0], PRIOR)
    assert decide(rules, [6], resolve=resolve, default="nearest").argmax() == 2, "one violated; 6/9 beats 6/10"
    weaker = [Rule(0, rules[2].conditions, 4, 2)] * 3
    adding = decide(rules + weaker, [6], resolve=resolve, default="nearest").argmax()
    assert adding == (2 if resolve == "best" else 0), "only votes add up"
    assert decide(rules, [0.5], resolve=resolve, default="nearest").argmax() == 0


def test_votes_fade_with_violated_conditions():
    rules = [
        Rule(0, (Between("x", 0, 1), Between("z", 0, 1)), 9, 0),
        Rule(2, (Between("x", 0, 1), Between("z", 4, 9)), 5, 1),
    ]
    votes = decide(rules, [6, 0.5], resolve="vote")
    far, near = (10 / 12 - 0.2) * np.exp(-decision.FADE), 6 / 9 - 0.3
    np.testing.assert_allclose(votes[0], np.array([far, 0, near]) / (far + near))
    np.testing.assert_allclose(votes[1], [1, 0, 0])  # where a rule matches, only those that match


@pytest.mark.parametrize("default", ["majority", "nearest"])
def test_without_rules_or_records(default):
    np.testing.assert_allclose(decide([], [1, 2], default=default), [PRIOR, PRIOR])
    assert decide([low(0, 5, 1, 0)], [], default=default).shape == (0, 3)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rules, values = [low(0, 5, 2, 2), low(2, 9, 8, 1)], np.linspace(0, 12, 50)
    whole = decide(rules, values)
    monkeypatch.setattr(decision, "BLOCK", 7)
    np.testing.assert_array_equal(decide(rules, values), whole)
