"""Checks of the parameters that trees and forests share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from discreet.errors import ParameterError
from discreet.models.parameter_checks import check_integer, check_one_of
from discreet.models.trees.plan import MOST_DEPTH
from discreet.queries.trees import MOST_BINS, SCORES


def check_tree_parameters(model: Any, structures: Sequence[str]) -> None:
    """Raise ParameterError if a parameter that trees and forests share is out of range."""
    check_one_of("structure", model.structure, structures)
    if model.class_weight is not None and model.structure in ("stump", "labelled"):
        raise ParameterError(
            f"structure={model.structure!r} names the class of each part by majority, which class_weight cannot "
            "change; use 'auto', 'greedy' or 'random'"
        )
    check_one_of("criterion", model.criterion, ("auto", *SCORES))
    if model.max_depth is not None:
        check_integer("max_depth", model.max_depth, 0, MOST_DEPTH, or_="None")
    if model.thresholds != "auto":
        check_integer("thresholds", model.thresholds, 1, MOST_BINS - 1, or_="'auto'")
    is_number = isinstance(model.prune, Real) and not isinstance(model.prune, bool)
    if model.prune != "auto" and not (is_number and 0 <= float(model.prune) < math.inf):
        raise ParameterError(f"prune={model.prune!r}; need 'auto' or a number of standard deviations, 0 or more")
