"""`discreet serve` and its worker, as processes: they end together, and a worker that ends is noticed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from discreet.cli import beside as watching
from discreet.errors import FileError
from discreet.service.alone import alone
from support.service_world import free_port

PATIENCE = 60
"""Seconds: a start takes two, and many on a busy machine."""


def until(look):
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)
    return found


def children(pid):
    """The numbers of the processes that any thread of a process has started."""
    lists = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(each) for every in lists for each in every]


def works(folder):
    """Whether a worker has begun."""
    try:
        with alone(folder / "worker", "worker"):
            return False
    except FileError:
        return True


def is_gone(pid):
    status = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(OSError):
        return status.read_text().rpartition(")")[2].split()[0] == "Z"
    return True


@contextlib.contextmanager
def serving(folder):
    """A service with a worker that is ready: the process, and its worker's number."""
    command = [sys.executable, "-m", "discreet.cli", "serve", "--folder", str(folder), "--port", str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        known = []
        try:
            until(lambda: works(folder))
            known += children(process.pid)
            yield process, known
        finally:
            process.kill()
            for each in known:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="children of a process are found in /proc")


def test_a_worker_that_ends_is_started_again_and_ends_with_its_service(tmp_path):
    with serving(tmp_path) as (service, known):
        os.kill(known[0], signal.SIGKILL)
        known += until(lambda: [each for each in children(service.pid) if each not in known])
        until(lambda: works(tmp_path))
        service.send_signal(signal.SIGTERM)
        assert service.wait(PATIENCE) == 0
        assert is_gone(known[1])
        assert "status -9; it is started again" in service.stderr.read()


def test_a_worker_ends_with_a_service_that_was_killed(tmp_path):
    with serving(tmp_path) as (service, known):
        second = subprocess.run(
            [sys.executable, "-m", "discreet.cli", "worker", "run", "--folder", str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert second.returncode == 2
        assert "a worker named worker runs already" in second.stderr
        service.kill()
        until(lambda: is_gone(known[0]))
        with alone(tmp_path / "worker", "worker"):  # its lock has ended with it
            pass


def test_a_worker_that_keeps_ending_ends_its_service(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(watching, "RUN", (sys.executable, "-c", "raise SystemExit(7)"))
    monkeypatch.setattr(watching, "PAUSES", (0.01, 0.01))
    monkeypatch.setattr(watching.os, "kill", lambda *what: told.append(what))
    settings = SimpleNamespace(folder=tmp_path, database="sqlite://", least_slot=1.0, job_memory=None)
    with (
        pytest.raises(FileError, match="ended 3 times, the last time with status 7"),
        watching.beside(settings),
    ):
        until(lambda: told)
    assert told == [(os.getpid(), signal.SIGTERM)]


def test_one_worker_of_a_name_at_a_time(tmp_path):
    with alone(tmp_path, "a/b"), alone(tmp_path, "c"), pytest.raises(FileError, match="another --name"):
        alone(tmp_path, "a/b", 0.2).__enter__()
    with alone(tmp_path, "a/b"):
        pass
