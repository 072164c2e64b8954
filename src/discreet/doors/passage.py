"""The one passage from private data to published answers: check prices, charge, open the source once, write a receipt.

Every door (counts, questions, choice, shares, trees, splits, hyperplanes, rows) brings its steps here and gets back a
source that can be read once. Nothing else charges a ledger, opens a source or writes the receipt of a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, ParameterError
from discreet.privacy.ledger import Ledger
from discreet.privacy.opendp_sampler import check_opendp
from discreet.privacy.randomness import Randomness
from discreet.privacy.receipt import Charge, Receipt
from discreet.privacy.steps import AnyStep, Apart, Lot, Step
from discreet.records.encoding import Cells
from discreet.schema import Adjacency, Schema
from discreet.sources import Source, Task, state_of, sums_only
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.fingerprints import FINGERPRINT, Fingerprinted, fingerprint


class Spending:
    """A ledger, with the receipts of everything charged to it through this object: a fit states their sum."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._receipts: list[Receipt] = []
        self.records: int | None = None
        """The number of records that was bought on this account, if any; it need not be bought again."""

    def charge(self, name: str, charges: Sequence[Charge], adjacency: Adjacency, *, once: bool = False) -> None:
        """As `Ledger.charge`."""
        self._ledger.charge(name, charges, adjacency, once=once)

    def note(self, receipt: Receipt) -> None:
        """Keep the receipt of a charge."""
        self._receipts.append(receipt)

    @property
    def is_charged(self) -> bool:
        """Whether anything was charged."""
        return bool(self._receipts)

    @property
    def receipt(self) -> Receipt:
        """Everything that was charged, as one receipt."""
        if not self._receipts:
            raise ParameterError("nothing was charged, so there is no receipt; ask the data something first")
        return reduce(add, self._receipts)


Payer = Ledger | Spending
"""What a door can charge."""


CHANGED = (
    "the table has changed while it was read, so nothing was learned and the budget is spent; fit on a table, or a "
    "snapshot of it, that nobody writes to"
)


class Passes:
    """The passes over a source that one reading consists of, for doors that answer their steps by adding up.

    Guarantee  what was paid for the steps covers all passes that answer them, if the table is at rest meanwhile. If it
               changes, the fit fails: the budget stays spent, and nothing but the failure is seen.
    Proof      every pass adds up a fingerprint of the records that it met, and one that differs from the first ends the
               fit. So all answers are functions of one table, and the proofs of the steps hold for it, however many
               passes an answer took: the levels of a tree, or the search for hyperplanes.
               Without this, it would not be enough that each step is answered from a pass of its own, or that the last
               pass certifies the result. How many passes there are depends on the records (how many can be held, how
               soon a search arrives), so one record could decide which of two states of the table is published.
               A source whose engine keeps a snapshot for it (`state_of`) needs no fingerprint: that all passes read
               the same snapshot is compared instead, after each of them. Such a source says so only of tables that
               are the same whenever the snapshot is read (sources/postgres_steady.py).
    Rests on   states that differ having different fingerprints: the number of records, and two sums of 32 bits each of
               a number that is made of all codes of a record; or on the engine's word for its snapshot.
    Test       tests/doors/test_passage.py::test_all_passes_of_a_reading_meet_one_table and
               ::test_all_passes_of_a_reading_meet_one_snapshot, tests/suites/test_folding.py
    """

    def __init__(self, source: Source, schema: Schema, cells: Sequence[Cells]) -> None:
        self._source, self._schema, self._cells = source, schema, list(dict.fromkeys(cells))
        self._met: NDArray[np.int64] | None = None
        self._state: object | None = state_of(source)

    def __repr__(self) -> str:
        return "Passes(values hidden)"

    @property
    def sums_only(self) -> bool:
        """Whether records stay where they are, so that they can be added up but not held."""
        return sums_only(self._source)

    def rows(self) -> Iterator[ExactRows]:
        """The codes of each record, in blocks."""
        met = np.zeros(FINGERPRINT, dtype=np.int64)
        for block in self._source.rows(self._cells, self._schema):
            met += fingerprint(block)
            yield block
        self._compare(met)

    def fold(self, task: Task) -> NDArray[np.int64]:
        """The sum of what the task answers for the records."""
        asked = Fingerprinted(task) if self._state is None else task
        folded = self._source.fold(self._cells, self._schema, asked)
        self._compare(folded[task.size :])
        return folded[: task.size]

    def _compare(self, met: NDArray[np.int64]) -> None:
        first, self._met = self._met, met
        has_changed = self._state is None and first is not None and (first != met).any()
        if has_changed or state_of(self._source) is not self._state:
            raise DataError(CHANGED)


class Reading:
    """A source that was paid for. It can be read once: a second reading would be a second release, not paid for.

    `passes` is a reading too, of as many passes as the paid steps need (proof there).
    """

    def __init__(self, source: Source, schema: Schema) -> None:
        self._source: Source | None = source
        self._schema = schema

    def __repr__(self) -> str:
        return "Reading(values hidden)"

    def encoded_by(self, encoding: Schema) -> Reading:
        """The same reading under another public encoding of the same columns."""
        return Reading(self._once(), encoding)

    def count(self, cells: Sequence[Cells]) -> ExactStatistics:
        """The records of each class in each cell."""
        return self._once().count(sorted(set(cells), key=repr), self._schema)

    def rows(self, cells: Sequence[Cells]) -> Iterator[ExactRows]:
        """The codes of each record, in blocks."""
        return self._once().rows(list(dict.fromkeys(cells)), self._schema)

    def fold(self, cells: Sequence[Cells], task: Task) -> NDArray[np.int64]:
        """The sum of what the task answers for the records, in one pass."""
        return self._once().fold(list(dict.fromkeys(cells)), self._schema, task)

    def passes(self, cells: Sequence[Cells]) -> Passes:
        """Passes over the codes of the records in some cells."""
        return Passes(self._once(), self._schema, cells)

    def _once(self) -> Source:
        source, self._source = self._source, None
        if source is None:
            raise ParameterError("the data were read already; pay for each reading by a passage of its own")
        return source


def passage(
    source: Source,
    schema: Schema,
    steps: Sequence[AnyStep | Lot | Apart],
    ledger: Payer,
    rng: Randomness,
    purpose: str,
    *,
    once: bool = False,
) -> tuple[Reading, Receipt]:
    """Check the table's structure, then pay for all steps; returns the source, to be read once, and the receipt.

    Guarantee  a door is ε-DP under the schema's adjacency, with ε the sum on the receipt, if it answers its steps and
               nothing else, each from the answer to its own query by its own mechanism. The ledger is charged ε before
               any value is read.
    Proof      each step is ε_j-DP (Step), a lot costs its most expensive alternatives (Lot), counts on disjoint
               predicates cost what `Apart` proves; losses add (adaptive sequential composition). The
               receipt lists the very steps that were checked and charged.
    Order      structure (it is public, and a wrong column costs nothing), prices, charge, reading. If reading fails,
               the budget is spent, since the failure could depend on the data. `purpose` names the entry in the ledger;
               with `once`, a second release of that name is refused.
    Test       tests/doors/test_passage.py, with mutants of this function
    """
    source.check(schema)
    receipt = pay(schema, steps, ledger, rng, purpose, once=once)
    return Reading(source, schema), receipt


def pay(
    schema: Schema,
    steps: Sequence[AnyStep | Lot | Apart],
    ledger: Payer,
    rng: Randomness,
    purpose: str,
    *,
    once: bool = False,
) -> Receipt:
    """Check what every step costs, charge their sum, write the receipt: the part of the passage that sees no data."""
    steps = tuple(steps)
    for step in steps:
        if type(step) not in (Step, Lot, Apart):
            raise ParameterError(f"{type(step).__name__} is not a step of a release; need a Step, a Lot or an Apart")
        step.check(schema)
    if not rng.seeded:
        check_opendp()
    charges = tuple(charge for step in steps for charge in step.charges(schema))
    ledger.charge(purpose, charges, schema.adjacency, once=once)
    receipt = Receipt(schema.adjacency, charges, rng.seeded, schema.hash)
    if isinstance(ledger, Spending):
        ledger.note(receipt)
    return receipt
