"""What an ε means for one person, in numbers and in words.

Differential privacy bounds what a published model can change in anybody's mind. Somebody who believes with probability
p that a person's record is in the table (under replace-one: that record, and not another in its place) has odds
p / (1 - p). Whatever is published changes the odds by a factor of at most e^ε (Bayes' rule, since each output is at
most e^ε times as likely with the record as without it), and losses of several releases add up.

Beliefs about what a record says, if it is known to be in the table, compare two tables in which it has different
values. Under replace-one these are neighbours, and the factor is e^ε again. Under add-remove one is made from the other
by removing a record and adding one: the factor is at most e^2ε, and counts of two cells attain it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.privacy.epsilon import Epsilon, as_epsilon, shown_above
from discreet.privacy.guarantee import factor

PRIORS = (0.01, 0.1, 0.5, 0.9)
"""What somebody believed before."""
LARGE = 10
"""From this ε on, the odds may change by a factor of 22,000: the guarantee says little."""
WEAK_SIGNAL = 10
"""With a smaller product of records and ε, models are mostly noise: in the cells of benchmarks/results/frontier.csv
they are at most .16 better than the largest class, and some are worse; above it nearly all are clearly better."""
OTHERS = (
    ("US Census 2020, redistricting data", "17.14 for persons and 2.47 for housing units, with a small δ"),
    ("Apple, emoji suggestions", "4 per person and day, noise added on the device"),
    ("Apple, health types", "2 per person and day, noise added on the device"),
)
"""What others have published with; figures of their own documents."""


def belief_after(prior: float, epsilon: Epsilon) -> float:
    """The most that a belief can become: p e^ε / (1 - p + p e^ε).

    >>> round(belief_after(0.5, 1), 3), belief_after(0.5, math.inf), belief_after(0.0, 5)
    (0.731, 1.0, 0.0)
    """
    if prior in (0.0, 1.0):
        return prior
    return 1 / (1 + (1 - prior) / prior * math.exp(-min(float(epsilon), 700.0)))


@dataclass(frozen=True)
class Meaning:
    """What an ε means, alone and if there are several releases."""

    epsilon: Epsilon
    releases: int = 1

    @property
    def loss(self) -> Epsilon:
        """The loss of all releases together: losses add up."""
        return self.epsilon * self.releases

    @property
    def beliefs(self) -> list[tuple[float, float]]:
        """What somebody believed before, and the most that it can become."""
        return [(prior, belief_after(prior, self.loss)) for prior in PRIORS]

    def statement(self) -> str:
        """One paragraph for a person who has to decide."""
        if self.loss == math.inf:
            return "Without a finite ε nothing is promised to anybody."
        many = f"{self.releases} releases at ε = {shown_above(self.epsilon)} cost {shown_above(self.loss)} together. "
        alone = many if self.releases > 1 else ""
        return (
            f"{alone}With ε = {shown_above(self.loss)}, what is published changes anybody's odds that one person's "
            f"record is in the table by a factor of at most {factor(self.loss)}: an even guess (50 %) "
            f"{_becomes(self.loss)}. Odds about what the record says change by at most the same factor under "
            f"replace-one, and by at most {factor(2 * self.loss)} under add-remove (the default). This holds whatever "
            "else they know. It bounds what they learn from this person's record; what is true of everybody (smoking "
            "is unhealthy) they may learn."
        )

    def judgement(self) -> str:
        """Whether this is much or little, and what to do."""
        if self.loss > LARGE:
            return "This is large: an even guess can become all but certain. Below 1 is strong, up to 3 is usual."
        if self.loss > 3:
            return "This is on the large side. Below 1 is strong, up to 3 is usual."
        if self.loss > 1:
            return "This is usual for models that are published once."
        return "This is strong."

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "epsilon": str(self.epsilon),
            "releases": self.releases,
            "loss": str(self.loss),
            "factor": _factor(self.loss),
            "factor_of_values": {"add-remove": _factor(2 * self.loss), "replace-one": _factor(self.loss)},
            "beliefs": [{"before": before, "at_most_after": after} for before, after in self.beliefs],
            "statement": self.statement(),
            "judgement": self.judgement(),
        }


def meaning(epsilon: object, releases: int = 1) -> Meaning:
    """What an ε means, for this number of releases about the same people."""
    return Meaning(as_epsilon(epsilon), releases)


def affordable(limit: object, prices: Sequence[object]) -> list[tuple[Epsilon, int]]:
    """How many releases at each price a limit pays for.

    >>> affordable(2, ["0.5", 1])
    [(Fraction(1, 2), 4), (Fraction(1, 1), 2)]
    """
    most = as_epsilon(limit)
    return [(price, int(Fraction(most) // Fraction(price))) for price in map(as_epsilon, prices)]


def hints(epsilon: Epsilon, records: int | None, distance: int, *, is_kept: bool) -> list[str]:
    """What to say before a model is trained, if anything: by public facts alone."""
    said: list[str] = []
    if epsilon == math.inf:
        return said
    shown = shown_above(epsilon)
    if epsilon > LARGE:
        said.append(
            f"ε = {shown} is large: an even guess whether one person is in the table {_becomes(epsilon)}; see discreet "
            f"epsilon {shown}"
        )
    if records is not None and float(epsilon) * records / distance < WEAK_SIGNAL:
        said.append(
            f"ε = {shown} is small for {records:,} records: expect a model that is mostly noise; see discreet advise"
        )
    if not is_kept:
        said.append(
            "No ledger: nobody notes what these people have lost. Give --ledger FILE --limit NUMBER to add losses up"
        )
    return said


def _factor(epsilon: Epsilon) -> float | None:
    return None if epsilon == math.inf else math.exp(min(float(epsilon), 700.0))


def _becomes(epsilon: Epsilon) -> str:
    """What an even guess can become; percentages are rounded up."""
    after = belief_after(0.5, epsilon)
    return f"becomes at most {percent_above(after)}" if after < 0.999 else "can become all but certain"


def percent_above(share: float) -> str:
    """A share in percent, with one decimal, rounded up.

    >>> percent_above(0.7310585), percent_above(0.5), percent_above(1.0)
    ('73.2 %', '50.0 %', '100.0 %')
    """
    return f"{min(math.ceil(round(share * 1000, 9)), 1000) / 10:.1f} %"
