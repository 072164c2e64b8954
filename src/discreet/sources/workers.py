"""Work on the parts of a table in several threads, of which none outlives the work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

MOST = 8
"""More threads would wait for the disk, or for each other."""
PAUSE = 0.05
"""Seconds after which the waiting thread looks for an interruption."""


class Stopped(Exception):  # noqa: N818 - is no error: another thread has failed, or the work was interrupted
    """Raised inside a thread whose result is not wanted any more."""


def processors() -> int:
    """The number of processors that this process may use, at most MOST."""
    try:
        available = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        available = os.cpu_count() or 1
    return min(available, MOST)


def share_out(
    parts: Iterable[Part], work: Callable[[Iterator[Part], Callable[[], None]], Result], threads: int
) -> list[Result]:
    """Let some threads work, each on the parts that it takes from the common list; one result for each thread.

    `work` is given its parts, and a function to call from time to time: it raises Stopped if the result is not wanted
    any more. The first error of a thread is raised here; an interruption is raised at once, when all have stopped.
    """
    waiting, lock, stop = iter(parts), threading.Lock(), threading.Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def check() -> None:
        if stop.is_set():
            raise Stopped

    def own_parts() -> Iterator[Part]:
        while True:
            check()
            with lock:
                part = next(waiting, stop)
            if part is stop:
                return
            yield part  # type: ignore[misc]

    def run() -> None:
        try:
            results.append(work(own_parts(), check))
        except Stopped:
            pass
        except BaseException as error:
            errors.append(error)
            stop.set()

    running = [threading.Thread(target=run, daemon=True) for _ in range(threads)]
    try:
        for thread in running:
            thread.start()
        for thread in running:
            while thread.is_alive():
                thread.join(PAUSE)
    finally:
        stop.set()
        for thread in running:
            if thread.ident is not None:
                thread.join()
    if errors:
        raise errors[0]
    return results
