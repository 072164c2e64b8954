"""`discreet predict`: one prediction a record, a block of records at a time."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs
from discreet.cli.outputs import advise, check_out, emit, notes
from discreet.files import Block, checked, read_blocks, structure
from discreet.writing import whole_file


def predict(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="A .csv or .parquet file of new records.", show_default=False)],
    out: Annotated[Path | None, typer.Option(help="The CSV file to write; default: standard output.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: a list of records, or with --out a summary.")
    ] = False,
) -> None:
    """Predict the class of each record, in the order of the file.

    The target and the columns that the schema ignores may be there or not.

    \b
    Example, after `discreet demo`:
      discreet predict discreet-demo/model.json discreet-demo/new.csv --proba
    """
    trained = inputs.load_model(model)
    if out is not None:
        check_out(out, model, data)
    checked(data)
    inputs.check_header(data, trained.schema_)
    trained.predict(structure(data))  # the columns fit, or an error before a record is read
    records = _predictions(trained, read_blocks(data), proba)
    if out is None:
        _write(sys.stdout, records, trained, proba, as_json)
        return
    with whole_file(out) as file, notes.status("predicting"):
        rows = _write(file, records, trained, proba, as_json=False)
    if as_json:
        emit({"out": str(out), "rows": rows})
    else:
        advise(f"{rows} predictions written to {out}")


def _predictions(model: Any, blocks: Iterator[Block], proba: bool) -> Iterator[list[Any]]:
    """A row for each record: the class, then the probability of each class if asked."""
    for block in blocks:
        labels = model.predict(block).tolist()
        if proba:
            shares = model.predict_proba(block).tolist()
            yield from ([label, *row] for label, row in zip(labels, shares, strict=True))
        else:
            yield from ([label] for label in labels)


def _write(file: Any, records: Iterator[list[Any]], model: Any, proba: bool, as_json: bool) -> int:
    """Write the rows as they come; returns how many."""
    names = ["prediction", *(f"p({label})" for label in model.schema_.classes if proba)]
    count = 0
    if as_json:
        file.write("[")
        for count, record in enumerate(records, 1):
            text = json.dumps(dict(zip(names, record, strict=True)), ensure_ascii=False)
            file.write(("\n" if count == 1 else ",\n") + text)
        file.write("\n]\n")
        return count
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    for label, *shares in records:
        writer.writerow([label, *(f"{share:.6g}" for share in shares)])
        count += 1
    return count
