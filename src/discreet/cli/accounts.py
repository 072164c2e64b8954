"""The ledger of a command: opened before data are read, and reported when the command ends, early or not."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import typer

from discreet.cli.outputs import printable, say
from discreet.errors import BudgetError, DiscreetError, FileError, ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, shown_above, shown_below, total
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.account import Account, Entry
from discreet.privacy.ledger.address import AccountAddress
from discreet.schema import Adjacency

COST = "--epsilon="
REMEDY = "use a smaller epsilon"
Place: TypeAlias = Path | AccountAddress
"""Where a ledger is."""


def open_ledger(
    path: Place | None,
    limit: str | None,
    epsilon: Epsilon,
    adjacency: Adjacency,
    cost: str = COST,
    remedy: str = REMEDY,
    *,
    make: bool = True,
) -> Ledger | None:
    """The ledger, if it has room for `epsilon` under this adjacency; only then is a new file made, with this adjacency.

    With make=False no file is made: None stands for the ledger that would be new.
    `cost` and `remedy` are words of the refusal: what asks for the epsilon, and how to ask for less.
    """
    if path is None:
        if limit is not None:
            raise ParameterError(f"--limit={limit} needs a ledger file; add --ledger FILE")
        return None
    if isinstance(path, AccountAddress):
        return _open_accounts(path, limit, Entry("", epsilon, adjacency), cost, remedy)
    most = None if limit is None else _limit(limit)
    if os.path.lexists(path):
        ledger = Ledger.open(path)
        if most not in (None, ledger.limit):
            raise FileError(f"ledger {path} has limit {shown_below(ledger.limit)}, got {limit}; leave --limit out")
        _check_cost(ledger.account, Entry("", epsilon, adjacency), path, cost, remedy)
        ledger.check(epsilon, adjacency)  # also raises if the file cannot be written
        return ledger
    if most is None:
        raise ParameterError(f"ledger {path} does not exist; set the most that it may ever spend, such as --limit 2")
    _check_cost(Account(most, adjacency), Entry("", epsilon, adjacency), path, cost, remedy)
    return Ledger(most, path, adjacency=adjacency) if make else None


def _open_accounts(address: AccountAddress, limit: str | None, asked: Entry, cost: str, remedy: str) -> Ledger:
    if limit is not None:
        raise ParameterError(
            f"--limit={limit}: the accounts at {address} have their own limits; leave --limit out, or change one: "
            "discreet budget limit"
        )
    ledger = Ledger(url=address)
    assert asked.adjacency is not None, "a release states its adjacency"
    _check_cost(ledger.balance, asked, address, cost, remedy)
    ledger.check(asked.epsilon, asked.adjacency)  # also raises if the database cannot be written
    return ledger


def _limit(text: str) -> Epsilon:
    try:
        return as_epsilon(text)
    except ParameterError as error:
        raise ParameterError(str(error).replace("epsilon=", "--limit=", 1)) from None


def _check_cost(account: Account, asked: Entry, path: Place, cost: str, remedy: str) -> None:
    counted = account.counted(asked)
    if counted <= account.remaining:
        return
    own = account.adjacency
    if account.has_no_bound_for(asked):
        raise BudgetError(
            f"{cost}{shown_above(asked.epsilon)} under {asked.adjacency} bounds no loss under {own}, the adjacency of "
            f"ledger {path}; release under {own}, or name another ledger"
        )
    price = f"{cost}{shown_above(asked.epsilon)}"
    if counted != asked.epsilon:
        price += f" under {asked.adjacency} counts {shown_above(counted)} in a ledger of {own}, which"
    raise BudgetError(
        f"{price} is more than the {shown_below(account.remaining)} of {shown_below(account.limit)} left in ledger "
        f"{path}; {remedy if account.remaining > 0 else 'these data may not be asked again'}"
    )


class Payment:
    """What a command pays for: the ledger that it charges, and what has become of its result.

    Attributes
    ----------
    ledger : None until `open` is called, and if no ledger file was named.
    outcome : what the user is told about the result if the command ends early; the command updates it.
    """

    def __init__(self, path: Place | None, outcome: str) -> None:
        self.ledger: Ledger | None = None
        self.outcome = outcome
        self._path = path

    def open(
        self, limit: str | None, epsilon: Epsilon, adjacency: Adjacency, cost: str = COST, remedy: str = REMEDY
    ) -> Ledger | None:
        """Open the ledger, if one was named and `epsilon` fits in it. Everything that costs nothing comes before."""
        self.ledger = open_ledger(self._path, limit, epsilon, adjacency, cost, remedy)
        return self.ledger

    def say_state(self) -> None:
        """Print what is spent and left, if there is a ledger."""
        if self.ledger is not None:
            say(in_words(self.ledger, self._path))

    def state(self) -> str:
        """What this command has charged to the ledger, as the rest of a sentence."""
        if self._path is None:
            return ""
        if self.ledger is None:
            return f"; ledger {self._path} was not charged"
        try:
            account = self.ledger.account
        except DiscreetError:
            return f"; ledger {self._path} cannot be read now, and may have been charged"
        charged = self.ledger.charged_here(account)
        if not charged:
            return f"; ledger {self._path} was not charged ({_spent(account)})"
        return f"; ledger {self._path} was charged {shown_above(total(charged))} and keeps it ({_spent(account)})"


@contextlib.contextmanager
def paying(path: Place | None, outcome: str) -> Iterator[Payment]:
    """Around a whole command that charges a ledger: if it ends early, say what it made and what the ledger was charged.

    Everything belongs inside, from the first check to the last printed line: Ctrl-C or a full disk may come at any
    time. `outcome` says what has become of the result if the command ends before it changes that text.
    """
    payment = Payment(path, outcome)
    try:
        yield payment
    except KeyboardInterrupt:
        _tell(f"interrupted; {payment.outcome}{payment.state()}")
        raise typer.Exit(130) from None
    except DiscreetError as error:
        made = "" if payment.outcome == outcome else f"; {payment.outcome}"
        if payment.ledger is None and not made:
            raise
        raise DiscreetError(f"{error}{made}{payment.state()}") from None
    except BaseException:  # a defect, or a terminal that nobody reads any more
        if payment.ledger is not None or payment.outcome != outcome:
            _tell(f"{payment.outcome}{payment.state()}")
        raise


def _tell(text: str) -> None:
    """Print to standard error, but not by rich: interrupted while it draws, it would keep all later text to itself."""
    typer.echo(printable(text), err=True)


def in_words(ledger: Ledger, path: Place | None) -> str:
    """One sentence for people: how much is spent, and how much is left."""
    account = ledger.balance
    left = shown_below(account.remaining).replace("inf", "∞")
    return f"Ledger {path}: {_spent(account)}, {left} left."


def _spent(account: Account) -> str:
    of = "without limit" if account.limit == math.inf else f"of {shown_below(account.limit)}"
    return f"{shown_above(account.spent)} {of} spent"


def as_dict(ledger: Ledger | None) -> dict[str, str] | None:
    """The account for scripts, as exact fractions."""
    if ledger is None:
        return None
    account = ledger.balance
    return {"limit": str(account.limit), "spent": str(account.spent), "remaining": str(account.remaining)}
