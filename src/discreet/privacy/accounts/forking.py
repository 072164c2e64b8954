"""Forks and transactions, kept apart: a forked process inherits no connection to a file of SQLite.

SQLite notes in the memory of a process which locks of a file it holds, and a lock belongs to the process that took it.
A forked process inherits the notes but no lock: it would believe that its log is safe while others may remove it, and
lose what it commits afterwards. So a fork waits until no transaction is open, and all connections to files are closed
before it; parent and child open new ones when they need them.

Guarantee  a forked process either has no connection of its parent to a file of SQLite, or never uses one again.
Proof      between `before` and the fork no transaction begins, and connections are opened by transactions alone. If one
           is still open then (another thread writes for longer than `PATIENCE`, or the thread that forks is inside
           one), the child is told by `is_safe`, and refuses to use any file.
Limits     programs that are started by `subprocess` do not count as forks here: they share no memory. Whoever forks
           inside a transaction must end the child without leaving it.
Test       tests/privacy/accounts/test_forks.py
"""

from __future__ import annotations

import threading
from collections import Counter

PATIENCE = 30
"""Seconds that a fork waits for open transactions to end."""


class Gate:
    """Lets transactions pass while nobody forks, and a fork while there is no transaction."""

    def __init__(self) -> None:
        self.is_safe = True
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._open: Counter[int] = Counter()
        self._forks = 0
        self._own = threading.local()

    def __enter__(self) -> None:
        own = threading.get_ident()
        with self._changed:
            self._changed.wait_for(lambda: not self._forks or own in self._open)
            self._open[own] += 1

    def __exit__(self, *error: object) -> None:
        own = threading.get_ident()
        with self._changed:
            self._open[own] -= 1
            if not self._open[own]:
                del self._open[own]
            self._changed.notify_all()

    def before(self) -> bool:
        """Wait until no transaction is open, and let none begin; returns whether that worked."""
        with self._changed:
            self._forks += 1
            inside = threading.get_ident() in self._open
            self._own.is_quiet = not inside and self._changed.wait_for(lambda: not self._open, PATIENCE)
        return bool(self._own.is_quiet)

    def in_parent(self) -> None:
        """Let transactions begin again."""
        with self._changed:
            self._forks -= 1
            self._changed.notify_all()

    def in_child(self) -> None:
        """Begin anew: threads that waited or were inside are not here."""
        self.is_safe = self.is_safe and bool(self._own.is_quiet)
        self._begin()
