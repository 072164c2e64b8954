"""Dividing the rows of a public table among parties, for simulations and tests.

Sizes are equal, or proportional to uniform or exponential draws. Labels are spread evenly over the parties (IID) or
skewed: each class is divided by Dirichlet weights, so a party sees few classes if the concentration is small.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.randomness import search_generator

SIZES = ("equal", "uniform", "exponential")

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def partition(
    labels: NDArray[Any], parties: int, *, sizes: str = "equal", concentration: float | None = None, seed: Any = None
) -> Integers:
    """The party, from 0 to parties - 1, of each row.

    Parameters
    ----------
    labels : the label of each row; only a skewed partition uses them.
    parties : the number of parties; some have no row if there are more parties than rows.
    sizes : "equal" (they differ by at most one row), "uniform" or "exponential" (proportional to such draws).
    concentration : None for an IID partition. A number > 0 divides each class among the parties by weights from a
        Dirichlet distribution of this concentration, times the parties' sizes: .1 is a strong skew, 100 nearly none.
    seed : None or an integer.
    """
    _check(parties, sizes, concentration)
    generator = search_generator(seed)
    relative = _relative_sizes(sizes, parties, generator)
    owners = np.empty(len(labels), dtype=np.int64)
    if concentration is None:
        groups = [np.arange(len(labels))]
    else:
        _, codes = np.unique(np.asarray(labels).astype(str), return_inverse=True)
        groups = [np.flatnonzero(codes == code) for code in range(codes.max(initial=-1) + 1)]
    for rows in groups:
        weights = relative if concentration is None else relative * _dirichlet(float(concentration), parties, generator)
        owners[rows] = generator.permutation(np.repeat(np.arange(parties), apportioned(len(rows), weights, generator)))
    return owners


def apportioned(rows: int, weights: Floats, generator: Any) -> Integers:
    """Whole numbers that sum to `rows`, proportional to the weights: by largest remainders, ties at random."""
    whole = float(weights.sum())
    exact = rows * (weights / whole if whole > 0 else np.full(len(weights), 1 / len(weights)))
    counts = np.floor(exact).astype(np.int64)
    order = np.lexsort((generator.random(len(weights)), counts - exact))
    counts[order[: rows - int(counts.sum())]] += 1
    return counts


def _relative_sizes(sizes: str, parties: int, generator: Any) -> Floats:
    if sizes == "equal":
        return np.ones(parties)
    drawn = generator.uniform(size=parties) if sizes == "uniform" else generator.exponential(size=parties)
    return np.asarray(drawn)


def _dirichlet(concentration: float, parties: int, generator: Any) -> Floats:
    """Dirichlet weights, computed by logarithms: with a small concentration all gamma draws could be zero."""
    logs = np.log(generator.gamma(concentration + 1, size=parties))
    logs += np.log1p(-generator.random(parties)) / concentration
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


def _check(parties: int, sizes: str, concentration: float | None) -> None:
    if not isinstance(parties, Integral) or parties < 1:
        raise ParameterError(f"parties={parties!r}; need a positive integer")
    if sizes not in SIZES:
        raise ParameterError(f"sizes={sizes!r}; need one of: {', '.join(SIZES)}")
    if concentration is not None and not (isinstance(concentration, Real) and 0 < concentration < math.inf):
        raise ParameterError(f"concentration={concentration!r}; need a number > 0, or None for an IID partition")
