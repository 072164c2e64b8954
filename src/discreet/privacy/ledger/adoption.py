"""Ledger files of discreet 0.1 (version 1) do not note the adjacency: their owner states it once, to adopt the file."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from discreet.errors import FileError, ParameterError
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.ledger.account import Account, Entry
from discreet.privacy.ledger.file import (
    BACKUP,
    FILE,
    STRANGE,
    Contents,
    check_spelling,
    everything,
    locked,
    new_beside,
    now,
    sync_folder,
    write_at,
)
from discreet.schema import Adjacency
from discreet.storage.envelope import as_text

MIXED = "mixed"
"""Stands for the adjacency of a file whose entries were made under both adjacencies, or under unknown ones."""
MARK = b'{"adopted": true}\n'
"""The last line of a file that was adopted. A process of discreet 0.1 that waits for the lock sees a damaged file."""


def adopt(path: Path, adjacency: str) -> None:
    """Adopt a file of version 1: afterwards it has the current version, and `path.v1` is the old file.

    Guarantee  `spent` bounds the loss of all entries under the new account's adjacency, if the stated one is true.
    Proof      one adjacency: the entries add up under it, as before. Mixed: the account's adjacency is replace-one,
               under which an entry costs at most twice its epsilon, whichever adjacency it was made under
               (Entry.counted).
    Once       the old file is marked, under its lock, before the new one takes its name, so nobody can charge it or
               adopt it again. After a crash in between, adopting again continues where it stopped.
    Test       tests/privacy/ledger/test_adoption.py
    """
    path = path.resolve()  # a link stays a link
    if adjacency not in (*Adjacency, MIXED):
        raise ParameterError(f"adjacency={adjacency!r}; need 'add-remove', 'replace-one' or 'mixed' (both, or unknown)")
    old = path.with_name(f"{path.name}.v1")
    descriptor = locked(path, spending=True)
    try:
        text = everything(descriptor, path)
        begun = text.endswith(b"\n" + MARK)
        account = _read(text.removesuffix(MARK) if begun else text, path, adjacency)
        if begun and not _same(path, old):
            raise FileError(f"ledger {path} was adopted already; use the ledger that was made from it")
        for amount in (account.limit, *(entry.epsilon for entry in account.entries)):
            check_spelling(amount)
        with new_beside(path, Contents.new(account, now()).to_bytes()) as made:
            os.chmod(made, stat.S_IMODE(os.fstat(descriptor).st_mode))
            if not _same(path, old):
                os.link(path, old)
            if not begun:
                _mark(descriptor)
            os.replace(made, path)
        sync_folder(path)
    except FileExistsError:
        raise FileError(f"{old} exists, but the old ledger would be kept there; move that file elsewhere") from None
    except OSError as error:
        raise FileError(f"cannot adopt ledger {path}: {error.strerror}; correct that and adopt it again") from None
    finally:
        os.close(descriptor)


def _mark(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    try:
        write_at(descriptor, MARK, size)
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise
    os.fsync(descriptor)


def _same(path: Path, old: Path) -> bool:
    return old.exists() and os.path.samefile(path, old)


def _read(text: bytes, path: Path, adjacency: str) -> Account:
    """The account in a file of version 1, under the adjacency that its owner states."""
    declared, paid = Adjacency.REPLACE_ONE, None
    if adjacency != MIXED:
        declared = paid = Adjacency(adjacency)
    try:
        head, *lines = [json.loads(line) for line in text.decode("utf-8").split("\n")[:-1]]
        known = head["format"] == FILE.format and text.endswith(b"\n")
        version = head["version"]
    except STRANGE:
        known = False
    if not known:
        raise FileError(f"{path} is not a ledger, or is damaged; {BACKUP}")
    if version != 1:
        raise FileError(f"ledger {path} is not of discreet 0.1 and needs no adopting; use it as it is")
    try:
        return Account(as_epsilon(head["limit"]), declared, tuple(_entry(line, paid) for line in lines))
    except STRANGE:
        raise FileError(f"ledger {path} is damaged; {BACKUP}") from None


def _entry(line: Any, paid: Adjacency | None) -> Entry:
    return Entry(as_text(line["name"]), as_epsilon(line["epsilon"]), paid, as_text(line.get("at", "unknown")))
