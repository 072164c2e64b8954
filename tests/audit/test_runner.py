"""What the runner shows of a run: texts without addresses, and with every other number."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.audit import audit
from discreet.audit.runner import short
from discreet.audit.structure import Structure
from support.audited import noisy_count


class Thing:
    """Shown as Python shows objects: with its address."""


def test_addresses_of_objects_are_left_out() -> None:
    assert short(Thing()) == short(Thing())
    assert short([lambda: 1]) == short([lambda: 1])
    assert "0x" not in short(Thing())


@pytest.mark.parametrize(
    "number", ["93000000000012", "94999999999999", "130000000000007", "140000000000000", "0x1f40", "0x7f12ab34cd56"]
)
def test_no_other_number_is_left_out(number: str) -> None:
    """Numbers that look like ids or addresses may be the sum of a column, or a hash of the records."""
    assert number in short(f"the sum is {number} of all records")


def test_a_large_number_in_a_message_is_found() -> None:
    def told(X: Any, y: Any) -> Any:
        return {"message": f"about {93_000_000_000_000 + len(y)} units", "count": noisy_count(X, y)}

    report = audit(told, 1.0, most_runs=3000, seed=0, stages=[Structure()])
    assert report.refuted
    assert "9300000000" in report.findings[0].event
