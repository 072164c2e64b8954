"""How much each class counts: a public parameter, applied to what was published.

Without weights a model is right for as many records as it can be, and finds a class of 5 % seldom or never. With
"balanced" all classes count the same in total: each record counts in inverse proportion to its class's noisy number.

Guarantee  weights change neither what is asked of the data nor its price.
Proof      they are numbers that the user gives, or a function of published counts: post-processing of these. (What is
           asked besides for the sake of weights, by linear models, has a door and a share of ε of its own:
           doors/margins.py.)
Test       tests/models/test_class_weights.py::test_a_fit_with_weights_stays_within_epsilon_and_leaks_nothing
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.queries.trees import HEAVIEST
from discreet.records.encoding import class_codes, label_array
from discreet.schema import Schema
from discreet.schema.columns import text_of

Vector = NDArray[np.float64]

BALANCED = "balanced"
RANGE = 1e-6, 1e6
"""Weights that a class may have: far more than is useful, but no zero and no infinity."""


def check_class_weight(value: Any, schema: Schema | str) -> None:
    """Raise ParameterError unless it is None, "balanced", or a weight for each of some classes; others weigh 1."""
    if value is None or (isinstance(value, str) and value == BALANCED):
        return
    if not isinstance(value, Mapping) or not value:
        raise ParameterError(
            f"class_weight={value!r}; need None, 'balanced', or a weight by class, such as {{'yes': 10}}"
        )
    for label, weight in value.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not is_number or not RANGE[0] <= weight <= RANGE[1]:
            raise ParameterError(
                f"class_weight: {text_of(label)!r} has the weight {weight!r}; need a number from {RANGE[0]:g} to "
                f"{RANGE[1]:g}"
            )
    if isinstance(schema, Schema):
        places = _places(value, schema)
        unknown = [text_of(label) for label, place in zip(value, places, strict=True) if place == len(schema.classes)]
        if unknown:
            known = ", ".join(text_of(label) for label in schema.classes)
            raise ParameterError(f"class_weight: {unknown[0]!r} is not a class; need some of: {known}")
        if len(set(places)) < len(places):
            raise ParameterError("class_weight: a class has two weights; give one")


def weights_of(value: Any, schema: Schema, noisy_counts: NDArray[Any], least: float = 0.0) -> Vector | None:
    """The weight of each class of the schema, such that all records together weigh what they count; None for none.

    `least` is how large a noisy count may be by noise alone: a smaller one counts as that.
    """
    if value is None:
        return None
    counts = np.maximum(np.asarray(noisy_counts, dtype=np.float64), max(least, 1e-12))
    if isinstance(value, str):
        weights = 1 / counts
    else:
        weights = np.ones(len(schema.classes))
        for weight, place in zip(value.values(), _places(value, schema), strict=True):
            weights[place] = float(weight)
    return np.asarray(weights * (counts.sum() / float(weights @ counts)))


def in_integers(value: Any, schema: Schema, noisy_counts: NDArray[Any] | None = None) -> tuple[int, ...]:
    """The weights as integers from 1 to `HEAVIEST`, for comparing splits; the heaviest class has that weight."""
    counts = np.ones(len(schema.classes)) if noisy_counts is None else np.maximum(noisy_counts, 1.0)
    weights = weights_of(value, schema, counts)
    assert weights is not None, "weights were asked for"
    return tuple(max(1, round(HEAVIEST * float(weight) / float(weights.max()))) for weight in weights)


def plain(value: Any) -> Any:
    """The parameter for a file: classes by their spelling, which is how they are found again."""
    return {text_of(label): float(weight) for label, weight in value.items()} if isinstance(value, Mapping) else value


def described(weights: Vector | None, classes: Any) -> str:
    """A sentence about weights, for explanations; empty if there are none."""
    if weights is None:
        return ""
    told = ", ".join(f"{label} × {weight:.3g}" for label, weight in zip(classes, weights, strict=True))
    return f"Classes are weighted ({told}): shares and probabilities below are weighted too, and are no frequencies."


def _places(value: Mapping[Any, Any], schema: Schema) -> list[int]:
    return [int(place) for place in class_codes(label_array(list(value)), schema)]
