"""Model files: JSON with a card inside, never pickle.

A file holds the schema, the parameters, the noisy tables with their receipt, and a card for people. Loading builds the
model again from the noisy tables, so a file holds nothing that was not released. A model that is not made of noisy
tables (rules found by bees) stores its rules instead, with their guarantee, or the statement that they have none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from discreet.errors import FileError
from discreet.models.class_weights import plain
from discreet.privacy.guarantee import Guarantee
from discreet.privacy.receipt import Receipt
from discreet.queries.hyperplanes import Hyperplanes
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.storage.envelope import Envelope

FILE = Envelope("discreet/model", 2, "a model of discreet", "save or `discreet train`")


class SavedModel(Protocol):
    """What a fitted model needs to be written to a file."""

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
    if parameters.get("class_weight") is None:
        parameters.pop("class_weight", None)  # files without weights can be read by earlier versions too
    else:
        parameters["class_weight"] = plain(parameters["class_weight"])
    parameters["random_state"] = None
    content = {
        "model": model.kind,
        "card": card(model),
        "parameters": parameters,
        "schema": model.schema_.to_dict(),
        **_learned(model),
    }
    return FILE.wrap(content)


def _learned(model: Any) -> dict[str, Any]:
    """The noisy tables that a model is built from, or what its `learned` returns."""
    if hasattr(model, "picked_"):
        return {"picked": model.picked_.to_dict(), "statistics": model.noisy_.to_dict()}
    if hasattr(model, "noisy_"):
        return {"statistics": model.noisy_.to_dict()}
    return {"learned": model.learned()}


def card(model: SavedModel) -> dict[str, Any]:
    """The part of a model file that people read: what is guaranteed, for what data, and what it cost."""
    schema = model.schema_
    noisy: NoisyStatistics | None = getattr(model, "noisy_", None)
    tables = noisy.tables if noisy is not None else ()
    asked = {name for query, _ in tables for name in _columns(query, schema)} if tables else set(schema.names)
    picked = {"picked": model.picked_.to_dict()} if hasattr(model, "picked_") else {}
    return {
        "model": model.kind,
        **picked,
        **({"class_weight": plain(weight)} if (weight := getattr(model, "class_weight", None)) is not None else {}),
        "target": schema.target,
        "classes": list(schema.classes),
        "attributes": [name for name in schema.names if name in asked],
        "not_asked": [name for name in schema.names if name not in asked],
        "guarantee": model.guarantee_.to_dict(),
        "remarks": list(getattr(model, "remarks_", ())),
        "unchecked": str(getattr(model, "unchecked_", "")),
        "charges": [charge.to_dict() for charge in model.receipt_.charges],
        "schema_hash": schema.hash,
    }


def _columns(query: Any, schema: Schema) -> list[str]:
    """The columns that a query asks about."""
    if isinstance(query, Hyperplanes):
        return [name for feature in query.features(schema) for name in feature.columns]
    return list(query.columns) if hasattr(query, "columns") else [query.column] if hasattr(query, "column") else []


def save(model: SavedModel, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a model file; an interruption leaves no partial file. FileError if there is a file, unless `overwrite`."""
    if not overwrite and Path(path).exists():
        raise FileError(f"{path} exists; choose another name, or save with overwrite=True")
    FILE.write(path, to_dict(model))
