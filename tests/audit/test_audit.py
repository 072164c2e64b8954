"""Audits from start to end: liars are found, the honest are not accused, whatever a target does."""

import json
import math
import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

from discreet import NaiveBayes, Numeric, Schema
from discreet.audit import audit, runner
from discreet.audit.findings import Finding, StageResult
from discreet.audit.report import Report
from discreet.audit.samples import Samples
from discreet.audit.session import Claim, Session
from discreet.audit.structure import Structure
from discreet.audit.tables import DEFAULT, bases
from discreet.audit.target import Target, as_recipe, parse_parameters
from discreet.errors import ParameterError
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.randomness import as_rng
from discreet.schema import Adjacency
from support import audited

pytestmark = pytest.mark.chance  # what an audit finds depends on its draws and on the clock


def quick(target, claim=1.0, runs=8000, **given):
    return audit(target, claim, **{"most_runs": runs, "seed": 0, "minutes": 2, **given})


@pytest.mark.parametrize(("epsilon", "close"), [(0.5, 0.0), (2.0, 0.4)])
def test_an_exact_mechanism_is_not_accused(epsilon, close):
    """The bound stays below the loss; it comes close where so few runs can show it."""
    report = quick(lambda X, y: audited.noisy_count(X, y, epsilon), claim=epsilon, runs=16_000)
    assert not report.refuted
    assert close * epsilon <= report.bound <= epsilon
    assert "does not mean" in report.verdict()


def test_half_the_noise_is_found():
    report = quick(lambda X, y: audited.noisy_count(X, y, 2.0), claim=1.0)
    assert report.refuted
    assert 1 < report.epsilon <= 2
    assert report.verdict().startswith("refuted: ε ≥ 1.")


def test_a_sum_without_noise_is_found_though_each_number_has_much():
    report = quick(audited.summing, runs=20_000)
    assert report.refuted
    (finding, *_) = report.findings
    assert "here" in finding.event
    assert "there" in finding.event


@pytest.mark.parametrize("target", [audited.classes, audited.refusing_nan, audited.warning_of_one])
def test_what_differs_with_certainty_is_found_by_structure(target):
    report = quick(target, stages=[Structure()], strict=True)
    assert report.refuted
    assert all(each.stage == "structure" for each in report.findings)


def test_a_choice_by_exact_scores_is_found():
    """One record decides which of two columns is better: no table with columns that say the same would show it."""
    report = quick(audited.best_column, stages=[Structure()], adjacency="replace-one")
    assert report.refuted
    assert "columns that agree" in report.findings[0].pair.words


def test_where_the_first_finding_is_enough_samples_stop_early():
    given = {"stages": [Samples()], "first": True, "runs": 60_000}
    report = quick(lambda X, y: audited.noisy_count(X, y, 4.0), claim=1.0, **given)
    assert report.refuted
    assert report.runs < 30_000
    assert report.epsilon <= 4
    assert "one event tested on the way" in report.stages[0].tried
    assert not quick(audited.noisy_count, claim=1.0, **{**given, "runs": 10_000}).refuted


def test_values_outside_the_schema_are_told_apart():
    report = quick(audited.refusing_nan, stages=[Structure()], strict=True)
    assert "outside the schema" in report.verdict()
    assert "NaN" in report.findings[0].pair.words
    assert not quick(audited.refusing_nan, stages=[Structure()], strict=True, within=True).refuted


def test_a_refusal_is_a_remark_unless_the_audit_is_strict():
    """Targets document what they refuse: that alone is no verdict that their maintainers would accept."""
    report = quick(audited.refusing_nan, stages=[Structure()])
    assert not report.refuted
    assert report.bound == 0
    (remark,) = report.stages[0].remarks
    assert "--strict" in remark
    assert "NaN" in remark


def test_a_text_that_is_published_now_and_then_is_found():
    """As when the name of a category is published if its noisy count is large."""
    coin = random.Random(0)
    report = quick(lambda X, y: "rare" if 1 in y and coin.random() < 0.5 else "common", stages=[Samples()])
    assert report.refuted
    assert "'rare'" in report.findings[0].event or "no “output = 'common'" in report.findings[0].event


def test_the_first_stage_that_refutes_may_be_the_last():
    report = quick(lambda X, y: str(len(y)), first=True)
    assert report.refuted
    assert [each.name for each in report.stages] == ["structure"]


def test_a_difference_that_fresh_runs_do_not_show_ends_no_search():
    """What looks certain in the first runs of the first pair is gone in later ones; the search goes on."""
    calls = []

    def fading(X, y):
        calls.append(len(y))
        return {"mark": "odd" if len(y) == 1 and len(calls) < 30 else "even", "count": audited.refusing_nan(X, y)}

    report = quick(fading, stages=[Structure()], strict=True, first=True)
    assert report.refuted
    assert "NaN" in report.findings[0].pair.words
    assert int(report.stages[0].tried[1].split()[0]) > 1


def test_what_all_runs_share_is_no_output():
    """An account of the whole process grows from run to run, whatever the table."""
    shared = audited.Shared()

    class Spending:
        def __init__(self):
            self.shared = shared

        def fit(self, X, y):
            self.shared.spent.append(1.0)
            self.fitted_ = 1.0
            return self

    made = runner.Target(Spending)
    made.check()
    table = next(bases(DEFAULT))[1].to_dict()
    assert [made.run(table, None, ()).names for _ in range(2)] == [["fitted_"]] * 2


def test_a_state_of_the_process_accuses_nobody():
    assert not quick(audited.stateful).refuted


def test_delta_is_part_of_the_claim():
    def rarely_exact(X, y):
        return len(y) if audited.RNG.integers(20, (1,))[0] == 0 else -1.0

    assert quick(rarely_exact, claim=1.0, runs=30_000).refuted
    assert not quick(rarely_exact, claim=1.0, runs=8000, delta=0.05).refuted


@pytest.mark.slow
def test_our_own_model_is_not_accused():
    """Public by design: schema, parameters and receipt are the same on neighbours."""
    schema = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], target="label", classes=[0, 1])
    unlikely = 1 - 1e-8  # its noise is drawn anew: it is accused by chance once in 10⁸
    report = quick(lambda: NaiveBayes(schema, epsilon=1.0), claim=1.0, schema=schema, runs=1500, confidence=unlikely)
    assert not report.refuted


def noisy(mechanism, rng):
    """A function that a mechanism at ε = 1 makes of the number of records per class."""

    def run(X, y):
        counts = np.array([np.sum(y == 0), np.sum(y == 1)], dtype=np.int64)
        if isinstance(mechanism, PermuteAndFlip):
            return {"chosen": mechanism.choose(counts, rng)}
        return mechanism.perturb(counts, rng)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [DiscreteLaplace(1.0), PermuteAndFlip(1.0)], ids=lambda each: each.name)
def test_bounds_come_close_for_our_mechanisms(mechanism):
    report = quick(noisy(mechanism, as_rng(5)), claim=1.0, runs=80_000, minutes=10)
    assert not report.refuted
    assert report.bound > 0.7


def test_a_pair_is_made_smaller():
    report = quick(lambda X, y: {"n": len(y)}, stages=[Samples()])
    assert len(report.findings[0].pair.first) <= 2


# Processes of their own


def named(name, claim=1.0, **given):
    return audit(f"support.audited:{name}", claim, **{"minutes": 0.5, "most_runs": 600, "seed": 0, **given})


def test_what_is_printed_is_caught_and_counts(capfd):
    report = named("printing", stages=[Structure()], minutes=2, most_runs=1500)
    assert report.refuted
    assert "prints" in report.findings[0].event
    assert capfd.readouterr().out == ""


def test_a_crash_is_evidence():
    with Session(Target("support.audited:crashing"), Claim(1.0), seconds=60, processes=1) as session:
        pair = next(each for each in session.pairs() if "only record of class" in each.words)
        first, second = session.run_pair(pair, 2)
    assert first.feature("the process ended with status 3").all()
    assert len(first) == len(second) == 2
    assert second.refused == 0


def test_a_target_that_hangs_is_given_up_and_is_no_evidence():
    target = Target("support.audited:hanging")
    with Session(target, Claim(1.0), patience=1.0, seconds=60, processes=1) as session:
        pair = next(each for each in session.pairs() if "lower bounds (3)" in each.words)
        first, second = session.run_pair(pair, 4)
    assert first.lost + second.lost >= 1
    assert not [each for each in second.features if "answer" in each]


def test_a_target_without_memory_or_with_children_is_survived():
    with Session(Target("support.audited:hungry", megabytes=4096), Claim(1.0), seconds=60, processes=1) as session:
        runs = session.run(session.pairs()[0].first, 2)
    assert runs.feature("raises MemoryError").all() or any("MemoryError" in each for each in runs.features)
    with Session(Target("support.audited:forking"), Claim(1.0), seconds=60, processes=1) as session:
        assert len(session.run(session.pairs()[0].first, 20)) == 20


def test_nonsense_in_the_answers_runs_no_code_and_is_no_evidence():
    with Session(Target("support.audited:tampering"), Claim(1.0), seconds=60, processes=1) as session:
        runs = session.run(session.pairs()[0].first, 3)
    assert runs.lost
    assert not runs.features


def test_nothing_is_left_running():
    with Session(Target("support.audited:noisy_count"), Claim(1.0), seconds=30, processes=2) as session:
        session.run_pair(session.pairs()[0], 20)
        pids = [worker._process.pid for worker in session._workers]
    time.sleep(0.1)
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_script_repeats_the_finding(tmp_path):
    report = named("Means", parameters={"epsilon": 1.0}, stages=[Samples()], minutes=2, most_runs=3000)
    assert report.refuted
    (tmp_path / "repeat.py").write_text(report.findings[0].repeat, encoding="utf-8")
    done = subprocess.run([sys.executable, "repeat.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    counts = [int(line.split()[0]) for line in done.stdout.splitlines()[:2]]
    assert max(counts) > 2 * min(counts)
    assert "discreet" not in report.findings[0].repeat


# Functions of a whole table


@pytest.mark.parametrize("form", ["auto", "frame", "array", "records"])
def test_a_function_of_one_table_gets_its_labels_too(form):
    report = named("exact_ones", stages=[Structure()], form=form, most_runs=2000, minutes=1)
    assert report.refuted
    assert report.findings[0].event.startswith("output = ")
    assert audit(lambda rows: float(len(rows)), claim=1.0, most_runs=2000, stages=[Structure()], seed=0).refuted


def test_what_makes_estimators_is_no_function_of_a_table():
    """A parameter that was forgotten must not be filled with a table."""
    with pytest.raises(ParameterError, match=r"returns Means, which has a fit.*--with name=value"):
        named("maker")
    assert named("maker", parameters={"epsilon": 1.0}).refuted


def test_the_smallest_pair_that_shows_the_same_is_reported():
    """The class of one record is read off, whatever the other records are."""
    for first in (False, True):
        finding = named("classes", stages=[Structure()], minutes=2, most_runs=6000, within=True, first=first).findings[
            0
        ]
        assert sorted(map(len, (finding.pair.first, finding.pair.second))) == [0, 1], finding.pair


# Misuse


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("nothing_like_this:C", {}, "cannot import"),
        ("support.audited:nothing", {}, "cannot import"),
        ("support.audited:NoFit", {}, "has no fit"),
        ("support.audited:Means", {}, "--with name=value"),
        ("support.audited:refusing", {}, "refuses every table: raises ValueError: 'need exactly 77 columns'"),
        ("support.audited", {}, "need module:Class"),
        ("https://example.org", {}, "two data sets of the service"),
        ("https://example.org", {"parameters": {"datasets": ["a", "b"]}}, "what to ask"),
        ("support.audited:noisy_count", {"python": "/nowhere/python"}, "--python"),
    ],
)
def test_misuse_is_told_in_one_line(name, given, words):
    with pytest.raises(ParameterError) as told:
        audit(name, 1.0, minutes=1, **given)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "given",
    [
        {"claim": -1.0},
        {"claim": math.inf},
        {"claim": math.nan},
        {"claim": None},
        {"claim": 1.0, "delta": 1.0},
        {"claim": 1.0, "confidence": 1.0},
        {"claim": 1.0, "adjacency": "same"},
        {"claim": 1.0, "minutes": 0},
        {"claim": 1.0, "form": "scroll"},
    ],
)
def test_a_claim_that_means_nothing_is_refused(given):
    with pytest.raises(ParameterError):
        audit(audited.noisy_count, **given)


def test_a_recipe_is_read_and_its_mistakes_are_told(tmp_path):
    path = tmp_path / "count.json"
    path.write_text(json.dumps({"target": "support.audited:noisy_count", "parameters": {"epsilon": 2}, "claim": 1}))
    recipe = as_recipe(str(path), parameters={"form": 3})
    assert recipe.target.parameters == {"epsilon": 2, "form": 3}
    assert recipe.claim == 1
    for wrong in ({"target": "a:b", "claims": 1}, {"claim": 1}):
        path.write_text(json.dumps(wrong))
        with pytest.raises(ParameterError, match="recipe"):
            as_recipe(str(path))


def test_a_list_is_no_recipe_and_is_told_what_one_is(tmp_path):
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ParameterError, match="no recipe: need an object such as"):
        audit(str(tmp_path / "list.json"), 1.0)


def test_verdicts_say_what_they_rest_on():
    finding = Finding("low bits", 3.0, 0.999, "lowest bit of n_ ≥ 3", None)
    given = ("t", Claim(1.0), Adjacency.ADD_REMOVE, 0.999)
    report = Report(*given, [StageResult("low bits", 1.0, [], [finding])], 1.0, 10)
    assert report.verdict().endswith("by the lowest bits of floats alone")
    assert report.to_dict()["date"].endswith("+00:00")
    nothing = Report(*given, [StageResult("samples", 1.0, [], [], [], 0.48)], 1.0, 10).verdict()
    assert "0.48 or more, is within the claim" in nothing


def test_parameters_are_read_from_texts():
    assert parse_parameters(['a={"b": [1, null]}', "c=x=y", "d=(1, (2.5,))"]) == {
        "a": {"b": [1, None]},
        "c": "x=y",
        "d": {"tuple": [1, {"tuple": [2.5]}]},
    }
    with pytest.raises(ParameterError, match="name=value"):
        parse_parameters(["epsilon"])
