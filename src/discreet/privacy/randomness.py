"""Where all randomness comes from: secure samplers, and seeded ones of the same law.

`random_state=None` draws secure noise. An integer makes runs repeatable, for experiments and tests. A seeded release
hides nothing from anyone who has the seed, and its receipt says so.
"""

from __future__ import annotations

import math
import os
import random
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.privacy.exponential_coins import toss
from discreet.privacy.negative_binomial import sampler
from discreet.privacy.opendp_sampler import opendp_laplace


class Randomness(Protocol):
    """A source of noise."""

    seeded: bool

    def discrete_laplace(self, scale: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Independent draws of P[z] proportional to exp(-|z| / scale)."""
        ...

    def polya(self, scale: float, parties: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Independent Pólya shares: the sum of `parties` of them has the law of `discrete_laplace(scale)`."""
        ...

    def noisy_max(self, scores: NDArray[np.int64], scale: float) -> int:
        """The position of the largest score plus exponential noise of mean `scale`: the law of permute-and-flip."""
        ...

    def integers(self, below: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Independent draws, uniform on 0 ... below - 1; `below` is from 1 to 2**62."""
        ...

    def cauchy(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent standard Cauchy draws."""
        ...

    def laplace(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Independent standard Laplace draws: continuous, to reproduce published algorithms; not hardened."""
        ...


def _words(count: int) -> NDArray[np.uint64]:
    """Uniform words from the operating system's entropy."""
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SecureRandomness:
    """Draws that nobody can predict, from the operating system's entropy; OpenDP draws the discrete Laplace noise."""

    seeded = False

    def discrete_laplace(self, scale: float, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact draws by OpenDP (Canonne, Kamath and Steinke 2020); no floating point touches the law."""
        return opendp_laplace(scale, math.prod(shape)).reshape(shape)

    def polya(self, scale: float, parties: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact draws: the difference of two negative binomial variables."""
        first, second = (sampler(scale, parties).draw(math.prod(shape), _words) for _ in range(2))
        return (first - second).reshape(shape)

    def noisy_max(self, scores: NDArray[np.int64], scale: float) -> int:
        """Permute-and-flip, drawn exactly.

        The winner is the first candidate in random order whose coin, of probability exp((score - best) / scale), shows
        heads (McKenna and Sheldon 2020). Coins do not depend on the order: all are tossed, and one of those with heads
        is drawn.
        """
        heads = np.flatnonzero(toss(scores.max() - scores, scale, _words))
        return int(heads[self.integers(len(heads), (1,))[0]])

    def integers(self, below: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Exact draws: words out of range are drawn again."""
        count, surplus = math.prod(shape), np.uint64(64 - max(1, (below - 1).bit_length()))
        draws = np.empty(0, dtype=np.uint64)
        while len(draws) < count:
            words = _words(count - len(draws)) >> surplus
            draws = np.concatenate([draws, words[words < below]])
        return draws.astype(np.int64).reshape(shape)

    def cauchy(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draws by inversion of 53 random bits: continuous noise, not hardened against float attacks."""
        system = random.SystemRandom()
        angles = np.array([system.random() for _ in range(math.prod(shape))])
        return np.asarray(np.tan(np.pi * (angles - 0.5)).reshape(shape))

    def laplace(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Draws by inversion of 53 random bits, to reproduce published algorithms: not hardened (Mironov 2012)."""
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

    def polya(self, scale: float, parties: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """The difference of two negative binomial variables."""
        stop = -math.expm1(-1.0 / scale)
        first, second = (self._generator.negative_binomial(1 / parties, stop, size=shape) for _ in range(2))
        return np.asarray(first - second, dtype=np.int64)

    def noisy_max(self, scores: NDArray[np.int64], scale: float) -> int:
        """The largest of score plus exponential noise."""
        return int(np.argmax(scores + self._generator.exponential(scale, size=len(scores))))

    def integers(self, below: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Uniform draws, without bias."""
        return self._generator.integers(below, size=shape, dtype=np.int64)

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


def search_generator(seed: Any) -> np.random.Generator:
    """A generator for searches, never for noise: its draws protect no record.

    None gives a new search each time; a non-negative integer, numpy generator or RandomState makes it repeatable.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(2**31))
    if seed is None or (isinstance(seed, int | np.integer) and seed >= 0):
        return np.random.default_rng(None if seed is None else int(seed))
    raise ParameterError(f"seed={seed!r}; need None or a non-negative integer")


def seed_shared_generators() -> None:
    """Seed the generators that all code of a process shares from the system's entropy, after a fork has copied them.

    None of them draws noise.
    """
    random.seed()
    np.random.seed()  # noqa: NPY002 - it is the shared one
