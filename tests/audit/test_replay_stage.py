"""The stage *replay*: it watches samplers, points at pairs, and accuses only what runs confirm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, OneRule, Schema
from discreet.audit import audit
from discreet.audit.inside.samplers import choices, compare, replay_pair
from discreet.audit.replay import Replay
from discreet.audit.runner import Target
from discreet.audit.tables import DEFAULT, bases
from discreet.privacy.randomness import as_rng
from support.mutants import Mutant

pytestmark = pytest.mark.chance  # what an audit finds depends on its draws and on the clock

PLAIN = Schema([Categorical("a", ["u", "v"], unlisted=False)], "label", ["x", "y"], records=40)


def hidden_noise(X: Any, y: Any) -> float:
    """Far too little noise, but nothing of it is published."""
    np.random.laplace(len(X), 0.01)
    return 0.0


def weak_noise(X: Any, y: Any) -> float:
    """A count with a tenth of the noise, by numpy's sampler with the count as its centre."""
    return float(np.random.laplace(len(X), 0.1))


LOTS = np.random.default_rng(4)


def drawn(X: Any, y: Any) -> float:
    """A fair count, moved by a public number that is drawn first by other randomness."""
    return float(np.random.laplace(len(X) + 10 * int(LOTS.integers(4)), 1.0))


def test_what_differs_when_one_table_is_run_twice_is_no_difference_of_a_pair() -> None:
    """No pair is suspected for numbers that vary by themselves, and each is for noise that is too weak."""
    report = audit(drawn, 1.0, schema=DEFAULT, stages=[Replay()], most_runs=3000, seed=1)
    assert not report.stages[0].remarks
    assert "vary by themselves" in " ".join(report.stages[0].tried)


def test_what_enters_our_noise_is_seen() -> None:
    """The loss that the replay computes is that of the proofs: all of epsilon, on neighbours that attain it."""
    target = Target(NaiveBayes, {"epsilon": 1.0, "select": None}, PLAIN.to_dict(), "records")
    _, table = next(bases(PLAIN))
    found = replay_pair(target, *(each.to_dict() for each in (table, table.without(0))))
    assert found["same_calls"]
    assert found["leak"] is False
    assert found["loss"] == pytest.approx(1.0)


def test_too_little_noise_is_caught() -> None:
    report = audit(weak_noise, 1.0, schema=DEFAULT, stages=[Replay()], most_runs=4000, seed=1)
    assert report.refuted
    assert "by its law the noise allows 10" in report.findings[0].event


@pytest.mark.slow
def test_a_mutant_of_ours_is_caught() -> None:
    make = lambda: Mutant(PLAIN, "weak_noise", options={"select": None})  # noqa: E731
    report = audit(make, 1.0, schema=PLAIN, form="records", stages=[Replay()], within=True, most_runs=1500, seed=1)
    assert report.refuted
    assert report.findings[0].stage == "replay"


def test_the_law_of_choices_is_that_of_the_sampler() -> None:
    rng, scores = as_rng(3), np.array([3, 1, 2, 3])
    drawn = [rng.noisy_max(scores, 1.5) for _ in range(4000)]
    seen = np.bincount(drawn, minlength=4) / len(drawn)
    assert choices(scores, 1.5) == pytest.approx(seen, abs=0.03)
    assert choices(scores, 1.5).sum() == pytest.approx(1.0)
    assert choices(np.zeros(50), 1.0) is None


def dealt(X: Any, y: Any) -> list[float]:
    """Records are dealt to four parts by their place, each part at all of epsilon: one record more moves others."""
    parts = np.arange(len(y)) // max(1e-9, len(y) / 4)
    return [float(np.random.laplace(np.sum(y[parts == each] == 1), 1.0)) for each in range(4)]


def test_an_order_that_shows_is_caught() -> None:
    report = audit(dealt, 1.0, schema=DEFAULT, stages=[Replay()], within=True, most_runs=8000, seed=1)
    assert report.refuted


def test_noise_that_is_not_published_is_no_evidence() -> None:
    report = audit(hidden_noise, 1.0, schema=DEFAULT, stages=[Replay()], most_runs=3000, seed=1)
    assert not report.refuted
    assert any(each.startswith("not confirmed") for each in report.stages[0].remarks)


def test_ours_is_not_accused() -> None:
    make = lambda: OneRule(PLAIN, epsilon=1.0)  # noqa: E731
    options = {"stages": [Replay()], "within": True, "most_runs": 1000, "confidence": 1 - 1e-8}  # noise is drawn anew
    report = audit(make, 1.0, schema=PLAIN, form="records", seed=1, **options)
    assert not report.refuted
    (told,) = [each for each in report.stages[0].tried if "allows at most" in each]
    assert 0 < float(told.split()[5]) < 1, "a choice among one column shows nothing, and its share is not spent"


def test_scores_that_move_apart_show_both_moves() -> None:
    """One score rises and another falls, as when a record is replaced: the choice tells both."""
    call = ("discreet.PermuteAndFlip", np.array([3, 3, 3]), (1.0, "law"), None)
    apart = compare(call, ("discreet.PermuteAndFlip", np.array([4, 2, 3]), (1.0, "law"), None))
    assert apart["loss"] == 2.0
    exact = np.log(choices(np.array([3, 3, 3]), 1.0) / choices(np.array([4, 2, 3]), 1.0))
    assert 1.0 < np.abs(exact).max() <= apart["loss"]
    alike = compare(call, ("discreet.PermuteAndFlip", np.array([4, 4, 4]), (1.0, "law"), None))
    assert alike["loss"] == 0.0


def test_losses_of_calls() -> None:
    call = ("discreet.DiscreteLaplace", np.array([1, 2]), (2.0, "law"), None)
    assert compare(call, ("discreet.DiscreteLaplace", np.array([2, 1]), (2.0, "law"), None))["loss"] == 1.0
    assert compare(call, ("discreet.DiscreteLaplace", np.array([1, 2]), (2.0, "other"), None))["loss"] == float("inf")
    choice = ("diffprivlib.PermuteAndFlip", [1, 2], (2.0,), None)
    assert compare(choice, ("diffprivlib.PermuteAndFlip", [2, 1], (2.0,), None))["loss"] == 1.0
    assert compare(("x.Cauchy", [1], 1.0, 0), ("x.Cauchy", [2], 1.0, 0))["unknown"]
