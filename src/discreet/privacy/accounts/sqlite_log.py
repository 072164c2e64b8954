"""The log of a file of SQLite: what is committed is in it, so that nobody may remove it while it is in use.

SQLite writes into a log beside the file, and whoever closes the last connection moves the log into the file and removes
it. That a connection is open others see by a lock of its process on the file. But the system drops all locks of a
process on a file as soon as this process closes *any* descriptor of it, opened by whatever library or for a copy: then
another process removes the log while it is in use here, and what is committed afterwards is lost without an error.

Guarantee  while a transaction of `writing` ends without an error, its log was the one that other processes read.
Proof      `remember` notes which file the log is when a connection opens it; `check` compares it with the file of that
           name at the beginning of a transaction and after its commit. A log is removed but never replaced in place,
           and while it is open its number is given to no other file. Nothing of this package opens the file itself,
           but to make it (`make`), when nobody can have a connection.
Limits     after a log was lost, this process cannot use the file any more: all its connections share what they know
           of the lost log. It says so, and has to be started again. If its locks were dropped, and another process is
           closing the last connection at the very moment of a commit, the log may be removed just after the check:
           so nothing in a process that uses accounts may open the file but SQLite (backups use its own copying).
Test       tests/privacy/accounts/test_sqlite_log.py
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from discreet.errors import FileError

_LOG = "discreet_log"
_MAKING = threading.Lock()
_LOST: set[str] = set()
"""Files whose log was lost to this process."""


def make(path: Path) -> None:
    """Make an empty file that its owner alone can read, if there is none; FileError if it cannot be used."""
    try:
        with _MAKING:  # a second thread must not connect before the descriptor is closed
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if path.is_dir():
            raise FileError(f"cannot open the accounts in {path}: it is a folder; check the path") from None
        if not os.access(path, os.R_OK | os.W_OK):
            raise FileError(f"cannot open the accounts in {path}: permission denied; check the path") from None
    except OSError as error:
        raise FileError(f"cannot open the accounts in {path}: {error.strerror}; check the path") from None


def remember(connection: Any, info: dict[str, Any]) -> None:
    """Note which file the log of a new connection is. There is none where a file system cannot have one."""
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log
    path = next(row[2] for row in connection.execute("PRAGMA database_list") if row[1] == "main")
    info[_LOG] = (path, _identity(path)) if mode == "wal" else None


def check(connection: Connection) -> None:
    """FileError if the log of a connection is not the one that others read, or ever was not in this process."""
    noted = connection.info.get(_LOG)
    if noted is None:
        return
    path, identity = noted
    if path in _LOST or identity is None or _identity(path) != identity:
        _LOST.add(path)
        raise FileError(
            f"the log of the accounts in {path} was removed while this program used it, so that nothing more can be "
            "written from here; start the program again, and let nothing else in it open that file"
        )


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(f"{path}-wal")
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
