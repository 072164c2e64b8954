"""Targets without noise, one for each kind of script that repeats a finding."""

import sys
import time
import warnings
from collections import Counter

import numpy as np

RNG = np.random.default_rng()


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


def given(X, y, number):
    """A number, if there are two records."""
    return float(number) if len(y) == 2 else float("nan")


def floating(X, y):
    """A count with noise in floating point."""
    return float(len(y) + RNG.laplace())


def framed(table):
    """The number of rows of a frame, if it has the labels as its last column."""
    return float(len(table)) if list(table.columns) == ["age", "ward", "ill"] else 0.0


def recorded(table):
    """The number of records, if they have their labels."""
    return float(len(table)) if all(list(each) == ["age", "ward", "ill"] for each in table) else 0.0


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


class Framed:
    """Learns the number of rows of a frame, and predicts it."""

    def fit(self, X, y):
        """Learn."""
        self.n_ = float(len(X)) if list(X.columns) == ["age", "ward"] and len(y) == len(X) else 0.0
        return self

    def predict(self, X):
        """The number, for each row of a frame."""
        return np.full(len(X.index), self.n_)


class Recorded:
    """Learns the number of records, and predicts it."""

    def fit(self, X, y):
        """Learn."""
        assert y is None
        self.n_ = float(len([each["ill"] for each in X]))
        return self

    def predict(self, X):
        """The number, for each record."""
        return np.array([self.n_ for each in X if each["ward"]])


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
