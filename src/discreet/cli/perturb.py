"""`discreet perturb`: write a table that can be published. Every check comes before the charge."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import Payment, as_dict, paying
from discreet.cli.outputs import advise, check_out, emit, say, tabulate_charges
from discreet.cli.progress import counting
from discreet.cli.train import public_schema
from discreet.errors import FileError, SchemaError
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.ledger import Ledger
from discreet.records.csv_header import names_in
from discreet.records.csv_opening import TEXT_FILES, delimiter_of
from discreet.schema import Dialect, Schema
from discreet.schema.columns import Categorical, text_of
from discreet.sources import check_rows
from discreet.storage.writing import whole_file

SEEDED = (
    "--seed was set: whoever guesses it can undo the noise. Do not publish this table; for one that can be published, "
    "perturb the data again without --seed."
)


def perturb(
    data: options.Data,
    schema: options.Schema,
    epsilon: Annotated[str, typer.Option(help="The privacy loss per record, label included.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The CSV file to write.", show_default=False)],
    adjacency: Annotated[str | None, typer.Option(help="Must be replace-one; default: as the schema says.")] = None,
    components: Annotated[
        int | None, typer.Option(help="Number of values released per record, label included; default: all.")
    ] = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    ledger: options.OptionalLedger = None,
    limit: options.Limit = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable noise, for experiments: no guarantee, not to be published.")
    ] = None,
    draft_ok: options.DraftOk = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Perturb every value of every record, so that the table itself can be published.

    Any learner may be used on the result; a model of discreet that is trained on the data themselves needs far less
    noise. Rows are written in random order, since their order could tell something. The number of rows is published.

    \b
    Example, after `discreet demo`:
      discreet perturb discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --adjacency replace-one --epsilon 20 --out perturbed.csv
    """
    from discreet.perturbation.local_perturbation import LocalPerturbation
    from discreet.perturbation.perturbed_table import receipt_path, save_receipt

    with paying(ledger, "no table was written") as payment:
        loss = as_epsilon(epsilon)
        read = inputs.as_written(public_schema(schema, adjacency, draft_ok), delimiter, decimal, encoding)
        public = read.replace(dialect=Dialect())  # the table that is written has commas and decimal points
        perturbation = LocalPerturbation(public, epsilon=loss, components=components, random_state=seed)
        perturbation.check_parameters()
        check_out(out, *inputs.data_files(data), inputs.schema_file(schema), ledger, force=force)
        check_out(receipt_path(out), *inputs.data_files(data), inputs.schema_file(schema), ledger, force=force)
        if out.suffix.lower() not in TEXT_FILES:
            raise FileError(f"{out}: the table is written as CSV; need a name that ends in {', '.join(TEXT_FILES)}")
        source = inputs.open_data(data, table, stream=stream, dialect=read.dialect)
        check_rows(source)
        inputs.check_structure(source, data, read, table)
        _check_texts(out, public)
        payment.open(limit, loss, public.adjacency)
        with whole_file(out) as file, counting(source, "perturbing"):
            blocks = perturbation.resample_from(source, ledger=payment.ledger, folder=out.parent)
            rows = _write(_writer(file, out), blocks, public)
        payment.outcome = f"the table is in {out}, without its receipt"
        save_receipt(perturbation, out)
        payment.outcome = f"the table is in {out}, with its receipt"
        if as_json:
            emit(_report(perturbation, out, rows, payment.ledger))
        else:
            _show(perturbation, out, rows, payment)
        if seed is not None:
            advise(SEEDED)


def _show(perturbation: Any, out: Path, rows: int, payment: Payment) -> None:
    from discreet.perturbation.perturbed_table import receipt_path

    say(perturbation.guarantee_.statement(), style="bold")
    tabulate_charges(perturbation.receipt_.charges)
    payment.say_state()
    say(f"{rows} records written to {out}, in random order; their receipt to {receipt_path(out)}: keep both.")


def _check_texts(out: Path, schema: Schema) -> None:
    """Raise unless the public names and values can be written to a CSV file and read back unchanged."""
    labels = {column.name: column.categories for column in schema.columns if isinstance(column, Categorical)}
    for name, listed in {**labels, schema.target: schema.classes}.items():
        if any(mark in text_of(label) for label in listed for mark in "\r\n"):
            raise SchemaError(
                f"column {name!r}: one of its public values holds a line break, which a CSV file cannot hold; change "
                "it in the schema and in the data"
            )
    names = [*schema.names, schema.target]
    for name in names:
        if not _is_read_back([name], out):
            raise SchemaError(f"column {name!r}: its name cannot be written to the first line of a CSV file; rename it")
    if not _is_read_back(names, out):
        raise SchemaError("the names of two columns differ in case only; rename one of them")


def _is_read_back(names: list[str], out: Path) -> bool:
    """Whether these names, written as the first line of a file, are read back unchanged."""
    heading = io.StringIO(newline="")
    _writer(heading, out).writerow(names)
    line = heading.getvalue().encode("utf-8", "replace").removesuffix(b"\n")
    try:
        return b"\n" not in line and names_in(line, out, Dialect(delimiter_of(out).decode())) == names
    except FileError:
        return False


def _writer(file: Any, out: Path) -> Any:
    """A CSV writer with the delimiter that this file is read with: a comma, or a tab in a .tsv file."""
    return csv.writer(file, delimiter=delimiter_of(out).decode(), lineterminator="\n")


def _write(writer: Any, blocks: Iterator[tuple[Any, Any]], schema: Schema) -> int:
    """Write a header and the records, target column last; returns the number of records."""
    from discreet.perturbation.decoding import as_texts

    writer.writerow([*schema.names, schema.target])
    count = 0
    for columns, labels in blocks:
        writer.writerows(zip(*map(as_texts, columns.values()), as_texts(labels), strict=True))
        count += len(labels)
    return count


def _report(perturbation: Any, out: Path, rows: int, ledger: Ledger | None) -> dict[str, Any]:
    """The result for scripts."""
    return {
        "out": str(out),
        "receipt": f"{out}.receipt.json",
        "rows": rows,
        "guarantee": perturbation.guarantee_.to_dict(),
        "charges": [charge.to_dict() for charge in perturbation.receipt_.charges],
        "schema_hash": perturbation.schema.hash,
        "ledger": as_dict(ledger),
    }
