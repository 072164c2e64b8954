"""Targets that misbehave or vary without telling anything of the records: no audit may fall for them, or to them."""

import contextlib
import os
import resource
import signal
import struct
import sys
import threading
import time
import warnings

import numpy as np

from support.audited import RNG, noisy_count


class Thing:
    """Shown as Python shows objects: with its address."""


def segfaulting(X, y):
    """Its process is ended by a signal if there is a single record of class 1."""
    if np.sum(y == 1) == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    return noisy_count(X, y)


def talkative(X, y):
    """Prints five megabytes, whatever the table."""
    sys.stdout.write("x" * 5_000_000)
    return noisy_count(X, y)


def endless(X, y):
    """Prints until it is stopped."""
    while True:
        os.write(1, b"x" * 1_000_000)


def greedy(X, y):
    """Takes all memory that it gets, piece by piece, and uses it."""
    taken = []
    while True:
        taken.append(np.ones(1 << 22))


def limit(X, y):
    """The megabytes of addresses that its process may have; infinity is a negative number."""
    return resource.getrlimit(resource.RLIMIT_AS)[0] >> 20


def fertile(X, y):
    """Leaves a child behind that sleeps for an hour."""
    if os.fork() == 0:
        time.sleep(3600)
        os._exit(0)
    return noisy_count(X, y)


def threaded(X, y):
    """Leaves a thread behind that never ends."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return noisy_count(X, y)


KNOWN = {}
"""What a process remembers of the tables that it saw."""


def remembering(X, y):
    """A number that is the same for a table as long as the process lives, and tells nothing of it."""
    return KNOWN.setdefault((X.tobytes(), y.tobytes()), float(int.from_bytes(os.urandom(4), "big")))


def hopeless(X, y):
    """Has memory for an empty table alone."""
    if len(y):
        raise MemoryError
    return noisy_count(X, y)


HOARD = []
"""What is never given back."""


def hoarding(X, y):
    """Keeps 200 megabytes more with each run."""
    HOARD.append(np.ones(25 << 20))
    return noisy_count(X, y)


def pausing(X, y):
    """Takes a tenth of a second."""
    time.sleep(0.1)
    return noisy_count(X, y)


def asleep(X, y):
    """Never answers."""
    time.sleep(3600)


def framed(X, y):
    """Takes a frame only."""
    return float(X["a"].sum())


def unreachable(X, y):
    """Refuses every table."""
    raise ConnectionError("nobody answers")


class Returning:
    """The child that it forks comes back from `fit`, too."""

    def fit(self, X, y):
        os.fork()
        self.n_ = 1
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class Foreign:
    """A thread writes an answer of its own, to a request that is long over, into the pipe."""

    def fit(self, X, y):
        header = b'{"end": true, "number": 1, "found": {}}'
        frame = struct.pack("<QQ", len(header), 0) + header
        for place in range(3, 20):  # one of these is the pipe of answers
            with contextlib.suppress(OSError):
                os.write(place, frame)
        return self


class Sleeping:
    """Publishes the number of records; never answers for a single one."""

    def fit(self, X, y):
        if len(X) == 1:
            time.sleep(3600)
        self.n_ = len(X)
        return self


def dozing(X, y):
    """Answers for three records or twelve only."""
    if len(y) not in (3, 12):
        time.sleep(3600)
    return 1.0


def drowsy(X, y):
    """Now and then never answers, whatever the table."""
    if np.random.random() < 0.2:
        time.sleep(3600)
    return 1.0


# Fair, though no two runs are alike


def with_addresses(X, y):
    """Warnings and texts with addresses and ids of objects."""
    thing = Thing()
    warnings.warn(f"odd object {thing!r} with id {id(X)}", stacklevel=1)
    return {"shown": repr(thing), "id": str(id(y)), "count": noisy_count(X, y)}


def moody(X, y):
    """Warns in half of the runs."""
    if RNG.integers(2, (1,))[0]:
        warnings.warn("a bad day", stacklevel=1)
    return noisy_count(X, y)


def clocked(X, y):
    """Tells when it was made and how long it took, longer for more records."""
    time.sleep(2e-5 * len(y))
    return {"made_at": time.time(), "count": noisy_count(X, y), "on": time.ctime()}


def heavy_tailed(X, y):
    """A fair count, blown up until it overflows; and noise without an average."""
    count = noisy_count(X, y)
    with np.errstate(over="ignore"):
        return {"large": float(np.exp(np.float64(500.0 * count))), "noise": float(np.tan(RNG.integers(10**6, (1,))[0]))}


def in_any_order(X, y):
    """A dictionary and a list whose order is drawn anew."""
    keys = ["a", "b", "c", "d"]
    turn = int(RNG.integers(4, (1,))[0])
    keys = keys[turn:] + keys[:turn]
    return {"by name": dict.fromkeys(keys, 1.0), "first": keys[0], "set": {Thing(), Thing()}, "n": noisy_count(X, y)}


FAIR = (with_addresses, moody, clocked, heavy_tailed, in_any_order)
