"""A PostgreSQL server of our own: started from installed packages on a socket in a temporary folder, never as root."""

import glob
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def absent(reason):
    """Skip; where everything must be tested, fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI=true, but {reason}")
    pytest.skip(reason)


def programs():
    """The folder of initdb and postgres, of the newest version; None if there is none."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda name: float(name.split("/")[-2]))
    found = shutil.which("initdb")
    folders += [str(Path(found).resolve().parent)] if found and not folders else []
    return folders[-1] if folders else None


def as_another_user():
    """What to write before a command that refuses root, and the number of that user; nothing for other users."""
    if os.getuid() != 0:
        return [], os.getuid()
    import pwd

    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        if shutil.which("setpriv"):
            ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            return ["setpriv", *ids, "env", f"HOME={tempfile.gettempdir()}"], user.pw_uid
    return None, None


@contextmanager
def server(encoding="UTF8", fsync="off", within=None, port=None):
    """The folder of the socket of a running server; its superuser is "owner" and needs no password there.

    Without fsync a test is fast, and a machine that crashes loses its data; benchmarks need fsync="on". `within` is a
    folder for all of its files; there its log of changes is cut into small pieces. With a `port` it listens at
    127.0.0.1 too, where everybody needs a password.
    """
    folder, (prefix, user) = programs(), as_another_user()
    if folder is None or prefix is None:
        absent("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    home = Path(tempfile.mkdtemp(prefix="pg-", dir=within))
    os.chown(home, user, -1)
    home.chmod(0o755)
    try:
        data = home / "data"
        made = [f"{folder}/initdb", "-D", data, "-U", "owner", "-A", "trust", "-E", encoding, "--locale=C", "-N"]
        made += [] if within is None else ["--wal-segsize=1"]
        subprocess.run([*prefix, *made], check=True, capture_output=True)
        rules = "local all careful scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        (data / "pg_hba.conf").write_text(rules)
        start(home, fsync, port)
        try:
            yield home
        finally:
            stop(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def start(home, fsync="off", port=None):
    """Start a server that was made before."""
    folder, (prefix, _) = programs(), as_another_user()
    listening = "-c listen_addresses=" + ("" if port is None else f"127.0.0.1 -c port={port}")
    options = f"{listening} -c unix_socket_directories={home} -c fsync={fsync} -c max_connections=40"
    begin = [f"{folder}/pg_ctl", "-D", home / "data", "-w", "-t", "60", "-l", home / "data" / "log", "-o", options]
    subprocess.run([*prefix, *begin, "start"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop(home):
    """Stop a server at once, as if it had crashed."""
    folder, (prefix, _) = programs(), as_another_user()
    end = [f"{folder}/pg_ctl", "-D", home / "data", "-w", "-m", "immediate", "stop"]
    subprocess.run([*prefix, *end], check=False, capture_output=True)
