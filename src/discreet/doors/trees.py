"""The door for trees: pay for all plans, read the rows once, then let each plan grow its tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from discreet.doors.gathering import gather
from discreet.doors.passage import Passes, Payer, passage
from discreet.doors.tree_plans import PLANS, Greedy, Plan
from discreet.doors.tree_records import TreeRecords
from discreet.doors.tree_rows import TreeRows
from discreet.doors.tree_table import held_or_folded
from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import AnyStep, Lot
from discreet.queries.tables import ClassCounts
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source, check_rows


def grow(
    source: Source,
    schema: Schema,
    plans: Sequence[Plan],
    ledger: Payer,
    rng: Randomness,
    purpose: str = "tree",
    *,
    dealt: bool = False,
) -> NoisyStatistics:
    """Pay, then read, then grow one tree per plan: on all records or, if `dealt`, on those that a lot deals to it.

    Guarantee  ε-DP under the schema's adjacency, with ε the sum over the steps of all plans; if records are dealt, the
               sum over the steps of the most expensive plan.
    Proof      each plan answers its steps and nothing else (tree_plans.py). All records: losses add. Dealt: the tree of
               each record is drawn uniformly and independently, whatever the record's values and position: a lot deals
               it to one plan (Lot).
    Order      that of the passage; records are dealt after they are read.
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon, ::test_dealt_records_cost_one_tree
    """
    plans = tuple(plans)
    for plan in plans:
        if type(plan) not in PLANS:
            raise ParameterError(
                f"{type(plan).__name__} is not a plan of a tree; need one of those in tree_plans.PLANS"
            )
        if isinstance(plan, Greedy) and plan.leaves is None:
            raise ParameterError("this plan does not count the leaves; use grow_splits, or give the leaves a share")
    steps = [tuple(plan.steps(schema)) for plan in plans]
    asked: list[AnyStep | Lot] = [step for each in steps for step in each]
    if dealt:
        check_rows(source)  # each record has a lot of its own, which sums cannot give it
        asked = [Lot(f"each of {len(plans)} trees, records dealt among them by lot", tuple(steps))]
    reading, receipt = passage(source, schema, asked, ledger, rng, purpose)
    cells = [each for plan in plans for each in plan.cells()] or [ClassCounts().cells(schema)]
    passes = reading.passes(cells)
    met = _dealt(passes, cells, len(plans), schema, rng) if dealt else repeat(held_or_folded(passes, cells, schema))
    tables = [plan.answer(records, own, schema, rng) for plan, own, records in zip(plans, steps, met, strict=False)]
    return NoisyStatistics(tables, receipt)


def _dealt(
    passes: Passes, cells: Sequence[Cells], hands: int, schema: Schema, rng: Randomness
) -> Iterator[TreeRecords]:
    """The records of each hand in turn. All are held: each record has its lot from one pass, in any order."""
    records = TreeRows(*gather(passes, cells, schema, smallest=True), len(schema.classes))
    hand = rng.integers(hands, (len(records.labels),))
    return (records.among(hand == number) for number in range(hands))
