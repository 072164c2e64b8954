"""The data that a model is given: public data are checked as scikit-learn does, and sources must be sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from discreet.errors import ParameterError
from discreet.records.chosen_columns import schema_for
from discreet.records.drafting import schema_from_data
from discreet.records.tables import as_frame, check_stored_types
from discreet.schema import Schema
from discreet.sources import Source


def check_schema_parameter(schema: object) -> None:
    """Raise ParameterError unless `schema` is a Schema or "from-data"."""
    if not isinstance(schema, Schema) and schema != "from-data":
        raise ParameterError(f"schema={type(schema).__name__}; need a Schema, or 'from-data' for public data")


def with_schema(X: Any, y: Any, schema: Schema | str, kind: str) -> tuple[Any, Any, Schema]:
    """Return X, y and the given schema; for "from-data", checked X and y and a schema read off them.

    If a selector chose the columns of X from those of the schema, it is the schema of these columns, with their price.
    """
    if isinstance(schema, Schema):
        known = schema_for(X, schema)
        check_stored_types(X, y, known)
        return X, y, known
    X, y = checked_public(X, y, kind=kind)
    return X, y, schema_from_data(X, y)


def schema_for_source(source: Source, schema: Schema | str) -> Schema:
    """Return the schema under which a source is read; ParameterError if `source` is not a source."""
    if not hasattr(source, "count") or not hasattr(source, "rows"):  # a data frame has `count`, but not `rows`
        raise ParameterError(f"source={type(source).__name__}; need a source, for instance open_file(path)")
    if isinstance(schema, str):
        raise ParameterError("schema='from-data' reads data in memory only; use fit, or draft a schema first")
    return schema


def checked_public(X: Any, y: Any = "absent", width: int | None = None, kind: str = "NaiveBayes") -> Any:
    """Check public data as scikit-learn's estimators do, with the same errors; returns X, or X and y if y is given."""
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


def accept_any_table(tags: Any) -> Any:
    """Tell scikit-learn that missing values, categories and texts are welcome."""
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    return tags
