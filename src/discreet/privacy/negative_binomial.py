"""Exact draws of the negative binomial law NB(1 / parties, p) with p = exp(-1 / scale).

P[k] is proportional to f(k) = w(k) p^k with w(k) = r (r + 1) ... (r + k - 1) / k! and r = 1 / parties; f(0) = 1, and f
falls. The difference of two draws is a Pólya share of discrete Laplace noise (privacy/mechanisms/polya.py).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate
from operator import mul

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.directed_rounding import digits_for, exp_above, exp_below, log_above, log_below
from discreet.privacy.sampling import LARGEST_SCALE, MARGIN, Words, is_below

MOST_PARTIES = 10**9
"""The most parties that may divide the noise: far more than any sum has, and tested up to here."""
MOST_SHIFTS = 64
"""Numbers further out in the tail are always decided exactly: up to here the error bound of `ratio` holds."""
LISTED = 256
"""Weights up to this number are listed; beyond it Stirling's series is exact to 2^-50 (`_log_weight`)."""
AT_ONCE = 2**16
"""The most numbers that are proposed at once: bounds the memory of a large draw."""
WHOLE = 2**63
"""Chances of blocks are integers out of this number, so that 63 random bits choose a block exactly."""


class NegativeBinomial:
    """Draws by rejection from blocks of numbers; every probability is exact.

    Guarantee  the draws are independent, each with P[k] = (1 - p)^r f(k), if the words are independent and uniform.
    Proof      the blocks are {0}, [1, 2), [2, 4), ... up to [M / 2, M), M the least power of two with M >= 0.7 * scale,
               and the tail [(j + 1) M, (j + 2) M), j = 0, 1, .... A round takes a block with probability q / 2^63,
               integers q that add up to 2^63, in the tail j with probability 2^-(j + 1), then a number k of the block,
               all with equal probability as widths are powers of two, and keeps it if U < a(k), U uniform on [0, 1).
               With the factor g = width * s / q (in the tail times 2^(j + 1)), s the same for all blocks, k is proposed
               with probability s / (2^63 g). With a(k) = g f(k) it is proposed and kept with probability
               f(k) s / 2^63, if only a(k) <= 1: proportional to f, and the sum of f is (1 - p)^-r.
               f falls, because w(k + 1) / w(k) = (k + r) / (k + 1) <= 1: a(k) <= 1 if q >= width * s * f(start). In the
               tail f(start) <= f(M) p^(jM) <= f(M) 2^-j, because p^M <= exp(-0.7) < 1/2: q >= 2 * M * s * f(M) will do.
               The q are rounded up from upper bounds of f (`weight_bounds`).
               U < a(k) is decided as for real numbers: by floating point where it is sure, and where U is within
               `margin` of a(k) by bounds of a(k), with more and more bits of both (`decide`).
    Rests on   tests/privacy/test_negative_binomial.py: test_no_probability_exceeds_one,
               test_floats_are_well_within_the_margin, test_both_paths_decide_alike,
               test_the_proposed_law_is_exact, test_draws_fit_their_law.
    Errors     none; the time of a draw depends on the draw, never on data.
    """

    def __init__(self, scale: float, parties: int, margin: float = MARGIN) -> None:
        if not 0 < scale <= LARGEST_SCALE or not 1 <= parties <= MOST_PARTIES:
            raise ParameterError(
                f"scale={scale!r}, parties={parties!r}; need a scale above 0 and up to 2^50, and 1 to 10^9 parties"
            )
        self.scale, self.parties, self.margin = Fraction(scale), int(parties), margin
        self.starts = [0, 1]
        while 10 * self.starts[-1] < 7 * self.scale:
            self.starts.append(2 * self.starts[-1])
        self.widths = [1, *self.starts[1:]]
        self.chances, self.factors = self._blocks()
        self._ends = np.cumsum(np.array(self.chances, dtype=np.uint64))
        self._log_factors = np.array([math.log(factor) for factor in self.factors])
        steps = [Fraction(self.parties * i + 1, self.parties * (i + 1)) for i in range(LISTED)]
        self._log_weights = np.array([math.log(each) for each in accumulate(steps, mul, initial=Fraction(1))])

    def _blocks(self) -> tuple[list[int], list[Fraction]]:
        """The chance q of each block, out of 2^63, and its factor g; the last block is the tail."""
        tops = [
            width * Fraction(weight_bounds(start, self.scale, self.parties, Fraction(1), 128)[1], 2**128)
            for start, width in zip(self.starts, self.widths, strict=True)
        ]
        tops[-1] *= 2
        common = (WHOLE - len(tops)) / sum(tops, Fraction(0))
        chances = [math.ceil(common * top) for top in tops]
        chances[0] += WHOLE - sum(chances)
        factors = [width * common / chance for width, chance in zip(self.widths, chances, strict=True)]
        factors[-1] *= 2
        return chances, factors

    def draw(self, count: int, words: Words) -> NDArray[np.int64]:
        """`count` independent draws."""
        kept = [np.empty(0, dtype=np.int64)]
        while (missing := count - sum(map(len, kept))) > 0:
            kept.append(self._round(min(missing, AT_ONCE), words))
        return np.concatenate(kept)

    def _round(self, count: int, words: Words) -> NDArray[np.int64]:
        """Propose `count` numbers, and return those that are kept."""
        choice, place, coins, uniform = words(4 * count).reshape(4, count)
        block = np.searchsorted(self._ends, choice >> np.uint64(1), side="right")
        shift = np.where(block == len(self.widths) - 1, _zeros(coins, words), 0)
        width = np.array(self.widths, dtype=np.int64)[block]
        proposed = np.array(self.starts, dtype=np.int64)[block] + shift * width + (place.view(np.int64) & (width - 1))
        distance = self.ratio(proposed, block, shift) - uniform.astype(np.float64) * 2.0**-64
        is_kept = distance > 0
        for i in np.flatnonzero((np.abs(distance) <= self.margin) | (shift > MOST_SHIFTS)):
            factor = self.factors[block[i]] * 2 ** int(shift[i])
            is_kept[i] = self.decide(int(proposed[i]), factor, int(uniform[i]), words)
        return proposed[is_kept]

    def ratio(self, k: NDArray[np.int64], block: NDArray[np.intp], shift: NDArray[np.int64]) -> NDArray[np.float64]:
        """The probability a(k) of keeping a number, in floating point.

        Proof      (of the error) up to MOST_SHIFTS the terms of the exponent are below 300 in size, each with a few
                   roundings, so the exponent is off by less than 2^-40, and so is a(k) <= 1. Only k / scale can be
                   larger, for a scale below 1 / 3; then a(k) and its error are below exp(-200).
        Test       tests/privacy/test_negative_binomial.py::test_floats_are_well_within_the_margin
        """
        with np.errstate(over="ignore"):
            scaled = k / float(self.scale)
        exponents = self._log_weight(k) - scaled + self._log_factors[block] + shift * math.log(2)
        return np.asarray(np.exp(exponents), dtype=np.float64)

    def _log_weight(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """log w(k): from the list, or from its end by Stirling's series, whose remainder is below 2^-50 there."""
        r = 1 / self.parties

        def change(x: NDArray[np.float64]) -> NDArray[np.float64]:
            """log Gamma(x + r) - log Gamma(x + 1) up to a constant, without cancellation."""
            a, b = x + r, x + 1
            rest = (1 / a - 1 / b) / 12 - (1 / a**3 - 1 / b**3) / 360
            return (a - 0.5) * np.log1p((r - 1) / b) + (r - 1) * np.log(b) + rest

        end = np.array([float(LISTED)])
        far = self._log_weights[-1] + change(np.maximum(k, LISTED).astype(np.float64)) - change(end)
        return np.where(k <= LISTED, self._log_weights[np.minimum(k, LISTED)], far)

    def decide(self, k: int, factor: Fraction, uniform: int, words: Words) -> bool:
        """Whether U < factor * f(k), where `uniform` is the first 64 bits of U; more are drawn until it is sure."""
        return is_below(uniform, lambda bits: weight_bounds(k, self.scale, self.parties, factor, bits), words)


@lru_cache(maxsize=256)
def sampler(scale: float, parties: int) -> NegativeBinomial:
    """The sampler of this law; made once and then remembered."""
    return NegativeBinomial(scale, parties)


@lru_cache(maxsize=64)
def weight(k: int, parties: int) -> Fraction:
    """w(k) as an exact fraction: the product of (r + i - 1) / i over i = 1 ... k."""
    above = math.prod(parties * i + 1 for i in range(k))
    return Fraction(above, parties**k * math.factorial(k))


def weight_bounds(k: int, scale: Fraction, parties: int, factor: Fraction, bits: int) -> tuple[int, int]:
    """Integers on either side of factor * f(k) * 2^bits, a few units apart if that is below 2^bits.

    Proof      f(k) = w(m) exp(E), E = log w(k) - log w(m) - k / scale, m = min(k, max(LISTED, 2 bits)). w(m) is exact,
               log w(k) - log w(m) is in the sum of four intervals around log Gamma, and everything else is exact or
               rounded outwards (`exp_below`, `exp_above`). If the size alone shows that the product is below 1, 0 and 1
               are bounds.
    Test       tests/privacy/test_negative_binomial.py::test_bounds_contain_the_weight
    """
    known = min(k, max(LISTED, 2 * bits))
    low = high = -k / scale
    if k > known:
        for x, sign in ((k, 1), (known, -1)):
            ends = log_gamma_bounds(x + Fraction(1, parties), bits), log_gamma_bounds(Fraction(x + 1), bits)
            change = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
            low, high = low + min(sign * end for end in change), high + max(sign * end for end in change)
    exact = factor * weight(known, parties) * 2**bits
    size = exact.numerator.bit_length() - exact.denominator.bit_length() + 1  # exact < 2^size
    if high < -max(0, size):
        return 0, 1
    digits = digits_for(bits + math.ceil(-low).bit_length())
    return math.floor(exact * exp_below(low, digits)), math.ceil(exact * exp_above(high, digits))


def log_gamma_bounds(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Bounds of log Gamma(x) - log(2 pi) / 2 for x >= max(LISTED, 2 bits), less than 2^-bits apart.

    Proof      Stirling's series: (x - 1/2) log x - x + sum of B_2n / (2n (2n - 1) x^(2n - 1)); for x > 0 the remainder
               is at most the first omitted term (DLMF 5.11.ii). log x is rounded outwards (`log_below`, `log_above`).
    Test       tests/privacy/test_negative_binomial.py::test_stirlings_bounds_contain_log_gamma
    """
    rest, n = -x, 1
    while abs(term := bernoulli(2 * n) / (2 * n * (2 * n - 1) * x ** (2 * n - 1))) >= Fraction(1, 2 ** (bits + 8)):
        rest, n = rest + term, n + 1
    digits = digits_for(bits + 2 * math.ceil(x).bit_length())
    half = x - Fraction(1, 2)
    return half * log_below(x, digits) + rest - abs(term), half * log_above(x, digits) + rest + abs(term)


@cache
def bernoulli(m: int) -> Fraction:
    """The Bernoulli number B_m, with B_1 = -1/2."""
    return Fraction(m == 0) - sum((math.comb(m, j) * bernoulli(j) / Fraction(m - j + 1) for j in range(m)), Fraction(0))


def _zeros(coins: NDArray[np.uint64], words: Words) -> NDArray[np.int64]:
    """Number of 0 bits of each word before its first 1, from the lowest bit; a word of zeros goes on in a new word."""
    lowest = coins & (~coins + np.uint64(1))
    zeros = np.frexp(lowest.astype(np.float64))[1].astype(np.int64) - 1
    for i in np.flatnonzero(coins == 0):
        zeros[i] = 64 + int(_zeros(words(1), words)[0])
    return zeros
