"""A perturbed table and its receipt, kept together: with both, a learner can state the guarantee of its model.

The receipt is a small JSON file beside the table. It names the table by the hash of its bytes and vouches for no other
table: not for the original by mistake, nor for one that was edited, joined or sorted since. The hash finds mistakes,
not forgery: anyone who can write the table can write a receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.perturbation.decoding import digest_of_values
from discreet.perturbation.local_perturbation import LocalGuarantee, LocalPerturbation
from discreet.privacy.guarantee import UNIT
from discreet.privacy.receipt import Receipt
from discreet.records.files import checked, file_hash, read_blocks, read_columns, structure
from discreet.records.tables import open_labelled
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.storage.envelope import Envelope

FILE = Envelope(
    "discreet/perturbed-table",
    1,
    "a receipt of a perturbed table",
    "`discreet perturb`",
    remedy="perturb the data again",
    indent=1,
)


@dataclass(frozen=True, eq=False)
class PerturbedTable:
    """Perturbed records with their guarantee; a model learned from them has the same guarantee.

    Attributes
    ----------
    X, y : the perturbed columns by name, and the perturbed labels.
    schema : the schema under which they were perturbed.
    guarantee, receipt : the guarantee of the table, and every charge.
    """

    X: Columns
    y: NDArray[Any]
    schema: Schema
    guarantee: LocalGuarantee
    receipt: Receipt


def receipt_path(table: str | Path) -> Path:
    """The path of the receipt of a table: beside the table.

    >>> receipt_path("folder/perturbed.csv").name
    'perturbed.csv.receipt.json'
    """
    table = Path(table)
    return table.with_name(f"{table.name}.receipt.json")


def save_receipt(perturbation: LocalPerturbation, table: str | Path) -> Path:
    """Write the receipt of the table that `perturbation` made last, beside the file that holds it; returns its path.

    The file is read first. Raises ParameterError if it holds any other table: an earlier one, which may have cost
    another epsilon, or one with a column beside those of the schema, which nothing perturbed.
    """
    if not hasattr(perturbation, "guarantee_"):
        raise ParameterError("nothing was perturbed yet; call fit_resample, write its table, then save the receipt")
    if not perturbation.guarantee_.labels:
        raise ParameterError("labels were not perturbed: the table has no guarantee; use fit_resample, not transform")
    schema, found = perturbation.schema_, file_hash(Path(table))
    digest = _table_digest(Path(table), schema)
    if digest is None or digest != perturbation.table_digest_:  # that one is None too if perturbing failed
        raise ParameterError(
            f"{table} is not the table that was perturbed last; save the receipt of each table before the next is "
            "perturbed, and write the table as it is: every column and no other, rows in the order they came in"
        )
    content = {
        "table_sha256": found,
        "guarantee": perturbation.guarantee_.to_dict(),
        "receipt": perturbation.receipt_.to_dict(),
        "schema": schema.to_dict(),
    }
    path = receipt_path(table)
    FILE.write(path, FILE.wrap(content))
    return path


def read_perturbed(table: str | Path) -> PerturbedTable:
    """Read a table that `discreet perturb` wrote, with its receipt.

    Raises FileError if the receipt is missing or damaged, or belongs to another table.
    """
    table = checked(table)
    schema, receipt, digest = _read_receipt(receipt_path(table))
    if file_hash(table) != digest:
        raise FileError(
            f"{table} is not the table of its receipt, or was changed since: nothing is known about its privacy; "
            "perturb the data again, or treat it as private data"
        )
    columns, labels = open_labelled(read_columns(table), None, schema)
    guarantee = LocalGuarantee.of(receipt, schema)
    assert isinstance(guarantee, LocalGuarantee)
    X = {name: columns.column(name) for name in schema.names}
    return PerturbedTable(X, labels.read(), schema, guarantee, receipt)


def _read_receipt(path: Path) -> tuple[Schema, Receipt, str]:
    if not path.exists():
        raise FileError(
            f"there is no receipt {path}: nothing is known about the privacy of the table; perturb the data again, or "
            "treat it as private data"
        )
    content = FILE.read(path)
    try:
        return _checked_receipt(content)
    except (DiscreetError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise FileError(f"{path} was altered or damaged; perturb the data again") from None


def _checked_receipt(content: Mapping[str, Any]) -> tuple[Schema, Receipt, str]:
    schema, receipt = Schema.from_dict(content["schema"]), Receipt.from_dict(content["receipt"])
    fits = receipt.schema_hash == schema.hash and receipt.adjacency is schema.adjacency and receipt.charges
    fits = fits and content["guarantee"]["unit"] == UNIT
    if not fits or not isinstance(content["table_sha256"], str):
        raise ValueError
    return schema, receipt, content["table_sha256"]


def _table_digest(path: Path, schema: Schema) -> str | None:
    """The digest of the table in a file; None unless its columns are exactly those of the schema."""
    if set(structure(path)) != set(schema.all_names):
        return None
    return digest_of_values(read_blocks(path, names=schema.all_names), schema)
