"""`discreet perturb`: a table that can be published. All that can be checked is checked before anything is charged."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs
from discreet.cli.accounts import as_dict, in_words, open_ledger, paying
from discreet.cli.outputs import advise, check_out, emit, notes, say, tabulate_charges
from discreet.cli.train import public_schema
from discreet.errors import FileError, SchemaError
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.ledger import Ledger
from discreet.records.csv_columns import delimiter_of
from discreet.records.csv_header import names_in
from discreet.records.files import TEXT_FILES, checked, is_text, read_blocks, structure
from discreet.records.tables import Table
from discreet.schema import Schema
from discreet.schema.columns import Categorical, text_of
from discreet.storage.writing import whole_file

SEEDED = (
    "--seed was set: whoever guesses it can undo the noise. Do not publish this table; perturb the data again without "
    "--seed for that."
)


def perturb(
    data: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", show_default=False)],
    schema: Annotated[str, typer.Option(help="What is public: a schema file.", show_default=False)],
    epsilon: Annotated[str, typer.Option(help="The privacy loss of a record, its label included.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The CSV file to write.", show_default=False)],
    adjacency: Annotated[str | None, typer.Option(help="replace-one is needed; default: as the schema says.")] = None,
    components: Annotated[
        int | None, typer.Option(help="Release the label and, of each record, so many values less one; default: all.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="A file that keeps what was spent on these data.")] = None,
    limit: Annotated[str | None, typer.Option(help="The most that the ledger may ever spend; set once.")] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable noise, for experiments: no guarantee, not to be published.")
    ] = None,
    draft_ok: Annotated[bool, typer.Option("--draft-ok", help="Accept a draft schema: no guarantee.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Perturb every value of every record, so that the table itself can be published.

    Any learner may be used on the result; a model of discreet on the data themselves needs far less noise. The rows
    are written in random order, since the order of a file may tell something. The number of rows is published.

    \b
    Example, after `discreet demo`:
      discreet perturb discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --adjacency replace-one --epsilon 20 --out perturbed.csv
    """
    from discreet.perturbation.local_perturbation import LocalPerturbation
    from discreet.perturbation.perturbed_table import receipt_path, save_receipt

    loss = as_epsilon(epsilon)
    public = public_schema(schema, adjacency, draft_ok)
    perturbation = LocalPerturbation(public, epsilon=loss, components=components, random_state=seed)
    perturbation.check_parameters()
    check_out(out, data, Path(schema.partition("#")[0]), ledger, force=force)
    check_out(receipt_path(out), data, Path(schema.partition("#")[0]), ledger, force=force)
    if not is_text(out):
        raise FileError(f"{out}: the table is written as CSV; need a name that ends in {', '.join(TEXT_FILES)}")
    _check_columns(data, public)
    _check_texts(out, public)
    account = open_ledger(ledger, limit, loss, public.adjacency)
    with paying(account, ledger, "no table with a receipt was written"):
        with whole_file(out) as file, notes.status("perturbing"):
            blocks = perturbation.resample_blocks(read_blocks(data, names=public.all_names), ledger=account)
            rows = _write(_writer(file, out), blocks, public)
        receipt = save_receipt(perturbation, out)
    if as_json:
        emit(_report(perturbation, out, rows, account))
    else:
        say(perturbation.guarantee_.statement(), style="bold")
        tabulate_charges(perturbation.receipt_.charges)
        if account is not None:
            say(in_words(account, ledger))
        say(f"{rows} records written to {out}, in random order; what is promised for them to {receipt}: keep both.")
    if seed is not None:
        advise(SEEDED)


def _check_columns(data: Path, schema: Schema) -> None:
    """Raise unless the file has the schema's columns, the target included; no record is read."""
    checked(data)
    inputs.check_header(data, schema)
    Table(structure(data), schema).check(schema, target=True)


def _check_texts(out: Path, schema: Schema) -> None:
    """Raise unless the public names and values can stand in a CSV file, and are read from it as they are."""
    labels = {column.name: column.categories for column in schema.columns if isinstance(column, Categorical)}
    for name, listed in {**labels, schema.target: schema.classes}.items():
        if any(mark in text_of(label) for label in listed for mark in "\r\n"):
            raise SchemaError(
                f"column {name!r}: one of its public values holds a line break, which cannot stand in a CSV file; "
                "write it in another way, in the schema and in the data"
            )
    names = [*schema.names, schema.target]
    for name in names:
        if not _is_read_back([name], out):
            raise SchemaError(f"column {name!r}: its name cannot stand in the first line of a CSV file; rename it")
    if not _is_read_back(names, out):
        raise SchemaError("two columns have names that differ in case only; rename one of them")


def _is_read_back(names: list[str], out: Path) -> bool:
    """Whether these names, as the first line of a file, are read as they are."""
    heading = io.StringIO(newline="")
    _writer(heading, out).writerow(names)
    line = heading.getvalue().encode("utf-8", "replace").removesuffix(b"\n")
    try:
        return b"\n" not in line and names_in(line, out) == names
    except FileError:
        return False


def _writer(file: Any, out: Path) -> Any:
    """Writes what a file by this name is read as: commas between the columns, tabs in a .tsv file."""
    return csv.writer(file, delimiter=delimiter_of(out).decode(), lineterminator="\n")


def _write(writer: Any, blocks: Iterator[tuple[Any, Any]], schema: Schema) -> int:
    """Write a header and the records, columns in the schema's order, the target last; returns how many."""
    from discreet.perturbation.decoding import as_texts

    writer.writerow([*schema.names, schema.target])
    count = 0
    for columns, labels in blocks:
        writer.writerows(zip(*map(as_texts, columns.values()), as_texts(labels), strict=True))
        count += len(labels)
    return count


def _report(perturbation: Any, out: Path, rows: int, ledger: Ledger | None) -> dict[str, Any]:
    """What a script wants to know."""
    return {
        "out": str(out),
        "receipt": f"{out}.receipt.json",
        "rows": rows,
        "guarantee": perturbation.guarantee_.to_dict(),
        "charges": [charge.to_dict() for charge in perturbation.receipt_.charges],
        "schema_hash": perturbation.schema.hash,
        "ledger": as_dict(ledger),
    }
