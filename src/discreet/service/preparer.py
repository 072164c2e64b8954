"""The preparer: a process that has loaded what jobs need, and forks one child for each job.

Loading packages takes seconds of processor, a fork takes milliseconds. The worker starts the preparer (spares.py) with
the almost empty environment of a child. It opens no database, has no key, and is told nothing of any job: for each
child it gets the ends of two pipes, which it closes when it has forked.

Guarantee  (1) a child has nothing of another job, nor of anything secret; (2) its noise is independent of the noise of
           all other children; (3) it can hold no lock that somebody else would have to open.
Proof      (1) A child copies the memory of the preparer, where no job has ever been: a job is read from a pipe by the
           child that answers it, and that child ends after it. (2) Noise comes from `os.urandom`, which is asked of the
           system each time, and from OpenDP, which may keep the state of a generator in memory. The preparer has drawn
           nothing, which `obstacle` looks at before each fork, so there is no state that children could share: each
           makes its own from the system's entropy. In the tested versions of OpenDP a second reason is enough by
           itself: its bytes are those of OpenSSL, whose generator is seeded anew where the process has another number
           than the one that seeded it. The generators that Python's `random` and numpy share in a process draw no
           noise; they are seeded anew all the same. (3) `fork` copies the calling thread alone, so that what other
           threads hold would be held for ever. The preparer has one thread, which `obstacle` looks at, too.
Test       tests/service/test_preparer.py::test_no_two_children_draw_the_same_noise
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
from typing import NoReturn

from discreet.privacy.opendp_sampler import has_drawn
from discreet.privacy.randomness import seed_shared_generators
from discreet.service import child

FORK, ENDED = b"fork", b"ended "
"""What the worker asks: a child, with the ends of its two pipes; and to forget the child with this number."""
REFUSED = b"0"
"""The answer in place of a child's number if the system has no room for another process."""
END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux: the signal that a process gets when its parent ends."""


def obstacle() -> str:
    """Why this process must not fork: it has more than one thread, or has drawn noise. Empty if it may."""
    if len(os.listdir("/proc/self/task")) != 1:
        return "it has started threads"
    return "it has drawn noise" if has_drawn() else ""


def serve(control: socket.socket) -> None:
    """Fork a child whenever the worker asks, until the worker ends."""
    ended: set[int] = set()
    while True:
        message, pipes, _, _ = socket.recv_fds(control, 64, 2)
        if not message:
            return
        if message.startswith(ENDED):
            ended.add(int(message.removeprefix(ENDED)))
        else:
            control.send(obstacle().encode() or _fork(control, *pipes))
        # Without waiting: how long a child takes to end may depend on its job, and the next one must not wait for it.
        ended = {pid for pid in ended if os.waitpid(pid, os.WNOHANG) == (0, 0)}


def _fork(control: socket.socket, jobs: int, answers: int) -> bytes:
    """Fork a child, and return its number.

    The preparer waits for no child before the worker tells that it has ended it, so that the number of the child, which
    is also that of its group, is given to no other process until then.
    """
    preparer = os.getpid()
    try:
        pid = os.fork()
        if pid == 0:
            _live(control, preparer, jobs, answers)
        return str(pid).encode()
    except OSError:
        return REFUSED
    finally:
        os.close(jobs)
        os.close(answers)


def _live(control: socket.socket, preparer: int, jobs: int, answers: int) -> NoReturn:
    """The life of a child: lead a session and a group, end with the preparer, which ends with the worker, and work."""
    try:
        control.close()
        os.setsid()
        ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGKILL)
        if os.getppid() == preparer:  # else it ended before the line above
            seed_shared_generators()
            child.run(os.fdopen(jobs, "rb"), os.fdopen(answers, "wb"))
    finally:
        os._exit(0)  # nothing of the preparer is run in its child


def main() -> None:
    """Load what jobs need, tell whether it can be forked, and serve."""
    control = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    child.load()
    gc.collect()
    gc.freeze()  # a collection in a child would touch, and so copy, what all of them share
    why = obstacle()
    control.send(why.encode() or child.READY)
    if not why:
        serve(control)


if __name__ == "__main__":
    main()
