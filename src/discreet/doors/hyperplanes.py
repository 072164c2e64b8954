"""The door for hyperplanes: pay, read the rows, perturb the objective, minimise it, add noise on a lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.doors.gathering import gather
from discreet.doors.passage import Payer, passage
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.problem import Problem
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import Step, split_by_weight, split_evenly
from discreet.queries.hyperplanes import Hyperplanes
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.sources import Source

SHARES = (99, 1)
"""How the epsilon of a hyperplane is divided between the noise of the objective and the noise on the lattice. The
lattice only has to hide rounding: nearly all goes to the objective. benchmarks/svm.py measures the accuracy with it."""


@dataclass(frozen=True, repr=False)
class Plane:
    """The weights of a hyperplane before they are put on a lattice; the distance counts records added or removed."""

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
        """The L1 distance of two such points: at most one per coordinate (ObjectivePerturbation)."""
        return self.size


def _steps(
    words: str, query: Hyperplanes, schema: Schema, epsilon: Epsilon, huber: float, strength: float
) -> tuple[Step[Plane, ObjectivePerturbation], Step[OnLattice, DiscreteLaplace]]:
    """The two steps of one hyperplane, at shares that sum to epsilon."""
    first, second = split_by_weight(epsilon, SHARES)
    plane, groups = Plane(words), query.groups(schema)
    point = OnLattice(words, sum(groups))
    objective = ObjectivePerturbation.calibrated(first, plane.distance(schema), groups, huber, strength, query.bits)
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
    """Pay for all hyperplanes, then read, then find them one after another.

    Guarantee  the result is ε-DP under the schema's adjacency.
    Proof      each hyperplane is found by `ObjectivePerturbation` at 99/100 of its share of ε, followed by discrete
               Laplace noise for the L1 distance D at 1/100: together this costs its share, by the proof there. A record
               is on some side of each hyperplane, so losses add; the shares sum to ε. A record without one of the
               classes enters none of the objectives.
    Order      that of the passage. No exception after the charge depends on a value, and the minimiser always
               converges (minimiser.py).
    Test       tests/models/linear/test_linear_svm.py::test_whole_fit_stays_within_epsilon_and_leaks_nothing
    """
    plans = _plans(schema, query, epsilon, huber, strength)
    reading, receipt = passage(source, schema, [step for plan in plans for step in plan], ledger, rng, purpose)
    features = query.features(schema)
    cells = [cells for each in features for cells in each.read] or [Cells(schema.names[0])]
    read, labels = gather(reading, cells, schema)
    codes = tuple(each.codes(read, len(labels)) for each in features)
    weights = []
    for place, (plane, point) in enumerate(plans):
        positive = place if len(plans) > 1 else len(schema.classes) - 1
        problem = Problem(features, codes, np.where(labels == positive, 1, -1).astype(np.int8))
        weights.append(point.mechanism.perturb(plane.mechanism.perturb(problem, rng), rng))
    return NoisyStatistics([(query, NoisyTable(np.stack(weights), math.inf))], receipt)


def check_affordable(schema: Schema, query: Hyperplanes, epsilon: Epsilon, huber: float, strength: float) -> None:
    """Raise ParameterError if epsilon is too small for these hyperplanes; nothing is read or charged."""
    _plans(schema, query, epsilon, huber, strength)


def _plans(
    schema: Schema, query: Hyperplanes, epsilon: Epsilon, huber: float, strength: float
) -> list[tuple[Step[Plane, ObjectivePerturbation], Step[OnLattice, DiscreteLaplace]]]:
    """The steps of each hyperplane, at equal shares of epsilon."""
    names = _names(schema, query)
    shares = split_evenly(epsilon, len(names))
    return [_steps(name, query, schema, share, huber, strength) for name, share in zip(names, shares, strict=True)]


def _names(schema: Schema, query: Hyperplanes) -> list[str]:
    """The words on the receipt for each hyperplane."""
    if query.problems(schema) == 1:
        return [f"hyperplane for {schema.classes[-1]}"]
    return [f"hyperplane for {label} against the rest" for label in schema.classes]
