"""Targets of audits are imported by processes of their own; those of this process draw the same noise in every run."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy.randomness import as_rng
from support import audited, misbehaving
from support.audit_path import targets_can_be_imported

__all__ = ["targets_can_be_imported"]


@pytest.fixture(autouse=True)
def repeated_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds, so that a test that passes once passes always: what it shows was not found by trying until it was."""
    rng = as_rng(20)
    for module in (audited, misbehaving):
        monkeypatch.setattr(module, "RNG", rng)
    np.random.seed(20)  # targets of others use it
