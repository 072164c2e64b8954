"""The worker that `discreet serve` runs beside its pages: started again if it ends, and ended with the pages.

The worker's standard input is a pipe whose other end is held here alone, so that the worker also ends if this process
is killed and cannot tell it to.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from discreet.cli.outputs import advise
from discreet.errors import FileError

BESIDE = "DISCREET_BESIDE"
"""The variable of the environment that tells a worker that its standard input ends with its parent."""
PATIENCE = 10.0
"""Seconds that a worker has for the job at hand when it is to end. What was spent for that job stays spent."""
PAUSES = (1.0, 4.0, 15.0)
"""Seconds before a worker that has ended by itself is started again; after the last, `serve` ends."""
LONG = 600.0
"""A worker that has run for so many seconds was in order: what ends it counts as the first trouble."""
RUN = (sys.executable, "-m", "discreet.cli", "worker", "run")


@contextlib.contextmanager
def beside(settings: Any) -> Iterator[None]:
    """A worker in a process of its own, ended with this one; the address of the database is not on its command line.

    A worker that ends by itself is started again. If it keeps ending, this process gets SIGTERM, and FileError is
    raised in the end, so that whoever watches over it knows.
    """
    given = {"DISCREET_FOLDER": str(settings.folder), "DISCREET_DATABASE": settings.database, BESIDE: "1"}
    environment = {**os.environ, **given, "DISCREET_SLOT": str(settings.least_slot)}
    environment |= {} if settings.job_memory is None else {"DISCREET_MEMORY": str(settings.job_memory)}
    watched = Watched(RUN, environment)
    try:
        yield
    finally:
        watched.close()
        if watched.given_up is not None:
            raise FileError(
                f"the worker ended {len(PAUSES) + 1} times, the last time with status {watched.given_up}; no job is "
                "run: see what it says above, mend that, and start again"
            )


class Watched:
    """A process that is started again when it ends; `given_up` is the last status if that did not help."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.given_up: int | None = None
        self._command, self._environment = command, environment
        self._ending, self._turn = threading.Event(), threading.Lock()
        self._process = self._start()
        self._thread = threading.Thread(target=self._watch, name="worker", daemon=True)
        self._thread.start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, env=self._environment, stdin=subprocess.PIPE)

    def _watch(self) -> None:
        troubles = 0
        while True:
            began = time.monotonic()
            status = self._process.wait()
            self._let_go()
            if self._ending.is_set():
                return
            troubles = 1 if time.monotonic() - began > LONG else troubles + 1
            if troubles > len(PAUSES):
                self.given_up = status
                os.kill(os.getpid(), signal.SIGTERM)
                return
            advise(f"The worker ended with status {status}; it is started again.")
            self._ending.wait(PAUSES[troubles - 1])
            with self._turn:
                if self._ending.is_set():
                    return
                self._process = self._start()

    def close(self) -> None:
        """End it: in order if it does so in time."""
        with self._turn:
            self._ending.set()
        self._process.terminate()
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
