"""An audit from start to end: the stages, cheap first, and the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.audit.accounts import Ledger
from discreet.audit.canaries import Canaries
from discreet.audit.findings import StageResult
from discreet.audit.low_bits import LowBits
from discreet.audit.remote import as_remote
from discreet.audit.replay import Replay
from discreet.audit.report import Report
from discreet.audit.samples import Samples
from discreet.audit.session import Claim, Session
from discreet.audit.stage import Stage
from discreet.audit.structure import Structure
from discreet.audit.target import Target, as_recipe
from discreet.audit.timing import TimeAndMemory
from discreet.errors import ParameterError
from discreet.schema import Adjacency, Schema

LEAST = 4
"""Runs without which nothing was tried: two on each table of a pair."""
SMALL = 0.1
"""The part of the pairs that must be looked at before it is said that nothing was found."""
STATED = ("within", "strict", "first", "most_runs", "processes", "seed")
"""What a report states of the settings of its session, besides the schema and the target."""


def all_stages() -> list[Stage]:
    """The stages in their order: cheap first; the last takes all the time that is left."""
    return [Structure(), Ledger(), Replay(), LowBits(), TimeAndMemory(), Canaries(), Samples()]


def stages_for_given() -> list[Stage]:
    """The stages for a target that has its own neighbours: those that make no tables."""
    return [Structure(), LowBits(), Samples()]


def audit(
    make: str | Callable[..., Any] | Target,
    claim: float | None = None,
    *,
    adjacency: str | None = None,
    delta: float | None = None,
    schema: Schema | None = None,
    parameters: Mapping[str, Any] | None = None,
    form: str | None = None,
    python: str | None = None,
    minutes: float = 5.0,
    confidence: float = 0.999,
    within: bool = False,
    strict: bool = False,
    first: bool = False,
    most_runs: int | None = None,
    stages: Sequence[Stage] | None = None,
    megabytes: int | None = None,
    patience: float = 60.0,
    processes: int = 2,
    seed: int | None = None,
    told: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Attack the claim that something is differentially private.

    Guarantee  with probability `confidence`, every ε in the report is at most the true loss on the reported pair; if
               the claim is true, it is refuted with at most the probability 1 - `confidence`.
    Proof      each stage may err with probability (1 - confidence) / number of stages, and divides that among the
               events that it tests on fresh runs, which were not used to choose them (`bounds.losses`); the errors
               add up.
    Test       tests/audit/test_audit.py::test_an_exact_mechanism_is_not_accused

    Parameters
    ----------
    make : "module:Class", "module:function", a recipe file, the address of a service, or a callable: one without
        arguments that makes estimators, or a function of (X, y), or of one table with the labels in it. Names run in
        processes of their own; a callable here.
    claim : the ε that is claimed; may be left to a recipe, as may `delta`, `adjacency` and `schema`.
    adjacency : "add-remove" (default) or "replace-one".
    schema : what tables look like; by default two numbers between 0 and 1 and the classes 0 and 1.
    parameters : what the target is made or called with.
    form : how the target gets tables: "auto", "array", "frame" or "records".
    python : the interpreter of another environment.
    minutes, most_runs : when to stop.
    within : only try values within the schema.
    strict : count it as a refutation if the target raises on one of two neighbours; else that is a remark, as targets
        document which tables they refuse.
    first : stop after the first stage that refutes the claim.
    megabytes : the most memory that a process of the target may take.
    processes : number of processes that run a named target at once.
    patience : seconds without an answer after which a run is given up; that is no evidence.
    seed : makes the search repeatable, not the target.

    Examples
    --------
    >>> report = audit(lambda X, y: len(y), claim=1.0, most_runs=5000, seed=0)
    >>> report.refuted, report.epsilon > 1
    (True, True)
    """
    given = {"parameters": parameters, "form": form, "python": python, "megabytes": megabytes}
    if isinstance(make, str) and make.startswith(("http://", "https://")):
        recipe = as_remote(make, {name: value for name, value in given.items() if value is not None})
    else:
        recipe = as_recipe(make, **given)
    epsilon = recipe.claim if claim is None else claim
    if epsilon is None:
        raise ParameterError("claim: what is claimed is not given; state it, for instance claim=1 (--claim 1)")
    if not 0 < minutes < math.inf:
        raise ParameterError(f"minutes={minutes!r}; need a positive number, for instance 5")
    if processes < 1:
        raise ParameterError(f"processes={processes!r}; need at least 1")
    chosen = list(stages) if stages is not None else all_stages() if not recipe.given else stages_for_given()
    stated = Claim(float(epsilon), float((recipe.delta if delta is None else delta) or 0.0))
    neighbours = Adjacency(_checked(adjacency or recipe.adjacency or "add-remove"))
    settings: dict[str, Any] = {"confidence": confidence, "within": within, "most_runs": most_runs, "seed": seed}
    settings |= {
        "strict": strict,
        "first": first,
        "seconds": 60 * minutes,
        "patience": patience,
        "processes": processes,
        "stages": max(1, len(chosen)),
        "given": recipe.given,
        "told": told,
    }
    with Session(recipe.target, stated, neighbours, schema or recipe.schema, **settings) as session:
        session.check()
        results: list[StageResult] = []
        for stage in chosen:
            results.append(stage.run(session))
            if first and any(finding.about == "fit" for finding in results[-1].findings):
                break
        if not any(each.findings for each in results):
            _enough(session, minutes, every=stages is None)
        return Report(
            str(make) if recipe.given else recipe.target.name,
            stated,
            neighbours,
            confidence,
            results,
            session.elapsed,
            session.done,
            session.versions,
            dict((parameters or {}) if recipe.given else recipe.target.parameters),
            {
                "schema": None if recipe.given else session.schema.to_dict(),
                "form": recipe.target.form,
                "python": recipe.target.python,
                "megabytes": recipe.target.megabytes,
                "minutes": minutes,
                **{name: settings[name] for name in STATED},
            },
            session.silence.words(),
        )


def _enough(session: Session, minutes: float, every: bool) -> None:
    """Raise ParameterError if so little was looked at that “nothing found” would say nothing; that runs are limited is
    the caller's choice."""
    name, (looked, planned) = session.target.name, session.looked()
    few = session.left() <= 0 and session.done < LEAST
    if few and not session.silence.ways:
        raise ParameterError(
            f"{name} made {session.done} runs in {minutes:g} minutes, too few to look at a pair; "
            "give more --minutes, or fewer rounds with --with name=value"
        )
    if few or (every and session.most_runs is None and looked < SMALL * planned):
        why = f" ({'; '.join(session.silence.words())})" if session.silence.ways else ""
        raise ParameterError(
            f"{name}: only {looked} of {planned} pairs of tables could be looked at in {minutes:g} minutes, too few "
            f"to say that nothing was found{why}; give more --minutes, fewer rounds with --with name=value, or tables "
            "that it answers for with --schema"
        )


def _checked(adjacency: str) -> str:
    if adjacency not in list(Adjacency):
        raise ParameterError(f"adjacency={adjacency!r}; need add-remove or replace-one")
    return adjacency
