"""Privacy loss as exact fractions, and the ledger that limits it.

A ledger is charged before data is read, for the whole plan, and nothing is ever given back: a crash after the
charge costs the budget, not the guarantee. Copies share the one account (so scikit-learn's `clone` does not
mint money); a ledger refuses to be pickled, and refuses to be charged in a forked process, where its entries
would be lost. A ledger with a file is charged under a lock and on the disk first, so it may be opened by many
processes and survives them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from typing import IO, Any, NoReturn, TypeAlias

from discreet.errors import BudgetError, FileError, ParameterError

Epsilon: TypeAlias = Fraction | float
"""An exact fraction, or math.inf for a release that is not private."""


def as_epsilon(value: object) -> Epsilon:
    """Read an epsilon: a positive number, or infinity. A float means its decimal spelling: 0.1 is 1/10.

    >>> as_epsilon(0.1), as_epsilon("1/3"), as_epsilon(float("inf"))
    (Fraction(1, 10), Fraction(1, 3), inf)
    """
    if getattr(value, "ndim", None) == 0:
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, bool) or not isinstance(value, Rational | float | str | Decimal):
        raise _refused(value)
    try:
        text = str(value).strip().lower()
        if text in ("inf", "+inf", "infinity"):
            return math.inf
        if len(text) > 1000 or ("/" not in text and not -400 < Decimal(text).adjusted() < 400):
            raise _refused(value)
        fraction = Fraction(text)
    except (ValueError, ArithmeticError):
        raise _refused(value) from None
    if fraction <= 0:
        raise _refused(value)
    return fraction


def _refused(value: object) -> ParameterError:
    try:
        shown = repr(value)[:40]
    except ValueError:  # an integer of thousands of digits
        shown = type(value).__name__
    return ParameterError(
        f"epsilon={shown}; need a number > 0, for instance 1, 0.1 or '1/3' ('inf' for a model that is not private)"
    )


@dataclass(frozen=True)
class Charge:
    """One line of a receipt: what was asked, how it was answered, and what it cost."""

    query: str
    mechanism: str
    epsilon: Epsilon
    sensitivity: int
    scale: float
    experimental: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the epsilon as an exact fraction in text."""
        plain = {**self.__dict__, "epsilon": str(self.epsilon), "scale": str(self.scale)}
        return plain if self.experimental else {name: value for name, value in plain.items() if name != "experimental"}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Charge:
        """The inverse of `to_dict`; files of 0.1 say in the mechanism's name what is experimental."""
        experimental = content.get("experimental", "(experimental)" in content["mechanism"])
        if not isinstance(experimental, bool):
            raise TypeError("a charge says whether its noise is experimental")
        read = {"epsilon": as_epsilon(content["epsilon"]), "scale": float(content["scale"])}
        return cls(**{**content, **read, "experimental": experimental})


class Ledger:
    """An account of privacy loss with a limit.

    Parameters
    ----------
    limit : the most that may ever be spent; infinity for no limit.
    path : a file that keeps the entries. It is created with its limit; later ledgers on the same file share
        the account, whatever process they live in.

    Examples
    --------
    >>> ledger = Ledger(1)
    >>> ledger.charge("a model", [Charge("counts", "discrete Laplace", Fraction(1, 2), 1, 2.0)])
    >>> ledger.spent, ledger.remaining
    (Fraction(1, 2), Fraction(1, 2))
    """

    def __init__(self, limit: object, path: str | Path | None = None) -> None:
        self._limit = as_epsilon(limit)
        self._path = None if path is None else Path(path).absolute()
        self._entries: list[tuple[str, Epsilon]] = []
        self._lock = threading.Lock()
        self._process = os.getpid()
        if self._path is not None:
            with self._account(new=True) as file:
                if file.tell() == 0:
                    _append(file, {"format": "discreet/ledger", "version": 1, "limit": str(self._limit)})

    @classmethod
    def unlimited(cls) -> Ledger:
        """A ledger that records and never refuses: for public data and for algorithms without a guarantee."""
        return cls(math.inf)

    @property
    def limit(self) -> Epsilon:
        """The most that may ever be spent."""
        return self._limit

    @property
    def is_kept(self) -> bool:
        """Whether a file keeps the entries, beyond this process."""
        return self._path is not None

    @property
    def entries(self) -> list[tuple[str, Epsilon]]:
        """What was charged, in order: a name and a loss each."""
        if self._path is not None:
            with self._account():
                return list(self._entries)
        return list(self._entries)

    @property
    def spent(self) -> Epsilon:
        """The loss so far: losses add up (sequential composition)."""
        return total([loss for _, loss in self.entries])

    @property
    def remaining(self) -> Epsilon:
        """What may still be spent."""
        return math.inf if self._limit == math.inf else self._limit - self.spent

    def check(self, cost: Epsilon, adjacency: object = None) -> None:
        """Raise BudgetError if a cost would exceed the limit; enters nothing."""
        with self._account():
            self._refuse_above_limit(cost)

    def _refuse_above_limit(self, cost: Epsilon) -> None:
        spent = total([loss for _, loss in self._entries])
        if self._limit != math.inf and spent + cost > self._limit:
            raise BudgetError(
                f"this release costs epsilon={_shown(cost)}, the ledger has {_shown(self._limit - spent)} of "
                f"{_shown(self._limit)} left; use a smaller epsilon"
            )

    def charge(self, name: str, charges: Sequence[Charge], adjacency: object, *, once: bool = False) -> None:
        """Enter the sum of the charges, or raise BudgetError and enter nothing; with `once`, a name is entered once."""
        cost = total([as_epsilon(charge.epsilon) for charge in charges])
        if not charges:
            raise BudgetError("a release without a charge; need at least one")
        with self._account() as file:
            self._refuse_above_limit(cost)
            if once and any(name == entered for entered, _ in self._entries):
                raise BudgetError(f"{name} is in the ledger already; it is paid and answered once")
            if file is not None:
                now = datetime.now(UTC).isoformat(timespec="seconds")
                _append(file, {"name": name, "epsilon": str(cost), "at": now})
            self._entries.append((name, cost))

    @contextlib.contextmanager
    def _account(self, new: bool = False) -> Iterator[Any]:
        """The account, alone: other threads and, with a file, processes wait. Only a new ledger makes its file."""
        with self._lock:
            if self._path is None:
                if os.getpid() != self._process:
                    raise BudgetError(
                        "this ledger was copied to another process, where spending would go unseen; "
                        "fit in one process (n_jobs=1) or give the ledger a file: Ledger(limit, path=...)"
                    )
                yield None
                return
            import fcntl

            try:
                file = self._path.open("a+" if new else "r+", encoding="utf-8")
            except OSError as error:
                raise FileError(f"cannot open ledger {self._path}: {error.strerror}; check the path") from None
            with file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                self._read(file, new)
                file.seek(0, os.SEEK_END)
                yield file

    def _read(self, file: IO[str], new: bool) -> None:
        """Take the entries from the file; one that was altered, emptied or torn is refused, never repaired."""
        try:
            text = file.read()
            if not text and new:
                return
            head, *lines = [json.loads(line) for line in text.splitlines()] or [{}]
            if not text.endswith("\n") or head["format"] != "discreet/ledger" or head["version"] > 1:
                raise KeyError
            if as_epsilon(head["limit"]) != self._limit:
                raise FileError(
                    f"ledger {self._path} has limit {head['limit']}, got {_shown(self._limit)}; "
                    "open it with its own limit"
                )
            self._entries = [(line["name"], as_epsilon(line["epsilon"])) for line in lines]
        except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError, ParameterError):
            raise FileError(
                f"ledger {self._path} is damaged, newer than this version, or no ledger; restore it from a backup"
            ) from None

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self

    def __reduce__(self) -> NoReturn:
        raise BudgetError(
            "a ledger cannot be pickled: a copy in another process would spend unseen; "
            "fit in one process (n_jobs=1) or open Ledger(limit, path=...) in each"
        )

    def __repr__(self) -> str:
        return f"Ledger(limit={_shown(self._limit)}, spent={_shown(self.spent)})"


def as_ledger(ledger: object, epsilon: Epsilon) -> Ledger:
    """The ledger to charge: the one that was given, or one of its own with this epsilon as its limit."""
    if ledger is None:
        return Ledger(epsilon)
    if not isinstance(ledger, Ledger):
        raise ParameterError(f"ledger={ledger!r}; need a Ledger, for instance Ledger(2)")
    return ledger


def total(losses: Sequence[Epsilon]) -> Epsilon:
    """Sum of losses, exact unless one is infinite."""
    return math.inf if any(loss == math.inf for loss in losses) else sum(losses, Fraction(0))


def _shown(epsilon: Epsilon) -> str:
    return f"{float(epsilon):.6g}"


def _append(file: Any, line: dict[str, str | int]) -> None:
    """Write one line and wait until the disk has it."""
    file.write(json.dumps(line) + "\n")
    file.flush()
    os.fsync(file.fileno())
