"""Arguments and options that several commands have, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli.folder import as_folder
from discreet.privacy.ledger.address import AccountAddress, as_ledger_place
from discreet.storage.addresses import Address, as_address


def as_data(name: str) -> Path | Address:
    """The data that a command is to read: a file, or the address of a database."""
    if not name.strip():
        raise typer.BadParameter("the name is empty; need a file, a folder or an address")  # "" would be this folder
    return as_address(name) or Path(name)


_SCHEMA = typer.Option(help="What is public: a schema file.", show_default=False)
_EPSILON = typer.Option(help="The privacy loss, for instance 1, 0.3 or 1/3.", show_default=False)


def as_ledger(text: str) -> Path | AccountAddress:
    """Where a ledger is: a file, or accounts in a database."""
    if not text.strip():
        raise typer.BadParameter("the name is empty; need a file or an address")
    return as_ledger_place(text)


_LEDGER = typer.Option(
    parser=as_ledger,
    metavar="LEDGER",
    help="A file that keeps what was spent on these data, or accounts: postgresql://…#population/dataset",
    show_default=False,
)

Model = Annotated[Path, typer.Argument(help="A model file.", show_default=False)]
Data = Annotated[
    Any,  # a path or an address
    typer.Argument(
        parser=as_data,
        metavar="DATA",
        help="A .csv, .csv.gz, .xlsx, .parquet or .duckdb file, or an address: postgresql://…, spark://…, sc://…",
        show_default=False,
    ),
]
OptionalData = Annotated[
    Any,
    typer.Argument(
        parser=as_data, metavar="[DATA]", help="A file or database whose columns must fit.", show_default=False
    ),
]
DataInFile = Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .xlsx or .parquet file.", show_default=False)]
DataTable = Annotated[
    str | None,
    typer.Option("--table", help="The table of a database or a .duckdb file, or the sheet of an .xlsx file."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the columns of a CSV file: ';', '|' or tab; default: as its first line tells."),
]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark of numbers in a CSV file: '.' or ','.")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of a CSV file, such as latin-1; default: utf-8.")]
Stream = Annotated[
    bool, typer.Option("--stream", help="Let rows travel from the database to this process, for models that need them.")
]
Schema = Annotated[str, _SCHEMA]
OptionalSchema = Annotated[str | None, _SCHEMA]
Epsilon = Annotated[str, _EPSILON]
OptionalEpsilon = Annotated[str | None, _EPSILON]
Adjacency = Annotated[str | None, typer.Option(help="add-remove or replace-one; default: as the schema says.")]
DraftOk = Annotated[bool, typer.Option("--draft-ok", help="Accept a draft schema: no guarantee.")]
Ledger = Annotated[Any, _LEDGER]  # a path or an address
OptionalLedger = Annotated[Any, _LEDGER]
LedgerPlace = Annotated[
    Any,
    typer.Argument(
        parser=as_ledger,
        metavar="LEDGER",
        help="A ledger file, or accounts: postgresql://…#population/dataset or sqlite:////…#population",
        show_default=False,
    ),
]
Limit = Annotated[str | None, typer.Option(help="The most that the ledger may ever spend; set once.")]
Seed = Annotated[int | None, typer.Option(help="Repeatable noise, for experiments: no guarantee.")]
ModelOut = Annotated[Path, typer.Option("--out", help="The model file to write.", show_default=False)]
FolderOut = Annotated[
    Path,
    typer.Option(
        "--out",
        parser=as_folder,
        metavar="FOLDER",
        help="The folder to write into: runs, report and pictures.",
        show_default=False,
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option("--directory", help="A folder with schemas.json and data sets; default: DISCREET_DATA."),
]
Jobs = Annotated[int, typer.Option(min=1, help="Number of processes, at most one per processor.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
