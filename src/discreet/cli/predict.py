"""`discreet predict`: one prediction per record, a block of records at a time."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discreet.cli import inputs, options
from discreet.cli.outputs import advise, check_out, emit
from discreet.cli.tables import Rows, check_table, counting_rows, typed, write_csv, write_table
from discreet.errors import DataError, ParameterError
from discreet.records.csv_columns import swapped
from discreet.records.values import Columns
from discreet.sources import as_records, finish
from discreet.sources.csv import CsvSource


def predict(
    model: options.Model,
    data: options.Data,
    out: Annotated[
        Path | None, typer.Option(help="The .csv or .parquet file to write; default: CSV to standard output.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column of the data to copy, such as an identifier; repeat for more.")
    ] = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    force: options.Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list of records, or with --out a summary.")
    ] = False,
) -> None:
    """Predict the class of each record, in the order of the data.

    Columns that are not in the model's schema are not read. Records pass through block by block, so the data may be
    larger than memory. Rows of a database have no order: copy a column that identifies them (--keep).

    \b
    Example, after `discreet demo`:
      discreet predict discreet-demo/model.json discreet-demo/new.csv --proba
    """
    trained = inputs.load_model(model)
    if proba and not trained.probabilistic:
        raise ParameterError(f"--proba: a model of kind {trained.kind} gives no probabilities; leave --proba out")
    if out is not None:
        check_out(out, model, *inputs.data_files(data), force=force)
        check_table(out)
    read = inputs.as_written(trained.schema_, delimiter, decimal, encoding)
    source = inputs.open_data(data, table, stream=stream, dialect=read.dialect)
    try:
        records, kept = as_records(source), keep or []
        columns = inputs.structure_of(records, data, read, table)
        for name in kept:
            if name not in columns:
                raise DataError(f"--keep={name!r}: {data} has no such column; check the name")
        trained.predict(_known(columns, trained))  # raises if the columns do not fit, before a record is read
        written = _structure(trained, proba, {name: columns[name] for name in kept})
        blocks = records.values(_wanted(trained, kept), trained.schema_.numeric_names - {*kept})
        commas = set() if read.dialect.decimal == "." or not isinstance(source, CsvSource) else {*kept}
        predictions = _predictions(trained, blocks, proba, kept, commas & trained.schema_.numeric_names)
        if out is None:
            _print(predictions, list(written), as_json=as_json)
            return
        with counting_rows("predicting") as passing:
            rows = write_table(out, passing(predictions), written)
    finally:
        finish(source)
    if as_json:
        emit({"out": str(out), "rows": rows})
    else:
        advise(f"{rows} predictions written to {out}")


def _known(block: Columns, model: Any) -> Columns:
    """The columns that the model uses."""
    return {name: values for name, values in block.items() if name in model.schema_.names}


def _wanted(model: Any, kept: list[str]) -> list[str]:
    return list(dict.fromkeys([*model.schema_.names, *kept]))


def _structure(model: Any, proba: bool, kept: Columns) -> Columns:
    """What is written, without a record: the columns to keep, the class and, with `proba`, the probabilities."""
    added = {f"p({label})": np.empty(0) for label in model.classes_.tolist() if proba}
    return {**kept, "prediction": typed(model.classes_), **added}


def _predictions(
    model: Any, blocks: Iterable[Columns], proba: bool, kept: list[str], commas: Collection[str]
) -> Iterator[Rows]:
    """The columns to keep, the class of each record and, with `proba`, the probability of each class.

    `commas` are the columns to keep whose texts are numbers with a decimal comma.
    """
    for block in blocks:
        known = {name: swapped(each) if name in commas else each for name, each in _known(block, model).items()}
        rows = {name: _kept(block[name]) for name in kept} | {"prediction": model.predict(known).tolist()}
        if proba:
            for label, column in zip(model.classes_.tolist(), model.predict_proba(known).T, strict=True):
                rows[f"p({label})"] = [float(f"{value:.6g}") for value in column]
        yield rows


def _kept(values: Any) -> list[Any]:
    """The values of a column to copy; a value that is neither a number nor text is left empty."""
    if values.dtype.kind in "mM":
        return [None] * len(values)
    return [None if isinstance(value, bytes) else value for value in values.tolist()]


def _print(blocks: Iterable[Rows], names: list[str], *, as_json: bool) -> None:
    """Write to standard output as the records come."""
    if not as_json:
        write_csv(sys.stdout, blocks, names)
        return
    first = True
    sys.stdout.write("[")
    for block in blocks:
        for values in zip(*(block[name] for name in names), strict=True):
            text = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
            sys.stdout.write(("\n" if first else ",\n") + text)
            first = False
    sys.stdout.write("\n]\n")
