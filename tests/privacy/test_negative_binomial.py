"""The negative binomial sampler: every step of its proof, and its draws against the law."""

import math
import os
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.privacy import negative_binomial
from discreet.privacy.negative_binomial import (
    LISTED,
    WHOLE,
    NegativeBinomial,
    bernoulli,
    log_gamma_bounds,
    sampler,
    weight,
    weight_bounds,
)
from discreet.privacy.sampling import MARGIN

EXACT = Context(prec=400)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
SCALES = [0.01, 0.3, 1.0, 1.43, 17.0, 5000.0, 1e7, 2.0**50]
PARTIES = [1, 2, 10, 1000, 10**9]


def exact_weight(k, scale, parties):
    """f(k) by its definition, to 400 digits: a product and an exponential."""
    above, below = (math.prod(parties * i + first for i in range(k)) for first in (1, parties))
    return Fraction(above, below) * power(k, scale)


def power(k, scale):
    exponent = EXACT.divide(Decimal(-k), Decimal(scale))
    return Fraction(EXACT.exp(exponent))


def secure_words(count):
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def seeded_words(seed):
    generator = np.random.default_rng(seed)
    return lambda count: generator.integers(0, 2**64, size=count, dtype=np.uint64)


@pytest.mark.parametrize("k", [0, 1, 2, 255, 256, 257, 300, 2000])
@pytest.mark.parametrize("bits", [64, 128, 192])
def test_bounds_contain_the_weight(k, bits):
    for scale in (0.3, 17.0, 1e7):
        for parties in (1, 2, 10, 10**9):
            exact = exact_weight(k, scale, parties)
            for factor in (Fraction(1), Fraction(3, 7), min(1 / exact, Fraction(2**70))):
                low, high = weight_bounds(k, Fraction(scale), parties, factor, bits)
                assert low <= factor * exact * 2**bits <= high
                assert high - low <= 4


def test_bounds_contain_the_weight_far_out():
    """For one party w(k) = 1, and for two it is the central binomial coefficient over 4^k, whose size is well known."""
    for k, scale in [(10**6, 3e5), (10**15 + 1, 2.0**49), (2**57 + 3, 2.0**50), (10**30, 1e30)]:
        low, high = weight_bounds(k, Fraction(scale), 1, Fraction(1), 128)
        assert low <= power(k, scale) * 2**128 <= high
        assert high - low <= 4
        low, high = weight_bounds(k, Fraction(scale), 2, Fraction(1), 128)
        size = Fraction(EXACT.divide(1, EXACT.sqrt(EXACT.multiply(PI, k)))) * power(k, scale) * 2**128
        known = size * (1 - Fraction(1, 8 * k) + Fraction(1, 128 * k**2) + Fraction(5, 1024 * k**3))
        assert high - low <= 4
        assert abs(low - known) < 4 + size / k**4


def test_a_weight_too_small_to_spell_is_bounded_all_the_same():
    assert weight_bounds(1, Fraction(1e-300), 3, Fraction(1), 64) == (0, 1)
    assert weight_bounds(0, Fraction(1e-300), 3, Fraction(1, 2), 64) == (pytest.approx(2**63, abs=2),) * 2
    assert weight_bounds(10**6, Fraction(1), 3, Fraction(1, 2), 640) == (0, 1)


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("n", [257, 300, 1000])
def test_stirlings_bounds_contain_log_gamma(bits, n):
    """At n it is the logarithm of a factorial, at n + 1/2 of a factorial and the root of pi."""
    half = EXACT.divide(EXACT.ln(EXACT.multiply(2, PI)), 2)
    whole = EXACT.ln(math.factorial(n - 1))
    middle = EXACT.add(
        EXACT.ln(EXACT.divide(math.factorial(2 * n), 4**n * math.factorial(n))), EXACT.divide(EXACT.ln(PI), 2)
    )
    for x, value in ((Fraction(n), whole), (n + Fraction(1, 2), middle)):
        low, high = log_gamma_bounds(x, bits)
        assert low <= Fraction(EXACT.subtract(value, half)) <= high
        assert high - low < Fraction(1, 2**bits)


def test_bernoulli_numbers():
    known = {0: "1", 1: "-1/2", 2: "1/6", 4: "-1/30", 6: "1/42", 10: "5/66", 12: "-691/2730", 20: "-174611/330"}
    assert {m: str(bernoulli(m)) for m in known} == known
    assert bernoulli(7) == bernoulli(19) == 0


@pytest.mark.parametrize("parties", PARTIES)
@pytest.mark.parametrize("scale", SCALES)
def test_no_probability_exceeds_one(scale, parties):
    """f falls, so the first number of a block has the largest probability; checked for many blocks of the tail."""
    law = sampler(scale, parties)
    places = list(zip(law.starts, law.factors, strict=True))
    places += [(law.starts[-1] * (1 + j), law.factors[-1] * 2**j) for j in (1, 2, 3, 10, 64, 300)]
    for start, factor in places:
        assert weight_bounds(start, law.scale, parties, factor, 192)[1] <= 2**192
    assert all(below >= above for below, above in pairwise(exact_weight(k, scale, parties) for k in range(20)))


@pytest.mark.parametrize("parties", PARTIES)
@pytest.mark.parametrize("scale", SCALES)
def test_the_proposed_law_is_exact(scale, parties):
    """Blocks leave no gaps, and chance / width * factor is the same for all: the kept numbers follow f."""
    law = sampler(scale, parties)
    assert law.starts[0] == 0
    assert [start + width for start, width in zip(law.starts, law.widths, strict=True)][:-1] == law.starts[1:]
    assert law.starts[-1] == law.widths[-1]
    assert law.starts[-1] * 10 >= 7 * scale
    assert sum(law.chances) == WHOLE
    common = law.chances[0] * law.factors[0]
    for chance, factor, width in zip(law.chances[1:-1], law.factors[1:-1], law.widths[1:-1], strict=True):
        assert chance * factor / width == common
    assert law.chances[-1] / Fraction(2) * law.factors[-1] / law.widths[-1] == common  # j = 0 has half of the tail
    kept = float(common / WHOLE) * (-math.expm1(-1 / scale)) ** (-1 / parties)
    assert 0.5 < kept <= 1


@pytest.mark.parametrize("scale", [0.5, 17.0, 5000.0, 2.0**50])
def test_words_become_numbers_as_the_proof_says(monkeypatch, scale):
    """The first and last choice of each block, with places and coins that use all bits; everything is kept."""
    law = NegativeBinomial(scale, 3)
    monkeypatch.setattr(law, "ratio", lambda k, block, shift: np.full(len(k), 2.0))
    rows, expected = [], []
    first = 0
    for i, (start, width, chance) in enumerate(zip(law.starts, law.widths, law.chances, strict=True)):
        for choice in (2 * first, 2 * (first + chance) - 1):
            for place in (2**64 - 1, 0x9E3779B97F4A7C15):
                for zeros in (0, 1, 20, 63):
                    rows.append((choice, place, (2**64 - 1 << zeros) % 2**64, 7))
                    shift = zeros if i == len(law.starts) - 1 else 0
                    expected.append(start + shift * width + place % width)
        first += chance
    assert first == 2**63
    words = np.array(rows, dtype=np.uint64).T.ravel()
    assert law._round(len(rows), lambda count: words[:count]).tolist() == expected


def test_coins_without_a_one_go_on():
    further = iter([0, 4])
    zeros = negative_binomial._zeros(
        np.array([1, 0, 2**63], dtype=np.uint64), lambda count: np.array([next(further)], dtype=np.uint64)
    )
    assert zeros.tolist() == [0, 64 + 64 + 2, 63]


@pytest.mark.parametrize("parties", PARTIES)
@pytest.mark.parametrize("scale", SCALES)
def test_floats_are_well_within_the_margin(scale, parties):
    """The error of the floats is below a thousandth of the margin, in every block and far into the tail."""
    law = sampler(scale, parties)
    rng = np.random.default_rng(1)
    last = len(law.starts) - 1
    block = np.array([i for i in range(last + 1) for _ in range(4)] + [last] * 6)
    shift = np.where(np.arange(len(block)) < len(block) - 6, 0, [0] * (len(block) - 6) + [1, 2, 5, 20, 60, 200])
    k = [
        law.starts[i] + int(j) * law.widths[i] + int(rng.integers(law.widths[i]))
        for i, j in zip(block, shift, strict=True)
    ]
    ratios = law.ratio(np.array(k), block, shift)
    for each, i, j, ratio in zip(k, block, shift, ratios, strict=True):
        low, high = weight_bounds(each, law.scale, parties, law.factors[i] * 2 ** int(j), 64)
        assert low / 2**64 - MARGIN / 1000 < ratio < high / 2**64 + MARGIN / 1000


@pytest.mark.parametrize("parties", [1, 3, 1000])
@pytest.mark.parametrize("scale", [0.3, 40.0, 5000.0, 1e7])
def test_both_paths_decide_alike(scale, parties):
    """With a margin of 2 every decision is exact; the same words give the same draws."""
    fast = NegativeBinomial(scale, parties).draw(150, seeded_words(8))
    exact = NegativeBinomial(scale, parties, margin=2.0).draw(150, seeded_words(8))
    np.testing.assert_array_equal(fast, exact)


@pytest.mark.parametrize("k", [0, 3, 700])
def test_a_close_decision_takes_more_bits(k):
    """U agrees with a(k) in the first 64 bits; the next ones decide, and as many are drawn as it takes."""
    law, factor = sampler(100.0, 7), Fraction(2, 3)
    exact = factor * exact_weight(k, 100.0, 7)
    digits = [math.floor(exact * 2 ** (64 * place)) % 2**64 for place in (1, 2, 3)]

    def decided(*further):
        left = [np.array([word], dtype=np.uint64) for word in further]
        return law.decide(k, factor, digits[0], lambda count: left.pop(0)), len(left)

    assert decided(0) == (True, 0)
    assert decided(2**64 - 1) == (False, 0)
    assert decided(digits[1], digits[2] - 2**40) == (True, 0)
    assert decided(digits[1], digits[2] + 2**40) == (False, 0)


def test_a_doubtful_draw_is_decided_exactly(monkeypatch):
    """Within the margin on either side the exact decision counts, not that of floating point."""
    law = NegativeBinomial(5.0, 2)
    asked = []
    monkeypatch.setattr(law, "decide", lambda k, factor, uniform, words: asked.append((k, factor, uniform)) or True)
    top = law.factors[0]
    uniforms = [int((top + Fraction(MARGIN) * shift) * 2**64) for shift in (Fraction(-11, 10), Fraction(-9, 10))]
    words = np.array([0, 0, 0, 0, 1, 1, *uniforms], dtype=np.uint64)
    assert law._round(2, lambda count: words[:count]).tolist() == [0, 0]
    assert asked == [(0, top, uniforms[1])]


def test_a_draw_far_out_is_decided_exactly(monkeypatch):
    law = NegativeBinomial(5.0, 2)
    asked = []
    monkeypatch.setattr(law, "decide", lambda k, factor, uniform, words: asked.append((k, factor)) or True)
    rows = [
        np.array([2**64 - 1, 0, 0, 2**63], dtype=np.uint64),
        *(np.array([word], dtype=np.uint64) for word in (0, 8)),
    ]
    assert law._round(1, lambda count: rows.pop(0)).tolist() == [4 * (1 + 131)]
    assert asked == [(4 * (1 + 131), law.factors[-1] * 2**131)]


def chi_squared(draws, scale, parties):
    """P-value of the draws against the law, numbers pooled to cells of at least ten expected draws."""
    ends = np.unique(np.concatenate([np.arange(20), np.geomspace(20, 60 * scale + 60, 40)]).astype(np.int64))
    law = stats.nbinom(1 / parties, -math.expm1(-1 / scale))
    below = np.array([*law.cdf(ends), 1.0])
    seen = np.array([*(np.sum(draws <= end) for end in ends), len(draws)])
    chosen, pooled = [], 0.0
    for i in range(len(below)):
        if (below[i] - pooled) * len(draws) >= 10 and (1 - below[i]) * len(draws) >= min(10, 10 * i):
            chosen.append(i)
            pooled = below[i]
    chosen.append(len(below) - 1)
    return stats.chisquare(np.diff(seen[chosen], prepend=0), np.diff(below[chosen], prepend=0) * len(draws)).pvalue


@pytest.mark.parametrize("parties", [1, 2, 10, 1000])
@pytest.mark.parametrize("scale", [0.7, 5.0, 5000.0, 1e7])
@pytest.mark.parametrize("size", [20_000, pytest.param(2_000_000, marks=pytest.mark.slow)])
def test_draws_fit_their_law(scale, parties, size):
    draws = sampler(scale, parties).draw(size, secure_words)
    assert draws.dtype == np.int64
    assert draws.shape == (size,)
    assert chi_squared(draws, scale, parties) > 1e-6


def test_the_test_itself_sees_another_law():
    draws = sampler(5000.0, 2).draw(20_000, seeded_words(1))
    assert chi_squared(draws, 5000.0, 2) > 1e-3
    assert chi_squared(draws, 4000.0, 2) < 1e-6
    assert chi_squared(draws, 5000.0, 3) < 1e-6
    assert chi_squared(draws + 1, 5000.0, 2) < 1e-6


def test_a_sampler_is_made_once_and_always_the_same():
    assert sampler(12.5, 4) is sampler(12.5, 4)
    one, other = NegativeBinomial(12.5, 4), NegativeBinomial(12.5, 4)
    assert (one.chances, one.factors) == (other.chances, other.factors)
    np.testing.assert_array_equal(one.draw(500, seeded_words(3)), other.draw(500, seeded_words(3)))
    assert len(one.draw(0, secure_words)) == 0


def test_more_draws_than_fit_at_once(monkeypatch):
    monkeypatch.setattr(negative_binomial, "AT_ONCE", 7)
    assert chi_squared(sampler(3.0, 2).draw(3000, seeded_words(2)), 3.0, 2) > 1e-3


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-3])
def test_a_tiny_scale_draws_zero(scale):
    assert not sampler(scale, 3).draw(1000, secure_words).any()
    assert not NegativeBinomial(scale, 3, margin=2.0).draw(20, secure_words).any()


@pytest.mark.parametrize(
    ("scale", "parties"),
    [(0.0, 1), (-1.0, 1), (math.nan, 1), (math.inf, 1), (2.0**50 * 1.5, 1), (1.0, 0), (1.0, -2), (1.0, 10**9 + 1)],
)
def test_a_law_out_of_range_is_refused(scale, parties):
    with pytest.raises(ParameterError, match="need a scale above 0"):
        NegativeBinomial(scale, parties)


def test_weights_of_two_parties_are_central_binomials():
    assert [weight(k, 2) for k in range(30)] == [Fraction(math.comb(2 * k, k), 4**k) for k in range(30)]
    assert {weight(k, 1) for k in (0, 1, 7, LISTED)} == {1}
