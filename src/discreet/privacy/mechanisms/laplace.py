"""Discrete Laplace noise on integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.privacy.sampling import LARGEST_SCALE
from discreet.queries.arrays import Integers


@dataclass(frozen=True)
class DiscreteLaplace:
    """Add two-sided geometric noise of the given scale to each integer.

    Guarantee  inputs at L1 distance d give outputs that are (d / scale)-DP.
    Proof      P[Z = z] = c * exp(-|z| / scale), where c does not depend on the input (1). For each output o the ratio
               is exp((|o - x'|_1 - |o - x|_1) / scale), at most exp(d / scale) by the triangle inequality;
               sum over o in any set.
    Rests on   (1), drawn exactly by OpenDP: tests/privacy/test_randomness.py::test_discrete_laplace_fits_its_law.
               The ratio, an equality on the exact law:
               tests/privacy/mechanisms/test_laplace.py::test_loss_equals_worst_ratio.
    Errors     none that depend on the data.
    """

    scale: float
    name = "discrete Laplace"
    experimental = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", checked_scale(self.scale))

    @classmethod
    def calibrated(cls, epsilon: Epsilon, sensitivity: int) -> DiscreteLaplace:
        """The least float scale whose loss at this sensitivity is at most epsilon, in exact arithmetic."""
        return cls(least_scale(epsilon, sensitivity, "table"))

    def loss(self, distance: int) -> Epsilon:
        """The exact privacy loss at an L1 distance."""
        return loss_at(distance, self.scale)

    @property
    def variance(self) -> float:
        """Variance of the noise: 2p / (1 - p)^2 with p = exp(-1 / scale)."""
        return 0.0 if self.scale == 0 else 2 * math.exp(-1 / self.scale) / math.expm1(-1 / self.scale) ** 2

    def perturb(self, table: Integers, rng: Randomness) -> Integers:
        """The table with independent noise in each cell."""
        return table.copy() if self.scale == 0 else table + rng.discrete_laplace(self.scale, table.shape)


def checked_scale(scale: float) -> float:
    """The scale as the float that is drawn with and priced; ParameterError if draws could leave the 64-bit integers."""
    if not 0 <= scale <= 2 * LARGEST_SCALE:
        raise ParameterError(f"scale={scale!r}; need a number from 0 (no noise) to 2^51")
    return float(scale)


def least_scale(epsilon: Epsilon, distance: int, word: str) -> float:
    """The least float with distance / scale <= epsilon in exact arithmetic; 0 for an infinite epsilon."""
    if epsilon == math.inf:
        return 0.0
    if distance / Fraction(epsilon) > LARGEST_SCALE:
        raise ParameterError(f"epsilon={float(epsilon):.3g} for one {word} is too small; use a larger epsilon")
    scale = distance / float(epsilon)
    while Fraction(scale) * Fraction(epsilon) < distance:
        scale = math.nextafter(scale, math.inf)
    return scale


def loss_at(distance: int, scale: float) -> Epsilon:
    """distance / scale, exact; infinite without noise."""
    if distance == 0:
        return Fraction(0)
    return math.inf if scale == 0 else Fraction(int(distance)) / Fraction(float(scale))
