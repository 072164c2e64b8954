"""What the entries of a population say, computed again from the first to the last, with nothing else believed.

Guarantee  a chain in which an entry was changed, moved, doubled or left out has a problem; so has one whose entries
           are whole but break a rule of the books (a limit exceeded, an amount that is not its price, spent twice).
Proof      each hash covers all columns of its entry and the hash before it (`chain.entry_hash`), and is computed again;
           the rules are those of `books.py`, applied again.
Limits     whoever can write the database can compute all hashes again, and entries missing at the end leave a chain
           that is whole. Both are found by a head that was noted elsewhere, and no other way.
Test       tests/privacy/accounts/test_verify.py::test_an_edit_of_any_column_is_noticed,
           ::test_a_chain_that_was_cut_lacks_a_noted_head, ::test_a_forged_chain_breaks_a_rule
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import DiscreetError
from discreet.privacy.accounts.amounts import as_fraction, counted
from discreet.privacy.accounts.chain import START, entry_hash
from discreet.privacy.epsilon import as_epsilon
from discreet.schema import Adjacency

MOST_PROBLEMS = 20
"""At most this many problems are told of one population; after the first, others often follow from it."""
STRANGE = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError, DiscreetError)
"""Everything that an entry with unexpected content can raise."""


@dataclass
class Balance:
    """An account as the entries tell it."""

    kind: str
    name: str
    dataset: int | None
    project: int | None
    limit: int
    reserved: int = 0
    spent: int = 0


@dataclass(frozen=True)
class Reserved:
    """A reservation as the entries tell it."""

    name: str
    epsilon: str
    adjacency: str | None
    nano: int
    accounts: str
    at: str
    state: str


@dataclass
class Replay:
    """The state of one population after the entries so far."""

    population: int
    adjacency: str = ""
    count: int = 0
    head: str = START
    accounts: dict[int, Balance] = field(default_factory=dict)
    reservations: dict[str, Reserved] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The population's name, or its number if no entry tells the name."""
        own = self.accounts.get(self.population)
        return str(own.name) if own else f"number {self.population}"

    def trouble(self, text: str) -> None:
        """Note a problem, unless there are many already."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(text)

    def take(self, entry: Mapping[str, Any]) -> None:
        """Take the next entry: check its place and hash, then what it does."""
        where = f"entry {entry['number']} of population {self.name}"
        if entry["number"] != self.count + 1 or entry["population_id"] != self.population:
            self.trouble(f"{where} is not in its place: entry {self.count + 1} should follow")
        if entry["previous"] != self.head:
            self.trouble(f"{where} does not follow the entry before it")
        try:
            right = entry_hash(entry, self.head) == entry["hash"]
        except STRANGE:
            right = False
        if not right:
            self.trouble(f"{where} is not as it was written")
        self.count = entry["number"] if type(entry["number"]) is int else self.count + 1
        self.head = entry["hash"]
        try:
            self._apply(entry)
        except STRANGE:
            self.trouble(f"{where} breaks a rule of the books")

    def _apply(self, entry: Mapping[str, Any]) -> None:
        kind = entry["kind"]
        if kind == "open":
            self._open(entry)
        elif kind == "limit":
            self._limit(entry)
        elif kind in ("reserve", "import"):
            self._take(entry)
        elif kind in ("spend", "return"):
            self._settle(entry)
        else:
            raise ValueError(kind)

    def _open(self, entry: Mapping[str, Any]) -> None:
        facts = json.loads(entry["accounts"])
        number, first = facts["id"], not self.accounts
        if first:
            self.adjacency = Adjacency(entry["adjacency"]).value
        _need((facts["kind"] == "population") == first and (number == self.population) == first)
        _need(number not in self.accounts and entry["adjacency"] == self.adjacency)
        _need(str(as_fraction(entry["nano"])) == entry["epsilon"] and entry["nano"] >= 0)
        for kind in ("dataset", "project"):
            _need(facts[kind] is None or self.accounts[facts[kind]].kind == kind)
        self.accounts[number] = Balance(facts["kind"], entry["name"], facts["dataset"], facts["project"], entry["nano"])

    def _limit(self, entry: Mapping[str, Any]) -> None:
        (number,) = json.loads(entry["accounts"])
        account = self.accounts[number]
        _need(entry["name"] == account.name and entry["adjacency"] == self.adjacency)
        _need(str(as_fraction(entry["nano"])) == entry["epsilon"] and entry["nano"] >= 0)
        account.limit = entry["nano"]
        _check_limit(account)

    def _take(self, entry: Mapping[str, Any]) -> None:
        identity, ids, price = entry["reservation_id"], json.loads(entry["accounts"]), entry["nano"]
        paid = None if entry["adjacency"] is None else Adjacency(entry["adjacency"])
        imported = entry["kind"] == "import"
        _need(identity is not None and identity not in self.reservations and (paid is not None or imported))
        _need(price == counted(as_epsilon(entry["epsilon"]), paid, Adjacency(self.adjacency)))
        _need(self.population in ids and ids == sorted(set(ids)))
        state = "spent" if imported else "reserved"
        facts = (entry["name"], entry["epsilon"], entry["adjacency"], price, entry["accounts"], entry["at"])
        self.reservations[identity] = Reserved(*facts, state)
        for number in ids:
            account = self.accounts[number]
            setattr(account, state, getattr(account, state) + price)
            _check_limit(account)

    def _settle(self, entry: Mapping[str, Any]) -> None:
        told = self.reservations[entry["reservation_id"]]
        same = ("name", "epsilon", "adjacency", "nano", "accounts")
        _need(told.state == "reserved" and all(getattr(told, name) == entry[name] for name in same))
        spends = entry["kind"] == "spend"
        for number in json.loads(entry["accounts"]):
            self.accounts[number].reserved -= told.nano
            self.accounts[number].spent += told.nano if spends else 0
        facts = (told.name, told.epsilon, told.adjacency, told.nano, told.accounts, told.at)
        self.reservations[entry["reservation_id"]] = Reserved(*facts, "spent" if spends else "returned")


def _need(fact: bool) -> None:
    if not fact:
        raise ValueError


def _check_limit(account: Balance) -> None:
    _need(account.reserved + account.spent <= account.limit)
