"""Runs whose texts are all different: they are kept within memory, and counted to the last one."""

from __future__ import annotations

import time
import tracemalloc
from typing import Any

import numpy as np

from discreet.audit import audit
from discreet.audit.runs import MOST_FLAGS, Collector, Runs, shuffled, together
from discreet.privacy.randomness import as_rng, search_generator
from support.audited import noisy_count


def collected(features: list[list[str]]) -> Runs:
    collector = Collector()
    for place, each in enumerate(features):
        collector.add(["n"], each, np.float64(place).tobytes())
    return collector.runs()


def of(runs: Runs, feature: str) -> list[float]:
    """The numbers of the runs that have a feature."""
    return sorted(runs.column("n")[runs.feature(feature)].tolist())


def test_what_one_run_has_is_counted_but_not_looked_at() -> None:
    runs = collected([["all", f"own {place}"] for place in range(10)])
    assert runs.features == ["all"]
    assert runs.present.shape == (10, 1)
    assert of(runs, "own 3") == [3]
    assert runs.column("“own 3”").sum() == 1
    assert of(runs, "nobody's") == []


def test_all_that_few_runs_have_is_looked_at() -> None:
    assert set(collected([["all", f"own {place}"] for place in range(3)]).features) == {
        "all",
        *map("own {}".format, range(3)),
    }


def test_what_was_rare_comes_to_sight_with_more_runs() -> None:
    first, second = (collected([["all", f"{side} {place}", f"both {place}"] for place in range(9)]) for side in "ab")
    both = together([first, second])
    assert "both 4" in both.features
    assert of(both, "both 4") == [4, 4]
    assert of(both, "a 4") == [4]
    assert both.features[0] == "all"
    assert both.feature("all").all()


def test_shuffling_keeps_what_each_run_has() -> None:
    runs = shuffled(collected([["all", f"own {place}"] for place in range(50)]), search_generator(0))
    assert all(of(runs, f"own {place}") == [place] for place in range(50))


def test_refusals_with_texts_of_their_own_are_refusals() -> None:
    assert collected([[f"raises ValueError: {place}"] if place % 2 else ["all"] for place in range(10)]).refused == 0.5


def test_runs_of_other_numbers_keep_their_features() -> None:
    collector = Collector()
    for place in range(10):
        collector.add(
            ["n"] if place % 3 else ["m", "m"],
            [f"odd {place % 2}"],
            np.float64([place] * (1 if place % 3 else 2)).tobytes(),
        )
    runs = collector.runs()
    assert of(runs, "odd 1") != []
    assert sorted(np.fmax(runs.column("n"), runs.column("m"))[runs.feature("odd 1")]) == [1, 3, 5, 7, 9]


def test_texts_count_as_memory() -> None:
    collector = Collector()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for place in range(2000):
        collector.add(["n"], [f"{place} " + 100 * "x", "all"], np.float64(place).tobytes())
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert collector.size > 0.5 * taken
    assert collector.runs().size > 2000 * 100


def test_the_matrix_of_features_is_bounded() -> None:
    runs = collected([[f"{place // 2}", f"{place // 2 + 1}", "all"] for place in range(20_000)])
    assert runs.present.nbytes <= MOST_FLAGS
    assert "all" in runs.features
    assert of(runs, "7000") == [13998, 13999, 14000, 14001]


def test_unique_texts_beside_a_fair_count_are_no_finding_and_take_little_time() -> None:
    names = as_rng(0)

    def unique(X: Any, y: Any) -> Any:
        return [noisy_count(X, y), "".join(map(str, names.integers(10, (20,)).tolist()))]

    began = time.monotonic()
    report = audit(unique, 1.0, most_runs=20_000, seed=0, minutes=2)
    assert not report.refuted
    assert report.runs > 10_000
    assert time.monotonic() - began < 100
