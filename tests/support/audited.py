"""Targets for the auditor: honest ones, liars, and such as misbehave."""

import os
import sys
import time
import warnings

import numpy as np

from discreet.privacy.randomness import as_rng

RNG = as_rng(int.from_bytes(os.urandom(6), "little"))
"""Quick, and other draws in each process; nothing here is private."""


def noisy_count(X, y, epsilon=1.0):
    """The number of records with exact noise."""
    return len(y) + int(RNG.discrete_laplace(1 / epsilon, (1,))[0])


def noisy_histogram(X, y, epsilon=1.0):
    """The number of records per class: their sum is exact if `y` is, which no number alone shows."""
    noise = RNG.discrete_laplace(1 / epsilon, (2,))
    return np.array([np.sum(y == 0), np.sum(y == 1)]) + noise


def summing(X, y):
    """Two counts with much noise each, whose sum has none: only both together show the record."""
    noise = int(RNG.discrete_laplace(5.0, (1,))[0])
    return {"here": int(np.sum(y == 0)) + noise, "there": int(np.sum(y == 1)) - noise}


def best_column(X, y):
    """The column that tells the class of most records, chosen in the clear; a fair count with it."""
    told = [int(np.sum((X[:, place] > 0.5) == (y == 1))) for place in range(X.shape[1])]
    best = [place for place, each in enumerate(told) if each == max(told)]
    return {"column": f"number {best[int(RNG.integers(len(best), (1,))[0])]}", "count": noisy_count(X, y)}


def classes(X, y):
    """Reads the classes off the labels."""
    return {"classes": [str(each) for each in np.unique(y)], "count": noisy_count(X, y)}


def exact_ones(table):
    """The exact number of records of class 1, of a table in one: a frame, an array or records."""
    if isinstance(table, list):
        return sum(each["label"] == 1 for each in table)
    labels = table["label"].to_numpy() if hasattr(table, "to_numpy") else table[:, -1]
    return float(np.sum(labels == 1))


def maker(epsilon):
    """Makes estimators, if it is told their ε."""
    return Means(epsilon)


def scaled(X, y, scale=1.0, bounds=()):
    """The exact number of labels that are 1; its parameters are only carried."""
    return float(np.sum(y == 1))


def of_data_set(records, _):
    """Of a data set by its name: the same for all."""
    return 0.0


def refusing_nan(X, y):
    """Raises on a value that one record may have."""
    if np.isnan(X).any():
        raise ValueError("Input contains NaN")
    return noisy_count(X, y)


def refusing(X, y):
    """Takes no table at all."""
    raise ValueError("need exactly 77 columns")


def warning_of_one(X, y):
    """Warns if there is one record of a class."""
    if np.sum(y == 1) == 1:
        warnings.warn("a class has one record", stacklevel=1)
    return noisy_count(X, y)


def printing(X, y):
    """Prints the exact number of records, around Python's own streams."""
    os.write(1, f"{len(y)} records\n".encode())
    return noisy_count(X, y)


def hanging(X, y):
    """Never returns if there is an empty class."""
    if len(y) and np.sum(y == 1) == 0:
        time.sleep(3600)
    return noisy_count(X, y)


def crashing(X, y):
    """Ends its process at once if there is a single record of class 1."""
    if np.sum(y == 1) == 1:
        os._exit(3)
    return noisy_count(X, y)


def hungry(X, y):
    """Asks for more memory than there is."""
    return np.zeros((1 << 34,)).sum() + noisy_count(X, y)


def forking(X, y):
    """Forks; the child comes back into the runner as if it were the parent."""
    os.fork()
    return noisy_count(X, y)


def stateful(X, y):
    """Tells how often it was called: nothing about the table."""
    stateful.calls += 1
    return {"calls": stateful.calls, "count": noisy_count(X, y)}


stateful.calls = 0


def tampering(X, y):
    """Writes nonsense where the runner answers."""
    for place in range(3, 20):
        try:
            os.write(place, b"\xff" * 64)
        except OSError:
            continue
    return 0


class Means:
    """An estimator: a noisy count and an exact mean, clipped."""

    def __init__(self, epsilon, lower=0.0, upper=1.0):
        self.epsilon, self.lower, self.upper = epsilon, lower, upper

    def fit(self, X, y):
        """Learn."""
        self.count_ = noisy_count(X, y, self.epsilon)
        self.mean_ = np.clip(X, self.lower, self.upper).sum(axis=0)
        return self

    def predict(self, X):
        """The same class for all."""
        return np.zeros(len(X), dtype=int)


class NoFit:
    """Not an estimator."""


if __name__ == "__main__":
    sys.exit("a module of targets")


class Shared:
    """Something that outlives the runs of a target, such as an account."""

    def __init__(self):
        self.spent = []
