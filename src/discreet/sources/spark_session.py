"""Spark for the command line: a session is started for one fit, says nothing on the terminal, and is stopped after it.

Spark's log and its errors may quote values of the data, so neither reaches the terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.errors import FileError, MissingExtra
from discreet.sources.spark import SparkSource

CLASSIC, CONNECT = "spark", "sc"
"""The schemes of addresses: `spark://host:7077`, `spark://local[2]` or `spark://yarn`; and `sc://host:15002`."""
PORTS = {CLASSIC: 7077, CONNECT: 15002}
"""Where Spark listens unless the address says so."""
OLDEST_JAVA = 17
PATIENCE = 10
"""Seconds until a server that does not answer is given up."""

SETTINGS = {
    "spark.app.name": "discreet",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class StartedSpark(SparkSource):
    """A table of a session that is started here, and stopped when the fit has ended or the source is not used any more.

    `url` is an address of one of the schemes above; `shown` is that address without secrets, for messages.
    """

    def __init__(self, url: str, *, table: str, stream: bool = False, shown: str = "Spark") -> None:
        session = _started(url, shown)
        super().__init__(session, table=table, stream=stream)
        self._stop = weakref.finalize(self, _stopped, session)

    def finish(self) -> None:
        """Stop the session."""
        super().finish()
        self._stop()


def _started(url: str, shown: str) -> Any:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise MissingExtra("spark") from None
    scheme, _, place = url.partition("://")
    master = place if place.startswith("local") or place == "yarn" else url
    if master == url:
        _reach(scheme, place, shown)
    if scheme == CONNECT:
        return _tried(
            lambda: _connected(url), f"{shown} does not speak Spark Connect, or does not let you in; check it"
        )
    java = _java()
    remedy = f"Spark did not start with Java {java}; need Java 17 or 21 (JAVA_HOME), and a master as {shown} names it"
    return _tried(lambda: _classic(master), remedy)


def _connected(url: str) -> Any:
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(url).create()
    _ = session.version
    return session


def _classic(master: str) -> Any:
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not whichever python is first on the PATH
    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _tried(start: Any, remedy: str) -> Any:
    """A session; FileError with the remedy if it does not start. What Spark says of it is not shown."""
    try:
        with _silence(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return start()
    except Exception:
        pass
    raise FileError(remedy)


def _reach(scheme: str, place: str, shown: str) -> None:
    """Raise FileError at once if nobody listens at an address: Spark would try for minutes."""
    for each in place.partition("/")[0].split(","):
        host, _, port = each.rpartition(":") if re.fullmatch(r".*:\d+", each) else (each, "", str(PORTS[scheme]))
        with contextlib.suppress(OSError, ValueError, OverflowError):
            socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
            return
    raise FileError(f"nobody answers at {shown}; check the address, and that Spark runs there")


def _java() -> int:
    """The version of Java; FileError if there is none, or one that is too old."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    need = (
        f"need Java {OLDEST_JAVA} or 21 (Debian: apt-get install openjdk-17-jre-headless), on the PATH or in JAVA_HOME"
    )
    if program is None or not Path(program).is_file():
        raise FileError(f"Spark needs Java, and there is none; {need}")
    told = ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=False)
        told = done.stderr + done.stdout
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    version = int(found[1]) if found else 0
    if version < OLDEST_JAVA:
        raise FileError(f"Spark needs a newer Java than {version or 'this one'}; {need}")
    return version


def _stopped(session: Any) -> None:
    with contextlib.suppress(Exception), _silence():
        session.stop()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing is written to the terminal, also by programs that are started meanwhile, as long as they run."""
    kept = {place: os.dup(place) for place in (1, 2)}
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for place in kept:
            os.dup2(nowhere, place)
        yield
    finally:
        for place, output in kept.items():
            os.dup2(output, place)
            os.close(output)
        os.close(nowhere)
