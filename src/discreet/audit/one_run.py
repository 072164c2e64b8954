"""A lower bound on the privacy loss from one run, or a few, with many canaries in the table at once.

Each canary is in the table or not by the toss of a fair coin; from what the run published, some coins are guessed.
Whoever guesses more of them than a mechanism within (epsilon, delta) allows has refuted the claim. For an estimator
that takes minutes to fit this is the only audit there is; where many fits are cheap, samples find more.
"""

from __future__ import annotations

import math

from scipy.stats import binom

LARGEST = 60.0
"""No bound above this is searched for; no number of canaries that fits into a table would show it."""


def p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float = 0.0) -> float:
    """An upper bound on the probability of at least this many correct guesses, if the loss is at most (epsilon, delta).

    Guarantee  under (epsilon, delta)-DP for one canary more or less (or one replaced by its twin), at least `correct`
               of at most `guesses` guesses are right with at most this probability, whatever the guesser does.
    Proof      Steinke, Nasr and Jagielski 2023 (Privacy auditing with one (1) training run), theorem 5.2: the number of
               correct guesses is dominated by W ~ Binomial(guesses, e^eps / (1 + e^eps)), up to
               2 m delta max_i P[correct > W >= correct - i] / i. Independent runs with fresh coins are one mechanism
               with all coins, in which each coin moves one run only: their counts may be added.
    Test       tests/audit/test_one_run.py::test_randomized_response_stays_within_its_loss
    """
    fair = 1.0 / (1.0 + math.exp(-epsilon))
    excess = float(binom.sf(correct - 1, guesses, fair))
    slack, below = 0.0, 0.0
    if delta > 0:
        for step in range(1, correct + 1):
            below += float(binom.pmf(correct - step, guesses, fair))
            slack = max(slack, below / step)
    return min(1.0, excess + 2 * canaries * delta * slack)


def one_run_bound(canaries: int, guesses: int, correct: int, confidence: float = 0.999, delta: float = 0.0) -> float:
    """The largest epsilon that these guesses refute with this confidence; 0 if they refute nothing.

    The number of guesses has to be fixed before the coins are seen, or paid for by a correction of the confidence.
    """
    if not 0 <= correct <= guesses <= canaries:
        raise ValueError(f"{correct} correct of {guesses} guesses on {canaries} canaries; need 0 <= correct <= guesses")
    risk = 1 - confidence
    if guesses == 0 or p_value(canaries, guesses, correct, 0.0, delta) > risk:
        return 0.0
    low, high = 0.0, LARGEST
    while high - low > 1e-9:
        middle = (low + high) / 2
        if p_value(canaries, guesses, correct, middle, delta) <= risk:
            low = middle
        else:
            high = middle
    return low
