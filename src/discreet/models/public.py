"""Public data (schema="from-data"), checked as scikit-learn's own estimators check theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from discreet.records.tables import as_frame


def checked_public(X: Any, y: Any = "absent", width: int | None = None, kind: str = "NaiveBayes") -> Any:
    """Public data (schema="from-data") checked as scikit-learn's estimators do, errors and all."""
    is_records = isinstance(X, list) and len(X) > 0 and isinstance(X[0], dict)
    if as_frame(X) is None and not isinstance(X, dict) and not is_records:
        X = check_array(X, dtype=None, ensure_all_finite=False, input_name="X")
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if width is not None and X.shape[1] != width:
            raise ValueError(f"X has {X.shape[1]} features, but {kind} is expecting {width} features as input")
    if isinstance(y, str) and y == "absent":
        return X
    if y is None:
        raise ValueError(f"This {kind} estimator requires y to be passed, but the target y is None")
    labels = column_or_1d(np.asarray(y), warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if not is_records and not isinstance(X, dict):
        check_consistent_length(X, labels)
    return X, (y if hasattr(y, "name") else labels)
