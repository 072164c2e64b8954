"""Whether a target is a function of (X, y), or makes estimators: its own process knows.

Run by path in the target's own process; needs the standard library only (Python 3.8 or later).
"""

from __future__ import annotations

from typing import Any


def operations(runner: Any) -> Any:
    """What the runner of a target can be asked besides runs."""

    def kind(request: Any, send: Any) -> Any:
        return {"function": not runner.target.is_estimator}

    return {"kind": kind}
