"""The door for hyperplanes: pay, read the rows, perturb the objective, minimise it, add noise on a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.doors.hyperplane_folds import held_or_folded
from discreet.doors.passage import Payer, passage
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step, split_by_weight
from discreet.queries.hyperplanes import Hyperplanes
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources import Source

SHARES = (99, 1)
"""How epsilon is divided between the noise of the objective and the noise on the lattice. The lattice only has to hide
rounding: nearly all goes to the objective. benchmarks/svm.py measures the accuracy with it."""


@dataclass(frozen=True, repr=False)
class Plane:
    """The weights of hyperplanes before they are put on a lattice; the distance counts records added or removed."""

    words: str

    def __repr__(self) -> str:
        return self.words

    def distance(self, schema: Schema) -> int:
        """One record under add-remove, two under replace-one."""
        return schema.adjacency.distance


@dataclass(frozen=True, repr=False)
class OnLattice:
    """The lattice point next to a minimiser: in each coordinate one of two neighbours, whatever the records are."""

    words: str
    size: int

    def __repr__(self) -> str:
        return f"{self.words}, on a lattice"

    def distance(self, schema: Schema) -> int:
        """The L1 distance of two such points: at most one per coordinate (proofs of the mechanisms)."""
        return self.size


Found = ObjectivePerturbation | MulticlassPerturbation


def _steps(
    query: Hyperplanes, schema: Schema, epsilon: Epsilon, huber: float, strength: float
) -> tuple[Step[Plane, Found], Step[OnLattice, DiscreteLaplace]]:
    """The two steps, at shares that sum to epsilon: one hyperplane for two classes, or all classes at once."""
    first, second = split_by_weight(epsilon, SHARES)
    groups, classes = query.groups(schema), len(schema.classes)
    words = f"hyperplane for {schema.classes[-1]}" if classes <= 2 else f"hyperplanes for {classes} classes"
    plane, point = Plane(words), OnLattice(words, query.problems(schema) * sum(groups))
    distance = plane.distance(schema)
    objective: Found
    if classes <= 2:
        objective = ObjectivePerturbation.calibrated(first, distance, groups, huber, strength, query.bits)
    else:
        objective = MulticlassPerturbation.calibrated(first, distance, groups, classes, huber, strength, query.bits)
    lattice = DiscreteLaplace.calibrated(second, point.distance(schema))
    return Step(plane, objective, first), Step(point, lattice, second)


def separate(
    source: Source,
    schema: Schema,
    query: Hyperplanes,
    epsilon: Epsilon,
    huber: float,
    strength: float,
    ledger: Payer,
    rng: Randomness,
    purpose: str = "hyperplanes",
) -> NoisyStatistics:
    """Pay, then read, then find the hyperplane between two classes, or those of all classes at once.

    Guarantee  the result is ε-DP under the schema's adjacency.
    Proof      the weights are found by `ObjectivePerturbation` (two classes) or `MulticlassPerturbation` (more) at
               99/100 of ε, followed by discrete Laplace noise for the L1 distance of two lattice points, which is the
               number of weights, at 1/100: together this costs ε, by the proofs there. A record without one of the
               classes does not enter the objective.
    Order      that of the passage. No exception after the charge depends on a value, and the minimiser always
               converges (minimiser.py).
    Test       tests/models/linear/test_linear_svm.py::test_whole_fit_stays_within_epsilon_and_leaks_nothing
    """
    plane, point = _steps(query, schema, epsilon, huber, strength)
    reading, receipt = passage(source, schema, [plane, point], ledger, rng, purpose)
    features = query.features(schema)
    cells = [cells for each in features for cells in each.read] or [Cells(schema.names[0])]
    problem = held_or_folded(reading.passes(cells), features, schema)
    weights = point.mechanism.perturb(plane.mechanism.perturb(problem, rng), rng)
    return NoisyStatistics([(query, NoisyTable(np.atleast_2d(weights), math.inf))], receipt)


def check_affordable(schema: Schema, query: Hyperplanes, epsilon: Epsilon, huber: float, strength: float) -> None:
    """Raise ParameterError if epsilon is too small for these hyperplanes; nothing is read or charged."""
    _steps(query, schema, epsilon, huber, strength)


def weight_deviation(schema: Schema, query: Hyperplanes, epsilon: Epsilon, huber: float, strength: float) -> float:
    """About the largest standard deviation that noise gives a weight; a function of public things alone.

    The noise b of the gradient moves the minimiser by b divided by the curvature of the objective, which is at least
    that of the penalty, mu; records add to it, so that weights about which many records speak move less. Lattice noise
    comes on top.
    """
    if epsilon == math.inf:
        return 0.0
    plane, point = _steps(query, schema, epsilon, huber, strength)
    moved = math.sqrt(plane.mechanism.largest_variance) / plane.mechanism.mu
    return math.hypot(moved, math.ldexp(math.sqrt(point.mechanism.variance), -query.bits))
