"""How long runs take and how much memory they ask for, on two tables in random turns.

Run by path in the target's own process; needs the standard library and numpy (Python 3.8 or later).
"""

from __future__ import annotations

import time
import tracemalloc
from typing import Any


def operations(runner: Any) -> Any:
    """What the runner of a target can be asked besides runs."""

    def clock(request: Any, send: Any) -> Any:
        for place in request["order"]:  # a frame for each run: only a run that hangs is given up
            began = time.perf_counter()
            runner.target.run(request["tables"][place], None, ())
            send({"seconds": time.perf_counter() - began}, b"")
        peaks: Any = []
        if not request.get("peaks", True):
            return {"peaks": peaks}
        tracemalloc.start()
        for table in request["tables"]:
            tracemalloc.reset_peak() if hasattr(tracemalloc, "reset_peak") else tracemalloc.clear_traces()
            runner.target.run(table, None, ())
            peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        return {"peaks": peaks}

    return {"clock": clock}
