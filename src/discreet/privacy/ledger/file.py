"""The file of a ledger: JSON lines, each chained to the one before by its hash, so that every change is noticed.

The first line, the header, has the limit, the adjacency, the number of entries and the hash of the last entry; the last
two are rewritten in place after each charge. The hash of an entry is SHA-256 of the previous entry's hash and of the
entry itself; the first entry is chained to the fixed part of the header.

Guarantee  a charge that returned is on the disk, and a file is used only if every byte is as it was written. An edited
           amount, name, limit or adjacency, a removed, doubled, swapped or torn line, and an emptied file are refused;
           such a file is never repaired and never started again. An open ledger also notices a file that was replaced
           by an older or another one.
Proof      each line is compared with the only spelling of its content, so another byte is another content, and its hash
           differs from the one in the next line or in the header. Lines can be missing at the end only if the header
           says so. Order: write the entry, fsync, write the header, fsync; then the charge has happened. So a crash
           leaves at most one whole entry more than the header says. That entry counts, although its charge never
           returned: counting too much is safe. The next charge corrects the header. A line that the disk accepted only
           in part is removed while the lock is held.
Limits     with this file alone nobody can notice an older copy of the whole file that is put back while no ledger is
           open, a file that is deleted and made again, or a forger who computes all hashes again. To notice these, keep
           the head (`discreet budget verify`) in a second place.
Test       tests/privacy/ledger/test_file.py::test_any_edit_is_refused, ::test_a_failing_disk_loses_and_doubles_nothing
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from discreet.errors import BudgetError, FileError
from discreet.privacy.epsilon import Epsilon, as_epsilon
from discreet.privacy.ledger.account import Account, Entry, HeldAccount
from discreet.schema import Adjacency
from discreet.storage.envelope import Envelope, as_text
from discreet.storage.locking import lock_module

BACKUP = "restore it from a backup"
"""What to do with a damaged ledger, for messages."""
INSTEAD = "Ledger(limit) without a file"
"""What to do on a system without file locks, for messages."""
FILE = Envelope("discreet/ledger", 2, "a ledger", "Ledger or a command with --ledger", remedy=BACKUP, seal=None)
"""Without a seal: each entry has its own hash instead, and the hashes form a chain."""
STRANGE = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
"""Everything that reading a file with unexpected content can raise."""


@dataclass(frozen=True)
class Contents:
    """The content of a file: the account, when the file was made, and the hashes: the header's, then each entry's."""

    account: Account
    made: str
    hashes: tuple[str, ...]

    @classmethod
    def new(cls, account: Account, made: str) -> Contents:
        """The contents of a new file for an account."""
        fixed = {"limit": str(account.limit), "adjacency": account.declared, "made": made}
        hashes = [_hash("", fixed)]
        for number, entry in enumerate(account.entries, 1):
            hashes.append(_hash(hashes[-1], _as_dict(number, entry)))
        return cls(account, made, tuple(hashes))

    def continued(self, account: Account) -> Contents:
        """The contents after one more entry."""
        number = len(account.entries)
        return replace(
            self, account=account, hashes=(*self.hashes, _hash(self.hashes[-1], _as_dict(number, account.entries[-1])))
        )

    def header(self, count: int) -> bytes:
        """The first line of a file with `count` entries. Its length never changes, so it can be rewritten in place."""
        fixed = {"limit": str(self.account.limit), "adjacency": self.account.declared, "made": self.made}
        changing = {"entries": f"{count:010}", "head": self.hashes[count]}
        return _line({**FILE.head, **changing, **fixed})

    def line(self, number: int) -> bytes:
        """The line of an entry."""
        return _line({**_as_dict(number, self.account.entries[number - 1]), "hash": self.hashes[number]})

    def to_bytes(self) -> bytes:
        """The whole file."""
        count = len(self.account.entries)
        return self.header(count) + b"".join(self.line(number) for number in range(1, count + 1))


def read(text: bytes, path: Path) -> tuple[Contents, int]:
    """The contents of a file, and the number of entries in its header; FileError if any byte was changed."""
    if not text:
        raise FileError(
            f"ledger {path} is empty, and a new ledger never replaces an existing file; {BACKUP}, or name another file"
        )
    lines = text.split(b"\n")
    first = _header(lines[0], path)
    if lines.pop():
        _refuse(path, "is torn: its last line is not complete")
    entries = [_entry(line, number, path) for number, line in enumerate(lines[1:], 1)]
    try:
        declared = None if first["adjacency"] is None else Adjacency(first["adjacency"])
        contents = Contents.new(Account(as_epsilon(first["limit"]), declared, tuple(entries)), as_text(first["made"]))
        stated = int(as_text(first["entries"]))
    except STRANGE:
        _refuse(path, "was altered: its first line is not as it was written")
    if stated > len(entries):
        _refuse(path, f"has lost entries: {len(entries)} of {stated} are there")
    if stated < len(entries) - 1:
        _refuse(path, f"was altered: it has {len(entries)} entries and says {stated}")
    for number, line in enumerate(lines[1:], 1):
        if line + b"\n" != contents.line(number):
            what = f"entry {number}" if number > 1 else "its first line or entry 1"
            _refuse(path, f"was altered: {what} is not as it was written, or not where it was")
    if stated < 0 or lines[0] + b"\n" != contents.header(stated):
        _refuse(path, "was altered: its first line does not fit its entries")
    if contents.account.adjacency is None and entries:
        _refuse(path, "was altered: it has no adjacency")
    return contents, stated


def _header(line: bytes, path: Path) -> dict[str, Any]:
    try:
        first = json.loads(line.decode("ascii"))
        kind, version = first["format"], first["version"]
    except STRANGE:
        kind = version = None
    if kind != FILE.format or type(version) is not int or version < 1:
        _refuse(path, "is not a ledger, or is damaged")
    FILE.check_head(first, f"ledger {path}")
    if version == 1:
        raise FileError(
            f"ledger {path} is of discreet 0.1, which did not note the adjacency; adopt it, once: "
            f"discreet budget adopt {path} --adjacency add-remove (or replace-one, or mixed if both or not known)"
        )
    assert isinstance(first, dict)
    return first


def _entry(line: bytes, number: int, path: Path) -> Entry:
    try:
        content = json.loads(line.decode("ascii"))
        paid = None if content["adjacency"] is None else Adjacency(content["adjacency"])
        return Entry(as_text(content["name"]), as_epsilon(as_text(content["epsilon"])), paid, as_text(content["at"]))
    except STRANGE:
        _refuse(path, f"was altered: entry {number} is not as it was written")


def _refuse(path: Path, what: str) -> NoReturn:
    raise FileError(f"ledger {path} {what}; {BACKUP}")


def _as_dict(number: int, entry: Entry) -> dict[str, Any]:
    amount = {"epsilon": str(entry.epsilon), "adjacency": entry.adjacency}
    return {"number": number, "name": entry.name, **amount, "at": entry.at}


def _line(content: dict[str, Any]) -> bytes:
    """One line in ASCII; JSON escapes every line end inside a name."""
    return json.dumps(content, separators=(",", ":")).encode("ascii") + b"\n"


def _hash(previous: str, content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(previous.encode("ascii") + canonical.encode("ascii")).hexdigest()


def now() -> str:
    """The time, as it is written to a ledger."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class LedgerFile:
    """The file of a ledger, and how many entries it had, with which hash, when it was last read."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._seen: tuple[int, str] | None = None

    def make(self, account: Account) -> None:
        """Make the file with its header, if there is no file yet; nobody ever sees an incomplete one."""
        if os.path.lexists(self.path):
            return
        lock_module(f"ledger {self.path}", INSTEAD)
        check_spelling(account.limit)
        try:
            content = Contents.new(account, now()).to_bytes()
            with new_beside(self.path, content) as made, contextlib.suppress(FileExistsError):
                os.link(made, self.path)  # fails if another process was first: its file is the ledger
            sync_folder(self.path)
        except OSError as error:
            raise FileError(
                f"cannot make ledger {self.path}: {error.strerror}; check the path (the disk needs hard links)"
            ) from None

    @contextlib.contextmanager
    def held(self, *, spending: bool) -> Iterator[OpenLedger]:
        """The ledger, locked and verified: no other process can write, and with `spending` none can read."""
        descriptor = locked(self.path, spending)
        try:
            contents, stated = read(everything(descriptor, self.path), self.path)
            count, head = self._seen or (0, contents.hashes[0])
            if count >= len(contents.hashes) or contents.hashes[count] != head:
                _refuse(self.path, "is not the file that was opened: it was replaced, perhaps by an older copy")
            held = OpenLedger(self.path, descriptor, contents, stated)
            try:
                yield held
            finally:
                self._seen = len(held.account.entries), held.head
        finally:
            os.close(descriptor)


@dataclass
class OpenLedger(HeldAccount):
    """A ledger whose lock is held."""

    path: Path
    descriptor: int
    contents: Contents
    stated: int

    @property
    def account(self) -> Account:
        """The account, as verified."""
        return self.contents.account

    @property
    def head(self) -> str:
        """The hash of the last entry."""
        return self.contents.hashes[-1]

    def enter(self, entry: Entry) -> None:
        """Write one more entry; when this returns, it is on the disk.

        After an error the file has the whole entry, which then counts, or nothing of it.
        """
        account = self.account.with_entry(entry)
        after = self.contents.continued(account)
        count, size = len(account.entries), os.fstat(self.descriptor).st_size
        check_spelling(account.entries[-1].epsilon)
        try:
            if self.stated < count - 1:  # a crash came after an entry and before the header
                last = self.contents.line(count - 1)
                write_at(self.descriptor, last, size - len(last))  # write it again: its fsync may have failed
                os.fsync(self.descriptor)
                self._write_header(self.contents, count - 1)
            try:
                write_at(self.descriptor, after.line(count), size)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.ftruncate(self.descriptor, size)
                raise
            self.contents = after
            os.fsync(self.descriptor)
            self._write_header(after, count)
            if count == 1:  # whoever made the file may have crashed before its name was on the disk
                sync_folder(self.path)
        except OSError as error:
            raise FileError(
                f"cannot write ledger {self.path}: {error.strerror}; no data was read, but the charge may count: "
                f"see discreet budget show {self.path}"
            ) from None
        if not _is_named(self.descriptor, self.path):
            _refuse(self.path, "was replaced or removed while it was charged")

    def _write_header(self, contents: Contents, count: int) -> None:
        try:
            write_at(self.descriptor, contents.header(count), 0)
        except BaseException:
            with contextlib.suppress(OSError):
                write_at(self.descriptor, contents.header(self.stated), 0)
            raise
        os.fsync(self.descriptor)
        self.stated = count


def check_spelling(epsilon: Epsilon) -> None:
    """Raise BudgetError for an amount that could not be read again from a file."""
    try:
        readable = as_epsilon(str(epsilon)) == epsilon
    except ValueError:
        readable = False
    if not readable:
        raise BudgetError(
            "an amount has too many digits for a ledger with a file; use fewer digits, for instance 0.1 or 1/3"
        )


def locked(path: Path, spending: bool) -> int:
    """A descriptor of the file that has this name now, with a lock: exclusive if it is for spending."""
    locks = lock_module(f"ledger {path}", INSTEAD)
    while True:
        try:
            descriptor = os.open(path, (os.O_RDWR if spending else os.O_RDONLY) | os.O_NONBLOCK)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise FileError(f"ledger {path} is not a file; check the path")
                locks.flock(descriptor, locks.LOCK_EX if spending else locks.LOCK_SH)
                if _is_named(descriptor, path):
                    return descriptor
                os.close(descriptor)  # the file was replaced while this process waited: try the new one
            except BaseException:
                os.close(descriptor)
                raise
        except OSError as error:
            raise FileError(f"cannot open ledger {path}: {error.strerror}; check the path") from None


def _is_named(descriptor: int, path: Path) -> bool:
    """Whether the open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def everything(descriptor: int, path: Path) -> bytes:
    """All bytes of an open file."""
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            file.seek(0)
            return file.read()
    except OSError as error:
        raise FileError(f"cannot read ledger {path}: {error.strerror}; check the disk") from None


def write_at(descriptor: int, content: bytes, place: int) -> None:
    """Write the whole content at a place in the file. After a partial write, try the rest, which raises the reason."""
    while content:
        written = os.pwrite(descriptor, content, place)
        content, place = content[written:], place + written


@contextlib.contextmanager
def new_beside(path: Path, content: bytes) -> Iterator[Path]:
    """A new file with this content in the same folder, on the disk; its temporary name is removed afterwards."""
    made = path.with_name(f".ledger-{os.urandom(8).hex()}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        try:
            write_at(descriptor, content, 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield made
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)


def sync_folder(path: Path) -> None:
    """Wait until the file's folder, with the names in it, is on the disk."""
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some disks cannot, and need not
            raise
    finally:
        os.close(descriptor)
