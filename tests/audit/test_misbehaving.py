"""Targets that crash, hang, print, take memory or leave children: the audit survives them and says so.

Targets whose runs all differ without telling anything of the records: the audit does not accuse them.
"""

from __future__ import annotations

import resource
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from discreet.audit import audit
from discreet.audit.inside import clock
from discreet.audit.session import MOST_KEPT, Claim, Session
from discreet.audit.structure import Structure
from discreet.audit.target import Target
from discreet.audit.timing import _timed
from discreet.errors import ParameterError
from support import audited, misbehaving
from support.audit_path import targets_can_be_imported

__all__ = ["targets_can_be_imported"]


def session(name: str, **given: Any) -> Session:
    options = {"seconds": 120, "processes": 1, **given}
    megabytes = options.pop("megabytes", None)
    return Session(Target(f"support.misbehaving:{name}", megabytes=megabytes), Claim(1.0), **options)


def test_a_segmentation_fault_is_told_and_survived() -> None:
    with session("segfaulting") as running:
        pair = next(each for each in running.pairs() if "only record of class" in each.words)
        first, second = running.run_pair(pair, 2)
    assert first.feature("the process was ended by signal 11").all()
    assert second.refused == 0


def test_megabytes_of_print_are_counted_and_not_kept() -> None:
    with session("talkative") as running:
        runs = running.run(running.pairs()[0].first, 6)
    assert len(runs) == 6
    assert [each.split(":")[0] for each in runs.features if each.startswith("prints")] == ["prints 5000000 bytes"]


def test_a_print_without_end_is_ended() -> None:
    with session("endless") as running:
        runs = running.run(running.pairs()[0].first, 2)
    assert runs.refused == 1 or runs.lost


def test_a_target_that_takes_all_memory_is_stopped_at_the_limit() -> None:
    with session("greedy", megabytes=1024) as running:
        runs = running.run(running.pairs()[0].first, 2)
    assert runs.refused == 1 or runs.lost


def test_there_is_a_limit_of_memory_by_default() -> None:
    with Session(Target("support.misbehaving:limit"), Claim(1.0), seconds=60, processes=1) as running:
        runs = running.run(running.pairs()[0].first, 1)
    assert 0 < runs.column("output")[0] < 1 << 20


def test_children_do_not_outlive_the_audit() -> None:
    with session("fertile") as running:
        assert len(running.run(running.pairs()[0].first, 5)) == 5
        group = running._workers[0]._process.pid  # type: ignore[union-attr]
    time.sleep(0.2)
    assert not _alive(group)


def _alive(group: int) -> list[str]:
    """The processes of a group that still run; those that ended, and wait to be collected, do not."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
    states = [line.split() for line in listed.splitlines()]
    return [state for number, state in states if int(number) == group and not state.startswith("Z")]


def test_threads_left_behind_are_survived() -> None:
    with session("threaded") as running:
        assert len(running.run(running.pairs()[0].first, 50)) == 50


def test_a_target_that_never_answers_is_told_in_one_line() -> None:
    began = time.monotonic()
    with pytest.raises(ParameterError, match="gives no answer") as told:
        audit("support.misbehaving:asleep", 1.0, patience=1.0, processes=1, minutes=1)
    assert "\n" not in str(told.value)
    assert time.monotonic() - began < 30


def test_no_run_is_waited_for_much_longer_than_the_audit_may_take() -> None:
    with session("asleep", seconds=1.0, patience=60.0) as running:
        began = time.monotonic()
        running.run(running.pairs()[0].first, 5)
        assert time.monotonic() - began < 30


def test_a_child_that_returns_answers_nothing() -> None:
    given: dict[str, Any] = {"processes": 1, "minutes": 0.5, "most_runs": 800, "seed": 0}
    report = audit("support.misbehaving:Returning", 1.0, **given)
    assert not report.refuted
    assert not report.lost
    with session("Returning") as running:
        table = running.pairs()[0].first
        running.ask({"op": "extend", "path": str(Path(clock.__file__))})
        frames, _ = running.ask({"op": "clock", "tables": [table.to_dict()], "order": [0] * 5})
        assert len(frames) == 5


def test_a_target_that_keeps_its_memory_gets_new_processes() -> None:
    """What earlier runs took says nothing of a table: no run of theirs may show that memory was short."""
    with session("hoarding", megabytes=2048) as running:
        first, second = running.run_pair(running.pairs()[5], 20)
        assert (len(first), len(second)) == (20, 20)
        assert not [each for each in (*first.features, *second.features) if "MemoryError" in each]


def test_a_callable_that_never_has_memory_ends() -> None:
    """There is no new process to make its runs in: they count as they are, and are not made again without end."""
    with Session(Target("hopeless", call=misbehaving.hopeless), Claim(1.0), seconds=60) as running:
        began = time.monotonic()
        runs = running.run(running.pairs()[5].first, 20)
        assert len(runs) == 20
        assert runs.feature("raises MemoryError").all()
        assert time.monotonic() - began < 20


def test_what_a_process_remembers_of_a_table_is_no_finding() -> None:
    """Pairs are made smaller in other processes than those that count: else a remembered number would come back."""
    given: dict[str, Any] = {"processes": 1, "minutes": 1, "most_runs": 4000, "seed": 0, "stages": [Structure()]}
    report = audit("support.misbehaving:remembering", 1.0, **given)
    assert not report.refuted, report.findings


def test_many_slow_runs_are_timed_in_spite_of_little_patience() -> None:
    """Each run is waited for by itself: thirty of .1 s are no answer that takes longer than a second."""
    with session("pausing", patience=1.0) as running:
        pair = running.pairs()[5]
        timed = _timed(running, pair, 15)
        assert timed is not None
        assert len(timed.first) == len(timed.second) == 15
        assert not running.silence.holds((pair.first, pair.second))


def test_an_answer_to_another_request_is_nonsense() -> None:
    with session("Foreign") as running:
        runs = running.run(running.pairs()[0].first, 1)
    assert (len(runs), runs.lost) == (0, 1)
    assert "answered nonsense" in running.silence.ways


def test_a_table_without_an_answer_does_not_take_the_time_of_the_others() -> None:
    """Its name says that it sleeps on one record; the rest of it has no noise."""
    report = audit("support.misbehaving:Sleeping", 1.0, processes=1, minutes=0.7, seed=0)
    assert report.refuted
    assert any("the process hung" in each for each in report.lost)
    assert any("not asked again" in each for each in report.lost)
    assert report.to_dict()["lost"] == report.lost


def test_what_hangs_nearly_always_ends_with_one_line() -> None:
    with pytest.raises(ParameterError, match="of 64 pairs of tables could be looked at") as told:
        audit("support.misbehaving:dozing", 1.0, processes=1, minutes=0.7, seed=0)
    assert "hung" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_table_that_answers_now_and_then_is_asked_on() -> None:
    with session("drowsy", seconds=60) as running:
        first = running.pairs()[0].first
        for _ in range(4):
            running.run(first, 8)
        assert not running.silence.holds([first])
        assert running.silence.ways
        assert running.wait() == 3.0


def _resident() -> float:
    """Megabytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / (1 << 20)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read where Linux tells it")
def test_the_memory_of_the_auditor_does_not_grow_with_runs() -> None:
    audit(audited.noisy_histogram, 1.0, most_runs=4000, seed=0)
    before = _resident()
    audit(audited.noisy_histogram, 1.0, most_runs=40_000, seed=0, minutes=2)
    assert _resident() - before < (MOST_KEPT >> 20) + 32  # runs that are kept to choose by, and some room


# No false accusations


@pytest.mark.parametrize("target", misbehaving.FAIR, ids=lambda each: each.__name__)
def test_the_fair_are_not_accused(target: Any) -> None:
    report = audit(target, 1.0, most_runs=4000, seed=0, strict=True, minutes=2)
    assert not report.refuted, report.findings[0]


def test_nor_in_processes_of_their_own() -> None:
    """Addresses that a process uses again and again are other ones in the processes that count."""
    for name in ("with_addresses", "in_any_order"):
        report = audit(
            f"support.misbehaving:{name}", 1.0, most_runs=1200, seed=0, strict=True, minutes=2, stages=[Structure()]
        )
        assert not report.refuted, report.findings[0]
