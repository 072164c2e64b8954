"""Randomized response over a finite list of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.directed_rounding import exp_below, log_above
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.randomness import Randomness

WHOLE = 2**62
"""Probabilities are integers out of this number, so that they are drawn exactly as stated. It is the largest range of
`Randomness.integers`."""
ENOUGH = 1000
"""A larger epsilon is treated as this one: already here a cell is kept with probability 1 - 1 / WHOLE."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Keep a cell with probability `kept` / WHOLE; otherwise answer one of the other cells, all equally likely.

    Guarantee  any two cells give answers that are log(`ratio`)-DP, at most `loss(1)`; if `calibrated`, `loss(1)` <=
               epsilon.
    Proof      with k cells and p = kept / WHOLE the answer o has probability p if o is the true cell and
               q = (1 - p) / (k - 1) if not (1). Between two cells the ratio at o is p / q, q / p or 1, at most `ratio`,
               which is attained at one of the two cells; sum over o in any set. A third cell has ratio 1: the law
               distinguishes only "same" and "other".
    Rests on   (1), drawn exactly from uniform integers:
               tests/privacy/mechanisms/test_response.py::test_the_sampler_fits_its_law.
               The ratio, an equality on the exact law:
               tests/privacy/mechanisms/test_response.py::test_ratio_equals_worst_ratio.
    Errors     none that depend on the data.
    """

    cells: int
    kept: int
    name = "randomized response"
    experimental = False

    def __post_init__(self) -> None:
        if not (self.cells >= 1 and 0 <= self.kept <= WHOLE):
            raise ParameterError(f"cells={self.cells}, kept={self.kept}; need at least 1 cell, and from 0 to 2^62 kept")

    @classmethod
    def calibrated(cls, epsilon: Epsilon, cells: int) -> RandomizedResponse:
        """The most truthful response whose loss is at most epsilon, in exact arithmetic.

        Proof      p / q <= e^epsilon means kept <= WHOLE * e / (e + cells - 1) with e = e^epsilon. The right side grows
                   with e, and `exp_below` is less than e: rounding down keeps the inequality. Rounding can break
                   q / p <= e^epsilon only for an epsilon near 0: that is checked, and refused.
        """
        if epsilon == math.inf or cells == 1:
            return cls(cells, WHOLE)
        least = exp_below(min(Fraction(epsilon), Fraction(ENOUGH)))
        kept = math.floor(WHOLE * least / (least + cells - 1))
        if WHOLE - kept > least * kept * (cells - 1):
            raise ParameterError(f"epsilon={float(epsilon):.3g} for one value is too small; use a larger epsilon")
        while kept and cls(cells, kept).loss(1) > epsilon:  # `loss` is rounded up
            kept -= 1
        return cls(cells, kept)

    @property
    def probability(self) -> Fraction:
        """The probability that a cell is kept."""
        return Fraction(self.kept, WHOLE)

    @property
    def ratio(self) -> Fraction | float:
        """The exact worst ratio of likelihoods between two cells; its logarithm is the privacy loss."""
        if self.cells == 1:
            return Fraction(1)
        if self.kept in (0, WHOLE):
            return math.inf
        odds = Fraction(self.kept * (self.cells - 1), WHOLE - self.kept)
        return max(odds, 1 / odds)

    def loss(self, distance: int) -> Epsilon:
        """The privacy loss between any two cells: the logarithm of `ratio`, rounded up."""
        if distance == 0 or self.cells == 1:
            return Fraction(0)
        return log_above(self.ratio) if isinstance(self.ratio, Fraction) else math.inf

    @property
    def scale(self) -> float:
        """The scale on a receipt: of the Laplace noise with the same loss at distance 1, which is 1 / scale."""
        if self.cells == 1 or self.kept in (0, WHOLE):
            return 0.0
        return 1 / math.log(self.ratio) if self.ratio > 1 else math.inf

    def perturb(self, codes: NDArray[np.int64], rng: Randomness) -> NDArray[np.int64]:
        """An independent answer for each code in 0 ... cells - 1.

        The number of draws does not depend on which codes are kept.
        """
        if self.kept == WHOLE:
            return codes.copy()
        is_kept = rng.integers(WHOLE, codes.shape) < self.kept
        others = (codes + 1 + rng.integers(self.cells - 1, codes.shape)) % self.cells
        return np.where(is_kept, codes, others)
