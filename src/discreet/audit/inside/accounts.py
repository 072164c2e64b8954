"""Does the account of a target forget? Tried in the target's own process, with a limit that allows one fit.

Needs the standard library only (Python 3.8 or later), and nothing of discreet: it is run by path in other environments.
An account is what a library offers to add up privacy losses: diffprivlib's `BudgetAccountant`, discreet's `Ledger`.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import sys
import threading
import warnings
from pickle import dumps, loads
from typing import Any

KNOWN = {
    "diffprivlib": {"make": "diffprivlib:BudgetAccountant", "argument": "accountant", "limit": "epsilon"},
    "discreet": {"make": "discreet:Ledger", "argument": "ledger", "limit": "limit"},
}
"""By package: how its account is made and handed over."""
UNLIMITED = {"diffprivlib": lambda kind: kind(), "discreet": lambda kind: kind.unlimited()}
SPENT = {"diffprivlib": lambda book: book.total()[0], "discreet": lambda book: book.spent}
"""By package: an account without a limit, and what it has paid."""
RACES = 20
"""How often threads race: a check that is apart from its entry loses at least one of these, nearly always."""


def operations(runner: Any) -> Any:
    """What the runner of a target can be asked besides runs."""

    def accounts(request: Any, send: Any) -> Any:
        if not runner.target.is_estimator:
            return {"found": {}, "price": float(request["epsilon"])}
        X, y = runner.target.arguments(request["table"])
        found, price = account_trials(runner.target, X, y, request["epsilon"])
        return {"found": found, "price": float(price)}

    return {"accounts": accounts}


def account_trials(target: Any, X: Any, y: Any, epsilon: Any) -> Any:
    """Fit in every way that could lose an entry; for each way, how many fits a limit of one fit allowed.

    Gives {"way": [fits that succeeded, models that were left behind by refused fits, note]}, {} without an account; and
    what one fit is charged.
    """
    warnings.simplefilter("ignore")
    world = _World(target, X, y, epsilon)
    if world.account is None:
        return {}, epsilon
    world.epsilon = world.price()
    found = {}
    for way in (refit, cloned, deep_copied, pickled, forked, threads):
        try:
            found[way.__name__] = way(world)
        except Exception as error:  # a way that does not exist here is no finding
            found[way.__name__] = [0, 0, "%s: %s" % (type(error).__name__, str(error)[:200])]
    return found, world.epsilon


class _World:
    """The target, a table, and how to give it an account."""

    def __init__(self, target: Any, X: Any, y: Any, epsilon: Any) -> None:
        self.target, self.X, self.y, self.epsilon = target, X, y, epsilon
        self.kind: Any = type(target.make())
        self.account = self._detected()

    def _detected(self) -> Any:
        for kind in getattr(self.kind, "__mro__", ()):
            known = KNOWN.get(kind.__module__.split(".")[0])
            if known is not None and known["argument"] in self._names():
                return known
        return None

    def _names(self) -> Any:
        return set(inspect.signature(self.kind).parameters) | self._fit_names()

    def _fit_names(self) -> Any:
        return set(inspect.signature(self.kind.fit).parameters)

    def _kind_of_account(self) -> Any:
        module, name = self.account["make"].split(":")
        return getattr(importlib.import_module(module), name)

    def open(self) -> Any:
        """A new account that allows one fit."""
        return self._kind_of_account()(**{self.account["limit"]: self.epsilon})

    def price(self) -> Any:
        """What one fit is charged, which may be less than what is claimed; the claim, if no charge can be seen."""
        package = self.account["make"].split(":")[0]
        try:
            book = UNLIMITED[package](self._kind_of_account())
            self.fit(self.make(book), book)
            charged = SPENT[package](book)
            return charged if 0 < charged < float("inf") else self.epsilon
        except Exception:
            return self.epsilon

    def make(self, book: Any) -> Any:
        """An estimator; an account that belongs to the constructor goes there."""
        model = self.target.make()
        if not self.at_fit():
            model.set_params(**{self.account["argument"]: book})
        return model

    def at_fit(self) -> Any:
        return self.account["argument"] in self._fit_names()

    def fit(self, model: Any, book: Any) -> Any:
        """1 if the fit was allowed, 0 if it was refused; and 1 if a model is there although it was refused."""
        before = _learned(model)
        try:
            with sys.modules[type(self.target).__module__].alone():
                model.fit(self.X, self.y, **({self.account["argument"]: book} if self.at_fit() else {}))
        except Exception:
            return 0, int(not before and _learned(model))
        return 1, 0


def _learned(model: Any) -> Any:
    """Whether there are numbers in attributes as a fit leaves them: names that end in an underscore."""
    return any(name.endswith("_") and not name.startswith("_") for name in vars(model))


def _copied(world: Any, copied: Any) -> Any:
    """Fit, then fit a copy made before the first fit: one account, so the second one must be refused."""
    book = world.open()
    first = world.make(book)
    second, book_of_second = copied(first, book)
    one, left = world.fit(first, book)
    two, also = world.fit(second, book_of_second)
    return [one + two, left + also, "a copy was fitted after the original"]


def refit(world: Any) -> Any:
    """The same estimator, twice."""
    book = world.open()
    model = world.make(book)
    outcomes = [world.fit(model, book), world.fit(model, book)]
    return [sum(fits for fits, _ in outcomes), 0, "the same estimator was fitted twice"]


def cloned(world: Any) -> Any:
    """An estimator and its clone, as cross-validation makes them."""
    from sklearn.base import clone

    return _copied(world, lambda model, book: (clone(model), book))


def deep_copied(world: Any) -> Any:
    """An estimator and its deep copy."""

    def copies(model: Any, book: Any) -> Any:
        return copy.deepcopy((model, book))

    return _copied(world, copies)


def pickled(world: Any) -> Any:
    """An estimator and what another process gets of it. Nothing is loaded but what was dumped here."""

    def copies(model: Any, book: Any) -> Any:
        return loads(dumps((model, book)))

    return _copied(world, copies)


def forked(world: Any) -> Any:
    """The child fits, then the parent: a new process has an account of its own, unless somebody thought of it."""
    book = world.open()
    model = world.make(book)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = b"0"
        try:
            code = str(world.fit(model, book)[0]).encode()
        finally:
            os.write(writing, code)
            os._exit(0)
    os.waitpid(child, 0)
    in_child = int(os.read(reading, 1) or b"0")
    os.close(reading)
    os.close(writing)
    return [in_child + world.fit(world.make(book), book)[0], 0, "a forked process fitted, then its parent"]


def threads(world: Any) -> Any:
    """Four threads with one account: the most fits that were allowed in a race, and models that refused fits left."""
    most, left = 0, 0
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(RACES):
            fits, models = _race(world)
            most, left = max(most, fits), max(left, models)
    finally:
        sys.setswitchinterval(interval)
    return [most, left, "four threads fitted at once, %d times" % RACES]


def _race(world: Any) -> Any:
    book = world.open()
    models = [world.make(book) for _ in range(4)]
    outcomes, start = [], threading.Barrier(4)

    def compete(model: Any) -> Any:
        start.wait()
        outcomes.append(world.fit(model, book))

    runners = [threading.Thread(target=compete, args=(model,)) for model in models]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    return sum(fits for fits, _ in outcomes), sum(models for _, models in outcomes)
