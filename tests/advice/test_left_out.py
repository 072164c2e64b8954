"""Left out, each committed data set is advised on by the others: expectations have no bias, and ranges hold as said."""

import numpy as np
import pytest

from discreet.advice.cases import ADVISED, committed
from discreet.advice.ranges import NOMINAL, expected


@pytest.fixture(scope="module")
def trials():
    """For each model and epsilon of each real data set: what all others lead to expect, and what was measured."""
    cases, found = committed(), []
    for case in cases:
        if case.is_real:
            told = expected(case.facts, case.epsilons, [other for other in cases if other is not case])
            for (row, place), measured in np.ndenumerate(case.accuracies):
                found.append([case.epsilons[place], row, *told[:, row, place], measured])
    return np.array(found).T


def groups(epsilons, models):
    """All trials; those of each epsilon that every data set has; those of each model."""
    some = [epsilons == each for each in (0.01, 0.03, 0.1, 0.3, 1, 3, 10)]
    return [epsilons > 0, *some, *(models == each for each in range(len(ADVISED)))]


def test_ranges_hold_as_often_as_is_said(trials):
    epsilons, models, low, _, high, measured = trials
    held = (low <= measured) & (measured <= high)
    together, *others = (held[each].mean() for each in groups(epsilons, models))
    assert NOMINAL - 0.02 <= together <= NOMINAL + 0.06
    assert min(others) >= 0.7


def test_expectations_are_neither_too_high_nor_too_low(trials):
    epsilons, models, _, middle, _, measured = trials
    together, *others = ((middle - measured)[each].mean() for each in groups(epsilons, models))
    assert abs(together) <= 0.02
    assert max(map(abs, others)) <= 0.05


def test_ranges_say_something(trials):
    _, _, low, _, high, _ = trials
    assert (high - low).mean() < 0.5


def test_made_up_families_left_out_are_held_mostly():
    cases, held = committed(), []
    for case in cases:
        if not case.is_real:
            others = [each for each in cases if each.family != case.family]
            low, _, high = expected(case.facts, case.epsilons, others)
            held.append(((low <= case.accuracies) & (case.accuracies <= high)).mean())
    assert np.mean(held) >= 0.6
