"""Mutants of ours are caught by the audit from outside: one of each kind here, all of them in benchmarks/audits.py."""

from __future__ import annotations

import pytest

from discreet.audit import audit
from support.mutants import CASES, Mutant

KINDS = {
    "exact_labels naive-bayes": "structure",
    "attribute_with_exact_count one-rule": "structure",
    "error_on_stray one-rule": "structure",
    "epsilon_from_data naive-bayes": "structure",
    "weak_noise naive-bayes": "structure",
    "exact_choice feature-selector": "replay",
}
"""By change and model: the stage that catches it."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", KINDS)
def test_a_mutant_is_caught(name: str) -> None:
    case = next(each for each in CASES if f"{each.change} {each.model}" == name)
    schema = case.schema.replace(adjacency=case.adjacency)
    report = audit(
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
    assert report.refuted
    assert report.findings[0].stage == KINDS[name]
    assert report.runs < 6000
