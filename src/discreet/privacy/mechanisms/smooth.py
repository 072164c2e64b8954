"""Cauchy noise scaled to smooth sensitivity, for the mean and the standard deviation of each class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy import smooth_sensitivity
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness
from discreet.queries.arrays import Integers


@dataclass(frozen=True)
class SmoothCauchy:
    """Release (mean, standard deviation) of each class on [-1, 1], by Nissim, Raskhodnikova and Smith 2007.

    Guarantee  `epsilon`-DP for one record added to or removed from one class's list; 2 * `epsilon` if a record
               is replaced, so a caller under replace-one passes half.
    Proof      each of the two statistics is answered at epsilon / 2 with noise (S / a) * Cauchy, where S is a b-smooth
               bound on its local sensitivity under add-remove. By the exact Cauchy trade-off
               (smooth_sensitivity.cauchy_epsilon) its loss is at most epsilon / 2. A record is in one class's list, so
               the classes cost no more than one of them; the two statistics add. Replacing is a removal and an
               addition.
    Rests on   tests/privacy/test_smooth_sensitivity.py (bounds and smoothness by exhaustion).
    Errors     the noise is continuous, drawn in floating point: not hardened against Mironov 2012. Experimental.
    """

    epsilon: Epsilon
    name = "Cauchy at smooth sensitivity (experimental)"
    experimental = True
    scale = math.nan
    variance = math.inf

    def __post_init__(self) -> None:
        if not self.epsilon > 0:
            raise ParameterError(f"epsilon={self.epsilon!r}; need a number > 0")

    def loss(self, distance: int) -> Epsilon:
        """The privacy loss if `distance` records are added or removed."""
        return distance * self.epsilon if distance else Fraction(0)

    def perturb(self, counts: Integers, rng: Randomness) -> NDArray[np.float64]:
        """Noisy mean and standard deviation per class, from counts on the grid; the noise scale stays private."""
        grid = np.linspace(-1.0, 1.0, counts.shape[1])
        noise = rng.cauchy((len(counts), 2))
        rows = [self._moments(np.repeat(grid, row), draws) for row, draws in zip(counts, noise, strict=True)]
        return np.array(rows, dtype=np.float64)

    def _moments(self, values: NDArray[np.float64], draws: NDArray[np.float64]) -> tuple[float, float]:
        exact = (float(values.mean()), float(values.std())) if len(values) else (0.0, 0.0)
        if self.epsilon == math.inf:
            return exact
        a, b = smooth_sensitivity.cauchy_calibration(float(self.epsilon) / 2)
        bounds = smooth_sensitivity.mean, smooth_sensitivity.standard_deviation
        scales = [bound(values, -1.0, 1.0, b, "add-remove") / a for bound in bounds]
        return exact[0] + scales[0] * float(draws[0]), exact[1] + scales[1] * float(draws[1])
