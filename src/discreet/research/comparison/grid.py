"""What is compared: data sets × models × epsilons × repeats × folds."""

from __future__ import annotations

import math
import tomllib
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from discreet.errors import FileError, ParameterError
from discreet.models.parameter_texts import canonical
from discreet.privacy.epsilon import as_epsilon
from discreet.schema import Adjacency

MAJORITY = "majority"
"""The model that always predicts the largest class of its training records: every other model has to beat it."""

NOT_PRIVATE = "inf"
"""The epsilon of runs without noise, which private runs are compared with."""


class Run(NamedTuple):
    """One model, fitted once and tested once; only texts and integers, so that a CSV file holds it exactly."""

    data: str
    model: str
    epsilon: str
    adjacency: str
    folds: int
    seed: int
    repeat: int
    fold: int

    def noise_seed(self) -> int:
        """A seed for this run alone: a shared seed would give every model the same lucky noise."""
        return zlib.crc32(repr(tuple(self)).encode())


@dataclass(frozen=True)
class Grid:
    """The comparison to run; each model is also run without noise, and `MAJORITY` is run beside them.

    Parameters
    ----------
    data, models, epsilons : what to combine; each list has at least one entry, and no entry twice. A model may have
        parameters: "naive-bayes(select=auto)".
    folds : number of folds of the stratified cross-validation.
    repeats : number of shuffles; the folds of a repeat are the same for all models and epsilons.
    seed : seed of the shuffles and of the noise.
    adjacency : "add-remove" or "replace-one".
    """

    data: Sequence[str]
    models: Sequence[str]
    epsilons: Sequence[Any]
    folds: int = 10
    repeats: int = 1
    seed: int = 0
    adjacency: str = Adjacency.ADD_REMOVE.value

    def __post_init__(self) -> None:
        for name in ("data", "models", "epsilons"):
            values = getattr(self, name)
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise ParameterError(f"{name}={values!r}; need a list with at least one entry")
            object.__setattr__(self, name, tuple(map(str, values)))
        object.__setattr__(self, "epsilons", tuple(str(as_epsilon(each)) for each in self.epsilons))
        object.__setattr__(self, "models", tuple(map(canonical, self.models)))
        for name in ("data", "models", "epsilons"):
            values = getattr(self, name)
            twice = [each for each in values if values.count(each) > 1]
            if twice:
                raise ParameterError(f"{name}: {twice[0]!r} is named twice; name each once")
        for name, least in (("folds", 2), ("repeats", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) < 2**31:
                raise ParameterError(f"{name}={value!r}; need an integer from {least} to {2**31 - 1}")
        if self.adjacency not in [each.value for each in Adjacency]:
            raise ParameterError(f"adjacency={self.adjacency!r}; need 'add-remove' or 'replace-one'")

    def check(self, models: Collection[str]) -> None:
        """Raise ParameterError unless all models are known."""
        unknown = [each for each in self.models if each not in models]
        if unknown:
            raise ParameterError(f"model {unknown[0]!r} is not known; need some of: {', '.join(sorted(models))}")

    def runs(self) -> list[Run]:
        """Every run; runs on one data set stand together."""
        private = [each for each in self.epsilons if each != NOT_PRIVATE]
        contestants = [(model, epsilon) for model in self.models for epsilon in (NOT_PRIVATE, *private)]
        return [
            Run(data, model, epsilon, self.adjacency, self.folds, self.seed, repeat, fold)
            for data in self.data
            for repeat in range(self.repeats)
            for fold in range(self.folds)
            for model, epsilon in ((MAJORITY, NOT_PRIVATE), *contestants)
        ]


def read_grid(path: str | Path) -> Grid:
    """A grid from a TOML file, whose entries are the parameters of `Grid`.

    data = ["iris", "wine"]
    models = ["naive-bayes", "naive-bayes(select=auto)", "svm"]
    epsilons = [0.1, 1, "1/3"]
    folds = 10
    """
    known = [field.name for field in fields(Grid)]
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(f"{path} is not a valid TOML file ({error}); it may hold: {', '.join(known)}") from None
    strange = [name for name in content if name not in known]
    missing = [name for name in known[:3] if name not in content]
    if strange or missing:
        what = f"{strange[0]!r} is not known" if strange else f"{missing[0]!r} is missing"
        raise FileError(f"{path}: {what}; it may hold: {', '.join(known)}")
    try:
        return Grid(**content)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def as_number(epsilon: str) -> float:
    """An epsilon of a run as a number."""
    exact = as_epsilon(epsilon)
    return math.inf if exact == math.inf else float(exact)
