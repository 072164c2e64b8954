"""The door for hyperplanes: charge, read the rows, perturb the objective, minimise, add lattice noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.budget import Charge, Epsilon, Ledger
from discreet.encoding import Cells
from discreet.errors import ParameterError
from discreet.hyperplanes import Feature, Hyperplanes
from discreet.mechanisms.laplace import DiscreteLaplace
from discreet.mechanisms.objective import ObjectivePerturbation
from discreet.mechanisms.problem import Problem
from discreet.plan import split_by_weight, split_evenly
from discreet.randomness import Randomness
from discreet.schema import Schema
from discreet.sources import Source
from discreet.statistics import NoisyStatistics, NoisyTable, Receipt

SHARES = (99, 1)
"""How the epsilon of a hyperplane is divided between the objective's noise and the lattice's."""


@dataclass(frozen=True)
class _Plan:
    """The two mechanisms of one hyperplane, with what each may cost."""

    objective: ObjectivePerturbation
    lattice: DiscreteLaplace
    shares: tuple[Epsilon, Epsilon]

    @classmethod
    def of(cls, query: Hyperplanes, schema: Schema, epsilon: Epsilon, huber: float, strength: float) -> _Plan:
        first, second = split_by_weight(epsilon, SHARES)
        groups = query.groups(schema)
        objective = ObjectivePerturbation.calibrated(first, _distance(schema), groups, huber, strength, query.bits)
        return cls(objective, DiscreteLaplace.calibrated(second, objective.size), (first, second))

    def charges(self, schema: Schema, what: str) -> list[Charge]:
        first, second = self.shares
        size, distance = self.objective.size, _distance(schema)
        if self.objective.loss(distance) > first or self.lattice.loss(size) > second:
            raise ParameterError(f"{what} costs more than its share of epsilon")
        return [
            Charge(what, self.objective.name, first, distance, self.objective.scale),
            Charge(f"{what}, on a lattice", self.lattice.name, second, size, self.lattice.scale),
        ]


def separate(
    source: Source,
    schema: Schema,
    query: Hyperplanes,
    epsilon: Epsilon,
    huber: float,
    strength: float,
    ledger: Ledger,
    rng: Randomness,
    purpose: str = "hyperplanes",
) -> NoisyStatistics:
    """Charge for all hyperplanes, then read, then find them one after another.

    Guarantee  the result is ε-DP under the schema's adjacency.
    Proof      each hyperplane is found by `ObjectivePerturbation` at 99/100 of its share of ε, followed by discrete
               Laplace noise for the L1 distance D at 1/100: its share by the proof there. A record is on some side of
               each of the hyperplanes, so losses add; shares sum to ε. A record with none of the classes is nowhere.
    Order      as for `release`: structure, charge, read. No exception after the charge depends on a value, and the
               minimiser always arrives (minimiser.py).
    Test       tests/test_linear_svm.py::test_whole_fit_stays_within_epsilon_and_leaks_nothing
    """
    source.check(schema)
    names = _names(schema, query)
    plans = [_Plan.of(query, schema, share, huber, strength) for share in split_evenly(epsilon, len(names))]
    charges = tuple(charge for plan, name in zip(plans, names, strict=True) for charge in plan.charges(schema, name))
    ledger.charge(purpose, charges, schema.adjacency)
    features, codes, labels = _read(source, schema, query)
    weights = []
    for place, plan in enumerate(plans):
        positive = place if len(plans) > 1 else len(schema.classes) - 1
        problem = Problem(features, codes, np.where(labels == positive, 1, -1).astype(np.int8))
        weights.append(plan.lattice.perturb(plan.objective.perturb(problem, rng), rng))
    table = NoisyTable(np.stack(weights), math.inf)
    return NoisyStatistics([(query, table)], Receipt(schema.adjacency, charges, rng.seeded, schema.hash))


def _distance(schema: Schema) -> int:
    """How many records come or go between neighbours."""
    return schema.adjacency.distance


def _names(schema: Schema, query: Hyperplanes) -> list[str]:
    """What is asked, in words: one for each hyperplane."""
    if query.problems(schema) == 1:
        return [f"hyperplane for {schema.classes[-1]}"]
    return [f"hyperplane for {label} against the rest" for label in schema.classes]


def _read(
    source: Source, schema: Schema, query: Hyperplanes
) -> tuple[tuple[Feature, ...], tuple[NDArray[np.uint16], ...], NDArray[np.uint16]]:
    """The codes and labels of the records that have one of the classes."""
    features = query.features(schema)
    cells = [each.cells for each in features] or [Cells(schema.names[0])]
    codes: list[list[NDArray[np.uint16]]] = [[np.empty(0, dtype=np.uint16)] for _ in features]
    labels: list[NDArray[np.uint16]] = [np.empty(0, dtype=np.uint16)]
    for block in source.rows(cells, schema):
        known = block.labels < len(schema.classes)
        labels.append(block.labels[known])
        for parts, feature in zip(codes, features, strict=True):
            parts.append(block.codes[feature.cells][known])
    return features, tuple(np.concatenate(parts) for parts in codes), np.concatenate(labels)
