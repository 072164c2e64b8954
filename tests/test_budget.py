"""The ledger: exact, never above its limit, whoever charges it, and on the disk before anything is read."""

import copy
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import discreet
from discreet.budget import Charge, Ledger, as_epsilon, total
from discreet.errors import BudgetError, FileError, ParameterError

SOURCE = str(Path(discreet.__file__).parents[1])


def charges(*epsilons):
    return [Charge("q", "m", epsilon if epsilon == math.inf else Fraction(epsilon), 1, 1.0) for epsilon in epsilons]


@pytest.mark.parametrize(
    ("value", "epsilon"),
    [
        (1, Fraction(1)), (0.1, Fraction(1, 10)), (1e-3, Fraction(1, 1000)), ("1/3", Fraction(1, 3)),
        (" 0.5 ", Fraction(1, 2)), ("1e2", Fraction(100)), (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.1), Fraction(1, 10)), (np.int64(3), Fraction(3)), (np.float32(0.5), Fraction(1, 2)),
        (Decimal("0.1"), Fraction(1, 10)), (math.inf, math.inf), ("inf", math.inf), ("Infinity", math.inf),
        (np.float64("inf"), math.inf),
    ],
)  # fmt: skip
def test_epsilons_that_are_read(value, epsilon):
    got = as_epsilon(value)
    assert got == epsilon
    assert isinstance(got, Fraction) or got == math.inf


@pytest.mark.parametrize(
    "value",
    [0, -1, 0.0, -0.0, -0.5, math.nan, -math.inf, True, False, None, "", "one", "nan", "-inf", "0", "1/0", "-1/2", 1j,
     [1], {}, b"1", "1e400", "1e-400", pytest.param(10**5000, id="endless"), "9" * 5000, "1/" + "9" * 50_000,
     Fraction(0), np.float64("nan"), np.array([1, 2]), Decimal("NaN"), Decimal("-Infinity")],
)  # fmt: skip
def test_epsilons_that_are_refused(value):
    with pytest.raises(ParameterError, match=r"epsilon=.*; need a number"):
        as_epsilon(value)


@given(st.floats(1e-39, 1e39))
def test_a_float_means_its_decimal_spelling(value):
    assert as_epsilon(value) == Fraction(repr(value))
    assert float(as_epsilon(value)) == value


def test_three_tenths_fit_in_a_ledger_of_three_tenths():
    """In floating point 0.1 + 0.1 + 0.1 > 0.3."""
    ledger = Ledger(0.3)
    for _ in range(3):
        ledger.charge("tenth", [Charge("q", "m", as_epsilon(0.1), 1, 1.0)])
    assert ledger.spent == Fraction(3, 10)
    assert ledger.remaining == 0
    with pytest.raises(BudgetError):
        ledger.charge("more", charges(Fraction(1, 10**30)))


amounts = st.lists(st.fractions(Fraction(1, 1000), 3).filter(lambda amount: amount > 0), max_size=12)


@given(st.fractions(Fraction(1, 10), 5).filter(lambda limit: limit > 0), amounts)
def test_spending_is_exact_and_never_above_the_limit(limit, amounts):
    ledger, accepted = Ledger(limit), []
    for amount in amounts:
        fits = sum(accepted, Fraction(0)) + amount <= limit
        if fits:
            ledger.charge("part", charges(amount / 3, 2 * amount / 3))
            accepted.append(amount)
        else:
            with pytest.raises(BudgetError, match=r"costs epsilon=.*left; use a smaller epsilon"):
                ledger.charge("part", charges(amount / 3, 2 * amount / 3))
    assert ledger.spent == sum(accepted, Fraction(0)) <= limit
    assert ledger.remaining == limit - ledger.spent
    assert ledger.entries == [("part", amount) for amount in accepted]


def test_check_enters_nothing():
    ledger = Ledger(1)
    ledger.check(Fraction(1))
    with pytest.raises(BudgetError):
        ledger.check(Fraction(2))
    assert ledger.spent == 0


def test_an_infinite_loss_needs_an_unlimited_ledger():
    with pytest.raises(BudgetError, match="costs epsilon=inf"):
        Ledger(10**9).charge("all", charges(math.inf))
    ledger = Ledger.unlimited()
    ledger.charge("all", charges(math.inf, 1))
    ledger.charge("more", charges(1))
    assert ledger.spent == ledger.remaining == ledger.limit == math.inf


def test_totals():
    assert total([]) == 0
    assert total([Fraction(1, 3)] * 3) == 1
    assert total([Fraction(1), math.inf]) == math.inf


def test_entries_cannot_be_changed_from_outside():
    ledger = Ledger(1)
    ledger.charge("a", charges(1))
    ledger.entries.clear()
    assert ledger.spent == 1
    with pytest.raises(AttributeError):
        ledger.limit = 5


def test_threads_never_exceed_the_limit(monkeypatch):
    ledger, refusals = Ledger(1), []
    original = Ledger._refuse_above_limit

    def slowly(self, cost):
        original(self, cost)
        time.sleep(0.0005)  # widens the gap between looking and entering

    monkeypatch.setattr(Ledger, "_refuse_above_limit", slowly)

    def spend():
        for _ in range(5):
            try:
                ledger.charge("thread", charges(Fraction(1, 30)))
            except BudgetError:
                refusals.append(1)

    threads = [threading.Thread(target=spend) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.spent == 1
    assert len(refusals) == 70


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda ledger: clone(ledger, safe=False)])
def test_copies_share_the_account(duplicate):
    ledger = Ledger(1)
    duplicate(ledger).charge("copy", charges(1))
    assert ledger.remaining == 0
    with pytest.raises(BudgetError):
        duplicate(ledger).charge("copy", charges(Fraction(1, 100)))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_ledger_is_never_pickled(protocol, tmp_path):
    for ledger in (Ledger(1), Ledger(1, tmp_path / "ledger")):
        with pytest.raises(BudgetError, match=r"cannot be pickled.*n_jobs=1.*path"):
            pickle.dumps({"deep": [ledger]}, protocol)


def in_child(action):
    """Run an action in a forked child; its exit code."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            action()
            code = 0
        except BudgetError:
            code = 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_cannot_charge_a_ledger_in_memory():
    ledger = Ledger(1)
    assert in_child(lambda: ledger.charge("child", charges(Fraction(1, 2)))) == 1
    assert in_child(lambda: ledger.check(Fraction(1, 2))) == 1
    ledger.charge("parent", charges(1))
    assert ledger.entries == [("parent", 1)]


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_charges_a_ledger_on_disk(tmp_path):
    ledger = Ledger(1, tmp_path / "ledger")
    assert in_child(lambda: ledger.charge("child", charges(Fraction(3, 4)))) == 0
    assert ledger.spent == Fraction(3, 4)
    with pytest.raises(BudgetError):
        ledger.charge("parent", charges(Fraction(1, 2)))


def test_a_file_keeps_the_account(tmp_path):
    path = tmp_path / "ledger.jsonl"
    Ledger("2/3", path).charge("first", charges(Fraction(1, 3)))
    again = Ledger(Fraction(2, 3), str(path))
    assert again.entries == [("first", Fraction(1, 3))]
    again.charge("zweite – 二", charges(Fraction(1, 3)))
    assert Ledger("2/3", path).remaining == 0
    with pytest.raises(BudgetError):
        Ledger("2/3", path).charge("third", charges(Fraction(1, 10**9)))
    assert [json.loads(line).get("name") for line in path.read_text().splitlines()] == [None, "first", "zweite – 二"]


def test_two_ledgers_on_one_file_see_each_other(tmp_path):
    one, other = Ledger(1, tmp_path / "ledger"), Ledger(1, tmp_path / "ledger")
    one.charge("one", charges(Fraction(1, 2)))
    other.charge("other", charges(Fraction(1, 2)))
    assert one.spent == other.spent == 1
    with pytest.raises(BudgetError):
        one.charge("one", charges(Fraction(1, 2)))
    assert repr(one) == "Ledger(limit=1, spent=1)"


def test_an_unlimited_ledger_has_a_file_too(tmp_path):
    Ledger(math.inf, tmp_path / "ledger").charge("all", charges(math.inf))
    assert Ledger("inf", tmp_path / "ledger").spent == math.inf


def test_the_charge_is_on_the_disk_before_it_counts(tmp_path, monkeypatch):
    """If the disk refuses, the caller hears of it before anything is read; what was written stays spent."""
    ledger = Ledger(1, tmp_path / "ledger")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        ledger.charge("lost", charges(Fraction(1, 2)))
    assert ledger.spent == Fraction(1, 2)


def test_another_limit_is_refused(tmp_path):
    Ledger(1, tmp_path / "ledger")
    with pytest.raises(FileError, match=r"has limit 1, got 2; open it with its own limit"):
        Ledger(2, tmp_path / "ledger")


def test_a_path_that_cannot_be_opened_is_a_file_error(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "ledger"):
        with pytest.raises(FileError, match="check the path"):
            Ledger(1, path)


HEAD = b'{"format": "discreet/ledger", "version": 1, "limit": "1"}\n'
LINE = b'{"name": "a", "epsilon": "1/2"}\n'


@pytest.mark.parametrize(
    "content",
    [
        HEAD + LINE[:-1],
        HEAD + LINE[:-2],
        HEAD + LINE[:9],
        HEAD[:20],
        HEAD + b"\n" + LINE,
        HEAD + LINE.replace(b"1/2", b"-1/2"),
        HEAD + LINE.replace(b"1/2", b"0"),
        HEAD + LINE.replace(b'"1/2"', b"null"),
        HEAD + LINE.replace(b"epsilon", b"epsilom"),
        HEAD + b"\xff\xfe" + LINE,
        HEAD + b"[1]\n",
        HEAD + b"3\n",
        LINE,
        b"[]\n",
        b"null\n",
        b"name,epsilon\na,1\n",
        HEAD.replace(b'"version": 1', b'"version": 2'),
        HEAD.replace(b'"version": 1', b'"version": "x"'),
        HEAD.replace(b"ledger", b"model"),
        HEAD.replace(b'"limit": "1"', b'"limit": "-1"'),
    ],
)
def test_a_torn_or_altered_file_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "ledger"
    path.write_bytes(content)
    with pytest.raises(FileError):
        Ledger(1, path)
    assert path.read_bytes() == content


def test_a_file_that_is_torn_while_in_use_is_refused(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(1, path)
    ledger.charge("a", charges(Fraction(1, 2)))
    path.write_bytes(path.read_bytes()[:-4])
    for use in (lambda: ledger.charge("b", charges(Fraction(1, 4))), lambda: ledger.spent, lambda: Ledger(1, path)):
        with pytest.raises(FileError, match="restore it from a backup"):
            use()


SPENDER = """
import sys, time
from fractions import Fraction
from discreet.budget import Charge, Ledger
from discreet.errors import BudgetError
look = Ledger._refuse_above_limit
def slowly(self, cost):
    look(self, cost)
    time.sleep(float(sys.argv[4]))  # widens the gap between looking and entering
Ledger._refuse_above_limit = slowly
ledger, accepted = Ledger(1, sys.argv[1]), 0
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    try:
        ledger.charge("process", [Charge("q", "m", Fraction(1, int(sys.argv[3])), 1, 1.0)])
        accepted += 1
    except BudgetError:
        pass
    print(accepted, flush=True)
"""


def spender(path, times, part, pause=0.0):
    return subprocess.Popen(
        [sys.executable, "-c", SPENDER, str(path), str(times), str(part), str(pause)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip


def test_processes_never_exceed_the_limit(tmp_path):
    path = tmp_path / "ledger"
    processes = [spender(path, 30, 41, pause=0.003) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    accepted = [int(process.communicate(timeout=60)[0].split()[-1]) for process in processes]
    assert sum(accepted) == 41
    assert Ledger(1, path).spent == 1


def test_a_killed_process_leaves_a_consistent_file(tmp_path):
    """kill -9 in the middle of charging: all that was announced is on the disk, at most one charge more."""
    path = tmp_path / "ledger"
    process = spender(path, 100_000, 10**6)
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()
    announced = 0
    while announced < 25:
        announced = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate(timeout=30)
    announced = int((rest.split() or [announced])[-1])
    try:
        entered = len(Ledger(1, path).entries)
    except FileError:  # the last line was torn, which is refused and never repaired
        entered = len(path.read_text().splitlines()) - 2
    assert announced <= entered <= announced + 1


def test_charges_survive_plain_data():
    for charge in charges(Fraction(1, 3), math.inf):
        assert Charge.from_dict(json.loads(json.dumps(charge.to_dict()))) == charge
