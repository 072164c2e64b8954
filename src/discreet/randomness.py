"""Where all randomness comes from: OpenDP's exact samplers, or a seeded twin of the same law.

`random_state=None` draws secure noise. An integer makes runs repeatable, for experiments and tests: a seeded
release is private from no one who has the seed, and its receipt says so.
"""

from __future__ import annotations

import math
import random
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError


class Randomness(Protocol):
    """A source of noise."""

    seeded: bool

    def discrete_laplace(self, scale: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Independent draws of P[z] proportional to exp(-|z| / scale)."""
        ...

    def cauchy(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent standard Cauchy draws."""
        ...

    def laplace(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent standard Laplace draws: continuous, to reproduce published algorithms; not hardened."""
        ...


class SecureRandomness:
    """Draws that nobody can predict: the operating system's entropy, through OpenDP for integers."""

    seeded = False

    def discrete_laplace(self, scale: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact draws by OpenDP (Canonne, Kamath and Steinke 2020); no floating point touches the law."""
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        draws = dp.m.make_laplace(*space, scale=scale)([0] * math.prod(shape))
        return np.array(draws, dtype=np.int64).reshape(shape)

    def cauchy(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draws by inversion of 53 random bits: continuous noise, not hardened against float attacks."""
        system = random.SystemRandom()
        angles = np.array([system.random() for _ in range(math.prod(shape))])
        return np.asarray(np.tan(np.pi * (angles - 0.5)).reshape(shape))

    def laplace(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """By inversion of 53 random bits, to reproduce published algorithms: not hardened (Mironov 2012)."""
        system = random.SystemRandom()
        count = math.prod(shape)
        sizes = -np.log1p(-np.array([system.random() for _ in range(count)]))
        signs = np.array([system.getrandbits(1) for _ in range(count)], dtype=np.float64)
        draws: NDArray[np.float64] = np.copysign(sizes, signs - 0.5)
        return draws.reshape(shape)


class SeededRandomness:
    """Repeatable draws of the same law."""

    seeded = True

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def discrete_laplace(self, scale: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """The difference of two geometric variables has the two-sided law."""
        stop = -math.expm1(-1.0 / scale)
        first, second = (self._generator.geometric(stop, size=shape) for _ in range(2))
        return np.asarray(first - second, dtype=np.int64)

    def cauchy(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Standard Cauchy draws."""
        return np.asarray(self._generator.standard_cauchy(size=shape))

    def laplace(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Standard Laplace draws, continuous: to reproduce published algorithms, not hardened."""
        return self._generator.laplace(size=shape)


def as_rng(random_state: Any) -> Randomness:
    """None for secure noise; an integer, numpy generator or RandomState for repeatable noise."""
    if random_state is None:
        return SecureRandomness()
    if isinstance(random_state, SecureRandomness | SeededRandomness):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return SeededRandomness(random_state)
    if isinstance(random_state, np.random.RandomState):
        return SeededRandomness(np.random.default_rng(random_state.randint(2**31)))
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return SeededRandomness(np.random.default_rng(int(random_state)))
    raise ParameterError(f"random_state={random_state!r}; need None (secure noise) or a non-negative integer")
