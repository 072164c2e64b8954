"""The stage *time and memory*: it remarks on times that differ, also of slow targets, and says how often it ran."""

import re

import numpy as np
import pytest

from discreet.audit import audit
from discreet.audit.timing import FEWEST, PAIRS, RUNS, TimeAndMemory, _affordable, _compared, _Timed

pytestmark = pytest.mark.chance  # what an audit finds depends on its draws and on the clock


def timed(name, minutes=0.5):
    report = audit(f"support.repeated:{name}", 1.0, minutes=minutes, seed=1, stages=[TimeAndMemory()], processes=1)
    return report.stages[0]


@pytest.mark.parametrize(("name", "least"), [("slow", 60), ("sleepy", 3)])
def test_times_that_differ_are_remarked_on(name, least):
    stage = timed(name)
    assert stage.remarks, stage.tried
    first, second = (float(each) for each in re.findall(r"([\d.]+) ms", stage.remarks[0]))
    assert max(first, second) > least
    runs, pairs = map(int, re.match(r"times of (\d+) runs .* on (\d+) of", stage.tried[0]).groups())
    assert FEWEST <= runs <= RUNS
    assert 1 <= pairs <= PAIRS
    assert stage.seconds < 10


def test_equal_times_are_not_remarked_on():
    assert not timed("steady", 0.2).remarks


def of(first, second, peaks=(0, 0)):
    return _Timed(np.array(first), np.array(second), list(peaks))


def test_the_fewest_runs_show_times_that_do_not_overlap():
    low, high = np.linspace(1.0, 1.1, FEWEST), np.linspace(2.0, 2.1, FEWEST)
    smallest = 0.001 / 7 / PAIRS  # the risk of a stage, divided among its pairs
    assert _compared(of(low, high), smallest) == "medians of 1.05e+03 ms and 2.05e+03 ms"
    assert _compared(of(low[:8], high[:8]), smallest) == ""
    assert _compared(of(low, low, (10_000, 20_000)), smallest) == "peaks of memory of 10000 and 20000 bytes"


def test_a_slow_target_has_fewer_pairs_and_never_fewer_runs():
    seen = {f"pair {place}": of([0.1], [0.1 + place / 100]) for place in range(10)}
    assert _affordable(seen, 1000.0, 10_000.0) == (
        ["pair 9", "pair 0", "pair 8", "pair 1", "pair 7", "pair 2"],
        RUNS,
    )
    assert _affordable(seen, 10.0, 100.0) == (["pair 9", "pair 0"], 19)
    assert _affordable(seen, 3.0, 30.0) == (["pair 9"], FEWEST)
    assert _affordable(seen, -1.0, 30.0) == (["pair 9"], FEWEST)
    assert _affordable(seen, 1.0, 10.0) == ([], FEWEST)
    assert _affordable({}, 1000.0, 10_000.0) == ([], 0)
