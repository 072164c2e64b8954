"""Processes that run a target and are never trusted: they may hang, crash, print or answer nonsense."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from discreet.audit import runner
from discreet.audit.target import Target
from discreet.errors import ParameterError

RUNNER = Path(runner.__file__)
LARGEST_FRAME = 1 << 26
"""No honest frame is larger; a larger one is nonsense."""
START = 120.0
"""Seconds within which a target must be imported: scientific packages on a busy machine take their time."""

HUNG = "hung: no answer in time"
"""What is said of a process that was given up."""

Told = Callable[[dict[str, Any], bytes], None]
"""Called with each frame of an answer: its header, and its numbers as raw float64."""


class Ended(Exception):  # noqa: N818 - an event, not a mistake
    """The process of a target ended or was ended; `words` say how, `kind` without numbers. `certain` tells crashes from
    time limits."""

    def __init__(self, words: str, certain: bool, kind: str = "") -> None:
        super().__init__(words)
        self.words, self.certain, self.kind = words, certain, kind or words


class Worker(Protocol):
    """Runs a target; `versions` are those of its environment, `takes` and `is_given_schema` say what it is called
    with."""

    versions: dict[str, str]
    takes: str
    is_given_schema: bool

    def ask(self, request: dict[str, Any], told: Told, patience: float) -> dict[str, Any]:
        """Send a request; frames go to `told`, the last is returned. Ended if none comes for `patience` seconds."""

    def close(self) -> None:
        """End the process and all that it started."""


def memory() -> int:
    """Megabytes of memory of this machine; 0 if it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (ValueError, OSError, AttributeError):
        return 0


def start(target: Target, schema: dict[str, Any] | None, patience: float = START) -> Worker:
    """A worker that has the target; ParameterError if the target cannot be used, or is not imported in this time."""
    if target.call is not None:
        return LocalWorker(target, schema)
    return ProcessWorker(target, schema, patience)


class LocalWorker:
    """Runs a callable in this process: quick, but a target that hangs or crashes takes the auditor with it."""

    def __init__(self, target: Target, schema: dict[str, Any] | None) -> None:
        try:
            made = runner.Target(target.call, dict(target.parameters), schema, target.form)
            made.check()
        except runner.Refusal as error:
            raise ParameterError(str(error)) from None
        self._runner = runner.Runner(made)
        self.takes, self.is_given_schema = made.takes, made.is_given_schema
        self.versions = {"python": sys.version.split()[0]}

    def ask(self, request: dict[str, Any], told: Told, patience: float) -> dict[str, Any]:
        """Run here; `patience` cannot be held."""
        end: dict[str, Any] = {}

        def send(header: dict[str, Any], numbers: bytes) -> None:
            if "end" in header:
                end.update(header)
            else:
                told(header, numbers)

        self._runner.answer(request, send)
        return _not_refused(end)

    def close(self) -> None:
        """Nothing to end."""


class ProcessWorker:
    """Runs a target in a process group of its own, by `runner.py` and pipes."""

    def __init__(self, target: Target, schema: dict[str, Any] | None, patience: float = START) -> None:
        if os.name != "posix":
            raise ParameterError("a target that is audited runs in a group of processes; audit it on Linux or macOS")
        self._asked = 0
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        python = target.python or sys.executable
        megabytes = target.megabytes or memory() // 4
        command = [python, str(RUNNER), str(requests), str(answers), str(megabytes)]
        # The order of sets of texts is no randomness to rely on: it is the same in all processes.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        try:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,  # what an interpreter that cannot run the runner says is in no report
                stderr=subprocess.DEVNULL,
                pass_fds=(requests, answers),
                start_new_session=True,
                env=environment,
            )
        except OSError as error:
            self._close_pipes()
            raise ParameterError(f"cannot run {python}: {error.strerror}; give an interpreter with --python") from None
        finally:
            os.close(requests)
            os.close(answers)
        request = {"op": "target", "target": target.name, "parameters": dict(target.parameters)}
        try:
            end = self.ask({**request, "schema": schema, "form": target.form}, lambda *_: None, patience)
        except Ended as ended:
            slow = "give more --minutes if it takes its time, and " if ended.kind == HUNG else ""
            raise ParameterError(
                f"the process of {target.name} {ended.words} while it was imported; {slow}check that {python} is "
                "a Python (3.8 or later) that has numpy"
            ) from None
        except ParameterError:
            self.close()
            raise
        self.versions = {name: str(end[name]) for name in ("version", "python", "numpy") if end.get(name)}
        self.takes, self.is_given_schema = str(end.get("takes")), bool(end.get("schema"))

    def ask(self, request: dict[str, Any], told: Told, patience: float) -> dict[str, Any]:
        """Send a request and read the frames of its answer."""
        self._asked += 1
        content = json.dumps({**request, "number": self._asked}).encode()
        try:
            with os.fdopen(os.dup(self._requests), "wb") as pipe:
                pipe.write(struct.pack("<Q", len(content)) + content)
            while True:
                header, numbers = self._frame(patience)
                if header.get("number") != self._asked:
                    raise ValueError  # left over from an earlier request, or written by another process
                if "end" in header:
                    break
                told(header, numbers)
        except (BrokenPipeError, EOFError):
            raise self._ended() from None
        except (ValueError, TypeError, LookupError, RecursionError, struct.error):
            self.close()
            raise Ended("answered nonsense", certain=False) from None
        return _not_refused(header)

    def _frame(self, patience: float) -> tuple[dict[str, Any], bytes]:
        sizes = struct.unpack("<QQ", self._read(16, patience))
        if max(sizes) > LARGEST_FRAME:
            raise ValueError
        header = json.loads(self._read(sizes[0], patience))
        return dict(header), self._read(sizes[1], patience)

    def _read(self, size: int, patience: float) -> bytes:
        parts, end = [], time.monotonic() + patience
        while size:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.close()
                raise Ended(f"gave no answer for {patience:.0f} s", certain=False, kind=HUNG)
            part = os.read(self._answers, min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _ended(self) -> Ended:
        """How the process ended; that it was killed, as the system does when memory is short, is no evidence."""
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            status = None
        self.close()
        if status is None:
            return Ended("closed its pipe", certain=False)
        words = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        killed = "was killed by signal 9, as the system does when memory is short"
        return Ended(words, status != -signal.SIGKILL, killed if status == -signal.SIGKILL else "")

    def close(self) -> None:
        """End the whole process group: what the target forked goes too."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._requests, self._answers):
            with contextlib.suppress(OSError):
                os.close(pipe)
        self._requests = self._answers = -1


def _not_refused(end: dict[str, Any]) -> dict[str, Any]:
    if "refused" in end:
        raise ParameterError(str(end["refused"]))
    return end
