"""Tables that can be published: every record perturbed on its own, so that any learner may be used afterwards.

This does not pass `release`, which counts: here each record is a release of its own, and the proof stands below.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from discreet.budget import Charge, Epsilon, Ledger, as_epsilon
from discreet.columns import Column, Label, Numeric, text_of
from discreet.encoding import Cells, class_codes
from discreet.errors import ParameterError
from discreet.guarantee import NEIGHBOURS, Guarantee, factor, shown_above
from discreet.mechanisms.laplace import DiscreteLaplace
from discreet.mechanisms.response import RandomizedResponse
from discreet.plan import split_by_weight, split_evenly
from discreet.randomness import Randomness, as_rng
from discreet.schema import Adjacency, Schema
from discreet.statistics import Receipt
from discreet.tables import Table, open_labelled
from discreet.values import Values

Columns: TypeAlias = dict[str, NDArray[Any]]
Mechanism: TypeAlias = DiscreteLaplace | RandomizedResponse
NoisyCodes: TypeAlias = list[NDArray[np.uint16]]
"""Perturbed cells, an array a component: the attributes, then the label."""

UNLISTED = "(unlisted)"
"""How the cell of values outside a list is written."""
NOT_RELEASED = 2**16 - 1
"""The code of a value that was not chosen to be released; no column has so many cells."""
ROWS = 50_000
"""Rows of a block."""


@dataclass(frozen=True)
class LocalGuarantee(Guarantee):
    """The privacy of a table whose records were perturbed one by one."""

    def statement(self) -> str:
        """One paragraph for a person who has to decide."""
        if not self.holds:
            return super().statement()
        return (
            f"This table is {shown_above(self.epsilon)}-locally differentially private (delta = 0) for {self.unit}: if "
            f"{NEIGHBOURS[self.adjacency]}, the probability of any published table, and of any model learned from it, "
            f"changes by a factor of at most {factor(self.epsilon)}."
        )


class LocalPerturbation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Perturb every value of every record, labels too, so that the table itself is ε-locally differentially private.

    A number is rounded to the grid of its column, gets discrete Laplace noise and is clamped to the bounds; a category
    or label is answered by randomized response. All that is published is a valid value of the schema: a number within
    the bounds, a listed category or "(unlisted)", a class.

    Guarantee: `fit_resample` is ε-DP for one record that is replaced by any other, the number of records being public;
    and so is each record alone, towards whoever collects them, if its holder perturbs it. Proof:

    - Component i of a record, encoded, is one of finitely many codes. The encoding is total and looks at one record
      (`Cells.codes`; a label that is none of the classes, or missing, has the code of the first class).
    - A number's codes differ by at most `grid`: discrete Laplace noise of scale at least grid / ε_i has likelihood
      ratios of at most e^{ε_i} between any two (`DiscreteLaplace`). So has the response (`RandomizedResponse`).
    - Components get independent noise: ratios multiply to at most e^ε, as the ε_i sum to ε (exact fractions).
    - Records get independent noise: those that are equal in both tables cancel. The order of the rows is drawn at
      random, independently of the data, so that the place of a record (in a table sorted by age, say) tells nothing.
    - Clamping, decoding and every learner on the output are post-processing. The mechanisms follow from the schema and
      the parameters alone.
    - With `components` = s, which s - 1 attributes of a record are released is drawn independently of the data; given
      the draw, s components cost ε / s each. The rest is neither perturbed nor released.

    The schema must say `adjacency="replace-one"`: a table shows its number of rows, so that nothing here could hide
    whether a record is in it.

    Parameters
    ----------
    schema : Schema, with adjacency "replace-one".
    epsilon : the whole privacy loss of a record, its label included; infinity for a table that is only encoded.
    components : None to release all values of a record. An integer s from 2: the label and s - 1 attributes, drawn for
        each record, at ε / s each; the others become missing (NaN for numbers, None for categories). With many
        columns this is what makes a table useful: thirty values at a thirtieth of ε each are noise.
    weights : shares of ε in proportion, by column name (the target's too); 1 for those not named. Default: equal.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Attributes
    ----------
    guarantee_ : what is promised for the last table that was perturbed.
    receipt_ : every charge for it.
    mechanisms_ : the mechanism of each column and of the target, by name, with which a learner may correct for noise.

    Examples
    --------
    >>> from discreet import Categorical, Numeric, Schema
    >>> schema = Schema([Numeric("age", 0, 100, grid=10), Categorical("smoker", ["no", "yes"], unlisted=False)],
    ...                 target="ill", classes=["no", "yes"], adjacency="replace-one")
    >>> perturbation = LocalPerturbation(schema, epsilon=3)
    >>> X, y = perturbation.fit_resample([{"age": 31, "smoker": "yes"}] * 5, ["yes"] * 5)
    >>> list(X), len(y), bool((X["age"] % 10 == 0).all()), perturbation.guarantee_.holds
    (['age', 'smoker'], 5, True, True)
    """

    def __init__(
        self,
        schema: Schema,
        *,
        epsilon: Any = 1.0,
        components: int | None = None,
        weights: Mapping[str, float] | None = None,
        random_state: Any = None,
    ) -> None:
        self.schema = schema
        self.epsilon = epsilon
        self.components = components
        self.weights = weights
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> LocalPerturbation:
        """Check parameters and columns. Nothing is learned, no value is read, nothing is charged."""
        self.check_parameters()
        _opened(X, y, self.schema, needs_labels=False)
        return self._prepared()

    def fit_resample(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> tuple[Columns, NDArray[Any]]:
        """The perturbed attributes and labels, rows in random order; charges ε to the ledger, if one is given.

        With y=None the labels are the schema's target column of X.
        """
        self.check_parameters()
        _opened(X, y, self.schema)
        return next(self._resampled([(X, y)], self._charged(ledger), most=None))

    def resample_blocks(
        self, blocks: Iterable[Mapping[str, Any]], *, ledger: Ledger | None = None
    ) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """The same for a table that comes in blocks, target column included; charged once, before the first is read.

        All rows are read and perturbed, and their order drawn, before the first block is returned; two bytes a value
        are kept in memory. Blocks of the wrong columns are an error after the charge: check them before.
        """
        self.check_parameters()
        rng = self._charged(ledger)
        paid = copy.copy(self)  # what is perturbed later is perturbed as it was paid for, whatever is set meanwhile
        return paid._resampled(((block, None) for block in blocks), rng, most=ROWS)

    def transform(self, X: Any, *, ledger: Ledger | None = None) -> Columns:
        """The perturbed attributes alone, at their shares of ε, rows in the order of X.

        The guarantee is for the attributes of the record at each place: labels that are published beside them, and an
        order that tells something, are not covered.
        """
        self.check_parameters()
        _opened(X, None, self.schema, needs_labels=False)
        rng = self._charged(ledger, with_label=False)
        codes = self._noisy_codes(*_opened(X, None, self.schema, needs_labels=False), rng)
        return {column.name: decoded(code, column) for column, code in zip(self.schema.columns, codes, strict=True)}

    def fit_transform(self, X: Any, y: Any = None, **extra: Any) -> Columns:
        """As `transform`. Refused with labels: as a step of a pipeline this would hand them on in the clear."""
        if y is not None:
            raise ParameterError(
                "fit_transform(X, y) would pass the labels on as they are; use X, y = fit_resample(X, y), then fit"
            )
        return self.fit(X).transform(X, **extra)

    def check_parameters(self) -> None:
        """Raise ParameterError unless all parameters are in range; reads no data."""
        epsilon = as_epsilon(self.epsilon)
        if not isinstance(self.schema, Schema):
            raise ParameterError(f"schema={type(self.schema).__name__}; need a Schema")
        if self.schema.adjacency is not Adjacency.REPLACE_ONE:
            raise ParameterError(
                f"adjacency={self.schema.adjacency.value!r}; need 'replace-one', since a published table shows its "
                'number of rows: use schema.replace(adjacency="replace-one"), or --adjacency replace-one'
            )
        if epsilon != math.inf and epsilon > 10_000:
            raise ParameterError(f"epsilon={self.epsilon!r}; above 10000 nothing is private: use float('inf')")
        most = len(self.schema.columns) + 1
        is_number = isinstance(self.components, Integral) and not isinstance(self.components, bool)
        if self.components is not None and not (is_number and 2 <= self.components <= most):
            raise ParameterError(
                f"components={self.components!r}; need None, or an integer from 2 to {most}: the label and some of the "
                "attributes"
            )
        self._check_weights()
        self._mechanisms()
        as_rng(self.random_state)

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        if self.components is not None:
            raise ParameterError("weights and components cannot be combined; leave one out")
        if not isinstance(self.weights, Mapping):
            raise ParameterError(f"weights={type(self.weights).__name__}; need a mapping of column names to numbers")
        known = [*self.schema.names, self.schema.target]
        for name, weight in self.weights.items():
            if name not in known:
                raise ParameterError(f"weights: {name!r} is no column of the schema; need some of: {', '.join(known)}")
            if isinstance(weight, bool) or not isinstance(weight, Real) or not 1e-6 <= weight <= 1e6:
                raise ParameterError(f"weights: {name!r} has {weight!r}; need a number from 1e-6 to 1e6")

    def _shares(self) -> list[Epsilon]:
        """The ε of each component that is released: the attributes, then the label."""
        epsilon, names = as_epsilon(self.epsilon), [*self.schema.names, self.schema.target]
        if self.components is not None:
            return split_evenly(epsilon, int(self.components))[:1] * len(names)
        if self.weights is None:
            return split_evenly(epsilon, len(names))
        return split_by_weight(epsilon, [float(self.weights.get(name, 1)) for name in names])

    def _mechanisms(self) -> list[Mechanism]:
        """One mechanism a component: a function of public quantities alone."""
        *shares, last = self._shares()
        columns = zip(self.schema.columns, shares, strict=True)
        attributes = [_mechanism(column, share) for column, share in columns]
        return [*attributes, RandomizedResponse.calibrated(last, len(self.schema.classes))]

    def charges(self, with_label: bool = True) -> list[Charge]:
        """What perturbing a table costs, with its labels or without; they sum to ε with them."""
        schema, mechanisms, shares = self.schema, self._mechanisms(), self._shares()
        sizes = [*(Cells(name).size(schema) for name in schema.names), len(schema.classes)]
        queries = [
            f"Value(column={name!r}, cells={size})"
            for name, size in zip([*schema.names, schema.target], sizes, strict=True)
        ]
        each = [
            Charge(query, mechanism.name, share, _distance(mechanism, size), mechanism.scale)
            for query, size, mechanism, share in zip(queries, sizes, mechanisms, shares, strict=True)
        ]
        if self.components is not None:
            drawn = int(self.components) - 1
            each[:-1] = [
                Charge(
                    f"Value({drawn} of {len(schema.columns)} attributes, drawn for each record)",
                    "discrete Laplace or randomized response",
                    math.inf if shares[0] == math.inf else drawn * Fraction(shares[0]),
                    max(charge.sensitivity for charge in each[:-1]),
                    max(charge.scale for charge in each[:-1]),
                )
            ]
        return each if with_label else each[:-1]

    def _prepared(self) -> LocalPerturbation:
        names = [*self.schema.names, self.schema.target]
        self.mechanisms_ = dict(zip(names, self._mechanisms(), strict=True))
        self.n_features_in_ = len(self.schema.columns)
        self.feature_names_in_ = np.array(self.schema.names, dtype=object)
        return self

    def _charged(self, ledger: Ledger | None, with_label: bool = True) -> Randomness:
        """Pay for a table, then open the source of noise."""
        schema, charges = self.schema, tuple(self.charges(with_label))
        rng = as_rng(self.random_state)
        if ledger is not None:
            ledger.charge(f"local perturbation for {schema.target}", charges)
        self._prepared()
        self.receipt_ = Receipt(schema.adjacency, charges, rng.seeded, schema.hash)
        guarantee = LocalGuarantee.of(self.receipt_, schema)
        unit = guarantee.unit if with_label else "the attributes of one record, its label and its place apart"
        self.guarantee_ = replace(guarantee, unit=unit)
        return rng

    def _resampled(
        self, tables: Iterable[tuple[Any, Any]], rng: Randomness, most: int | None
    ) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Perturb all tables, draw the order of their rows, and decode at most so many at a time."""
        schema = self.schema
        noisy: list[NoisyCodes] = [[np.empty(0, dtype=np.uint16)] * (len(schema.columns) + 1)]
        noisy += [self._noisy_codes(*_opened(X, y, schema), rng) for X, y in tables]
        codes = [np.concatenate(parts) for parts in zip(*noisy, strict=True)]
        order = random_order(len(codes[-1]), rng)
        for start in range(0, max(1, len(order)), most or max(1, len(order))):
            rows = order[start : start + most] if most else order
            *attributes, label = [code[rows] for code in codes]
            columns = {
                column.name: decoded(code, column) for column, code in zip(schema.columns, attributes, strict=True)
            }
            yield columns, as_labels(schema.classes)[label]

    def _noisy_codes(self, table: Table, labels: Values | None, rng: Randomness) -> NoisyCodes:
        """The perturbed codes of the attributes that are released, and of the label if labels are given."""
        schema, (*mechanisms, response) = self.schema, self._mechanisms()
        chosen = self._chosen(table.rows, rng)
        noisy = []
        for position, (column, mechanism) in enumerate(zip(schema.columns, mechanisms, strict=True)):
            rows = slice(None) if chosen is None else chosen[:, position]
            exact = Cells(column.name).codes(table.column(column.name)[rows], schema).astype(np.int64)
            code = np.full(table.rows, NOT_RELEASED, dtype=np.uint16)
            code[rows] = np.clip(mechanism.perturb(exact, rng), 0, Cells(column.name).size(schema) - 1)
            noisy.append(code)
        if labels is not None:
            exact = class_codes(labels.read(), schema).astype(np.int64)
            exact[exact == len(schema.classes)] = 0
            noisy.append(response.perturb(exact, rng).astype(np.uint16))
        return noisy

    def _chosen(self, rows: int, rng: Randomness) -> NDArray[np.bool_] | None:
        """Which attributes of each record are released; None for all. Does not look at the data."""
        if self.components is None:
            return None
        keys = rng.integers(2**62, (rows, len(self.schema.columns)))
        return np.asarray(keys.argsort(axis=1).argsort(axis=1) < int(self.components) - 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags


def _mechanism(column: Column, share: Epsilon) -> Mechanism:
    if isinstance(column, Numeric):
        return DiscreteLaplace.calibrated(share, column.grid)
    return RandomizedResponse.calibrated(share, column.size)


def _distance(mechanism: Mechanism, size: int) -> int:
    """How far apart two values can be: the whole grid for numbers; for categories, one or another."""
    return size - 1 if isinstance(mechanism, DiscreteLaplace) else 1


def _opened(X: Any, y: Any, schema: Schema, *, needs_labels: bool = True) -> tuple[Table, Values | None]:
    """Attributes and labels, their structure checked; no value is looked at."""
    if y is not None or needs_labels:
        return open_labelled(X, y, schema)
    table = Table(X, schema)
    table.check(schema)
    return table, None


def random_order(rows: int, rng: Randomness) -> NDArray[np.intp]:
    """A permutation, each as likely: the order of random keys, drawn again if two are equal."""
    while True:
        keys = rng.integers(2**62, (rows,))
        order = keys.argsort()
        if (np.diff(keys[order]) > 0).all():
            return order


def decoded(codes: NDArray[np.uint16], column: Column) -> NDArray[Any]:
    """The public value of each code; NaN or None where nothing was released."""
    absent = codes == NOT_RELEASED
    if isinstance(column, Numeric):
        lower, upper = float(column.lower), float(column.upper)
        numbers = np.clip(lower + codes.astype(np.float64) * ((upper - lower) / column.grid), lower, upper)
        numbers[absent] = np.nan
        return np.asarray(numbers)
    values = np.empty(column.size + 1, dtype=object)
    values[: column.size] = [*column.categories, UNLISTED][: column.size]
    return np.asarray(values[np.where(absent, column.size, codes)])


def as_labels(classes: Sequence[Label]) -> NDArray[Any]:
    """The classes as an array of their own type, or of objects if they are of several."""
    same_type = len({type(label) for label in classes}) == 1
    return np.array(classes, dtype=None if same_type else object)


def as_texts(values: NDArray[Any]) -> list[str]:
    """Values as they stand in a CSV file, so that reading finds the same cells; what is missing is empty."""
    return ["" if value is None or value != value else text_of(value) for value in values.tolist()]
