"""What the reproduced naive Bayes algorithms share: encoded records, parameters, noise and prediction.

All of them publish the same parameters (class counts, tables, means and deviations); they differ in the noise. Exact
statistics exist only while `fit` runs; the fitted model keeps noisy ones.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from discreet.errors import DataError, ParameterError
from discreet.models.tabular import sorted_classes
from discreet.privacy.randomness import Randomness
from discreet.records.encoding import Cells, Codes, as_floats, class_codes
from discreet.records.tables import Table, as_vector
from discreet.research.papers.reproduction import PublishedClassifier
from discreet.schema import Schema
from discreet.schema.columns import MAX_CELLS, Categorical, Numeric

Array: TypeAlias = NDArray[np.float64]
Noise: TypeAlias = Callable[[Array, Array], Array]
"""From exact values and noise scales to noisy values."""

SMALLEST_DEVIATION = 1e-9
"""For prediction, a published deviation is raised to this part of the column's width: a density must exist."""
SMALLEST_PROBABILITY = 1e-300
LARGEST_DISTANCE = 1e100


@dataclass(frozen=True, repr=False)
class ExactRecords:
    """The training records, as the schema encodes them; records without a listed class are not counted."""

    schema: Schema
    table: Table
    labels: Codes

    @classmethod
    def read(cls, X: Any, y: Any, schema: Schema) -> ExactRecords:
        """Check the shapes, which are public; no value of a record can make this fail."""
        table = Table(X, schema)
        table.check(schema)
        labels = class_codes(as_vector(y), schema)
        if len(labels) != table.rows:
            raise DataError("X and y have different lengths; need one label per record")
        return cls(schema, table, labels)

    def class_counts(self) -> Array:
        """Number of records in each class."""
        classes = len(self.schema.classes)
        return np.bincount(self.labels, minlength=classes + 1)[:classes].astype(np.float64)

    def counts(self, cells: Cells) -> Array:
        """Number of records by class and cell."""
        size, classes = cells.size(self.schema), len(self.schema.classes)
        codes = cells.codes(self.table.column(cells.column), self.schema) + self.labels * size
        flat = np.bincount(codes, minlength=(classes + 1) * size)
        return flat.reshape(classes + 1, size)[:classes].astype(np.float64)

    def values(self, column: Numeric) -> list[Array]:
        """The clipped numbers of each class."""
        numbers = clipped_numbers(self.table.column(column.name), column)
        return [numbers[self.labels == label] for label in range(len(self.schema.classes))]


@dataclass(frozen=True)
class Parameters:
    """One number per class, per class and cell, per class and moment: exact values, noise scales or noisy values."""

    classes: Array
    tables: Mapping[str, Array]
    means: Mapping[str, Array]
    deviations: Mapping[str, Array]

    def perturb(
        self, scales: Parameters, *, classes: Noise, tables: Noise, means: Noise, deviations: Noise
    ) -> Parameters:
        """Noisy parameters, drawn in this order: classes, tables, means, deviations."""
        return Parameters(
            classes(self.classes, scales.classes),
            {name: tables(exact, scales.tables[name]) for name, exact in self.tables.items()},
            {name: means(exact, scales.means[name]) for name, exact in self.means.items()},
            {name: deviations(exact, scales.deviations[name]) for name, exact in self.deviations.items()},
        )


def exact_parameters(records: ExactRecords, bins: int | None = None) -> Parameters:
    """Counts, means and population standard deviations.

    An empty class has the middle of the bounds as its mean and 0 as its deviation. With `bins`, numeric columns are
    counted in equal public bins, like categories, and have no moments.
    """
    columns = records.schema.columns
    tabled = [column for column in columns if bins is not None or isinstance(column, Categorical)]
    means, deviations = {}, {}
    for column in columns:
        if isinstance(column, Numeric) and column not in tabled:
            lower, width = float(column.lower), float(column.upper) - float(column.lower)
            units = [(values - lower) / width for values in records.values(column)]
            means[column.name] = np.array([lower + width * (u.mean() if len(u) else 0.5) for u in units])
            deviations[column.name] = np.array([width * (u.std() if len(u) else 0.0) for u in units])
    tables = {column.name: records.counts(Cells(column.name, bins)) for column in tabled}
    return Parameters(records.class_counts(), tables, means, deviations)


@dataclass(frozen=True)
class Likelihoods:
    """The published classifier: a weight per class, tables of P[cell | class], and normal densities."""

    schema: Schema
    prior: Array
    tables: Mapping[str, Array]
    means: Mapping[str, Array]
    deviations: Mapping[str, Array]
    bins: int | None = None

    def log_posterior(self, X: Any) -> Array:
        """Log-probability of each class for each record; finite for all published parameters."""
        table = Table(X, self.schema)
        table.check(self.schema)
        joint = np.tile(_log(self.prior), (table.rows, 1))
        for column in self.schema.columns:
            if column.name in self.tables:
                codes = Cells(column.name, self.bins).codes(table.column(column.name), self.schema)
                joint += _log(self.tables[column.name]).T[codes]
            elif isinstance(column, Numeric):
                joint += self._log_density(clipped_numbers(table.column(column.name), column), column)
        joint -= joint.max(axis=1, keepdims=True)
        posterior: Array = joint - logsumexp(joint, axis=1, keepdims=True)
        return posterior

    def _log_density(self, numbers: Array, column: Numeric) -> Array:
        least = SMALLEST_DEVIATION * (float(column.upper) - float(column.lower))
        deviation = np.maximum(self.deviations[column.name], least)
        with np.errstate(over="ignore"):
            distance = np.abs(numbers[:, np.newaxis] - self.means[column.name]) / deviation
        density: Array = -np.log(deviation) - np.minimum(distance, LARGEST_DISTANCE) ** 2 / 2
        return density


class Publishing(Protocol):
    """The step that each reproduced naive Bayes writes itself."""

    @abstractmethod
    def publish(self, records: ExactRecords, rng: Randomness) -> tuple[Parameters, Likelihoods]:
        """Noisy parameters, and the classifier made of them alone."""


class PublishedNaiveBayes(PublishedClassifier, Publishing):
    """A reproduced naive Bayes: a subclass adds the paper's claim, its noise (`publish`) and its true loss."""

    def learn(self, X: Any, y: Any, rng: Randomness) -> None:
        """Read the records and keep what `publish` makes of them."""
        records = ExactRecords.read(X, y, self.schema)
        with np.errstate(over="ignore", invalid="ignore"):
            self.parameters_, self.likelihoods_ = self.publish(records, rng)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each record; the first one in case of a tie."""
        best = np.argmax(self.predict_log_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`."""
        check_is_fitted(self, "likelihoods_")
        _, places = sorted_classes(self.schema)
        return self.likelihoods_.log_posterior(X)[:, places]


def check_bins(bins: object) -> None:
    """Raise ParameterError unless this is a possible number of bins."""
    if isinstance(bins, bool) or not isinstance(bins, int) or not 1 <= bins <= MAX_CELLS:
        raise ParameterError(f"bins={bins!r}; need an integer from 1 to {MAX_CELLS}")


def count_columns(schema: Schema) -> tuple[int, int]:
    """Number of categorical and of numeric columns."""
    categorical = sum(isinstance(column, Categorical) for column in schema.columns)
    return categorical, len(schema.columns) - categorical


def count_queries(schema: Schema) -> int:
    """Number of queries: one for the classes, one per categorical column and two per numeric column."""
    categorical, numeric = count_columns(schema)
    return 1 + categorical + 2 * numeric


def count_cells(schema: Schema, bins: int | None) -> dict[str, int]:
    """Number of cells of each column, numbers being counted in equal public bins."""
    return {name: Cells(name, bins).size(schema) for name in schema.names}


def laplace_noise(rng: Randomness) -> Noise:
    """Noise from the Laplace law; values that overflow become the largest float."""
    return lambda exact, scale: np.nan_to_num(exact + scale * rng.laplace(exact.shape))


def cauchy_noise(rng: Randomness) -> Noise:
    """Noise from the Cauchy law; values that overflow become the largest float."""
    return lambda exact, scale: np.nan_to_num(exact + scale * rng.cauchy(exact.shape))


def at_least(least: float, noise: Noise) -> Noise:
    """The same noise; afterwards, smaller values are raised to `least`."""
    return lambda exact, scale: np.maximum(noise(exact, scale), least)


def ratios(schema: Schema, noisy: Parameters, total: float) -> Likelihoods:
    """P[class] is the noisy class count over `total`; P[cell | class] is the noisy cell over the noisy class count."""
    tables = {name: table / noisy.classes[:, np.newaxis] for name, table in noisy.tables.items()}
    return Likelihoods(schema, noisy.classes / total, tables, noisy.means, noisy.deviations)


def clipped_numbers(values: NDArray[Any], column: Numeric) -> Array:
    """The values as numbers within the bounds; a missing number becomes the column's fill value."""
    numbers = np.array(as_floats(values), dtype=np.float64)
    numbers[np.isnan(numbers)] = column.missing_value
    return np.clip(numbers, float(column.lower), float(column.upper))


def _log(probabilities: Array) -> Array:
    logs: Array = np.log(np.maximum(probabilities, SMALLEST_PROBABILITY))
    return logs
