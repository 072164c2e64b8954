"""Child processes that are ready before their job is known, since loading packages takes longer than most jobs.

On Linux they are forked from the preparer (preparer.py). Elsewhere, and if the preparer says that it must not be
forked, each is started anew and loads its packages itself: slower, and the same in all other respects.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import FileError
from discreet.service.child import READY
from discreet.service.preparer import ENDED, FORK, REFUSED

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "OMP_NUM_THREADS", "LD_LIBRARY_PATH")
"""Variables of the environment that a child gets; all others, which may hold secrets, it does not."""
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""Without these, numpy, scipy and pyarrow start threads when they are loaded. Slots provide for one core."""
PREPARES = ("-m", "discreet.service.preparer")
"""What Python runs as the preparer."""
PATIENCE = 30.0
"""Seconds after which a preparer that does not answer counts as lost. It takes milliseconds."""

log = logging.getLogger("discreet.worker")


@dataclass
class Child:
    """A process for one job. It leads a group of its own, and `reap` is called when all of that was ended."""

    pid: int
    jobs: int
    answers: int
    reap: Callable[[], object]

    def is_ready(self) -> bool:
        """Wait until it has loaded its packages; False if it ended instead."""
        return os.read(self.answers, len(READY)) == READY

    def is_lost(self) -> bool:
        """Whether it has ended, or can answer no more."""
        waiting = select.poll()
        waiting.register(self.answers, 0)
        return bool(waiting.poll(0))

    def exchange(self, message: bytes, seconds: float) -> bytes:
        """What it answers to the message; TimeoutError if it takes longer than this many seconds."""
        limit, left, told = time.monotonic() + seconds, memoryview(message), bytearray()
        os.set_blocking(self.jobs, False)
        with selectors.DefaultSelector() as waiting:
            waiting.register(self.jobs, selectors.EVENT_WRITE)
            waiting.register(self.answers, selectors.EVENT_READ)
            while ready := waiting.select(max(limit - time.monotonic(), 0)):
                for key, _ in ready:
                    if key.fd == self.answers:
                        part = os.read(self.answers, 1 << 16)
                        if not part:
                            return bytes(told)
                        told += part
                    elif left:
                        left = left[os.write(self.jobs, left) :]
                    else:
                        waiting.unregister(self.jobs)
                        self.close_jobs()
        raise TimeoutError

    def close_jobs(self) -> None:
        """Tell the child that there is no more to read."""
        if self.jobs >= 0:
            os.close(self.jobs)
            self.jobs = -1

    def end(self) -> None:
        """End it with all of its group. Its number is not given to another process before `reap`."""
        for stop in (os.killpg, os.kill):  # the second one if it has no group of its own yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                stop(self.pid, signal.SIGKILL)
        self.reap()
        self.close_jobs()
        os.close(self.answers)


class Nursery:
    """Makes children: forks of one prepared process, which is replaced when it is lost, or new processes.

    All lanes of a worker share it. It is asked for a child before the job of that child is known.
    """

    def __init__(
        self, folder: Path, *, forks: bool = sys.platform == "linux", prepares: Sequence[str] = PREPARES
    ) -> None:
        self._folder = folder
        self._forks = forks
        self._command = [sys.executable, *prepares]
        self._preparer: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._turn = threading.Lock()

    @property
    def is_prepared(self) -> bool:
        """Whether a child can be had without waiting for packages to be loaded."""
        return not self._forks or (self._preparer is not None and self._preparer.poll() is None)

    def child(self) -> Child:
        """A new child; a preparer is started if there is none. FileError if there can be no child."""
        with self._turn:
            for _ in range(2):  # the preparer may have been lost since the last child
                self._prepare()
                if not self._forks:
                    return self._start_child()
                made = self._fork_child()
                if made is not None:
                    return made
        raise FileError("the process for a job could not be started; check the installation")

    def close(self) -> None:
        """End the preparer."""
        with self._turn:
            self._close()

    def _close(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._preparer is not None:
            self._preparer.kill()
            self._preparer.wait()
        self._preparer = self._control = None

    def _prepare(self) -> None:
        """Start a preparer if there is none, and wait until it is ready; without one, children are started anew."""
        if not self._forks or (self.is_prepared and self._control is not None):
            return
        self._close()
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._preparer = self._start(self._command, stdin=other, stdout=subprocess.DEVNULL)
        told = self._control.recv(64)
        if not told:
            self._close()
            raise FileError("the process for a job could not be started; check the installation")
        self._control.settimeout(PATIENCE)
        if told != READY:
            self._start_anew_from_now_on(told)

    def _start_anew_from_now_on(self, why: bytes) -> None:
        """Leave the preparer alone, as a child of it may have a job, and load packages for each child."""
        log.warning("jobs load their packages themselves: the prepared process cannot be forked, as %s", why.decode())
        self._forks = False

    def _start(self, command: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | ONE_THREAD
        if "PYTHONPATH" in kept:  # relative to where the worker was started, and children run elsewhere
            kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
        streams["stderr"] = subprocess.DEVNULL
        return subprocess.Popen(command, env=kept, cwd=self._folder, start_new_session=True, **streams)

    def _start_child(self) -> Child:
        with _pipes() as (theirs, ours):
            command = [sys.executable, "-m", "discreet.service.child"]
            process = self._start(command, stdin=theirs[0], stdout=theirs[1])
            return Child(process.pid, *ours, process.wait)

    def _fork_child(self) -> Child | None:
        """A child of the preparer; None if there has to be another preparer, or none."""
        assert self._control is not None
        control = self._control
        try:
            with _pipes() as (theirs, ours):
                pid = self._ask_for_fork(control, theirs)
                return Child(pid, *ours, lambda: self._forget(pid, control))
        except ConnectionRefusedError:  # it must not be forked
            return None
        except OSError:  # it is lost
            self._close()
            return None

    def _ask_for_fork(self, control: socket.socket, pipes: Sequence[int]) -> int:
        """The number of a new child of the preparer at the other end."""
        socket.send_fds(control, [FORK], pipes)
        told = control.recv(64)
        if not told:
            raise ConnectionResetError
        if told == REFUSED:
            raise FileError("the process for a job could not be started: the system has no room for another one")
        if not told.isdigit():
            self._start_anew_from_now_on(told)
            raise ConnectionRefusedError
        return int(told)

    def _forget(self, pid: int, control: socket.socket) -> None:
        """Let its preparer, if it is still there, take leave of a child that was ended."""
        with self._turn, contextlib.suppress(OSError):
            if self._control is control:
                control.send(ENDED + str(pid).encode())


@contextlib.contextmanager
def _pipes() -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The child's ends of two pipes, which are closed here afterwards, and ours, which are closed on an error."""
    jobs, answers = os.pipe(), os.pipe()
    theirs, ours = (jobs[0], answers[1]), (jobs[1], answers[0])
    try:
        yield theirs, ours
    except BaseException:
        for end in ours:
            os.close(end)
        raise
    finally:
        for end in theirs:
            os.close(end)


class Spare:
    """The child that gets the next job of a lane."""

    def __init__(self, nursery: Nursery) -> None:
        self._nursery = nursery
        self._child: Child | None = None
        self._is_ready = False

    def wait_until_ready(self) -> None:
        """Wait until the child has loaded its packages; another one is made if it was lost. No job runs yet."""
        if self._child is not None and (self._child.is_lost() or not self._nursery.is_prepared):
            self.close()  # it has ended, or is about to: children end with their preparer
        if self._child is None:
            self._child, self._is_ready = self._nursery.child(), False
        if not self._is_ready:
            if not self._child.is_ready():
                self.close()
                raise FileError("the process for a job could not be started; check the installation")
            self._is_ready = True

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Give the job to the child, and wait for its answer until its time is over.

        The next child is made before the job is given away, not when it ends: when the next one is ready must not
        depend on this job. If the preparer was lost meanwhile, `wait_until_ready` replaces it, and this job need not
        wait.
        """
        self.wait_until_ready()
        assert self._child is not None
        child, self._child, self._is_ready = self._child, None, False
        try:
            with contextlib.suppress(FileError):  # then `wait_until_ready` tells of it, before the next charge
                self._child = self._nursery.child() if self._nursery.is_prepared else None
            told = child.exchange(json.dumps(message).encode(), max(float(message["seconds"]), 0.1))
        except TimeoutError:
            return {"failed": "overran"}
        except OSError:
            return {"failed": "child-lost"}
        finally:
            child.end()
        answer: dict[str, Any] = json.loads(told) if told else {"failed": "child-lost"}
        return answer

    def close(self) -> None:
        """End the child that waits."""
        if self._child is not None:
            self._child.end()
            self._child, self._is_ready = None, False
