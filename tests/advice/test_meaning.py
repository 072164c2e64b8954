"""What an epsilon means: the bound on beliefs is Bayes' rule, and words agree with numbers."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from discreet import Categorical, Schema
from discreet.advice.meaning import LARGE, WEAK_SIGNAL, affordable, belief_after, hints, meaning
from discreet.cli import app
from discreet.errors import ParameterError

run = CliRunner().invoke


@given(st.floats(0.001, 0.999), st.floats(0, 20), st.floats(0, 1))
def test_no_output_moves_a_belief_further(prior, epsilon, share):
    """For every ratio of likelihoods within e^±ε, Bayes' rule stays within the bound; the largest ratio attains it."""
    ratio = math.exp(epsilon * (2 * share - 1))
    after = prior * ratio / (prior * ratio + 1 - prior)
    assert after <= belief_after(prior, epsilon) + 1e-12
    largest = prior * math.exp(epsilon) / (prior * math.exp(epsilon) + 1 - prior)
    assert belief_after(prior, epsilon) == pytest.approx(largest)


def test_what_a_record_says_can_cost_twice_under_add_remove():
    """Two noisy counts, ε-DP if a record is added or removed; the record is in one cell or in the other."""

    def log_likelihood(seen, exact, epsilon):
        return -epsilon * sum(abs(a - b) for a, b in zip(seen, exact, strict=True))

    found, seen = meaning("1/2"), (1, 0)
    in_the_first, in_the_second, without = (log_likelihood(seen, each, 0.5) for each in ((1, 0), (0, 1), (0, 0)))
    told = found.to_dict()
    assert math.exp(in_the_first - without) == pytest.approx(told["factor"])
    assert math.exp(in_the_first - in_the_second) == pytest.approx(told["factor_of_values"]["add-remove"])
    assert told["factor_of_values"]["replace-one"] == told["factor"]
    assert "that one person's record is in the table by a factor of at most 1.649" in found.statement()
    assert "and by at most 2.719 under add-remove" in found.statement()


def test_losses_add_up():
    assert meaning("1/2", 4).loss == 2
    assert meaning("0.1", 3).loss == Fraction(3, 10)
    assert "4 releases at ε = 0.5 cost 2 together" in meaning("1/2", 4).statement()
    assert meaning("inf").statement() == "Without a finite ε nothing is promised to anybody."
    assert affordable(1, ["0.3"]) == [(Fraction(3, 10), 3)]


@pytest.mark.parametrize(("epsilon", "word"), [("0.5", "strong"), (2, "usual"), (5, "large side"), (30, "is large")])
def test_it_says_whether_that_is_much(epsilon, word):
    assert word in meaning(epsilon).judgement()
    assert meaning(epsilon).statement()


def test_hints_are_given_where_they_are_needed():
    assert hints(Fraction(1), 1000, 1, is_kept=True) == []
    assert hints(math.inf, 1, 1, is_kept=False) == []
    (large,) = hints(Fraction(LARGE + 1), 1000, 1, is_kept=True)
    assert "whether one person is in the table can become all but certain; see discreet epsilon 11" in large
    (small,) = hints(Fraction(WEAK_SIGNAL, 1001), 1000, 1, is_kept=True)
    assert "mostly noise" in small
    assert "No ledger" in hints(Fraction(1), None, 1, is_kept=False)[0]


def test_the_command(tmp_path):
    shown = run(app, ["epsilon", "1", "--plot", f"{tmp_path}/e.png"])
    assert shown.exit_code == 0, shown.output
    assert "73.2 %" in shown.output
    assert (tmp_path / "e.png").stat().st_size > 1000
    content = json.loads(run(app, ["epsilon", "1/2", "--releases", "4", "--json"]).output)
    assert content["loss"] == "2"
    assert content["beliefs"][2]["at_most_after"] == pytest.approx(0.8808, abs=1e-4)
    assert json.loads(run(app, ["epsilon", "inf", "--json"]).output)["factor"] is None
    for wrong in (["epsilon", "0"], ["epsilon", "much"], ["epsilon", "1", "--releases", "0"]):
        assert run(app, wrong).exit_code == 2
    with pytest.raises(ParameterError):
        meaning(-1)


def test_training_says_it(tmp_path):
    Schema([Categorical("a", ["x"])], "y", ["0", "1"], records=9).save(tmp_path / "s.json")
    (tmp_path / "t.csv").write_text("a,y\n" + "x,1\n" * 9)
    given = ["train", f"{tmp_path}/t.csv", "--schema", f"{tmp_path}/s.json", "--out", f"{tmp_path}/m.json"]
    told = run(app, [*given, "--epsilon", "1"])
    assert told.exit_code == 0
    assert "mostly noise" in told.stderr
    assert "No ledger" in told.stderr
