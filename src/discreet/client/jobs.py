"""Jobs as a client sees them: asked for, waited for, and what they released."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from discreet.client.refusals import RefusedError
from discreet.client.transport import Transport

OPEN = frozenset({"requested", "reserved", "running"})
"""States that something can still follow on."""
LONGEST_PAUSE = 5.0
Progress = Callable[["RemoteJob"], None]


class RemoteJob:
    """A job of the service. `wait` until it ends, then read `release` or `content`.

    Attributes
    ----------
    facts : what the service says of the job, as plain data; `refresh` reads it again.
    """

    def __init__(self, transport: Transport, facts: dict[str, Any]) -> None:
        self._transport = transport
        self.facts = facts

    def __repr__(self) -> str:
        return f"RemoteJob({self.id!r}, kind={self.facts['kind']!r}, state={self.state!r})"

    @property
    def id(self) -> str:
        """The identifier."""
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        """The state when it was last read."""
        return str(self.facts["state"])

    @property
    def release(self) -> str | None:
        """The identifier of what was released, once it was."""
        found = self.facts.get("release")
        return None if found is None else str(found)

    def refresh(self) -> RemoteJob:
        """Read the state again."""
        self.facts = self._transport.get(f"/jobs/{self.id}")
        return self

    def cancel(self) -> RemoteJob:
        """Cancel it, if it has not started; what was reserved is returned."""
        self.facts = self._transport.post(f"/jobs/{self.id}/cancel", {})
        return self

    def wait(self, timeout: float | None = None, progress: Progress | None = None) -> RemoteJob:
        """Wait until the job has ended; RefusedError if it ended without a release, or after `timeout` seconds.

        `progress` is called after each look; without one, a terminal shows the state.
        """
        started, pause = time.monotonic(), 0.2
        with _shown(progress) as tell:
            while self.state in OPEN:
                tell(self)
                left = None if timeout is None else timeout - (time.monotonic() - started)
                if left is not None and left <= 0:
                    raise RefusedError(
                        f"job {self.id} is {self.state} after {timeout:g} s; it goes on, look again later"
                    )
                time.sleep(min(pause, LONGEST_PAUSE, left or LONGEST_PAUSE, self._expected()))
                pause = min(2 * pause, LONGEST_PAUSE)
                self.refresh()
            tell(self)
        if self.state != "released":
            note = f" ({self.facts['note']})" if self.facts.get("note") and self.state == "refused" else ""
            remedy = _REMEDIES.get(self.state, "ask the owner")
            raise RefusedError(f"job {self.id} was not released: {self.state}{note}; {remedy}", remedy=remedy)
        return self

    def _expected(self) -> float:
        """Seconds until the outcome appears, if that is known; the slot of a job is public.

        By a clock that is ahead of the service's it should have appeared already: then the usual pause is taken.
        """
        if self.facts.get("visible_at") is None:
            return LONGEST_PAUSE
        due = datetime.fromisoformat(self.facts["visible_at"])
        left = (due - datetime.now(UTC)).total_seconds() + 0.05
        return left if left > 0 else LONGEST_PAUSE

    def content(self) -> Any:
        """What was released, as plain data: a model file, a score or answers."""
        if self.release is None:
            raise RefusedError(f"job {self.id} is {self.state} and has released nothing; wait for it")
        return json.loads(self._transport.get_bytes(f"/releases/{self.release}/content"))


_REMEDIES = {
    "failed": "its price stays spent; ask the owner to look at the log",
    "refused": "nothing was spent; ask the owner why, or ask for less",
    "cancelled": "nothing was spent; ask again if you still want it",
    "expired": "nothing was spent; ask again, and ask the owner to decide in time",
}


class _shown:  # noqa: N801 - a context manager, used as a function
    """Tells how a job goes: to the given function, or on a terminal."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._status: Any = None

    def __enter__(self) -> Progress:
        if self._progress is not None:
            return self._progress
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("waiting")
            self._status.start()
        return self._tell

    def _tell(self, job: RemoteJob) -> None:
        if self._status is not None:
            due = "" if job.facts.get("visible_at") is None else f", due {job.facts['visible_at']}"
            self._status.update(f"{job.facts['kind']} {job.id}: {job.state}{due}")

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
