"""Tables that can be published: every record is perturbed by itself, and any learner may use the result.

The records go through the door doors/rows.py; the proof is below.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from discreet.doors.passage import Spending
from discreet.doors.rows import NoisyCodes, RowStep, column_step, label_step, perturb_rows
from discreet.errors import ParameterError
from discreet.perturbation.decoding import TableDigest, decoded
from discreet.perturbation.shuffling import HELD, RandomOrder
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon, shown_above
from discreet.privacy.guarantee import EXPERIMENTAL, NEIGHBOURS, Guarantee, factor
from discreet.privacy.ledger import Ledger, as_ledger
from discreet.privacy.randomness import Randomness, as_rng
from discreet.privacy.receipt import Receipt
from discreet.privacy.steps import split_by_weight, split_evenly
from discreet.records.encoding import label_array
from discreet.records.files import ROWS
from discreet.records.tables import Table, check_stored_types
from discreet.records.values import Columns
from discreet.schema import Adjacency, Schema
from discreet.sources import Source, finish
from discreet.sources.blocks import BlockSource
from discreet.sources.memory import MemorySource

LARGEST_WEIGHT = 1e6
"""Weights are between one over this and this: beyond, a column gets so small a share that its values are pure noise."""


@dataclass(frozen=True)
class LocalGuarantee(Guarantee):
    """The privacy of a table whose records were perturbed one by one.

    Attributes
    ----------
    labels : whether the labels were perturbed too; if not, the guarantee is for the columns alone.
    """

    labels: bool = True

    def statement(self) -> str:
        """One paragraph for a person who has to decide."""
        if not self.holds:
            return super().statement()
        return (
            f"This table is {shown_above(self.epsilon)}-locally differentially private (delta = 0) for {self.unit}: if "
            f"{NEIGHBOURS[self.adjacency]}, the probability of any published table, and of any model learned from it, "
            f"changes by a factor of at most {factor(self.epsilon)}. {EXPERIMENTAL if self.experimental else ''}"
        ).rstrip() + f" {self.source}".rstrip()


class LocalPerturbation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Perturb every value of every record, labels too: the table itself becomes ε-locally differentially private.

    Numbers are rounded to the grid of their column, get discrete Laplace noise and are clamped to the bounds;
    categories and labels are answered by randomized response. Every published value is valid under the schema: a
    number within the bounds, a listed category or "(unlisted)", a class.

    Guarantee: `fit_resample` is ε-DP when one record is replaced by any other; the number of records is public. Each
    record alone is ε-DP too, towards whoever collects the records, if its holder perturbs it. Proof:

    - Component i of a record, encoded, is one of finitely many codes. The encoding is total and looks at one record
      (`Cells.codes`; a label that is missing or not a class has the code of the first class).
    - A number's codes differ by at most `grid`: discrete Laplace noise of scale at least grid / ε_i has likelihood
      ratios of at most e^{ε_i} between any two (`DiscreteLaplace`). So has the response (`RandomizedResponse`).
    - Components get independent noise: ratios multiply to at most e^ε, as the ε_i sum to ε (exact fractions).
    - Records get independent noise: the ratios of records that are equal in both tables cancel. The order of the rows
      is drawn at random, independently of the data: the position of a record (in a table sorted by age, say) tells
      nothing.
    - Clamping, decoding and every learner on the output are post-processing. The mechanisms follow from the schema and
      the parameters alone.
    - With `components` = s, the s - 1 columns that are released of a record are drawn independently of the data; given
      the draw, s components cost ε / s each. The other columns are neither perturbed nor released.

    The schema must say `adjacency="replace-one"`: a published table shows its number of rows, and so cannot hide
    whether a record is in it.

    Parameters
    ----------
    schema : Schema, with adjacency "replace-one".
    epsilon : the whole privacy loss per record, its label included; infinity for a table that is only encoded.
    components : None to release all values of a record. An integer s from 2 on: release the label and s - 1 columns,
        drawn for each record, at ε / s each; the others become missing (NaN for numbers, None for categories). This
        keeps tables with many columns useful: thirty values at a thirtieth of ε each are mostly noise.
    weights : relative shares of ε by column name (the target's too); 1 for columns not named. Default: equal shares.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Attributes
    ----------
    guarantee_ : the guarantee of the table that was perturbed last.
    receipt_, schema_ : every charge for that table, and the schema it was perturbed under.
    table_digest_ : `save_receipt` recognises that table by it; None unless the labels were perturbed too, and until the
        last block of the table was taken.
    mechanisms_ : the mechanism of each column and of the target, by name; a learner may use them to correct for noise.

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
        source = _without_labels(X, self.schema) if y is None else MemorySource(X, y)
        source.check(self.schema)
        return self._prepared()

    def fit_resample(self, X: Any, y: Any = None, *, ledger: Ledger | None = None) -> tuple[Columns, NDArray[Any]]:
        """The perturbed columns and labels, rows in random order; charges ε to the ledger, if one is given.

        With y=None the labels are the schema's target column of X.
        """
        self.check_parameters()
        check_stored_types(X, y, self.schema)
        (table,) = self._resampled(MemorySource(X, y), ledger)
        return table

    def resample_from(
        self, source: Source, *, ledger: Ledger | None = None, folder: str | Path | None = None
    ) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """As `fit_resample`, for any source, for instance a file larger than memory; the result comes in blocks.

        The charge is made once, before the first record is read. All records are read, in one pass, and perturbed
        before the first block is returned. Perturbed records that do not fit in memory wait for their turn in a file
        in `folder` (default: the system's folder of temporary files), two bytes per value and eight per record. It has
        no name, and is gone with the last block.
        """
        self.check_parameters()
        return self._resampled(source, ledger, most=ROWS, folder=folder)

    def resample_blocks(
        self, blocks: Iterable[Mapping[str, Any]], *, ledger: Ledger | None = None
    ) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """As `resample_from`, for a table that comes in blocks, target column included.

        Blocks with the wrong columns raise an error only after the charge: check them before.
        """
        return self.resample_from(BlockSource(lambda _: blocks), ledger=ledger)

    def transform(self, X: Any, *, ledger: Ledger | None = None) -> Columns:
        """The perturbed columns without labels, at their shares of ε, rows in the order of X.

        The guarantee covers the columns of the record in each row. It covers neither labels that are published beside
        them, nor what the order of the rows may tell.
        """
        self.check_parameters()
        chunks = self._perturbed(_without_labels(X, self.schema), ledger, as_rng(self.random_state), labels=False)
        nothing = [np.empty(0, dtype=np.uint16) for _ in self.schema.columns]
        return self._decoded([np.concatenate(parts) for parts in zip(nothing, *chunks, strict=True)])

    def fit_transform(self, X: Any, y: Any = None, **extra: Any) -> Columns:
        """As `transform`. Labels are refused: in a pipeline this step would pass them on unperturbed."""
        if y is not None:
            raise ParameterError(
                "fit_transform(X, y) would pass the labels on as they are; use X, y = fit_resample(X, y), then fit"
            )
        return self.fit(X).transform(X, **extra)

    def check_parameters(self) -> None:
        """Raise ParameterError unless all parameters are in range; reads no data."""
        as_epsilon(self.epsilon)
        if not isinstance(self.schema, Schema):
            raise ParameterError(f"schema={type(self.schema).__name__}; need a Schema")
        if self.schema.adjacency is not Adjacency.REPLACE_ONE:
            raise ParameterError(
                f"adjacency={self.schema.adjacency.value!r}; need 'replace-one', since a published table shows its "
                'number of rows: use schema.replace(adjacency="replace-one"), or --adjacency replace-one'
            )
        as_release_epsilon(self.epsilon)
        most = len(self.schema.columns) + 1
        is_number = isinstance(self.components, Integral) and not isinstance(self.components, bool)
        if self.components is not None and not (is_number and 2 <= self.components <= most):
            raise ParameterError(
                f"components={self.components!r}; need None, or an integer from 2 to {most}: the label and some of the "
                "columns"
            )
        self._check_weights()
        self._steps()
        as_rng(self.random_state)

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        if self.components is not None:
            raise ParameterError("weights and components cannot be combined; leave one out")
        if not isinstance(self.weights, Mapping):
            raise ParameterError(f"weights={type(self.weights).__name__}; need a mapping of column names to numbers")
        known, allowed = self.schema.all_names, f"a number from {1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        for name, weight in self.weights.items():
            if name not in known:
                raise ParameterError(
                    f"weights: {name!r} is not a column of the schema; need one of: {', '.join(known)}"
                )
            if (
                isinstance(weight, bool)
                or not isinstance(weight, Real)
                or not 1 / LARGEST_WEIGHT <= weight <= LARGEST_WEIGHT
            ):
                raise ParameterError(f"weights: {name!r} has {weight!r}; need {allowed}")

    def _shares(self) -> list[Epsilon]:
        """The ε of each component, if it is released: the columns, then the label."""
        epsilon, names = as_epsilon(self.epsilon), self.schema.all_names
        if self.components is not None:
            return split_evenly(epsilon, int(self.components))[:1] * len(names)
        if self.weights is None:
            return split_evenly(epsilon, len(names))
        return split_by_weight(epsilon, [float(self.weights.get(name, 1)) for name in names])

    def _steps(self) -> list[RowStep]:
        """One step per component, the label last; depends on public quantities alone."""
        *shares, last = self._shares()
        columns = zip(self.schema.columns, shares, strict=True)
        return [*(column_step(column, share, self.schema) for column, share in columns), label_step(last, self.schema)]

    @property
    def _drawn(self) -> int | None:
        """Number of columns released per record; None for all."""
        return None if self.components is None else int(self.components) - 1

    def _prepared(self) -> LocalPerturbation:
        names = self.schema.all_names
        self.mechanisms_ = dict(zip(names, (step.mechanism for step in self._steps()), strict=True))
        self.n_features_in_ = len(self.schema.columns)
        self.feature_names_in_ = np.array(self.schema.names, dtype=object)
        return self

    def _perturbed(
        self, source: Source, ledger: Ledger | None, rng: Randomness, *, labels: bool = True
    ) -> Iterator[NoisyCodes]:
        """Pay for a table; it is perturbed as it is taken. Guarantee and receipt are set at once: it was paid for."""
        schema, (*columns, label) = self.schema, self._steps()
        spending = Spending(as_ledger(ledger, as_epsilon(self.epsilon)))
        purpose = f"local perturbation for {schema.target}"
        response = label if labels else None
        try:
            chunks, _ = perturb_rows(source, schema, columns, response, self._drawn, spending, rng, purpose)
        finally:
            if spending.is_charged:
                self._promise(spending.receipt, labels)
        return chunks

    def _promise(self, receipt: Receipt, labels: bool) -> None:
        self._prepared()
        self.schema_, self.receipt_ = self.schema, receipt
        self.table_digest_: str | None = None
        guarantee = LocalGuarantee.of(receipt, self.schema)
        assert isinstance(guarantee, LocalGuarantee)
        unit = guarantee.unit if labels else "the attributes of one record, its label and its place apart"
        self.guarantee_ = replace(guarantee, unit=unit, labels=labels)

    def _resampled(
        self, source: Source, ledger: Ledger | None, most: int | None = None, folder: str | Path | None = None
    ) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Perturb all records and draw their order; then decode at most `most` of them at a time, or all at once."""
        rng, classes = as_rng(self.random_state), label_array(self.schema.classes)
        chunks = self._perturbed(source, ledger, rng)
        held = HELD if most else None
        order = RandomOrder(len(self.schema.all_names), rng, None if folder is None else Path(folder), held)
        try:
            for codes in chunks:
                order.add(codes)
        finally:
            finish(source)
        paid = copy.copy(self)  # blocks decoded later use the schema they were perturbed under, even if another is set

        def decoded_blocks() -> Iterator[tuple[Columns, NDArray[Any]]]:
            digest = TableDigest(paid.schema_)
            for codes in order.blocks(most):
                digest.add(codes)
                *columns, label = codes
                yield paid._decoded(columns), classes[label]
            if self.receipt_ is paid.receipt_:  # no other table was perturbed meanwhile
                self.table_digest_ = str(digest)

        return decoded_blocks()

    def _decoded(self, codes: NoisyCodes) -> Columns:
        columns = zip(self.schema.columns, codes, strict=True)
        return {column.name: decoded(code, column) for column, code in columns}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.requires_fit = False
        tags.non_deterministic = True
        return tags


def _without_labels(X: Any, schema: Schema) -> MemorySource:
    """A table whose labels are all missing, whether X has a target column or not."""
    return MemorySource(X, [None] * Table(X, schema).rows)
