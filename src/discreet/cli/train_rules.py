"""`discreet train --model bee-rules`: rules from a perturbed table, whose guarantee they keep, or from any data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from discreet.cli import inputs
from discreet.cli.outputs import notes
from discreet.errors import FileError, ParameterError
from discreet.records.files import checked, read_columns

PRICELESS = (
    "bee-rules cost no epsilon: they keep the guarantee that `discreet perturb` paid for; leave --epsilon, --ledger, "
    "--limit, --adjacency and --dry-run out"
)


def fit_rules(
    estimator: Any,
    data: Path,
    schema: str | None,
    clear: bool,
    written: Mapping[str, str | None] = MappingProxyType({}),
) -> Any:
    """Fit bee rules on a table with its receipt or, with `clear`, on unperturbed data: then nothing is guaranteed."""
    from discreet.perturbation.perturbed_table import read_perturbed, receipt_path

    if clear:
        if schema is None:
            raise ParameterError("--clear needs the table's schema; add --schema FILE")
        given = [written.get(name) for name in ("delimiter", "decimal", "encoding")]
        public = inputs.as_written(inputs.load_schema(schema), *given)
        estimator.set_params(schema=public)
        estimator.check_parameters()
        inputs.check_header(checked(data), estimator.schema)
        with notes.status("searching rules"):
            return estimator.fit(read_columns(data, public.dialect, public.numeric_names))
    if any(written.values()):
        raise ParameterError(
            "a perturbed table has commas and decimal points; leave --delimiter, --decimal and --encoding out"
        )
    if schema is not None:
        raise ParameterError("a perturbed table has its schema in its receipt; leave --schema out")
    try:
        table = read_perturbed(data)
    except FileError as error:
        if receipt_path(data).exists() or not data.is_file():
            raise
        raise FileError(f"{error} (--clear --schema FILE: rules without any guarantee)") from None
    estimator.set_params(schema=table.schema)
    estimator.check_parameters()
    with notes.status("searching rules"):
        return estimator.fit(table.X, table.y, source_guarantee=table.guarantee, source_receipt=table.receipt)
