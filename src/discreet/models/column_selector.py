"""What both selectors share: the chosen columns, what choosing them cost, and the schema for the next model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.models.public_data import accept_any_table, checked_public
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.receipt import Receipt
from discreet.records.chosen_columns import Choice, check_price, mark
from discreet.records.tables import Table, as_frame, as_matrix
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
    _container: str | None = None

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
        table, frame, names = Table(X, self.schema_), as_frame(X), self.selected_schema_.names
        table.check(self.schema_)
        wanted = self._container or get_config()["transform_output"]
        if frame is not None and wanted in ("default", type(frame.to_native()).__module__.partition(".")[0]):
            return _columns(frame, names)
        if wanted != "default":
            return _framed({name: table.column(name) for name in names}, wanted)
        if isinstance(X, Mapping):
            return {name: X[name] for name in names}
        if isinstance(X, list | tuple):
            return _side_by_side([table.column(name) for name in names], table.rows)
        return as_matrix(X, self.n_features_in_)[:, self.get_support()]

    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose the container of what `transform` returns: "default", "pandas", "polars", or None for no change.

        Columns of other tables get the type that they have there, or are objects: a library that guessed types from
        values would show these in what it refuses.
        """
        if transform is not None:
            self._container = transform
        return super().set_output(transform=transform)

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

        A list of records becomes an array of objects, in which each record is read by itself, as a fit reads it: what
        is no record, or lacks a value, has missing ones. X may be private, so no error depends on a value of it.
        """
        kept = super().transform(X)  # first: it raises NotFittedError
        check_price(X, self.schema_)  # else the new mark would hide what an older one says
        return mark(kept, Choice(self._chosen_from, self.selected_schema_))


def _columns(frame: nw.DataFrame[Any], names: Sequence[str]) -> Any:
    """Select columns of a data frame, whose names may be numbers; returns a frame of its own library."""
    by_text = {str(name): name for name in frame.columns}
    return frame.select([by_text[name] for name in names]).to_native()


def _side_by_side(columns: Sequence[NDArray[Any]], rows: int) -> NDArray[Any]:
    """Columns as an array of objects, cell by cell as they are."""
    whole = np.empty((rows, len(columns)), dtype=object)
    for place, column in enumerate(columns):
        whole[:, place] = column
    return whole


def _framed(columns: Mapping[str, NDArray[Any]], library: Any) -> Any:
    """Columns as a data frame, each with the type that it has: nothing is guessed from values."""
    series = {
        name: nw.new_series(name, column, backend=library)
        if column.dtype.kind in "biuf"
        else nw.new_series(name, column.tolist(), nw.Object(), backend=library)
        for name, column in columns.items()
    }
    return nw.from_dict(series).to_native()
