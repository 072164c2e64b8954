"""Fresh runs: a test that is looked at several times is wrong no more often than it says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from discreet.audit.choosing import Choice
from discreet.audit.events import Single
from discreet.audit.fresh import LOOKS, confirmed, counted, looks
from discreet.audit.neighbours import pairs
from discreet.audit.runs import Runs
from discreet.audit.session import Claim, Session
from discreet.audit.tables import DEFAULT
from discreet.audit.target import Target
from discreet.privacy.randomness import search_generator
from discreet.schema import Adjacency

PAIR = pairs(DEFAULT, Adjacency.ADD_REMOVE)[0]
CHOICE = Choice(Single("output", "=", 1.0), False, 0.0)


class Coins(Session):
    """A session whose target shows 1 with one probability on the first table, and with another on the second."""

    def __init__(self, claim: float, rates: tuple[float, float], seed: int) -> None:
        super().__init__(Target("coins:toss"), Claim(claim))
        self.rates, self.coins, self.made = rates, search_generator(seed), 0

    def run_pair(self, pair: Any, times: int, *_: Any, **__: Any) -> tuple[Runs, Runs]:
        self.made += times
        first, second = ((self.coins.random((times, 1)) < rate).astype(np.float64) for rate in self.rates)
        none = np.zeros((times, 0), dtype=np.bool_)
        return Runs(["output"], first, [], none), Runs(["output"], second, [], none)


def test_looking_often_raises_no_more_alarms_than_stated() -> None:
    """The claim is the exact loss of the event, so every alarm is false. Without seeds: fails once in 10⁶."""
    tests, risk = 400, 0.2
    sessions = [Coins(1.0, (0.5, 0.5 / math.e), seed) for seed in range(tests)]
    alarms = sum(confirmed(each, "test", PAIR, CHOICE, looks(100, 1000), risk) is not None for each in sessions)
    assert alarms <= binom.ppf(1 - 1e-6, tests, risk)
    assert any(each.made > 100 for each in sessions), "some tests were looked at more than once"


def test_a_lie_is_found_at_the_first_look_that_shows_it() -> None:
    clear = Coins(1.0, (0.9, 0.05), 0)
    finding = confirmed(clear, "test", PAIR, CHOICE, looks(200, 5000), 1e-4)
    assert finding is not None
    assert clear.made == 200
    faint = Coins(1.0, (0.5, 0.11), 0)
    finding = confirmed(faint, "test", PAIR, CHOICE, looks(200, 5000), 1e-4)
    assert finding is not None
    assert 1 < finding.epsilon <= math.log(0.5 / 0.11)
    assert faint.made > 200
    assert faint.findings == [finding]


def test_what_shows_nothing_is_given_up() -> None:
    honest = Coins(1.0, (0.5, 0.4), 0)
    assert confirmed(honest, "test", PAIR, CHOICE, looks(200, 5000), 1e-4) is None
    assert honest.made == 200


@pytest.mark.parametrize(
    ("runs", "most", "sizes"), [(100, 10**6, [100, 250, 625]), (100, 120, [100, 120]), (9, 5, [5])]
)
def test_sizes_are_fixed_before_the_first_run(runs: int, most: int, sizes: list[int]) -> None:
    assert looks(runs, most) == sizes
    assert len(sizes) <= LOOKS


PROCESS = """
import os


def show(X, y):
    return [os.getpid(), len(y)]
"""


def test_what_was_chosen_in_a_process_is_counted_in_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the stage: a number that only tells processes apart must accuse nobody."""
    (tmp_path / "shown.py").write_text(PROCESS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Session(Target("shown:show"), Claim(0.5), processes=1) as session:
        known = session.screen(PAIR, 4)
        (process,) = set(known[0].column("output[0]").tolist())
        finding = counted(session, "test", PAIR, Choice(Single("output[0]", "=", process), False, 9.0), [20], 1e-4)
        assert finding is not None
        assert finding.counts == ((0, 20), (0, 20))
        others = set(session.run(PAIR.first, 3).column("output[0]").tolist())
        again = counted(session, "test", PAIR, Choice(Single("output[0]", "=", process), False, 9.0), [20], 1e-4)
        assert again is not None
        assert set(session.run(PAIR.first, 3).column("output[0]").tolist()) == others, "nothing was chosen meanwhile"
