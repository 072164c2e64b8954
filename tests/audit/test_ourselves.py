"""Ourselves, by the same audit as anybody: every estimator under both adjacencies, scores, perturbed tables, federated
answers, and the command itself.

`test_ourselves_by_paths.py` has the other ways in, `tests/engines/test_postgres_audited.py` and
`tests/engines/test_spark_audited.py` those that need a server, `tests/client/test_audited.py` the service. Each audit
has a limited number of runs, and what it does not find proves nothing; the proofs and the replay of `tests/suites`
carry the claim. It must find nothing, and of what charges too little it must.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet import Ledger, LocalPerturbation, NaiveBayes, evaluate
from discreet.cli.application import app
from discreet.federated import Party, invite
from discreet.sources.memory import MemorySource
from support.estimators import DEALT, PRIVATE
from support.ourselves import ADJACENCIES, CLAIM, FAMILIES, NO_NOISE, UNLIKELY, found, public, remarks, tried

RUNS, FEWER, TIMES = 1200, 400, 8
"""Runs of an audit; of the linear models, which take ten times as long; and how many times as many `make test-audit`
makes."""
DRAWN = DEALT | {"decision-tree random"}
"""Estimators that draw lots, or trees, before they count: a replay draws others, and now and then takes that for a
difference of the pair, or cannot follow it at all."""
SHOWN = ["naive-bayes", "one-rule", "decision-tree greedy"]
"""Estimators that so many runs refute under both adjacencies if they have next to no noise; of a stump, which publishes
next to nothing, these audits say little."""
STAGES = ["structure", "ledger", "replay", "low bits", "one run with canaries", "samples"]

pytestmark = pytest.mark.slow


def audited(name: str, adjacency: str, epsilon: float, times: int = 1, first: bool = False) -> Any:
    """The report of an audit of an estimator."""
    runs = times * (FEWER if name.startswith("svm") else RUNS)
    return found(lambda: PRIVATE[name](public(adjacency), epsilon=epsilon), adjacency, runs, first=first)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", PRIVATE)
def test_no_estimator_is_refuted(name: str, adjacency: str) -> None:
    """Six stages; the replay of what it can follow must not even suspect a pair."""
    report = audited(name, adjacency, CLAIM)
    assert not report.refuted, report.verdict()
    assert report.bound <= CLAIM
    assert [each.name for each in report.stages] == STAGES
    assert "fitted twice: 1 of 2" in tried(report, "ledger")
    assert name in DRAWN or "calls of samplers watched" in tried(report, "replay")
    assert "canaries each" in tried(report, "one run with canaries")
    assert name in DRAWN or not remarks(report)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", SHOWN)
def test_an_estimator_that_charges_too_little_is_refuted(name: str, adjacency: str) -> None:
    """A control: next to no noise and a claim of 1, by the same stages and as many runs."""
    assert audited(name, adjacency, NO_NOISE, first=True).refuted


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_linear_model_without_noise_is_refuted(adjacency: str) -> None:
    """A control: no noise at all and a claim of 1. Next to none is left in the last bits of the weights, so that a
    number that was the same in five runs need not be in the runs that test it: `make test-audit` has that control."""
    assert audited("svm", adjacency, math.inf, first=True).refuted


@pytest.mark.chance
def test_a_linear_model_that_charges_too_little_is_refuted_by_many_runs() -> None:
    """The same control as of the others, where neighbours differ by a replaced record."""
    assert audited("svm", "replace-one", NO_NOISE, TIMES, first=True).refuted


@pytest.mark.chance
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_no_family_is_refuted_by_many_runs(name: str, adjacency: str) -> None:
    report = audited(name, adjacency, CLAIM, TIMES)
    assert not report.refuted, report.verdict()
    assert report.bound <= CLAIM


def scored(adjacency: str, epsilon: float) -> Callable[[Any, Any], Any]:
    """A published accuracy of a model that tells the classes apart."""
    rows = [{"near": side, "open": "a" if side < 0 else "b", "label": "x" if side < 0 else "y"} for side in (-1, 1)]
    model = NaiveBayes(public(adjacency), epsilon=50.0).fit(rows * 20, ledger=Ledger(50))

    def score(records: Any, _: Any) -> Any:
        published = evaluate(model, records, epsilon=epsilon)
        return [published.value, published.right, published.wrong, published.lower, published.upper]

    return score


def answered(adjacency: str, epsilon: float) -> Callable[[Any, Any], Any]:
    """What one party answers to an invitation."""
    invitation = invite(public(adjacency), epsilon, ["north", "south"])

    def answer(records: Any, _: Any) -> Any:
        return list(Party("north", MemorySource(records), Ledger(epsilon)).answer(invitation).tables)

    return answer


PUBLISHED = {"score": scored, "federated answer": answered}


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("what", PUBLISHED)
def test_no_published_answer_is_refuted(what: str, adjacency: str) -> None:
    report = found(PUBLISHED[what](adjacency, CLAIM), adjacency, RUNS)
    assert not report.refuted, report.verdict()
    assert not remarks(report)
    assert "calls of samplers watched" in tried(report, "replay")


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("what", PUBLISHED)
def test_a_published_answer_that_charges_too_little_is_refuted(what: str, adjacency: str) -> None:
    assert found(PUBLISHED[what](adjacency, 20.0), adjacency, RUNS, first=True).refuted


class Perturbed:
    """A perturbed table, published as it is."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def fit(self, records: Any, _: Any) -> Perturbed:
        self.table_ = LocalPerturbation(public("replace-one"), epsilon=self.epsilon).fit_resample(records)
        return self


def test_a_perturbed_table_is_not_refuted() -> None:
    """Its records stay apart, so only replacing one is private."""
    report = found(lambda: Perturbed(CLAIM), "replace-one", RUNS)
    assert not report.refuted, report.verdict()


def test_a_table_that_is_perturbed_too_little_is_refuted() -> None:
    assert found(lambda: Perturbed(20.0), "replace-one", RUNS, first=True).refuted


def command(folder: Path, adjacency: str, epsilon: float, *words: str) -> tuple[int, Any]:
    """`discreet audit` of naive Bayes in processes of its own: its status, and what it says in JSON."""
    public(adjacency).save(folder / "schema.json")
    target = ["discreet:NaiveBayes", "--with", f"epsilon={epsilon}", "--claim", str(CLAIM), "--adjacency", adjacency]
    limits = ["--schema", str(folder / "schema.json"), "--confidence", str(UNLIKELY), "--seed", "3", *words]
    done = CliRunner().invoke(app, ["audit", *target, *limits, "--json"])
    assert done.exit_code in (0, 1), done.stderr
    return done.exit_code, json.loads(done.stdout)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_command_finds_nothing(adjacency: str, tmp_path: Path) -> None:
    """All seven stages; how many runs there is time for depends on the machine."""
    status, report = command(tmp_path, adjacency, CLAIM, "--minutes", "0.8")
    assert status == 0, report["verdict"]
    assert [each["name"] for each in report["stages"] if each["name"] != "time and memory"] == STAGES
    assert report["runs"] > 100


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_command_finds_what_charges_too_little(adjacency: str, tmp_path: Path) -> None:
    status, report = command(tmp_path, adjacency, NO_NOISE, "--minutes", "1", "--first")
    assert status == 1
    assert report["refuted"]
