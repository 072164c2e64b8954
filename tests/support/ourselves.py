"""Our own estimators before our own auditor: the schema, the claim and the stages of these audits, for every way in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet import Auto, Categorical, DecisionTree, LinearSVM, NaiveBayes, Numeric, Schema
from discreet.audit import Report, audit
from discreet.audit.auditing import all_stages
from discreet.audit.replay import Replay
from discreet.audit.stage import Stage
from discreet.audit.structure import Structure
from discreet.audit.timing import TimeAndMemory

CLAIM, NO_NOISE = 1.0, 1000.0
"""What is claimed, and an epsilon that leaves next to no noise: an audit that does not refute it looks at nothing."""
UNLIKELY = 1 - 1e-8
"""The confidence of these audits: noise is drawn anew, and an honest model is accused once in 10⁸ of them."""
ADJACENCIES = ("add-remove", "replace-one")
MIXED = Schema([Numeric("near", -1, 1), Categorical("open", ["a", "b"])], "label", ["x", "y"], records=40)
FAMILIES: dict[str, Any] = {"naive-bayes": NaiveBayes, "decision-tree": DecisionTree, "svm": LinearSVM, "auto": Auto}
"""One of each family: how a table arrives is the same for all estimators of a family."""


def public(adjacency: str) -> Schema:
    """The schema of all these audits."""
    return MIXED.replace(adjacency=adjacency)


def stages() -> list[Stage]:
    """All stages of an audit but *time and memory*: it only remarks, so no test can fail by it, and it takes runs that
    are not counted."""
    return [each for each in all_stages() if not isinstance(each, TimeAndMemory)]


def few() -> list[Stage]:
    """The stages that need few runs, for what is slow: what differs always, and what enters the noise."""
    return [Structure(), Replay()]


def found(
    make: Callable[..., Any], adjacency: str, runs: int, by: Sequence[Stage] | None = None, first: bool = False
) -> Report:
    """The report of an audit of so many runs at most, in which a refusal counts too; `first` for what must be found."""
    options: dict[str, Any] = {"adjacency": adjacency, "schema": public(adjacency), "form": "records", "strict": True}
    options |= {"stages": stages() if by is None else by, "confidence": UNLIKELY, "first": first}
    return audit(make, CLAIM, minutes=60.0, most_runs=runs, seed=3, **options)


def tried(report: Report, stage: str) -> str:
    """What a stage tried, in words."""
    return "; ".join(next(each for each in report.stages if each.name == stage).tried)


def remarks(report: Report) -> list[str]:
    """What any stage remarked: of a replay, pairs on which the noise allows more than is claimed."""
    return [remark for each in report.stages for remark in each.remarks]


def elsewhere(kind: Any, given: Callable[[Any], Any], door: str = "fit_from") -> Any:
    """A kind of estimator whose records come another way: as what `given` makes of them, by `fit_from` or `fit`."""

    class Elsewhere(kind):  # type: ignore[misc]  # which class it is, is known when this is called
        def fit(self, X: Any, _: Any = None) -> Any:
            return getattr(super(), door)(given(X))

    return Elsewhere
