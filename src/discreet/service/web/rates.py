"""Rate limits: a bucket of tokens for each person and each address, in the memory of the web process.

Each bucket refills at a steady rate; a request takes one token and is refused when none is left, with the time to wait.
Several web processes each have their own buckets, so that the limit of a deployment is the sum; what protects the
budget is the database, not these limits. At most MOST_KEYS buckets are kept: the one longest unused is forgotten,
which gives its owner a full bucket again and nobody more than that.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

MOST_KEYS = 20_000


@dataclass(frozen=True)
class Rate:
    """`burst` requests at once, then `per_second` of them."""

    burst: int
    per_second: float


REQUESTS = Rate(burst=600, per_second=60)
"""Of one person, over all addresses."""
ADDRESS = Rate(burst=5000, per_second=1000)
"""From one address, over all people: against a plain flood, since a proxy is one address for a thousand people."""
SIGN_IN = Rate(burst=10, per_second=1 / 30)
"""Attempts for one name: 10, then one in half a minute, whether or not the name exists."""
SIGN_IN_ADDRESS = Rate(burst=30, per_second=1 / 6)
"""Attempts to sign in, or to use a link, from one address."""


class Rates:
    """All buckets of a process. Thread-safe; the clock is monotonic, so that setting it back gives nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, what: str, who: str, rate: Rate) -> float:
        """Take one token: 0 if there was one, else the seconds until there is."""
        with self._lock:
            now = self._clock()
            left, before = self._buckets.pop((what, who), (float(rate.burst), now))
            left = min(float(rate.burst), left + (now - before) * rate.per_second)
            allowed = left >= 1
            self._buckets[what, who] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)
            return 0.0 if allowed else (1 - left) / rate.per_second
