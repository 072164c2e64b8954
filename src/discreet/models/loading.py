"""Models from files: each is built again from what was released, and from nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, FileError
from discreet.models.auto.pick import Pick
from discreet.models.families import MODELS
from discreet.models.saving import FILE
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.storage.envelope import read_json


def load(path: str | Path) -> Any:
    """Read a model file; the model is ready to predict.

    Raises FileError if the file is damaged, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import NaiveBayes, datasets, load
    >>> X, y, schema = datasets.load("iris")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     NaiveBayes(schema, epsilon=1).fit(X, y).save(f"{folder}/model.json")
    ...     model = load(f"{folder}/model.json")
    >>> model.predict(X).shape
    (150,)
    """
    return from_dict(read_json(path), str(path))


def from_dict(content: Mapping[str, Any], name: str = "model") -> Any:
    """Build the model from the content of a file."""
    FILE.check(content, name)
    if str(content.get("model")) not in MODELS:
        raise FileError(f"{name}: model {content.get('model')!r} is not known; need one of: {', '.join(MODELS)}")
    try:
        return _built(MODELS[content["model"]], content)
    except FileError:
        raise
    except DiscreetError as error:
        raise FileError(f"{name} cannot be used: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, MemoryError) as error:
        raise FileError(f"{name} lacks an entry ({type(error).__name__}); get it again from its owner") from None


def _built(family: Any, content: Mapping[str, Any]) -> Any:
    parameters = {**getattr(family, "earlier", {}), **content["parameters"]}
    schema = Schema.from_dict(content["schema"])
    if not hasattr(family, "fit_noisy"):
        return family(schema, **parameters).fit_learned(content["learned"])
    epsilon = parameters.pop("epsilon")
    parameters["epsilon"] = math.inf if epsilon == "inf" else epsilon
    model = family(schema, **parameters)
    model.check_parameters()
    statistics = NoisyStatistics.from_dict(content["statistics"])
    if "picked" in content:
        picked = Pick.from_dict(content["picked"])
        picked.made(schema, parameters["epsilon"]).check_parameters()
        return model.fit_noisy(statistics, picked)
    return model.fit_noisy(statistics)
