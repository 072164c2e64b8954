"""The bound that scripts print: their text is that of these functions, which need the standard library alone."""

from __future__ import annotations

import math


def edge(share: float, end: float, runs: int, risk: float) -> float:
    """A rate beyond this one gives such a share of so many runs with at most the probability `risk` (Chernoff)."""

    def far(rate: float) -> bool:
        parts = ((share, rate), (1 - share, 1 - rate))
        return runs * sum(a * math.log(a / b) if b > 0 else math.inf for a, b in parts if a > 0) > -math.log(risk)

    near = share
    for _ in range(60):
        middle = (near + end) / 2
        near, end = (near, middle) if far(middle) else (middle, end)
    return end


def bound(more: float, less: float, runs: int, delta: float, risk: float) -> float:
    """The loss is at least log((P - delta) / Q): P is bounded from below and Q from above, each but for risk / 2."""
    low, high = edge(more / runs, 0.0, runs, risk / 2), edge(less / runs, 1.0, runs, risk / 2)
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
