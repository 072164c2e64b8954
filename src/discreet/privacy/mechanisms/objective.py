"""Objective perturbation: the minimiser of a regularised objective plus a random linear term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.directed_rounding import log_above
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.corner import Corner
from discreet.privacy.mechanisms.minimiser import minimise
from discreet.privacy.mechanisms.perturbed_objective import (
    LEAST_EPSILON,
    PerturbedObjective,
    fitting_scale,
    gamma,
    parts_of_rate,
)
from discreet.privacy.mechanisms.problem import SLACK, Records
from discreet.privacy.mechanisms.sum_zero import WORD
from discreet.privacy.randomness import Randomness

PIECES = 4
"""Pieces of a corner, each bent half as much as the one before: the last leaves nearly all of epsilon to the noise."""


@dataclass(frozen=True)
class ObjectivePerturbation(PerturbedObjective):
    """Minimise sum l(y w.x) + (mu / 2) |w|^2 + b.w for a random b; answer w on the lattice of 2**-`bits`.

    l is the hinge with a rounded `corner` (corner.py); x has groups of coordinates with L1 norm at most 1 each
    (queries/hyperplanes.py). Groups of the same size form a block. b has the density proportional to exp(-sum over
    blocks of N(b_block) / t_block), N the largest L1 norm of the block's groups.

    Guarantee  if one record is added or removed (`distance` 1) or replaced (2), there is a w* whose law changes by a
               factor of at most exp(`loss(distance)`), and given w* each coordinate of the answer is one of two
               neighbouring integers that depend on w* alone. So discrete Laplace noise for the L1 distance D, the
               number of coordinates, makes the noisy answer (`loss(distance)` + its loss at D)-DP. Without that noise
               nothing is guaranteed.
    Proof      1. *Density.* Let b have the density above and w* be the minimiser. grad F(w*) = 0 says b = b(w*) with
               b(w) = -mu w - sum of grad l. The map w -> b(w) is one-to-one, onto and Lipschitz both ways (F is
               strongly convex with Lipschitz gradient), and differentiable except on finitely many hyperplanes, where
               y w.x is an end of a piece of the corner. So w* has the density p(b(w)) det(mu I + H(w)) almost
               everywhere, H the sum of l'' x x^T.
               2. *Noise.* One record moves b(w) by l' y x, with N at most |l'| <= 1 in each block; by the triangle
               inequality log p changes by at most |l'| r for each record added or removed, r the sum of 1 / t_block.
               3. *Determinant.* With A = mu I + (Hessian of the records in common), x in one of the tables and x' in
               the other: det(A + l'' x x^T) / det(A + l'' x' x'^T) <= det(A + l'' x x^T) / det(A) = 1 + l'' x^T A^-1 x
               <= 1 + l'' |x|^2 / mu <= 1 + l'' * groups / mu.
               Together, at the same w*: where the margin of x is in piece j of the corner, |l'| <= s_j and l'' = c_j,
               and elsewhere l'' = 0 and |l'| <= 1, which is no more than the last piece has. So a record that is added
               or removed costs at most the largest s_j r + log(1 + c_j groups / mu), and x in place of x' at most r
               more: this is `loss`. The noise and the determinant of one record are never both largest.
               4. *Arithmetic.* N's unit ball in a block of D coordinates is a product of cross-polytopes; a radius of
               law Gamma(D + 1, t) times a uniform point of the ball has the block's density (integrate over the
               radius). A Gamma is a sum of exponentials, which are rounded down to the grid 2**-`grid`: that makes
               them geometric, drawn exactly. A uniform point of a cross-polytope is the gaps between sorted uniform
               numbers, with random signs; the numbers are cut after 2 * WORD bits. So the drawn b' is within
               `rounding` of a b of exactly the law of 1, and |w - w*| <= (|grad F'(w)| + |b' - b|) / mu <= `radius`,
               where minimiser.py bounds the first term and `rounding` the second. `radius` is half a step of the
               lattice, so for every such w the nearest lattice point is one of two neighbours in each coordinate.
               5. *Composition.* P[answer in S] is the mean over w* of q(S | w), w near w*, q the lattice's noise. The
               density of w* costs the factor exp(`loss`), and q(S | w) <= exp(its loss at D) q(S | w') for all w, w'
               near the same w*.
    Rests on   tests/privacy/mechanisms/test_objective.py. 1-3: ::test_one_dimension_by_the_exact_density,
               ::test_loss_bounds_the_density_ratio, ::test_the_bound_is_attained_in_every_piece. 4:
               ::test_the_certificate_holds, ::test_the_drawn_noise_has_its_law. 5:
               ::test_the_lattice_hides_which_approximation_was_found.
    Errors     none that depend on the data. No floating point enters the law of the noise.
    """

    groups: tuple[int, ...]
    corner: Corner
    mu: float
    bits: int
    grid: int
    scales: tuple[float, ...]
    name = "objective perturbation for two classes"

    def __post_init__(self) -> None:
        self.check_noise()

    @classmethod
    def calibrated(
        cls, epsilon: Epsilon, distance: int, groups: Sequence[int], huber: float, strength: float, bits: int
    ) -> ObjectivePerturbation:
        """The least noise whose loss is at most epsilon, in exact arithmetic; mu is at least `strength` per group.

        mu is at least c / (exp(epsilon / 2) - 1) per group, so that the determinant costs at most half of epsilon; c is
        the second derivative where the corner begins, 1 / (2 `huber`). From there on it has pieces that end where
        their slope and their bend together cost epsilon, at the noise that the last piece leaves room for.
        """
        if epsilon < LEAST_EPSILON:
            raise ParameterError(f"epsilon={float(epsilon):.3g} for one hyperplane is too small; use a larger one")
        plain = Corner.of(huber)
        if epsilon == math.inf:
            return cls(tuple(groups), plain, strength * len(groups), bits, 0, ())
        least = float(plain.bend) / math.expm1(min(float(epsilon) / 2, 700.0))
        mu = max(strength, least * (1 + SLACK)) * len(groups)
        grid = math.floor(math.log2(4 * _rounding_steps(groups) / mu)) + bits + 2
        corner = fitting_corner(Fraction(epsilon), distance, groups, huber, mu)
        rate = min(
            (Fraction(epsilon) - lost) / (distance - 1 + slope)
            for slope, lost in zip(corner.slopes, determinant_losses(corner, groups, mu), strict=True)
        )
        scales = tuple(fitting_scale(rate * part, grid, epsilon) for part in rate_parts(groups))
        return cls(tuple(groups), corner, mu, bits, grid, scales)

    def loss_with(self, noise: Fraction, distance: int) -> Fraction:
        """As PerturbedObjective: the largest sum of both in a piece of the corner (3)."""
        lost = determinant_losses(self.corner, self.groups, self.mu)
        pieces = zip(self.corner.slopes, lost, strict=True)
        return max((distance - 1 + slope) * noise + lost for slope, lost in pieces)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return sum(self.groups)

    @property
    def rounding_steps(self) -> float:
        """A bound on the L2 distance between the drawn noise and noise of exactly the stated law, in grid steps.

        Proof      a radius r is rounded down by less than (D + 1) * 2**-grid, and the uniform point u has |u|_2 at most
                   the root of its number of groups; u is cut by less than 2**-124 per coordinate, and no r exceeds
                   2**63 * (D + 1) grid steps: together less than (D + 2) * root(groups) steps per block.
        """
        return _rounding_steps(self.groups)

    @property
    def largest_variance(self) -> float:
        """The variance of the coordinate of b that has the largest; pictures show it, privacy does not depend on it.

        A radius of law Gamma(D + 1, t) has a mean square of (D + 1) (D + 2) t^2, and a coordinate of a uniform point of
        the cross-polytope of v coordinates one of 2 / ((v + 1) (v + 2)).
        Test  tests/privacy/mechanisms/test_objective.py::test_the_largest_variance_is_that_of_the_draws
        """
        found = [0.0]
        for size, scale in zip(sorted(set(self.groups)), self.scales, strict=False):
            number, t = self.groups.count(size) * size, math.ldexp(scale, -self.grid)
            found.append((number + 1) * (number + 2) * t**2 * 2 / ((size + 1) * (size + 2)))
        return max(found)

    def draw(self, rng: Randomness) -> list[Fraction]:
        """The random linear term b."""
        if not self.scales:
            return [Fraction(0)] * self.size
        sizes = sorted(set(self.groups))
        radii = {
            size: gamma(self.groups.count(size) * size + 1, scale, rng)
            for size, scale in zip(sizes, self.scales, strict=True)
        }
        unit = Fraction(2) ** (self.grid + 2 * WORD)
        return [radii[size] * gap / unit for size in self.groups for gap in _cross_polytope(size, rng)]

    def perturb(self, problem: Records, rng: Randomness) -> NDArray[np.int64]:
        """Draw b, minimise, and answer the lattice point nearest to the minimiser."""
        w = minimise(problem, self.corner, self.mu, self.draw(rng), self.tolerance)
        return self.on_lattice(w)


def rate_parts(groups: Sequence[int]) -> list[Fraction]:
    """How the rate of the noise is divided among blocks of groups of the same size, smallest first; the sum is 1.

    In a block with k groups of size v, a coordinate has a variance of about (k v)^2 q / rate^2, q = 2 / ((v+1)(v+2)).
    """
    return parts_of_rate(groups, lambda size: 2 * size**2 / ((size + 1) * (size + 2)))


def fitting_corner(epsilon: Fraction, distance: int, groups: Sequence[int], huber: float, mu: float) -> Corner:
    """The corner in whose pieces slope and bend together cost at most epsilon, at the rate of noise that is left by the
    bend of the last one.

    It begins as a hinge that is rounded within `huber`, and is nearly one where bends cost hardly anything.
    """
    lost = determinant_losses(Corner.of(huber, [Fraction(1)] * (PIECES - 1)), groups, mu)
    rate = (epsilon - lost[-1]) / distance
    return Corner.of(huber, [min((epsilon - each) / rate - (distance - 1), Fraction(1)) for each in lost[:-1]])


def determinant_losses(corner: Corner, groups: Sequence[int], mu: float) -> list[Fraction]:
    """The largest logarithm of the ratio of determinants by one record whose margin is in each piece, rounded up."""
    return [log_above(1 + bend * len(groups) / Fraction(mu)) for bend in corner.bends]


def _rounding_steps(groups: Sequence[int]) -> float:
    """The bound on the rounding of b, in grid steps."""
    return (sum(groups) + 2 * len(set(groups))) * math.sqrt(len(groups)) * (1 + SLACK)


def _cross_polytope(size: int, rng: Randomness) -> list[int]:
    """A uniform point of the unit ball of the L1 norm, in units of 2**-(2 * WORD), each coordinate cut towards 0."""
    words = rng.integers(2**WORD, (size, 2)).tolist()
    ends = sorted((high << WORD) + low for high, low in words)
    gaps = [right - left for left, right in zip([0, *ends], ends, strict=False)]
    signs = rng.integers(2, (size,)).tolist()
    return [gap if sign else -gap for gap, sign in zip(gaps, signs, strict=True)]
