"""Objective perturbation for three or more classes: the weights of all classes by one random linear term."""

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
from discreet.privacy.mechanisms.multiclass_minimiser import minimise
from discreet.privacy.mechanisms.perturbed_objective import (
    LEAST_EPSILON,
    PerturbedObjective,
    fitting_scale,
    gamma,
    parts_of_rate,
)
from discreet.privacy.mechanisms.problem import SLACK, Records
from discreet.privacy.mechanisms.sum_zero import WORD, uniform_points
from discreet.privacy.randomness import Randomness

ROUND_TAU = 20
"""tau is a multiple of 2**-20, so that it is an integer in the fixed-point numbers of the certificate."""
SMOOTHING = 1.5
"""tau over `huber` and classes. Among 1, 1.5 and 2 on three small data sets at three ε the mean accuracies were 0.787,
0.792 and 0.793, and the last lost 0.035 on one of them. The slope at zero weights is full while tau <= 2 (K - 1)."""
MOST_WEIGHTS = 1 << 17
"""The most weights, classes times coordinates. More would take many minutes, and nearly all of them would be noise."""


@dataclass(frozen=True)
class MulticlassPerturbation(PerturbedObjective):
    """Minimise sum l(W; x, y) + (mu / 2) |W|^2 + <B, W> for a random B; answer W on the lattice of 2**-`bits`.

    W has a row for each of K classes. l is the largest margin violation, smoothed by `tau` (multiclass_minimiser.py). x
    has D coordinates in groups of L1 norm at most 1 each (queries/hyperplanes.py); groups of the same size form a
    block. In B the classes of each coordinate sum to zero; on this space, of (K-1) D dimensions, B has the density
    proportional to exp(-sum over blocks of N(B_block) / t_block), N half the largest L1 norm of the block's groups.

    Guarantee  if one record is added or removed (`distance` 1) or replaced (2), there is a W* whose law changes by a
               factor of at most exp(`loss(distance)`), and given W* each entry of the answer is one of two neighbouring
               integers that depend on W* alone. So discrete Laplace noise for the L1 distance K D, the number of
               entries, makes the noisy answer (`loss(distance)` + its loss at K D)-DP. Without that noise
               nothing is guaranteed.
    Proof      1. *Density.* The gradient of l is (p - e_y) x^T with p in the simplex: its classes sum to zero. So do
               those of W*, the minimiser over all W, since mu W* = -B - sum of the gradients. On the sum-zero space
               grad F(W*) = 0 says B = B(W*) with B(W) = -mu W - sum of (p - e_y) x^T, which is one-to-one, onto and
               Lipschitz both ways (F is strongly convex with Lipschitz gradient) and linear on each of finitely many
               polyhedra. So W* has there the density p(B(W)) det(mu I + H(W)) almost everywhere, H the Hessian.
               2. *Noise.* One record moves B(W) by (p - e_y) x^T. |p - e_y|_1 <= 2 and a group of x has L1 norm at most
               1, so N is at most 1 in each block; by the triangle inequality log p changes by at most the sum of
               1 / t_block, for each record added or removed.
               3. *Determinant.* One record's Hessian is J x x^T / tau (a Kronecker product), J the projection on the
               sum-zero vectors of the classes S with p > 0: it is U U^T, where U has |S| - 1 <= K - 1 orthogonal
               columns of length |x| / root(tau). With A = mu I + (Hessian of the records in common), the ratio of
               determinants is at most det(A + U U^T) / det(A) = det(I + U^T A^-1 U) <= det(I + U^T U / mu)
               = (1 + |x|^2 / (tau mu))^(|S|-1) <= (1 + groups / (tau mu))^(K-1), since a record of the other table
               only lowers it: once, for both adjacencies. `loss` is the sum of 2 and 3.
               4. *Arithmetic.* In a block of k groups of size v, of dimension d = k v (K-1), a radius of law
               Gamma(d + 1, t) times a uniform point of N's unit ball has the block's density (integrate over the
               radius); the ball is a product of those of the groups (sum_zero.py). A Gamma is a sum of exponentials,
               which are rounded down to the grid 2**-`grid`: that makes them geometric, drawn exactly. So the drawn B'
               is within `rounding` of a B of exactly the law of 1, and |W - W*| <= (|grad F'(W)| + |B' - B|) / mu <=
               `radius`, where multiclass_minimiser.py bounds the first term and `rounding` the second. `radius` is half
               a step of the lattice, so for every such W the nearest lattice point is one of two neighbours in each
               entry.
               5. *Composition.* As for two classes (objective.py): the density of W* costs the factor exp(`loss`), and
               the lattice's noise the loss at K D for all W near the same W*.
    Rests on   tests/privacy/mechanisms/test_multiclass_objective.py. 1-3: ::test_one_coordinate_by_the_exact_density,
               ::test_loss_bounds_the_density_ratio, ::test_the_bound_is_attained. 4: ::test_the_certificate_holds,
               ::test_the_drawn_noise_has_its_law. 5: ::test_the_lattice_hides_which_approximation_was_found.
    Errors     none that depend on the data. No floating point enters the law of the noise.
    """

    groups: tuple[int, ...]
    classes: int
    tau: float
    mu: float
    bits: int
    grid: int
    scales: tuple[float, ...]
    name = "objective perturbation for all classes"

    def __post_init__(self) -> None:
        if not self.classes >= 3:
            raise ParameterError(f"{self.classes} classes; need three")
        if not (self.tau > 0 and math.ldexp(self.tau, ROUND_TAU).is_integer()):
            raise ParameterError(f"tau={self.tau}; need a positive multiple of 2^-{ROUND_TAU}")
        self.check_noise()

    @classmethod
    def calibrated(
        cls,
        epsilon: Epsilon,
        distance: int,
        groups: Sequence[int],
        classes: int,
        huber: float,
        strength: float,
        bits: int,
    ) -> MulticlassPerturbation:
        """The least noise whose loss is at most epsilon, in exact arithmetic; mu is at least `strength` per group.

        tau is SMOOTHING * `huber` per class, since with K classes active a record bends F in K - 1 directions. mu is at
        least 1 / tau / (exp(epsilon / (2 (K - 1))) - 1) per group, so that the determinant costs at most half of
        epsilon.
        """
        if epsilon < LEAST_EPSILON:
            raise ParameterError(f"epsilon={float(epsilon):.3g} for {classes} classes is too small; use a larger one")
        if classes * sum(groups) > MOST_WEIGHTS:
            raise ParameterError(
                f"{classes} classes times {sum(groups)} coordinates are too many weights; need at most {MOST_WEIGHTS}: "
                "use fewer columns, knots or classes, or another model"
            )
        tau = max(1, round(math.ldexp(SMOOTHING * classes * huber, ROUND_TAU))) / 2**ROUND_TAU
        if epsilon == math.inf:
            return cls(tuple(groups), classes, tau, strength * len(groups), bits, 0, ())
        least = 1 / tau / math.expm1(min(float(epsilon) / (2 * (classes - 1)), 700.0))
        mu = max(strength, least * (1 + SLACK)) * len(groups)
        grid = math.floor(math.log2(4 * _rounding_steps(groups, classes) / mu)) + bits + 2
        rate = (Fraction(epsilon) - determinant_loss(groups, classes, tau, mu)) / distance
        scales = tuple(fitting_scale(rate * part, grid, epsilon) for part in rate_parts(groups, classes))
        return cls(tuple(groups), classes, tau, mu, bits, grid, scales)

    def loss_with(self, noise: Fraction, distance: int) -> Fraction:
        """As PerturbedObjective: noise for each record that differs, and the determinant once (3)."""
        return distance * noise + determinant_loss(self.groups, self.classes, self.tau, self.mu)

    @property
    def size(self) -> int:
        """Number of weights of all classes."""
        return self.classes * sum(self.groups)

    @property
    def rounding_steps(self) -> float:
        """A bound on the L2 distance between the drawn noise and noise of exactly the stated law, in grid steps.

        Proof      a radius r is rounded down by less than (d + 1) * 2**-grid, d the dimension of its block, and the
                   uniform point u has |u|_2 at most the root of twice its number of groups, since in a group the
                   positive entries sum to at most 1 and so do the negative ones. An entry of u is a product of two
                   numbers up to 1, each off by less than 2**-124, and no r exceeds 2**63 * (d + 1) grid steps: with
                   less than 2**38 entries that is less than one step. Together less than (d + 2) * root(2 groups) steps
                   per block.
        """
        return _rounding_steps(self.groups, self.classes)

    @property
    def largest_variance(self) -> float:
        """About the variance of the entry of B that has the largest; pictures show it, privacy does not depend on it.

        As `noise_variance`, for the block with the largest entries.
        Test  tests/privacy/mechanisms/test_objective.py::test_the_largest_variance_is_that_of_the_draws
        """
        found = [0.0]
        for size, scale in zip(sorted(set(self.groups)), self.scales, strict=False):
            number = self.groups.count(size) * size * (self.classes - 1)
            radius = (number + 1) * (number + 2) * math.ldexp(scale, -self.grid) ** 2
            found.append(radius * size_square(size, self.classes) * 8 / (self.classes * (self.classes + 2)))
        return max(found)

    def draw(self, rng: Randomness) -> list[Fraction]:
        """The random linear term B, one row per class, flattened."""
        if not self.scales:
            return [Fraction(0)] * self.size
        sizes = sorted(set(self.groups))
        radii = {
            size: gamma(self.groups.count(size) * size * (self.classes - 1) + 1, scale, rng)
            for size, scale in zip(sizes, self.scales, strict=True)
        }
        unit = Fraction(2) ** (self.grid + 4 * WORD)
        points = uniform_points(self.groups, self.classes, rng)
        owners = [radii[size] for size in self.groups for _ in range(size)]
        columns = zip(*points, strict=True)
        return [radius * entry / unit for row in columns for radius, entry in zip(owners, row, strict=True)]

    def perturb(self, problem: Records, rng: Randomness) -> NDArray[np.int64]:
        """Draw B, minimise, and answer the lattice point nearest to the minimiser, one row per class."""
        w = minimise(problem, self.classes, self.tau, self.mu, self.draw(rng), self.tolerance)
        return self.on_lattice(w).reshape(self.classes, -1)


def rate_parts(groups: Sequence[int], classes: int) -> list[Fraction]:
    """How the rate of the noise is divided among blocks of groups of the same size, smallest first; the sum is 1.

    In a block with k groups of size v, an entry has a variance of about (k v (K-1))^2 q / rate^2 times a factor of K
    alone, q = K (K-1) / (((K-1) v + 1) ((K-1) v + 2)) the mean square of a coordinate's size, and a record has k
    coordinates: the sum over blocks is least with rates in proportion to k (v^2 q)^(1/3). As objective.py for K = 2.
    """
    return parts_of_rate(groups, lambda size: size**2 * size_square(size, classes))


def size_square(size: int, classes: int) -> float:
    """The mean square of half the L1 norm of a coordinate, in a group of this size: of a Beta variable."""
    whole = (classes - 1) * size
    return classes * (classes - 1) / ((whole + 1) * (whole + 2))


def noise_variance(groups: Sequence[int], classes: int, epsilon: float) -> float:
    """About the variance of an entry of B, averaged over the groups, if all of epsilon went to the noise.

    For choices such as the regularisation; privacy does not depend on it. The mean square of an entry whose coordinate
    has size 1 is about 8 / (K (K + 2)): half of the classes are positive, and share a sum of 1.
    """
    total = 0.0
    for size, part in zip(sorted(set(groups)), rate_parts(groups, classes), strict=True):
        count = groups.count(size)
        radius = (count * size * (classes - 1) + 1) / (epsilon * float(part))
        total += count * radius**2 * size_square(size, classes) * 8 / (classes * (classes + 2))
    return total / len(groups)


def determinant_loss(groups: Sequence[int], classes: int, tau: float, mu: float) -> Fraction:
    """The largest logarithm of the ratio of determinants by one record, rounded up."""
    return (classes - 1) * log_above(1 + Fraction(len(groups)) / (Fraction(tau) * Fraction(mu)))


def _rounding_steps(groups: Sequence[int], classes: int) -> float:
    """The bound on the rounding of B, in grid steps."""
    dimensions = sum(groups) * (classes - 1)
    return (dimensions + 2 * len(set(groups))) * math.sqrt(2 * len(groups)) * (1 + SLACK)
