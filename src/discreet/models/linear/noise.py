"""How far noise may have moved the weights of a linear model: from its receipt and its parameters, which are public.

Guarantee  costs nothing. Proof: it is a function of the published answers, their receipt, the schema and the model's
           parameters: post-processing.
Test       tests/models/linear/test_noise.py
"""

from __future__ import annotations

import math
from typing import Any

from discreet.doors.hyperplanes import weight_deviation
from discreet.errors import ParameterError
from discreet.models.linear import plan as planning
from discreet.models.record_count import MOST_RECORDS
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.tables import Total
from discreet.released.intervals import DEVIATIONS
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema


def noise_of_weights(model: Any, schema: Schema, noisy: NoisyStatistics) -> float | None:
    """How far noise moves a weight at most, in about 95 of 100 cases; 0 without noise, None if it is not known.

    The mechanism is calibrated once more, as it was for the fit. Files of earlier versions hold the weights of another
    one, so that nothing is known of their noise.
    """
    query = next(query for query, _ in noisy.tables if isinstance(query, Hyperplanes))
    last = noisy.receipt.charges[-2:]
    found = (MulticlassPerturbation if len(schema.classes) > 2 else ObjectivePerturbation).name
    if [each.mechanism for each in last] != [found, DiscreteLaplace.name]:
        return 0.0 if noisy.receipt.epsilon == math.inf else None
    epsilon = last[0].epsilon + last[1].epsilon
    huber = planning.fitting_huber(model.huber, schema, query.nodes is not None)
    strength = model.regularisation
    if strength == "auto":
        strength = planning.fitting_strength(query, schema, epsilon, _records(schema, noisy))
    try:
        return DEVIATIONS * weight_deviation(schema, query, epsilon, huber, float(strength))
    except ParameterError:
        return None


def _records(schema: Schema, noisy: NoisyStatistics) -> int:
    """The number of records that the penalty was planned for; if it is not known, the largest, with which the
    noise is not understated."""
    if schema.records is not None:
        return schema.records
    bought = [float(table.values.sum()) for query, table in noisy.tables if isinstance(query, Total)]
    return max(1, round(bought[0])) if bought else MOST_RECORDS
