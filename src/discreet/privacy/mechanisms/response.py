"""Randomized response over a finite list of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.logarithm import log_above
from discreet.privacy.randomness import Randomness

WHOLE = 2**62
"""Probabilities are integers over this number, so that they are drawn as they are stated."""
ENOUGH = 1000
"""With an epsilon beyond it a value is kept with probability 1 - 1 / WHOLE all the same."""


@dataclass(frozen=True)
class RandomizedResponse:
    """Keep a cell with probability `kept` / WHOLE; otherwise answer one of the other cells, each alike.

    Guarantee  any two cells give answers that are log(`ratio`)-DP, at most `loss(1)`; if `calibrated`, `loss(1)` <=
               epsilon.
    Proof      with k cells and p = kept / WHOLE the answer o has probability p if o is the true cell and
               q = (1 - p) / (k - 1) if not (1). Between two cells the ratio at o is p / q, q / p or 1, at most `ratio`,
               which is attained at either cell; sum over o in any set. No third cell is worse: the law knows only
               "same" and "other".
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
            raise ParameterError("a response needs one cell or more, and a probability from 0 to 1")

    @classmethod
    def calibrated(cls, epsilon: Epsilon, cells: int) -> RandomizedResponse:
        """The most truthful response whose loss is at most epsilon, in exact arithmetic.

        Proof      p / q <= e^epsilon means kept <= WHOLE * e / (e + cells - 1) with e = e^epsilon. The right side grows
                   with e, and `exp_below` is at most e: rounding down keeps the inequality. q / p <= e^epsilon could
                   fail by the rounding only, for an epsilon near 0: that is checked, and refused.
        """
        if epsilon == math.inf or cells == 1:
            return cls(cells, WHOLE)
        least = exp_below(Fraction(epsilon))
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
        """The privacy loss between two cells, whichever they are: the logarithm of `ratio`, rounded up."""
        if distance == 0 or self.cells == 1:
            return Fraction(0)
        return log_above(self.ratio) if isinstance(self.ratio, Fraction) else math.inf

    @property
    def scale(self) -> float:
        """What stands for the scale of the noise on a receipt: the loss is 1 / scale, as for Laplace noise."""
        if self.cells == 1 or self.kept in (0, WHOLE):
            return 0.0
        return 1 / math.log(self.ratio) if self.ratio > 1 else math.inf

    def perturb(self, codes: NDArray[np.int64], rng: Randomness) -> NDArray[np.int64]:
        """An independent answer for each code in 0 ... cells - 1.

        As many numbers are drawn for a value that is kept as for one that is not.
        """
        if self.kept == WHOLE:
            return codes.copy()
        is_kept = rng.integers(WHOLE, codes.shape) < self.kept
        others = (codes + 1 + rng.integers(self.cells - 1, codes.shape)) % self.cells
        return np.where(is_kept, codes, others)


def exp_below(epsilon: Fraction) -> Fraction:
    """A fraction that is at most e^epsilon, and less by no more than a part in 10^50 (for an epsilon up to 1000).

    Proof      the quotient is rounded down; `Decimal.exp` is correctly rounded, so that the next smaller decimal is a
               lower bound; beyond 1000 the exponential of 1000 is one.
    """
    context = Context(prec=60, rounding=ROUND_FLOOR)
    least = min(epsilon, Fraction(ENOUGH))
    exponent = context.divide(Decimal(least.numerator), Decimal(least.denominator))
    return Fraction(context.next_minus(context.exp(exponent)))
