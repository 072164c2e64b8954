"""The ledger that limits privacy loss: exact, under one adjacency, charged before data is read.

A ledger is charged for a whole plan, and nothing is ever given back: a crash can cost budget, never the guarantee. All
losses in one ledger are counted under one adjacency (`account.py`). Copies use the same account, so scikit-learn's
`clone` creates no new budget. A ledger cannot be pickled, and cannot be charged in a forked process, where its entries
would be lost. A ledger with a file can be used by many processes and outlives them: it is charged on the disk, under a
lock, and a file that was changed is refused (`file.py`). A ledger can also stand on accounts in a database, which an
organisation shares (`database.py`).
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from discreet.errors import BudgetError, FileError, ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, shown_above, shown_below, total
from discreet.privacy.ledger.account import Account, Entry, HeldAccount, as_adjacency
from discreet.privacy.ledger.address import EXAMPLE, AccountAddress, need_accounts
from discreet.privacy.ledger.adoption import adopt
from discreet.privacy.ledger.file import LedgerFile, now
from discreet.privacy.receipt import Charge
from discreet.schema import Adjacency

if TYPE_CHECKING:
    from discreet.privacy.ledger.database import LedgerAccounts

__all__ = ["Account", "Charge", "Entry", "Epsilon", "Ledger", "as_epsilon", "as_ledger", "total"]

LONGEST_NAME = 2000
"""The most bytes (UTF-8) in the name of a charge: PostgreSQL finds names by an index, whose entries hold 2,704."""


class Ledger:
    """An account of privacy loss with a limit, under one adjacency.

    Parameters
    ----------
    limit : the most that may ever be spent; infinity for no limit.
    path : a file that keeps the entries. It is created with the limit and the adjacency; all ledgers on the same file
        use the same account, also in other processes. Which changes of the file are noticed: `file.py`.
    adjacency : "add-remove" or "replace-one": the adjacency under which losses add up. Default: that of the first
        charge. A release under add-remove costs twice its epsilon in a ledger of replace-one. A release under
        replace-one has no bound in a ledger of add-remove: it is refused, or entered as infinity if there is no limit.
    url : accounts in a database, instead of limit, path and adjacency, which these accounts have:
        "postgresql://host/database#population/dataset/project" or "sqlite:////folder/accounts.db#population". Each
        charge is paid by all named accounts. They are opened by `discreet budget limit`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ledger = Ledger(2, adjacency="replace-one")
    >>> ledger.charge("a model", [Charge("counts", "discrete Laplace", Fraction(1, 2), 1, 2.0)], "replace-one")
    >>> ledger.charge("another", [Charge("counts", "discrete Laplace", Fraction(1, 2), 1, 2.0)], "add-remove")
    >>> ledger.entries, ledger.remaining
    ([('a model', Fraction(1, 2)), ('another', Fraction(1, 1))], Fraction(1, 2))
    """

    def __init__(
        self,
        limit: object = None,
        path: str | Path | None = None,
        *,
        adjacency: object = None,
        url: str | AccountAddress | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._meant: list[Entry] = []
        self._store: _Memory | LedgerFile | LedgerAccounts
        if url is not None:
            if any(given is not None for given in (limit, path, adjacency)):
                raise ParameterError("url=…: limit and adjacency come from the accounts; leave out all but the url")
            self._store = _accounts(url)
            return
        account = Account(as_epsilon(limit), None if adjacency is None else as_adjacency(adjacency))
        if path is None:
            self._store = _Memory(account)
            return
        self._store = LedgerFile(path)
        self._store.make(account)
        _check_same(account, self.account, self._store.path)

    @classmethod
    def open(cls, path: str | Path) -> Ledger:
        """The ledger in an existing file, with the limit and the adjacency of that file."""
        ledger = cls.__new__(cls)
        ledger._lock, ledger._store, ledger._meant = threading.Lock(), LedgerFile(path), []
        _ = ledger.account  # which verifies the file
        return ledger

    @classmethod
    def adopt(cls, path: str | Path, adjacency: str) -> Ledger:
        """Adopt a file of discreet 0.1, once, and open it; `adjacency` is that under which its entries were made.

        With "mixed" (both, or unknown) the ledger's adjacency is replace-one and every entry counts twice. The old file
        is kept beside the new one, as `ledger.jsonl.v1`.
        """
        adopt(Path(path).absolute(), adjacency)
        return cls.open(path)

    @classmethod
    def unlimited(cls) -> Ledger:
        """A ledger that records charges and never refuses: for public data and for algorithms without a guarantee."""
        return cls(math.inf)

    @property
    def limit(self) -> Epsilon:
        """The most that may ever be spent."""
        return self.balance.limit

    @property
    def is_kept(self) -> bool:
        """Whether a file or a database keeps the entries, so that they outlive this process."""
        return not isinstance(self._store, _Memory)

    @property
    def account(self) -> Account:
        """The account at this moment; a file is verified first."""
        with self._held(spending=False) as held:
            return held.account

    @property
    def balance(self) -> Account:
        """The account for its limit and amounts; its entries may be left out, where there are too many to read."""
        with self._held(spending=False) as held:
            return held.balance

    @property
    def head(self) -> str | None:
        """The hash of the last entry in the file or database, or None. Noted elsewhere, it reveals an older copy."""
        with self._held(spending=False) as held:
            return held.head

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency under which losses add up; None if it was not declared and nothing was charged yet."""
        return self.balance.adjacency

    @property
    def entries(self) -> list[tuple[str, Epsilon]]:
        """All charges in order: the name, and the loss under the ledger's adjacency."""
        return self.account.losses

    @property
    def spent(self) -> Epsilon:
        """The loss so far, under the ledger's adjacency: losses add up (sequential composition)."""
        return self.balance.spent

    @property
    def remaining(self) -> Epsilon:
        """What may still be spent."""
        return self.balance.remaining

    def check(self, cost: Epsilon, adjacency: object) -> None:
        """Raise BudgetError if a cost under this adjacency would exceed the limit; nothing is entered."""
        with self._held(spending=True) as held:
            held.check(Entry("", cost, as_adjacency(adjacency)))

    def charge(self, name: str, charges: Sequence[Charge], adjacency: object, *, once: bool = False) -> None:
        """Enter the sum of the charges, or raise BudgetError and enter nothing; with `once`, a name is entered once.

        The charges were made under `adjacency`; the ledger counts them under its own.
        """
        if not charges:
            raise BudgetError("the release has no charge; need at least one")
        if not isinstance(name, str):
            raise ParameterError(f"name is a {type(name).__name__}; need a text that names the release")
        if len(name.encode(errors="replace")) > LONGEST_NAME:
            raise ParameterError(
                f"the name of the release, which begins with {name[:40]!r}, has more than {LONGEST_NAME} bytes; give "
                "it, or the column that it is for, a shorter name"
            )
        cost = total([as_epsilon(charge.epsilon) for charge in charges])
        entry = Entry(name, cost, as_adjacency(adjacency), now())
        with self._held(spending=True) as held:
            held.check(entry)
            if once and held.has(name):
                raise BudgetError(f"{name} is in the ledger already; it can be paid for and answered only once")
            self._meant.append(entry)  # before it is entered: an interruption in between must not hide it
            held.enter(entry)

    def charged_here(self, account: Account) -> list[Epsilon]:
        """The losses in `account` that were charged by this object, and not by another process with the same file."""
        return [account.counted(entry) for entry in account.entries if entry in self._meant]

    @contextlib.contextmanager
    def _held(self, *, spending: bool) -> Iterator[_Held]:
        """The account, locked: other threads wait, and with a file other processes too."""
        with self._lock, self._store.held(spending=spending) as held:
            yield held

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __reduce__(self) -> NoReturn:
        raise BudgetError(
            "a ledger cannot be pickled: a copy in another process would spend without being counted; "
            "fit in one process (n_jobs=1) or open Ledger(limit, path=...) or Ledger(url=...) in each"
        )

    def __repr__(self) -> str:
        account = self.balance
        under = "" if account.adjacency is None else f", adjacency={account.adjacency.value!r}"
        return f"Ledger(limit={shown_below(account.limit)}, spent={shown_above(account.spent)}{under})"


class _Held(Protocol):
    """An account that is locked: in memory, in a file or in a database."""

    @property
    def account(self) -> Account: ...

    @property
    def balance(self) -> Account: ...

    @property
    def head(self) -> str | None: ...

    def check(self, entry: Entry) -> None: ...

    def has(self, name: str) -> bool: ...

    def enter(self, entry: Entry) -> None: ...


class _Memory(HeldAccount):
    """An account that lives in one process."""

    head = None

    def __init__(self, account: Account) -> None:
        self._account = account
        self._process = os.getpid()

    @contextlib.contextmanager
    def held(self, *, spending: bool) -> Iterator[_Memory]:
        """The account; in a forked process it can be read but not charged."""
        if spending and os.getpid() != self._process:
            raise BudgetError(
                "this ledger was copied to another process, where spending would not be counted; "
                "fit in one process (n_jobs=1) or give the ledger a file: Ledger(limit, path=...)"
            )
        yield self

    @property
    def account(self) -> Account:
        """The account."""
        return self._account

    def enter(self, entry: Entry) -> None:
        """Keep the account with its new entry."""
        self._account = self._account.with_entry(entry)


def _accounts(url: str | AccountAddress) -> LedgerAccounts:
    """The accounts at an address; their packages are loaded here."""
    need_accounts()
    from discreet.privacy.ledger.database import LedgerAccounts

    if not isinstance(url, str | AccountAddress):
        raise ParameterError(f"url is a {type(url).__name__}; need a text, such as {EXAMPLE}")
    return LedgerAccounts(AccountAddress.parsed(url) if isinstance(url, str) else url)


def _check_same(wanted: Account, found: Account, path: Path) -> None:
    """Raise FileError unless the file has the wanted limit and, if one is wanted, the wanted adjacency."""
    if wanted.limit != found.limit:
        raise FileError(f"ledger {path} has limit {found.limit}, got {wanted.limit}; open it with its own limit")
    if wanted.declared not in (None, found.adjacency):
        has = found.adjacency or "that of its first charge"
        raise FileError(f"ledger {path} has adjacency {has}, got {wanted.declared}; leave it out, or name another file")


def as_ledger(ledger: object, epsilon: Epsilon) -> Ledger:
    """The ledger to charge: the given one, or a new one with this epsilon as its limit."""
    if ledger is None:
        return Ledger(epsilon)
    if not isinstance(ledger, Ledger):
        raise ParameterError(f"ledger={ledger!r}; need a Ledger, for instance Ledger(2)")
    return ledger
