"""`discreet predict`: one prediction per record, a block of records at a time."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, emit, notes
from discreet.errors import DataError, ParameterError
from discreet.records.csv_columns import delimiter_of
from discreet.records.files import Block, checked, read_blocks, structure
from discreet.storage.writing import whole_file


def predict(
    model: options.Model,
    data: Annotated[Path, typer.Argument(help="A .csv or .parquet file of new records.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="The CSV file to write; default: standard output.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the file to copy, such as an identifier; repeat for more.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list of records, or with --out a summary.")
    ] = False,
) -> None:
    """Predict the class of each record, in the order of the file.

    Columns that are not in the model's schema are not read.

    \b
    Example, after `discreet demo`:
      discreet predict discreet-demo/model.json discreet-demo/new.csv --proba
    """
    trained = inputs.load_model(model)
    if proba and not trained.probabilistic:
        raise ParameterError(f"--proba: a model of kind {trained.kind} gives no probabilities; leave --proba out")
    if out is not None:
        check_out(out, model, data)
    checked(data)
    inputs.check_header(data, trained.schema_)
    columns, kept = structure(data), keep or []
    for name in kept:
        if name not in columns:
            raise DataError(f"--keep={name!r}: {data} has no such column; check the name")
    trained.predict(_known(columns, trained))  # raises if the columns do not fit, before a record is read
    records = _predictions(trained, read_blocks(data), proba, kept)
    if out is None:
        _write(sys.stdout, records, _names(trained, proba, kept), as_json=as_json)
        return
    with whole_file(out) as file, notes.status("predicting"):
        rows = _write(file, records, _names(trained, proba, kept), delimiter_of(out).decode())
    if as_json:
        emit({"out": str(out), "rows": rows})
    else:
        advise(f"{rows} predictions written to {out}")


def _known(block: Block, model: Any) -> Block:
    """The columns that the model uses."""
    return {name: values for name, values in block.items() if name in model.schema_.names}


def _names(model: Any, proba: bool, kept: list[str]) -> list[str]:
    return [*kept, "prediction", *(f"p({label})" for label in model.classes_.tolist() if proba)]


def _predictions(model: Any, blocks: Iterator[Block], proba: bool, kept: list[str]) -> Iterator[list[Any]]:
    """One row per record: the columns to keep, the class and, with `proba`, the probability of each class."""
    for block in blocks:
        known = _known(block, model)
        columns = [_kept(block[name]) for name in kept] + [model.predict(known).tolist()]
        if proba:
            columns += [[float(f"{value:.6g}") for value in column] for column in model.predict_proba(known).T]
        yield from map(list, zip(*columns, strict=True))


def _kept(values: Any) -> list[Any]:
    """The values of a column to copy; a value that is neither a number nor text is left empty."""
    return [None if isinstance(value, bytes) else value for value in values.tolist()]


def _write(
    file: Any, records: Iterator[list[Any]], names: list[str], delimiter: str = ",", *, as_json: bool = False
) -> int:
    """Write the rows as they come; returns their number."""
    count = 0
    if as_json:
        file.write("[")
        for count, record in enumerate(records, 1):
            text = json.dumps(dict(zip(names, record, strict=True)), ensure_ascii=False)
            file.write(("\n" if count == 1 else ",\n") + text)
        file.write("\n]\n")
        return count
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        writer.writerow(record)
        count += 1
    return count
