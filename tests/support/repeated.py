"""Targets without noise, one for each kind of script that repeats a finding."""

import sys
import time
import warnings
from collections import Counter

import numpy as np


def numbered(X, y):
    """A dictionary whose keys are numbers."""
    return {0: float(np.sum(y == 0)), 1: 1.0}


def named(X, y):
    """A dictionary whose keys are texts that look like places, and a large number."""
    return {"a[0]": float(len(y)), "large": 10**400}


def ragged(X, y):
    """An array beside a number."""
    return np.array([1.0, 2.0]), float(len(y))


def deep(X, y):
    """An array of two axes, a set and a complex number in lists."""
    return [[np.array([[1, 2], [3, len(y)]]), {3.5, "text"}], "text", 1.0]


def whole(X, y):
    """A complex number."""
    return complex(len(y), 1)


def typed(X, y):
    """Arrays of one shape and two types."""
    return np.zeros(2, dtype=float if (y == 1).any() else int)


def shaped(X, y):
    """An array with a row for each record."""
    return np.zeros((len(y), 2))


def listed(X, y):
    """A list with a text for each record."""
    return ["record"] * len(y)


def keyed(X, y):
    """A dictionary whose keys are the labels."""
    return dict.fromkeys([*(f"class {each}" for each in np.unique(y)), *range(2 - len(np.unique(y)))])


def told(X, y):
    """A text."""
    return f"{len(y)} records"


def known(X, y):
    """None or a truth."""
    return None if len(y) == 1 else bool(len(y) == 0)


def classed(X, y):
    """Objects of two types, equal otherwise."""
    return {} if (y == 1).any() else Counter()


def warned(X, y):
    """A warning of an exact number."""
    warnings.warn(f"saw {len(y)} records", stacklevel=1)


def refused(X, y):
    """A refusal of one of two neighbours."""
    if len(y) == 0:
        raise ValueError("no records")
    return 0.0


def worded(X, y):
    """Refuses both neighbours, and says what it saw."""
    if len(y) == 0:
        raise ValueError("no records")
    if len(y) > 5:
        return 0.0
    raise ValueError(f"need 6 records, got {len(y)}")


def choosy(X, y):
    """Refuses an empty table, and one class, as many libraries do."""
    if len(y) == 0:
        raise ValueError("no records")
    if len(np.unique(y)) < 2:
        raise ValueError("need records of two classes")
    return 0.0


def ended(X, y):
    """Exits on an empty table."""
    if len(y) == 0:
        sys.exit(3)
    return 0.0


class Silent:
    """Its fit returns nothing."""

    def fit(self, X, y):
        """Learn."""
        self.n_ = float(len(y))


class Named(Silent):
    """Its attribute has the name of a function's output."""

    def fit(self, X, y):
        """Learn."""
        self.output_ = self.output = float(len(y))


class Bounded(Silent):
    """Needs pairs of bounds in a list."""

    def __init__(self, bounds, kept=None):
        if not all(isinstance(each, tuple) for each in (*bounds, kept["of"])):
            raise ValueError("bounds: need pairs")


class Mixed:
    """An array beside a number, in a list."""

    def fit(self, X, y):
        """Learn."""
        self.w_ = [np.array([1.0, 2.0]), float(len(y))]


class Speaking:
    """Only its predictions, which are texts, tell anything."""

    def fit(self, X, y):
        """Learn."""
        count = len(y)
        self._answer = lambda points: np.array([f"of {count}"] * len(points))

    def predict(self, X):
        """The number of records, as a text."""
        return self._answer(X)


class Failing:
    """Its predictions fail with an exact number."""

    def fit(self, X, y):
        """Learn."""
        count = len(y)
        self._said = lambda: f"learned from {count}"

    def predict(self, X):
        """Fail."""
        raise ValueError(self._said())


class Refusing:
    """Refuses an empty table."""

    def fit(self, X, y):
        """Learn."""
        if len(y) == 0:
            raise ValueError("no records")


def made(epsilon=1.0):
    """Makes estimators."""
    return Named()


def _sees_a_corner(X):
    return len(X) > 0 and bool((np.asarray(X) == 1).all(axis=1).any())


def slow(X, y):
    """Takes twice as long if a record is at both upper bounds."""
    time.sleep(0.12 if _sees_a_corner(X) else 0.06)


def sleepy(X, y):
    """Sleeps if a record is at both upper bounds."""
    time.sleep(0.003 if _sees_a_corner(X) else 0.0)


def steady(X, y):
    """Takes the same time on all tables."""
    time.sleep(0.01)
