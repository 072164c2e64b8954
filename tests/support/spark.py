"""Spark for tests: sessions on this machine, a cluster of two workers and a Connect server, made from the package."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.postgres_server import absent

CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.default.parallelism": "3",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def need_spark():
    """Skip, or fail with CI=true, where pyspark or Java cannot be had."""
    reasons = []
    try:
        import pyspark  # noqa: F401
    except ImportError:
        reasons.append("pyspark is not installed")
    if java() is None:
        reasons.append("there is no Java on the PATH (Debian: apt-get install openjdk-17-jre-headless)")
    if reasons:
        absent("; ".join(reasons))


def java():
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java")


@contextlib.contextmanager
def classic(master, **configuration):
    """A session of this process; only one at a time."""
    from pyspark.sql import SparkSession

    with _without_output():
        builder = SparkSession.builder.master(master)
        for name, value in {**CONFIGURATION, **configuration}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        with contextlib.suppress(Exception):
            session.stop()


@contextlib.contextmanager
def cluster(folder):
    """The address of a standalone master with two workers of one core each, in processes of their own."""
    port = free_port()
    names = ["master", "one", "two"]
    commands = [
        ["org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    ]
    for name in names[1:]:
        work = ["--work-dir", str(folder / name), "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1"]
        commands.append(["org.apache.spark.deploy.worker.Worker", *work, "--memory", "1g", f"spark://127.0.0.1:{port}"])
    with contextlib.ExitStack() as stack:
        for name, command in zip(names, commands, strict=True):
            stack.enter_context(_process([_bin("spark-class"), *command], folder, name))
            if name == "master":
                wait_for(port)
        yield f"spark://127.0.0.1:{port}"


@contextlib.contextmanager
def connect_server(folder, master="local[2]"):
    """The address of a Spark Connect server, in a process of its own."""
    port = free_port()
    options = {**CONFIGURATION, "spark.connect.grpc.binding.port": str(port)}
    command = [
        _bin("spark-submit"),
        "--master",
        master,
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    for name, value in options.items():
        command += ["--conf", f"{name}={value}"]
    with _process([*command, "spark-internal"], folder, "connect"):
        wait_for(port)
        yield f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def remote(address):
    """A session of a Connect server."""
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(address).create()
    try:
        yield session
    finally:
        with contextlib.suppress(Exception):
            session.stop()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    pytest.fail("a process of Spark did not start")


@contextlib.contextmanager
def _process(command, folder, name):
    log = (folder / f"{name}.log").open("wb")
    environment = {
        **os.environ,
        "SPARK_HOME": _home(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_DIRS": str(folder),
    }
    # a session of its own, so that its children end with it
    running = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        log.close()


def _home():
    import pyspark

    return str(Path(pyspark.__file__).parent)


def _bin(name):
    return str(Path(_home()) / "bin" / name)


@contextlib.contextmanager
def _without_output():
    """Java inherits the standard error of the process that starts it, and Spark's log would go there."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
