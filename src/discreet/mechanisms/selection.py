"""Private choice of the best among candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.budget import Epsilon
from discreet.errors import ParameterError
from discreet.mechanisms.laplace import LARGEST_SCALE
from discreet.queries import Table
from discreet.randomness import Randomness


@dataclass(frozen=True)
class PermuteAndFlip:
    """Choose a candidate with a high integer score (McKenna and Sheldon 2020).

    It looks at the candidates in random order and accepts j with probability exp((u_j - max u) / scale).

    Guarantee  if one record moves every score by at most d, the choice is (2 d / scale)-DP; if it moves all scores the
               same way (monotone), (d / scale)-DP.
    Proof      the law is that of the largest of u_j + E_j, E_j exponential of mean `scale` (Ding et al. 2021). Fix the
               other draws; j wins if E_j exceeds r = max_i (u_i + E_i) - u_j over i != j. If every score moves by at
               most d, r moves by at most 2 d, if all move the same way by at most d; and P[E_j > r + s] >= exp(-s /
               scale) P[E_j > r], the exponential's tail. Average over the other draws.
    Rests on   exact coins (exponential_coins.py): tests/test_selection.py::test_choice_fits_its_law; the ratio on the
               exact law, which is attained in the limit: tests/test_selection.py::test_loss_bounds_the_worst_ratio.
    Errors     none that depend on the data.
    """

    scale: float
    name = "permute-and-flip"

    @classmethod
    def calibrated(cls, epsilon: Epsilon, sensitivity: int, *, monotone: bool) -> PermuteAndFlip:
        """The least float scale whose loss is at most epsilon, in exact arithmetic."""
        if epsilon == math.inf:
            return cls(0.0)
        reach = sensitivity if monotone else 2 * sensitivity
        if reach / Fraction(epsilon) > LARGEST_SCALE:
            raise ParameterError(f"epsilon={float(epsilon):.3g} for one choice is too small; use a larger epsilon")
        scale = reach / float(epsilon)
        while Fraction(scale) * Fraction(epsilon) < reach:
            scale = math.nextafter(scale, math.inf)
        return cls(scale)

    def choose(self, scores: Table, rng: Randomness) -> int:
        """The position of the chosen candidate; without noise the first of the best."""
        return int(np.argmax(scores)) if self.scale == 0 else rng.noisy_max(scores, self.scale)
