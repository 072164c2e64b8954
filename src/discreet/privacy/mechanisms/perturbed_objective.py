"""What perturbed objectives of two and of more classes share: price, lattice, and how far a result is from exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.problem import SLACK
from discreet.privacy.randomness import Randomness
from discreet.privacy.sampling import LARGEST_SCALE

LARGEST_WEIGHT = 2**60
"""Lattice weights are clamped to this size, so that they stay machine integers. Clamping never moves two weight vectors
further apart."""

LEAST_EPSILON = Fraction(1, 10**12)
"""A smaller epsilon per hyperplane is refused: the regularisation that it needs leaves nothing of the weights."""


class PerturbedObjective:
    """A regularised objective with a random linear term, whose minimiser is answered on the lattice of 2**-`bits`.

    The term has a scale for each block of groups of the same size, in steps of 2**-`grid`. Objectives say by themselves
    what one record can do to the determinant of the Hessian, and how coarsely the term is drawn; their proofs refer to
    what is here.
    """

    groups: tuple[int, ...]
    mu: float
    bits: int
    grid: int
    scales: tuple[float, ...]
    experimental = False

    def loss_with(self, noise: Fraction, distance: int) -> Fraction:
        """What noise and determinant cost together, rounded up, if the noise alone costs this much of a record."""
        raise NotImplementedError

    @property
    def rounding_steps(self) -> float:
        """A bound on the L2 distance between the drawn noise and noise of exactly the stated law, in grid steps."""
        raise NotImplementedError

    def check_noise(self) -> None:
        """Raise ParameterError unless there is a scale for each block, or none, and the grid is fine enough."""
        blocks = len(set(self.groups))
        if not (0 < self.mu < math.inf and len(self.scales) in (0, blocks)):
            raise ParameterError(
                f"mu={self.mu}, {len(self.scales)} scales for {blocks} blocks; need a positive number, and a scale per "
                "block or none"
            )
        if not all(0 < scale <= 2 * LARGEST_SCALE for scale in self.scales):
            raise ParameterError(f"scales={self.scales}; need numbers above 0 and at most 2^51")
        if not self.rounding < Fraction(self.mu) * self.radius:
            raise ParameterError(
                f"grid={self.grid} is too coarse for bits={self.bits}; need a finer grid or fewer bits"
            )

    def loss(self, distance: int) -> Epsilon:
        """The privacy loss if one record is added or removed (1) or replaced (2), rounded up.

        For other distances there is no proof: two records that are both added cost more than one that is replaced.
        """
        if distance == 0:
            return Fraction(0)
        if distance not in (1, 2):
            raise ValueError(f"distance={distance}; need 1 (a record added or removed) or 2 (one replaced)")
        if not self.scales:
            return math.inf
        noise = sum((Fraction(2) ** self.grid / Fraction(scale) for scale in self.scales), Fraction(0))
        return self.loss_with(noise, distance)

    @property
    def scale(self) -> float:
        """The scale on a receipt: the part of one record's loss that is due to the noise is 1 / scale."""
        rates = [2.0**self.grid / scale for scale in self.scales]
        return 1 / sum(rates) if rates else 0.0

    @property
    def radius(self) -> Fraction:
        """The largest distance of a result from the minimiser: half a step of the lattice."""
        return Fraction(1, 2 ** (self.bits + 1))

    @property
    def rounding(self) -> Fraction:
        """A bound on the L2 distance between the drawn noise and noise of exactly the stated law."""
        return Fraction(math.ceil(self.rounding_steps)) / Fraction(2) ** self.grid if self.scales else Fraction(0)

    @property
    def tolerance(self) -> float:
        """The longest gradient that a result may have: with the rounding of the noise it is within `radius`."""
        return float(Fraction(self.mu) * self.radius - self.rounding) * (1 - SLACK)

    def on_lattice(self, w: Sequence[Fraction]) -> NDArray[np.int64]:
        """The lattice point nearest to a result."""
        lattice = [math.floor(value * 2**self.bits + Fraction(1, 2)) for value in w]
        return np.array([max(-LARGEST_WEIGHT, min(value, LARGEST_WEIGHT)) for value in lattice], dtype=np.int64)


def parts_of_rate(groups: Sequence[int], spread: Callable[[int], float]) -> list[Fraction]:
    """How the rate of the noise is divided among blocks of groups of the same size, smallest first; the sum is 1.

    In a block with k groups of size v, a coordinate has a variance of about k^2 `spread(v)` / rate^2, and a record has
    k of them: the sum over blocks is least with rates in proportion to k `spread(v)`^(1/3).
    """
    sizes = sorted(set(groups))
    weights = [max(1, round(groups.count(size) * spread(size) ** (1 / 3) * 1000)) for size in sizes]
    return [Fraction(weight, sum(weights)) for weight in weights]


def fitting_scale(rate: Fraction, grid: int, epsilon: Epsilon) -> float:
    """The least scale, in grid steps, at which the noise of a block costs no more than this rate."""
    wanted = 1 / rate * Fraction(2) ** grid
    if not 0 < wanted <= LARGEST_SCALE:
        raise ParameterError(f"epsilon={float(epsilon):.3g} for one hyperplane is too small; use a larger one")
    scale = float(wanted)
    while Fraction(scale) < wanted:
        scale = math.nextafter(scale, math.inf)
    return scale


def gamma(shape: int, scale: float, rng: Randomness) -> int:
    """A sum of `shape` exponential variables of mean `scale`, each rounded down to an integer.

    Each is a two-sided geometric z, folded to z or -z - 1, which is one-sided: P[k] + P[-k - 1] = (1 - p) p^k.
    """
    draws = rng.discrete_laplace(scale, (shape,))
    return sum(value if value >= 0 else -value - 1 for value in draws.tolist())
