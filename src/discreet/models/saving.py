"""Model files: JSON with a card inside, never pickle.

A file holds the schema, the parameters, the noisy tables with their receipt, and a card for people. The model is
built again from the noisy tables, so a file can hold nothing that was not released. A model that is not made of noisy
tables (rules found by bees) writes what it has learned instead, with the guarantee that this has, or that it has none.
The hash finds damage, not forgery: who can write the file can write the hash.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from discreet.errors import DiscreetError, FileError
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.receipt import Receipt
from discreet.queries.hyperplanes import Hyperplanes
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.storage.envelope import content_hash, read_json
from discreet.storage.writing import whole_file

FORMAT = "discreet/model"
VERSION = 1


class SavedModel(Protocol):
    """What a fitted model has to show to be written to a file."""

    kind: str
    schema_: Schema
    receipt_: Receipt
    guarantee_: Guarantee

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters."""
        ...


def to_dict(model: SavedModel) -> dict[str, Any]:
    """The content of a model file."""
    parameters = {
        name: value.item() if hasattr(value, "item") else value
        for name, value in model.get_params(deep=False).items()
        if name not in ("schema", "random_state")
    }
    if "epsilon" in parameters:
        parameters["epsilon"] = str(model.receipt_.epsilon)
    parameters["random_state"] = None
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": model.kind,
        "card": card(model),
        "parameters": parameters,
        "schema": model.schema_.to_dict(),
        **_learned(model),
    }
    return {**content, "hash": content_hash(content)}


def _learned(model: Any) -> dict[str, Any]:
    """The noisy tables that a model is built of, or what it has to say itself."""
    if hasattr(model, "noisy_"):
        return {"statistics": model.noisy_.to_dict()}
    return {"learned": model.learned()}


def card(model: SavedModel) -> dict[str, Any]:
    """What was promised, to whom, at what price: the part of a model file that people read."""
    schema = model.schema_
    noisy: NoisyStatistics | None = getattr(model, "noisy_", None)
    tables = noisy.tables if noisy is not None else ()
    asked = {name for query, _ in tables for name in _columns(query, schema)} if tables else set(schema.names)
    return {
        "model": model.kind,
        "target": schema.target,
        "classes": list(schema.classes),
        "attributes": [name for name in schema.names if name in asked],
        "not_asked": [name for name in schema.names if name not in asked],
        "guarantee": model.guarantee_.to_dict(),
        "charges": [charge.to_dict() for charge in model.receipt_.charges],
        "schema_hash": schema.hash,
    }


def _columns(query: Any, schema: Schema) -> list[str]:
    """The columns that a query looks at."""
    if isinstance(query, Hyperplanes):
        return [feature.cells.column for feature in query.features(schema)]
    return list(query.columns) if hasattr(query, "columns") else [query.column] if hasattr(query, "column") else []


def save(model: SavedModel, path: str | Path) -> None:
    """Write a model file whole or not at all."""
    text = json.dumps(to_dict(model), ensure_ascii=False, allow_nan=False) + "\n"
    with whole_file(path) as file:
        file.write(text)


def load(path: str | Path) -> Any:
    """Read a model file; the model predicts at once.

    Raises FileError if the file is damaged, or was written by a newer version.
    """
    return from_dict(read_json(path), str(path))


def _hash(body: Mapping[str, Any]) -> str | None:
    """The hash of a file's content; None if it holds what no model file holds, such as NaN."""
    try:
        return content_hash(body)
    except ValueError:
        return None


def from_dict(content: Mapping[str, Any], name: str = "model") -> Any:
    """The model of a file's content."""
    from discreet.models import MODELS

    if content.get("format") != FORMAT:
        raise FileError(f"{name} is not a model of discreet; need a file written by save or `discreet train`")
    version = content.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise FileError(f"{name} has version {version!r}; this discreet reads up to {VERSION}: upgrade discreet")
    body = {key: value for key, value in content.items() if key != "hash"}
    if content.get("hash") is None or content["hash"] != _hash(body):
        raise FileError(f"{name} was altered or damaged: its hash does not fit; get it again from its owner")
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
    parameters, schema = {**content["parameters"]}, Schema.from_dict(content["schema"])
    if not hasattr(family, "fit_noisy"):
        return family(schema, **parameters).fit_learned(content["learned"])
    epsilon = parameters.pop("epsilon")
    parameters["epsilon"] = math.inf if epsilon == "inf" else epsilon
    model = family(schema, **parameters)
    model.check_parameters()
    return model.fit_noisy(NoisyStatistics.from_dict(content["statistics"]))
