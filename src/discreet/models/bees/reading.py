"""Training records for a search that reads all of them: what reading costs, and what may be promised afterwards.

Guarantee  whatever is learned from records that were perturbed one by one, labels included, is as private as they are.
Proof      the result is a function of the perturbed table and of randomness that is independent of the data:
           post-processing. Bounds, categories and classes of a schema are public, or were read off the perturbed table.
Rests on   the records being those that the guarantee is for: nothing here can tell a perturbed table from a clear one.
Test       tests/models/bees/test_bee_rules_promises.py::test_rules_of_perturbed_records_are_post_processing
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from numpy.typing import NDArray

from discreet.doors.passage import pay
from discreet.errors import ParameterError
from discreet.models.bees.rules import encode
from discreet.perturbation.local_perturbation import LocalGuarantee
from discreet.privacy.epsilon import total
from discreet.privacy.guarantee import UNIT, Guarantee
from discreet.privacy.ledger import as_ledger
from discreet.privacy.mechanisms.clear import Everything, InTheClear
from discreet.privacy.randomness import as_rng
from discreet.privacy.receipt import Charge, Receipt
from discreet.privacy.steps import Step
from discreet.records.encoding import Codes, class_codes
from discreet.records.tables import open_labelled
from discreet.schema import Schema
from discreet.schema.columns import Categorical

FROM_SOURCE = (
    "It was learned from records that had been perturbed one by one, and is post-processing of them; this relies on "
    "the records being those."
)
UNBOUNDED = (
    "the schema's columns were chosen under another adjacency than the records were perturbed under, which bounds "
    "nothing; choose the columns again"
)
PUBLIC = "the schema: column names, bounds, categories, classes, adjacency"


def admit(
    schema: Schema | str, ledger: object, guarantee: Guarantee | None, receipt: Receipt | None, name: str
) -> bool:
    """Check and charge before any record is read; returns whether the records were perturbed under a guarantee.

    Records without a guarantee that holds are read in the clear: that charges infinity to the ledger, if there is one.
    """
    perturbed = is_perturbed(guarantee, receipt, schema)
    if perturbed:
        check_schema(schema, receipt)
    elif ledger is not None:
        charge_in_the_clear(ledger, schema, name)
    return perturbed


def charge_in_the_clear(ledger: object, schema: Schema | str, name: str) -> None:
    """Charge an infinite loss: a ledger with a limit refuses it before any value is read.

    A schema that is still to be read off the data is replaced by a dummy: the charge is infinite under any schema.
    """
    known = schema if isinstance(schema, Schema) else Schema([Categorical("-", ["-"])], "target", ["-"])
    pay(known, [_CLEAR], as_ledger(ledger, math.inf), as_rng(None), name)


_CLEAR = Step(Everything("all records"), InTheClear(), math.inf)


def is_perturbed(guarantee: Guarantee | None, receipt: Receipt | None, schema: Schema | str) -> bool:
    """Whether the records come with a guarantee that holds; ParameterError if it does not cover whole records."""
    if guarantee is not None and not isinstance(guarantee, LocalGuarantee):
        raise ParameterError(
            f"source_guarantee={type(guarantee).__name__}; need that of the LocalPerturbation that made them"
        )
    if receipt is not None and not isinstance(receipt, Receipt):
        raise ParameterError(f"source_receipt={type(receipt).__name__}; need a Receipt, for instance receipt_")
    if guarantee is None or not guarantee.holds:
        return False
    if not guarantee.labels:
        raise ParameterError(
            f"source_guarantee is for {guarantee.unit!r}; need one for {UNIT!r}, labels included: "
            "use X, y = fit_resample(X, y) of a LocalPerturbation"
        )
    if receipt is not None and not _belong(guarantee, receipt, schema):
        raise ParameterError("source_receipt does not belong to source_guarantee; use both from one perturbation")
    return True


def _belong(guarantee: Guarantee, receipt: Receipt, schema: Schema | str) -> bool:
    """Whether a guarantee and a receipt fit together; without the receipt's schema, whether they may."""
    if (guarantee.adjacency, guarantee.seeded) != (receipt.adjacency, receipt.seeded) or not receipt.charges:
        return False
    if isinstance(schema, str) or receipt.schema_hash != schema.hash:
        return guarantee.epsilon >= receipt.epsilon
    chosen = [] if schema.chosen is None else [schema.chosen.under(receipt.adjacency)]
    return guarantee.epsilon == total([receipt.epsilon, *chosen])


def check_schema(schema: Schema | str, receipt: Receipt | None) -> None:
    """Raise ParameterError if a given schema is a draft, which shows clear records, or not the records' own schema."""
    if isinstance(schema, Schema) and not schema.is_public:
        raise ParameterError("the schema was read off data; need the public schema of the perturbed records")
    if isinstance(schema, Schema) and receipt is not None and receipt.schema_hash != schema.hash:
        raise ParameterError("the records were perturbed under another schema; use the one they came with")


def promised(what: str, schema: Schema, source: Guarantee | None, receipt: Receipt | None) -> tuple[Guarantee, Receipt]:
    """The guarantee and receipt of the result: those of the perturbed records, or no guarantee, with the reasons."""
    if source is not None and is_perturbed(source, receipt, schema):
        fields = {field.name: getattr(source, field.name) for field in dataclasses.fields(Guarantee)}
        charge = Charge("all records, perturbed before", "as their guarantee says", source.epsilon, 1, math.nan)
        paid = Receipt(source.adjacency, (charge,), source.seeded, schema.hash)
        if receipt is None and schema.chosen is not None:  # `source` may not include what choosing the columns cost
            fields["epsilon"] = total([source.epsilon, schema.chosen.under(source.adjacency)])
            fields["experimental"] = source.experimental or schema.chosen.experimental
            fields["trust"] = f"{source.trust} {schema.chosen.trust}".strip()
            if fields["epsilon"] == math.inf:
                fields |= {"holds": False, "reasons": (UNBOUNDED,)}
        trust = f"{fields['trust']} {FROM_SOURCE}".strip()
        return Guarantee(**{**fields, "source": trust, "trust": trust}), receipt or paid
    clear = (
        f"the {what} were searched on the records in the clear, which they may reveal; "
        "do not publish them if the records are private"
    )
    reasons = (clear,) if source is None else (clear, *source.reasons)
    guarantee = Guarantee(math.inf, schema.adjacency, False, reasons, (PUBLIC,), seeded=False, experimental=False)
    return guarantee, Receipt(schema.adjacency, tuple(_CLEAR.charges(schema)), False, schema.hash)


def restored(content: Any, schema: Schema) -> tuple[Guarantee, Receipt]:
    """Read guarantee and receipt from a file; ValueError, KeyError or TypeError if they are damaged or do not fit."""
    guarantee, receipt = Guarantee.from_dict(content["guarantee"]), Receipt.from_dict(content["receipt"])
    if not _belong(guarantee, receipt, schema):
        raise ValueError("the receipt does not belong to the guarantee")
    return guarantee, receipt


def labelled(X: Any, y: Any, schema: Schema) -> tuple[dict[str, NDArray[Any]], Codes]:
    """Encoded columns and class codes, without records of unlisted classes; with y=None, X holds the labels."""
    table, values = open_labelled(X, y, schema)
    labels = class_codes(values.read(), schema)
    listed = labels < len(schema.classes)
    return {name: column[listed] for name, column in encode(table, schema).items()}, labels[listed]
