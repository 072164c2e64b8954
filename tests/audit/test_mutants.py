"""Mutants of ours are caught by the audit from outside: one of each kind here, all of them in benchmarks/audits.py."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.audit import audit
from support.mutants import CASES, Mutant

CERTAIN = {
    "exact_labels naive-bayes": "structure",
    "attribute_with_exact_count one-rule": "structure",
    "error_on_stray one-rule": "structure",
    "epsilon_from_data naive-bayes": "structure",
}
"""By change and model: the stage that catches it. What gives these away has no noise."""
LIKELY = {"weak_noise naive-bayes": {"structure", "replay"}, "exact_choice feature-selector": {"structure", "replay"}}
"""By change and model: the stages that may catch it, by the draws of the noise."""

pytestmark = pytest.mark.slow


def audited(name: str) -> Any:
    """The report on the mutant of a change and a model, up to the first finding."""
    case = next(each for each in CASES if f"{each.change} {each.model}" == name)
    schema = case.schema.replace(adjacency=case.adjacency)
    return audit(
        lambda: Mutant(schema, case.change, case.model, case.options, case.epsilon),
        case.epsilon,
        adjacency=case.adjacency,
        schema=schema,
        form="records",
        strict=True,
        first=True,
        most_runs=6000,
        minutes=60,
        seed=1,
    )


@pytest.mark.parametrize("name", CERTAIN)
def test_what_has_no_noise_is_caught(name: str) -> None:
    report = audited(name)
    assert report.refuted
    assert report.findings[0].stage == CERTAIN[name]
    assert report.runs < 6000


@pytest.mark.chance  # what an audit finds depends on its draws
@pytest.mark.parametrize("name", LIKELY)
def test_too_little_noise_is_caught(name: str) -> None:
    report = audited(name)
    assert report.refuted
    assert report.findings[0].stage in LIKELY[name]
