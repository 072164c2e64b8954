"""What both selectors share: the chosen columns, what choosing them cost, and the schema for the next model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.models.public_data import accept_any_table, checked_public
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.receipt import Receipt
from discreet.records.chosen_columns import Choice, check_price, mark
from discreet.records.tables import Table, as_frame, as_matrix, check_records
from discreet.schema import Paid, Schema

CHOSEN = "columns"
"""Entry of `Schema.from_data` for columns that were chosen without a guarantee: no model made with it states one."""


def narrowed(schema: Schema, names: Sequence[str], guarantee: Guarantee) -> Schema:
    """Return the schema with only these columns, and what choosing them cost; the other columns are ignored.

    The guarantee already includes what the schema says was paid before, so it replaces that entry.
    """
    kept = [column for column in schema.columns if column.name in names]
    dropped = [name for name in schema.names if name not in names]
    marks = [each for each in schema.from_data if each.rpartition(".")[0] not in dropped]
    paid = schema.chosen
    if guarantee.holds:
        paid = Paid(Fraction(guarantee.epsilon), guarantee.adjacency, guarantee.experimental, guarantee.trust)
    return schema.replace(
        columns=kept,
        ignore=(*schema.ignore, *dropped),
        from_data=(*marks, *([] if guarantee.holds or CHOSEN in marks else [CHOSEN])),
        chosen=paid,
    )


class _Narrowing(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A selector without the mark: scikit-learn puts what this `transform` returns into the container of set_output."""

    schema: Schema | str

    def _set_choice(self, schema: Schema, names: Sequence[str], guarantee: Guarantee, receipt: Receipt) -> None:
        """Set all attributes of a fitted selector."""
        self.schema_ = schema
        self.columns_ = list(names)
        self.guarantee_, self.receipt_ = guarantee, receipt
        self.selected_schema_ = narrowed(schema, self.columns_, guarantee)
        self._chosen_from = self.schema if isinstance(self.schema, Schema) else schema
        self.n_features_in_ = len(schema.columns)
        self.feature_names_in_ = np.array(schema.names, dtype=object)

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X."""
        check_is_fitted(self, "columns_")
        if isinstance(self.schema, str):
            X = checked_public(X, width=self.n_features_in_, kind=type(self).__name__)
        check_records(X, self.schema_)
        names, frame = self.selected_schema_.names, as_frame(X)
        if frame is not None or isinstance(X, Mapping):
            Table(X, self.schema_).check(self.schema_)
            return {name: X[name] for name in names} if frame is None else _columns(frame, names)
        if isinstance(X, list | tuple) and (not X or any(isinstance(record, Mapping) for record in X)):
            records = [record if isinstance(record, Mapping) else {} for record in X]
            return {name: [record.get(name) for record in records] for name in names}
        return as_matrix(X, self.n_features_in_)[:, self.get_support()]

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns were chosen, in the order of the schema, as truth values or as positions."""
        check_is_fitted(self, "columns_")
        mask = np.isin(self.feature_names_in_, self.columns_)
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the chosen columns, in the order of the schema."""
        check_is_fitted(self, "columns_")
        names = self.feature_names_in_ if input_features is None else np.asarray(input_features, dtype=object)
        if len(names) != self.n_features_in_:
            raise ValueError(f"input_features should have length equal to number of features ({self.n_features_in_})")
        if not (names == self.feature_names_in_).all():
            raise ValueError("input_features is not equal to feature_names_in_")
        return np.asarray(self.feature_names_in_[self.get_support()])

    def __sklearn_tags__(self) -> Any:
        tags = accept_any_table(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags


class ColumnSelector(_Narrowing):
    """A selector: `transform` keeps the chosen columns; `selected_schema_`, and the mark on every table that
    `transform` returns, carry the choice and its cost on to the next step of a pipeline."""

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, in the order of the schema and in the same kind of container as X.

        A list of dicts becomes a mapping of columns instead: a model of the whole schema would read shorter dicts as
        records with missing values, and would not notice that columns had been chosen.
        """
        kept = super().transform(X)  # first: it raises NotFittedError
        check_price(X, self.schema_)  # else the new mark would hide what an older one says
        return mark(kept, Choice(self._chosen_from, self.selected_schema_))


def _columns(frame: nw.DataFrame[Any], names: Sequence[str]) -> Any:
    """Select columns of a data frame, whose names may be numbers; returns a frame of its own library."""
    by_text = {str(name): name for name in frame.columns}
    return frame.select([by_text[name] for name in names]).to_native()
