"""Training records for a search that reads every one of them: what that costs, and what may be promised afterwards.

Guarantee  what is learned from records that were perturbed one by one, labels included, is as private as they are.
Proof      it is a function of the perturbed table and of randomness that is independent of the data: post-processing.
           Bounds, categories and classes of a schema are public, or were read off the perturbed table as well.
Rests on   that the records are those of the guarantee: nothing here can tell a perturbed table from a clear one.
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


def charge_in_the_clear(ledger: object, schema: Schema | str, name: str) -> None:
    """Enter an infinite loss: a ledger with a limit refuses, before any value is seen.

    A schema that is still to be read off the data says nothing yet; infinite is infinite under any.
    """
    known = schema if isinstance(schema, Schema) else Schema([Categorical("-", ["-"])], "target", ["-"])
    pay(known, [_CLEAR], as_ledger(ledger, math.inf), as_rng(None), name)


_CLEAR = Step(Everything("all records"), InTheClear(), math.inf)


def is_perturbed(guarantee: Guarantee | None, receipt: Receipt | None, schema: Schema | str) -> bool:
    """Whether records come with a guarantee that holds; ParameterError if it is none or not for whole records."""
    if guarantee is not None and not isinstance(guarantee, LocalGuarantee):
        raise ParameterError(
            f"source_guarantee={type(guarantee).__name__}; need that of the LocalPerturbation that made the records"
        )
    if receipt is not None and not isinstance(receipt, Receipt):
        raise ParameterError(f"source_receipt={type(receipt).__name__}; need a Receipt")
    if guarantee is None or not guarantee.holds:
        return False
    if not guarantee.labels:
        raise ParameterError(
            f"source_guarantee is for {guarantee.unit!r}; need one for {UNIT!r}, labels too: "
            "use X, y = fit_resample(X, y) of a LocalPerturbation"
        )
    if receipt is not None and not _belong(guarantee, receipt, schema):
        raise ParameterError("source_receipt is not that of source_guarantee; hand over both of one perturbation")
    return True


def _belong(guarantee: Guarantee, receipt: Receipt, schema: Schema | str) -> bool:
    """Whether a guarantee is that of a receipt; of a receipt under a schema that is not at hand, whether it can be."""
    if (guarantee.adjacency, guarantee.seeded) != (receipt.adjacency, receipt.seeded) or not receipt.charges:
        return False
    if isinstance(schema, str) or receipt.schema_hash != schema.hash:
        return guarantee.epsilon >= receipt.epsilon
    chosen = [] if schema.chosen is None else [schema.chosen.under(receipt.adjacency)]
    return guarantee.epsilon == total([receipt.epsilon, *chosen])


def check_schema(schema: Schema | str, receipt: Receipt | None) -> None:
    """Raise ParameterError if a given schema is a draft, which tells of clear records, or not that of the records."""
    if isinstance(schema, Schema) and not schema.is_public:
        raise ParameterError("the schema was read off data; need a public one, that of the perturbed records")
    if isinstance(schema, Schema) and receipt is not None and receipt.schema_hash != schema.hash:
        raise ParameterError("the records were perturbed under another schema; use the one they came with")


def promised(what: str, schema: Schema, source: Guarantee | None, receipt: Receipt | None) -> tuple[Guarantee, Receipt]:
    """The guarantee and receipt of what was learned: those of the perturbed records, or none, with the reasons."""
    if source is not None and is_perturbed(source, receipt, schema):
        fields = {field.name: getattr(source, field.name) for field in dataclasses.fields(Guarantee)}
        charge = Charge("all records, perturbed before", "as their guarantee says", source.epsilon, 1, math.nan)
        paid = Receipt(source.adjacency, (charge,), source.seeded, schema.hash)
        if receipt is None and schema.chosen is not None:  # whether `source` counts the choice is not known
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
    """Guarantee and receipt from a file; ValueError, KeyError or TypeError if they are none or do not fit."""
    guarantee, receipt = Guarantee.from_dict(content["guarantee"]), Receipt.from_dict(content["receipt"])
    if not _belong(guarantee, receipt, schema):
        raise ValueError("the receipt is of another guarantee")
    return guarantee, receipt


def labelled(X: Any, y: Any, schema: Schema) -> tuple[dict[str, NDArray[Any]], Codes]:
    """Encoded columns and class codes; records without a listed class are left out, with y=None labels are in X."""
    table, values = open_labelled(X, y, schema)
    labels = class_codes(values.read(), schema)
    listed = labels < len(schema.classes)
    return {name: column[listed] for name, column in encode(table, schema).items()}, labels[listed]
