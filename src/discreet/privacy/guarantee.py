"""What a fitted model guarantees, in words that name unit and adjacency; or that it guarantees nothing, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_UP, Context
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon, as_epsilon, shown_above, total
from discreet.privacy.receipt import Receipt
from discreet.schema import Adjacency, Paid, Schema
from discreet.storage.envelope import as_text

UNIT = "one record"
"""What a guarantee protects."""
EXPERIMENTAL = "Experimental: some noise is continuous and drawn in floating point."
"""The sentence in a statement if some mechanism is experimental."""

NEIGHBOURS = {
    Adjacency.ADD_REMOVE: "one record is added or removed (the number of records is private)",
    Adjacency.REPLACE_ONE: "one record is replaced by any other (the number of records is public)",
}
"""The sentence that says which tables are neighbours."""

LIMITS = (
    "Several records of one person: multiply epsilon by the most records that a person can have.",
    "Each further fit, and each published score, on the same data costs its own epsilon.",
    "Time, memory use and the host's side channels are not covered.",
    "What is true of the population may be inferred with or without any single record.",
)
"""What no guarantee covers, for model cards."""


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of a model.

    Attributes
    ----------
    epsilon, delta : the privacy loss; delta is 0 for every mechanism of this version.
    adjacency, unit : the pairs of tables between which the loss is bounded.
    holds : whether the guarantee holds; if not, `reasons` says why.
    public : what was assumed to be public knowledge.
    seeded : whether anyone who has the seed can repeat the noise.
    experimental : whether some noise is continuous and drawn in floating point, which attacks on its bits can exploit.
    source : what the choice of the columns cost, and who must be trusted besides the data's owner; in sentences.
    trust : only who must be trusted; not written to a file.

    Examples
    --------
    >>> from discreet import OneRule, datasets
    >>> X, y, schema = datasets.load("iris")
    >>> guarantee = OneRule(schema, epsilon="1/2").fit(X, y).guarantee_
    >>> str(guarantee.epsilon), str(guarantee.adjacency), guarantee.holds
    ('1/2', 'add-remove', True)
    """

    epsilon: Epsilon
    adjacency: Adjacency
    holds: bool
    reasons: tuple[str, ...]
    public: tuple[str, ...]
    seeded: bool
    experimental: bool
    delta: float = 0.0
    unit: str = UNIT
    source: str = ""
    trust: str = field(default="", compare=False)

    @classmethod
    def of(cls, receipt: Receipt, schema: Schema) -> Guarantee:
        """The guarantee that follows from a receipt and its schema.

        Guarantee  anything computed from the release and the schema is `epsilon`-DP under the receipt's adjacency.
        Proof      the data enter through the release, which costs the sum of its charges, and through the choice of the
                   schema's columns, which costs `Paid.under` this adjacency; losses add. A receipt of another schema is
                   refused, so no choice can be left out.
        Test       tests/suites/test_stated_and_charged.py
        """
        if receipt.schema_hash != schema.hash or receipt.adjacency is not schema.adjacency:
            raise ParameterError("this receipt is of another schema; need the schema of the release")
        chosen = Fraction(0) if schema.chosen is None else schema.chosen.under(schema.adjacency)
        reasons = []
        if receipt.epsilon == math.inf:
            reasons.append("epsilon is infinite: no noise was added")
        if chosen == math.inf:
            reasons.append(
                f"what the choice of the columns cost is not bounded under {schema.adjacency.value}, since it was paid "
                "under another adjacency, or one that is not recorded; choose the columns again"
            )
        if schema.from_data:
            reasons.append("bounds, categories or classes were read off the data (schema 'from-data' or a draft)")
        if receipt.seeded:
            reasons.append("random_state was set: whoever knows the seed can subtract the noise")
        before = schema.chosen or Paid(Fraction(0), schema.adjacency)
        experimental = before.experimental or any(charge.experimental for charge in receipt.charges)
        trust = " ".join(dict.fromkeys(each for each in (before.trust, receipt.trust) if each))
        public = ["the schema: column names, bounds, categories, classes, adjacency"]
        if schema.records is not None:
            public.append(f"the nominal number of records in the schema ({schema.records})")
        if receipt.adjacency is Adjacency.REPLACE_ONE:
            public.append("the number of records")
        paid = f"Of this, {shown_above(chosen)} was paid to choose the columns." if 0 < chosen < math.inf else ""
        return cls(
            total([receipt.epsilon, chosen]),
            receipt.adjacency,
            not reasons,
            tuple(reasons),
            tuple(public),
            receipt.seeded,
            experimental,
            source=f"{paid} {trust}".strip(),
            trust=trust,
        )

    def statement(self) -> str:
        """One paragraph for a person who decides whether to publish."""
        if not self.holds:
            return f"No privacy is guaranteed: {'; '.join(self.reasons)}."
        text = (
            f"This model is {shown_above(self.epsilon)}-differentially private (delta = 0) for {self.unit}: if "
            f"{NEIGHBOURS[self.adjacency]}, the probability of any published model changes by a factor of at most "
            f"{factor(self.epsilon)}."
        )
        if self.experimental:
            text += f" {EXPERIMENTAL}"
        return f"{text} {self.source}".rstrip()

    def in_short(self) -> str:
        """A few words, for a title."""
        return f"ε = {shown_above(self.epsilon)}, {self.adjacency.value}" if self.holds else "no guarantee"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for a model card."""
        return {
            "statement": self.statement(),
            "holds": self.holds,
            "epsilon": str(self.epsilon),
            "delta": self.delta,
            "adjacency": self.adjacency.value,
            "unit": self.unit,
            "reasons": list(self.reasons),
            "assumed_public": list(self.public),
            "seeded": self.seeded,
            "experimental": self.experimental,
            "source": self.source,
            "limits": list(LIMITS),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Guarantee:
        """The inverse of `to_dict`; ValueError, KeyError or TypeError if entries are missing or contradict others."""
        holds, seeded, experimental = (content[name] for name in ("holds", "seeded", "experimental"))
        if not all(isinstance(each, bool) for each in (holds, seeded, experimental)):
            raise TypeError("holds, seeded or experimental is not a bool; need true or false")
        epsilon = as_epsilon(content["epsilon"])
        reasons, public = (tuple(map(as_text, content[name])) for name in ("reasons", "assumed_public"))
        if holds == (bool(reasons) or seeded or epsilon == math.inf) or content["delta"] != 0:
            raise ValueError(
                "the guarantee contradicts itself; need one that holds exactly if it has no reasons, no seed, a "
                "finite epsilon and delta 0"
            )
        adjacency, unit, source = Adjacency(content["adjacency"]), as_text(content["unit"]), as_text(content["source"])
        return cls(epsilon, adjacency, holds, reasons, public, seeded, experimental, unit=unit, source=source)


def factor(epsilon: Epsilon) -> str:
    """The factor exp(epsilon) by which a probability may change, rounded up."""
    return rounded_up(math.exp(epsilon)) if epsilon < 700 else f"e^{shown_above(epsilon)}"


def rounded_up(factor: float) -> str:
    """A factor in four digits, rounded up.

    >>> rounded_up(math.e), rounded_up(1.00000001), rounded_up(2.0)
    ('2.719', '1.001', '2')
    """
    return f"{Context(prec=4, rounding=ROUND_UP).create_decimal_from_float(factor):g}"
