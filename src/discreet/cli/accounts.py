"""The ledger of a command: opened before anything is read, told after it, and also if the command ends early."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

import typer

from discreet.cli.outputs import advise
from discreet.errors import BudgetError, DiscreetError, FileError, ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, shown_above, shown_below
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.account import Account, Entry
from discreet.schema import Adjacency


def open_ledger(
    path: Path | None,
    limit: str | None,
    epsilon: Epsilon,
    adjacency: Adjacency,
    cost: str = "--epsilon=",
    remedy: str = "use a smaller epsilon",
) -> Ledger | None:
    """The ledger, if a loss under this adjacency fits in it; a new file is made only then, and under it."""
    if path is None:
        if limit is not None:
            raise ParameterError(f"--limit={limit} needs a file that keeps what was spent; add --ledger FILE")
        return None
    most = None if limit is None else _limit(limit)
    if os.path.lexists(path):
        ledger = Ledger.open(path)
        if most not in (None, ledger.limit):
            raise FileError(f"ledger {path} has limit {ledger.limit}, got {limit}; leave --limit out")
        _check_cost(ledger.account, Entry("", epsilon, adjacency), path, cost, remedy)
        ledger.check(epsilon, adjacency)  # and whether it can be written
        return ledger
    if most is None:
        raise ParameterError(f"ledger {path} is new; set the most that it may ever spend, for instance --limit 2")
    _check_cost(Account(most, adjacency), Entry("", epsilon, adjacency), path, cost, remedy)
    return Ledger(most, path, adjacency=adjacency)


def _limit(text: str) -> Epsilon:
    try:
        return as_epsilon(text)
    except ParameterError as error:
        raise ParameterError(str(error).replace("epsilon=", "--limit=", 1)) from None


def _check_cost(account: Account, asked: Entry, path: Path, cost: str, remedy: str) -> None:
    counted = account.counted(asked)
    if counted <= account.remaining:
        return
    own = account.adjacency
    if account.has_no_bound_for(asked):
        raise BudgetError(
            f"{cost}{shown_above(asked.epsilon)} under {asked.adjacency} bounds no loss under {own}, the adjacency of "
            f"ledger {path}; release under {own}, or name a ledger of its own"
        )
    price = f"{cost}{shown_above(asked.epsilon)}"
    if counted != asked.epsilon:
        price += f" under {asked.adjacency} counts {shown_above(counted)} in a ledger of {own}, which"
    raise BudgetError(
        f"{price} is more than the {shown_below(account.remaining)} of {shown_below(account.limit)} left in ledger "
        f"{path}; {remedy if account.remaining > 0 else 'these data may not be asked again'}"
    )


@contextlib.contextmanager
def paying(account: Ledger | None, path: Path | None, lost: str) -> Iterator[None]:
    """Around what is paid for: if it ends early, say so, that `lost` did not come of it, and what the ledger keeps."""
    before = 0 if account is None else len(account.entries)
    try:
        yield
    except KeyboardInterrupt:
        advise(f"interrupted; {lost}{_kept(account, path, before)}")
        raise typer.Exit(130) from None
    except DiscreetError as error:
        kept = _kept(account, path, before)
        if not kept:
            raise
        raise DiscreetError(f"{error}{kept}") from None
    except Exception:
        if kept := _kept(account, path, before):
            advise(f"{lost}{kept}")
        raise


def _kept(account: Ledger | None, path: Path | None, before: int) -> str:
    """What the ledger has of a command that ended early, as the rest of a sentence."""
    if account is None:
        return ""
    try:
        if len(account.entries) == before:
            return ""
        return f"; ledger {path} keeps the charge ({_spent(account)})"
    except DiscreetError:
        return f"; ledger {path} cannot be read now, and may have the charge"


def in_words(account: Ledger, path: Path | None) -> str:
    """One sentence for people: what was spent, and what is left."""
    left = shown_below(account.remaining).replace("inf", "∞")
    return f"Ledger {path}: {_spent(account)}, {left} left."


def _spent(account: Ledger) -> str:
    of = "without limit" if account.limit == math.inf else f"of {shown_below(account.limit)}"
    return f"{shown_above(account.spent)} {of} spent"


def as_dict(account: Ledger | None) -> dict[str, str] | None:
    """The account for scripts, exact."""
    if account is None:
        return None
    return {"limit": str(account.limit), "spent": str(account.spent), "remaining": str(account.remaining)}
