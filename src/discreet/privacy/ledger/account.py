"""An account: a limit, one adjacency, and entries that are all counted under it. Plain data, no file."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import BudgetError, ParameterError
from discreet.privacy.epsilon import Epsilon, shown_above, shown_below, total
from discreet.schema import Adjacency


def as_adjacency(value: object) -> Adjacency:
    """Read an adjacency: "add-remove", "replace-one" or an Adjacency."""
    try:
        return Adjacency(value)  # type: ignore[arg-type]
    except ValueError:
        raise ParameterError(f"adjacency={value!r}; need 'add-remove' or 'replace-one'") from None


@dataclass(frozen=True)
class Entry:
    """One release that was paid for: its epsilon, and the adjacency under which the release is private.

    The adjacency is None if it is unknown: in entries of discreet 0.1 that were adopted as mixed.
    """

    name: str
    epsilon: Epsilon
    adjacency: Adjacency | None
    at: str = ""

    def counted(self, account: Adjacency) -> Epsilon:
        """The loss of the release in an account of this adjacency.

        Proof  a known adjacency: `Adjacency.counted`. An unknown one: the release is epsilon-DP under add-remove or
               under replace-one. Under replace-one it costs twice epsilon in the first case and epsilon in the second,
               so at most twice epsilon. Under add-remove there is no bound.
        Test   tests/privacy/ledger/test_adoption.py::test_mixed_entries_count_twice_under_replace_one
        """
        if self.adjacency is not None:
            return account.counted(self.epsilon, self.adjacency)
        return Adjacency.REPLACE_ONE.counted(self.epsilon, Adjacency.ADD_REMOVE) if account.distance > 1 else math.inf


@dataclass(frozen=True)
class Account:
    """A limit, an adjacency and what was charged.

    Guarantee  all charged releases together are `spent`-DP under the account's adjacency, and `spent` is never above
               the limit, unless the account was adopted from discreet 0.1.
    Proof      a release that is epsilon-DP under its own adjacency is `counted`-DP under the account's (Entry). Losses
               under one adjacency add up (sequential composition, also if releases are chosen adaptively). Losses under
               different adjacencies do not: 1/2 under add-remove and 1/2 under replace-one are 3/2 under replace-one,
               and have no bound under add-remove.
    Test       tests/privacy/ledger/test_ledger.py::test_charges_of_both_adjacencies_agree_with_a_reference_sum
    """

    limit: Epsilon
    declared: Adjacency | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def adjacency(self) -> Adjacency | None:
        """The declared adjacency, or else that of the first entry; None if there is neither."""
        return self.entries[0].adjacency if self.declared is None and self.entries else self.declared

    @property
    def losses(self) -> list[tuple[str, Epsilon]]:
        """Name of each entry and its loss under the account's adjacency."""
        return [(entry.name, self.counted(entry)) for entry in self.entries]

    @property
    def spent(self) -> Epsilon:
        """The loss so far."""
        return total([loss for _, loss in self.losses])

    @property
    def remaining(self) -> Epsilon:
        """What may still be spent; never below 0."""
        if self.limit == math.inf:
            return math.inf
        return self.limit - self.spent if self.spent < self.limit else Fraction(0)

    def counted(self, entry: Entry) -> Epsilon:
        """What an entry costs, or would cost, in this account. The first entry determines an undeclared adjacency."""
        return entry.epsilon if self.adjacency is None else entry.counted(self.adjacency)

    def has_no_bound_for(self, entry: Entry) -> bool:
        """Whether a finite epsilon has no bound here: a release under replace-one in an account of add-remove."""
        return self.counted(entry) == math.inf != entry.epsilon

    def has(self, name: str) -> bool:
        """Whether there is an entry of this name."""
        return any(name == entry.name for entry in self.entries)

    def with_entry(self, entry: Entry) -> Account:
        """The account after this entry; BudgetError if it would exceed the limit."""
        counted = self.counted(entry)
        if counted <= self.remaining:
            return replace(self, entries=(*self.entries, entry))
        if self.has_no_bound_for(entry):
            raise BudgetError(
                f"this release is private under {entry.adjacency}, which bounds no loss under {self.adjacency}, the "
                f"adjacency of this ledger; train under {self.adjacency}, or give the release a ledger of its own"
            )
        left = f"{shown_below(self.remaining)} of {shown_below(self.limit)} left"
        if counted == entry.epsilon:
            raise BudgetError(
                f"this release costs epsilon={shown_above(counted)}, the ledger has {left}; use a smaller epsilon"
            )
        raise BudgetError(
            f"this release costs epsilon={shown_above(entry.epsilon)} under {entry.adjacency}, which counts "
            f"{shown_above(counted)} in a ledger of {self.adjacency}, which has {left}; use a smaller epsilon"
        )


class HeldAccount:
    """An account that is locked and at hand as a whole: in memory, or read from a file."""

    @property
    def account(self) -> Account:
        """The account."""
        raise NotImplementedError

    @property
    def balance(self) -> Account:
        """The account: nothing of it has to be left out."""
        return self.account

    def check(self, entry: Entry) -> None:
        """Raise BudgetError if the entry would exceed the limit."""
        self.account.with_entry(entry)

    def has(self, name: str) -> bool:
        """Whether there is an entry of this name."""
        return self.account.has(name)
