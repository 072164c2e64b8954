"""Record what enters each mechanism on one table, replay on a neighbour with the same noisy outputs.

If the two runs ask the same mechanisms in the same order, and the tables that enter them lie within what was paid, then
the fit is ε-DP; and with equal outputs everything that can be seen of the two models must be equal. What differs was
not released: it leaked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.models.saving import to_dict
from discreet.privacy import smooth_sensitivity
from discreet.privacy.mechanisms.corner import STEPS, Corner
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.problem import Problem
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.mechanisms.smooth import SmoothCauchy

OBJECTIVES = (ObjectivePerturbation, MulticlassPerturbation)


@dataclass
class Passage:
    """One table on its way through a mechanism."""

    mechanism: Any
    entered: np.ndarray
    left: np.ndarray


class Seen:
    """Sums that are none: all records that they meet are kept, even by a copy that was sent elsewhere as bytes."""

    size = 1
    blocks: ClassVar[list[Any]] = []

    def __call__(self, codes: Any, sides: Any) -> np.ndarray:
        self.blocks.append((list(codes), sides))
        return np.zeros(1, dtype=np.int64)


def entering(records: Any) -> Problem:
    """All records that enter a mechanism, wherever they are."""
    if isinstance(records, Problem):
        return records
    Seen.blocks.clear()
    records.fold(Seen())
    none = np.empty(0, dtype=np.uint16)
    codes = [
        np.concatenate([none, *(block[place] for block, _ in Seen.blocks)]) for place in range(len(records.features))
    ]
    sides = np.concatenate([own for _, own in Seen.blocks]) if Seen.blocks else none
    return Problem(records.features, tuple(codes), sides)


@contextmanager
def recorded(passages: list[Passage], replayed: list[Passage] | None = None):
    """Record every passage; with `replayed`, give out the recorded outputs instead of fresh ones."""
    originals = {kind: kind.perturb for kind in (DiscreteLaplace, SmoothCauchy, *OBJECTIVES)}

    def spy(original: Callable[..., Any]) -> Callable[..., Any]:
        def perturb(self: Any, table: np.ndarray, rng: Any) -> np.ndarray:
            left = original(self, table, rng)
            if replayed is not None:
                assert len(passages) < len(replayed), "the neighbour is asked more queries"
                left = replayed[len(passages)].left
                if isinstance(self, OBJECTIVES):
                    left = left + 1  # near the same minimiser, the next lattice point may be met instead
            entered = table.copy() if isinstance(table, np.ndarray) else entering(table)
            passages.append(Passage(self, entered, left))
            return left

        return perturb

    for kind, original in originals.items():
        kind.perturb = spy(original)
    choose = PermuteAndFlip.choose
    PermuteAndFlip.choose = spy(choose)
    try:
        yield
    finally:
        PermuteAndFlip.choose = choose
        for kind, original in originals.items():
            kind.perturb = original


def exact_loss(first: Passage, second: Passage) -> Fraction | float:
    """The loss of one mechanism between the tables that entered it, from the law of its noise."""
    assert type(first.mechanism) is type(second.mechanism)
    assert first.mechanism == second.mechanism, "the noise depends on the data"
    if isinstance(first.mechanism, OBJECTIVES):
        density = log_density if isinstance(first.mechanism, ObjectivePerturbation) else log_density_of_all
        densities = [density(each.entered, each.mechanism, first.left) for each in (first, second)]
        return abs(densities[0] - densities[1])
    assert first.entered.shape == second.entered.shape
    if isinstance(first.mechanism, DiscreteLaplace):
        return first.mechanism.loss(int(np.abs(first.entered - second.entered).sum()))
    if isinstance(first.mechanism, PermuteAndFlip):
        laws = [log_choice_law(passage.entered, first.mechanism.scale) for passage in (first, second)]
        return float(np.abs(laws[0] - laws[1]).max())
    return _cauchy_loss(first, second)


def log_choice_law(scores: np.ndarray, scale: float) -> np.ndarray:
    """Logarithms of the exact law of permute-and-flip: P[j] = p_j E[1 / (1 + number of others that would be accepted)].

    The mean is the integral of E[u^number], a product over the others: a polynomial, which Gauss' rule integrates
    exactly.
    """
    log_accepted = (scores - scores.max()) / scale
    accepted = np.exp(log_accepted)
    nodes, weights = np.polynomial.legendre.leggauss(len(scores) // 2 + 1)
    u, weights = (nodes + 1) / 2, weights / 2
    factors = np.log1p(-np.outer(1 - u, accepted))  # of 1 - p + p u, for each node and candidate
    others = factors.sum(axis=1, keepdims=True) - factors
    return np.asarray(log_accepted + np.log(weights @ np.exp(others)))


def choice_law(scores: np.ndarray, scale: float) -> np.ndarray:
    """The exact law of permute-and-flip."""
    return np.exp(log_choice_law(scores, scale))


def vectors(problem: Any) -> np.ndarray:
    """Records as rows of numbers, from the codes and the public features."""
    parts = []
    for feature, codes in zip(problem.features, problem.codes, strict=True):
        table = np.zeros((len(feature.places), feature.size))
        for place, weight in zip(feature.places.T, feature.weights.T, strict=True):
            table[np.arange(len(table)), place] += weight / feature.unit
        parts.append(table[codes])
    return np.hstack([*parts, np.ones((len(problem.sides), 1))])


def hinge(corner: Corner, margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """|l'| and l'' at margins, by interpolation between the ends of pieces: not the way of the code."""
    widths = np.array([rise * 2**piece for piece, rise in enumerate(corner.rises)])
    ends = (corner.start - np.append(0, np.cumsum(widths)))[::-1] / 2.0**STEPS
    slopes = np.append(0, np.cumsum(corner.rises))[::-1] / sum(corner.rises)
    piece = np.searchsorted(ends, margins)
    inside = (piece > 0) & (piece < len(ends))
    steepness = np.diff(slopes) / np.where(np.diff(ends) > 0, np.diff(ends), -np.inf)
    return np.interp(margins, ends, slopes), np.where(inside, -steepness[np.clip(piece, 1, len(ends) - 1) - 1], 0.0)


def log_density(problem: Any, mechanism: ObjectivePerturbation, lattice: np.ndarray) -> float:
    """Log-density of the minimiser at a lattice point, up to a constant free of the records: noise and Jacobian."""
    w, X = lattice / 2.0**mechanism.bits, vectors(problem)
    slopes, bends = hinge(mechanism.corner, problem.sides * (X @ w))
    b = X.T @ (slopes * problem.sides) - mechanism.mu * w
    norms = np.array([np.abs(part).sum() for part in np.split(b, np.cumsum(mechanism.groups)[:-1])])
    sizes = np.array(mechanism.groups)
    rates = [2.0**mechanism.grid / scale for scale in mechanism.scales]
    noise = sum(rate * norms[sizes == size].max() for size, rate in zip(sorted(set(sizes)), rates, strict=True))
    jacobian = mechanism.mu * np.eye(len(w)) + X.T @ (X * bends[:, None])
    return float(np.linalg.slogdet(jacobian)[1] - noise)


def log_density_of_all(problem: Any, mechanism: MulticlassPerturbation, lattice: np.ndarray) -> float:
    """The same for all classes at once, at the sum-zero matrix next to a lattice point.

    The Jacobian is that of the whole space: it has mu, whatever the records, where all classes move together.
    """
    W = lattice / 2.0**mechanism.bits
    W = W - W.mean(axis=0)
    X, own = vectors(problem), np.eye(mechanism.classes)[problem.sides.astype(int)]
    P = on_simplex((X @ W.T + 2 * (1 - own)).T / mechanism.tau).T
    B = (own - P).T @ X - mechanism.mu * W
    norms = np.array([np.abs(part).sum() / 2 for part in np.split(B, np.cumsum(mechanism.groups)[:-1], axis=1)])
    sizes = np.array(mechanism.groups)
    rates = [2.0**mechanism.grid / scale for scale in mechanism.scales]
    noise = sum(rate * norms[sizes == size].max() for size, rate in zip(sorted(set(sizes)), rates, strict=True))
    jacobian = mechanism.mu * np.eye(W.size)
    for active in np.unique(P > 0, axis=0):
        chosen = X[((P > 0) == active).all(axis=1)]
        centring = np.diag(active * 1.0) - np.outer(active, active) / active.sum()
        jacobian += np.kron(centring, chosen.T @ chosen) / mechanism.tau
    return float(np.linalg.slogdet(jacobian)[1] - noise)


def on_simplex(u: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex to each column, by halving: not the way of the code."""
    low, high = u.max(axis=0) - 1, u.max(axis=0)
    for _ in range(100):
        middle = (low + high) / 2
        above = np.maximum(u - middle, 0).sum(axis=0) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.maximum(u - high, 0)


def _cauchy_loss(first: Passage, second: Passage) -> float:
    grid = np.linspace(-1, 1, first.entered.shape[1])
    a, b = smooth_sensitivity.cauchy_calibration(float(first.mechanism.epsilon) / 2)
    loss = 0.0
    for row in range(len(first.entered)):
        lists = [np.repeat(grid, passage.entered[row]) for passage in (first, second)]
        for statistic, bound in (
            (np.mean, smooth_sensitivity.mean),
            (np.std, smooth_sensitivity.standard_deviation),
        ):
            values = [float(statistic(each)) if len(each) else 0.0 for each in lists]
            scales = [bound(each, -1, 1, b, "add-remove") / a for each in lists]
            loss += smooth_sensitivity.cauchy_divergence(values[0], scales[0], values[1], scales[1])
    return loss


def replay(fit: Callable[[Any], Any], table: Any, neighbour: Any) -> tuple[Fraction | float, Any, Any]:
    """The exact loss of a whole fit between two tables, and the two models with equal noisy outputs."""
    recording: list[Passage] = []
    replaying: list[Passage] = []
    with recorded(recording):
        model = fit(table)
    with recorded(replaying, recording):
        other = fit(neighbour)
    assert len(recording) == len(replaying), "the neighbour is asked fewer queries"
    losses = [exact_loss(*pair) for pair in zip(recording, replaying, strict=True)]
    return sum(losses, Fraction(0)), model, other


def visible(model: Any) -> str:
    """Everything that can be seen of a fitted model: its file, its texts, and every attribute."""
    attributes = {name: _plain(value) for name, value in vars(model).items() if name not in ("schema", "random_state")}
    return json.dumps([to_dict(model), model.explain(), model.guarantee_.statement(), repr(model), attributes])


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.shape, repr(value.tolist())]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "__dict__") and not isinstance(value, Enum):
        return [type(value).__name__, {name: _plain(each) for name, each in vars(value).items()}]
    return repr(value)
