"""The door for trees: pay for all plans, read the rows once, then let each plan grow its tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat

from discreet.doors.gathering import gather
from discreet.doors.labelled_plan import Labelled
from discreet.doors.passage import Passes, Payer, passage
from discreet.doors.tree_folds import TreeFolds
from discreet.doors.tree_plans import Fixed, Greedy, Plan, Published
from discreet.doors.tree_records import TreeRecords
from discreet.doors.tree_rows import TreeRows
from discreet.doors.tree_table import held_or_folded
from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.privacy.steps import AnyStep, Lot
from discreet.queries.mixing import PRIME
from discreet.queries.tables import ClassCounts
from discreet.records.encoding import Cells
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema
from discreet.sources import Source, check_rows, sums_only
from discreet.sources.tree_counts import Hand

PLANS = (Greedy, Published, Fixed, Labelled)
"""The plans with a proof: the door accepts no others."""


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
    Proof      each plan answers its steps and nothing else (tree_plans.py). All records: losses add. Dealt, where
               records can be held: the tree of each record is drawn uniformly and independently, whatever the record's
               values and position: a lot deals it to one plan (Lot).
               Dealt, where records stay in their engine: the tree of each record is a function of the record and of
               factors that are drawn without looking at the records (Hand). Fix the factors. Add-remove: a record
               changes the input of one plan, by an addition or a removal, which its steps cover. Replace-one: the same
               plan changes by a replacement, which its steps cover; or the old record's plan changes by a removal, and
               the new one's by an addition. The steps of all plans are calibrated to the distance of a replacement,
               which is twice that of an addition or a removal (Asked), and losses of mechanisms grow in proportion to
               the distance: each of the two plans costs half of its ε at most, and both together no more than the most
               expensive plan. The ratio holds for all factors, so it holds on average over them.
    Order      that of the passage; records are dealt after they are read.
    Test       tests/doors/test_trees.py::test_every_plan_stays_within_epsilon, ::test_dealt_records_cost_one_tree,
               ::test_records_dealt_by_their_codes_cost_one_tree
    """
    plans = tuple(plans)
    for plan in plans:
        if type(plan) not in PLANS:
            raise ParameterError(f"{type(plan).__name__} is not a plan of a tree; need one of those in trees.PLANS")
        if isinstance(plan, Greedy) and plan.leaves is None:
            raise ParameterError("this plan does not count the leaves; use grow_splits, or give the leaves a share")
    steps = [tuple(plan.steps(schema)) for plan in plans]
    asked: list[AnyStep | Lot] = [step for each in steps for step in each]
    if dealt:
        check_rows(source, sums=True)
        how = "their codes" if sums_only(source) else "lot"
        asked = [Lot(f"each of {len(plans)} trees, records dealt among them by {how}", tuple(steps))]
    reading, receipt = passage(source, schema, asked, ledger, rng, purpose)
    cells = [each for plan in plans for each in plan.cells()] or [ClassCounts().cells(schema)]
    if dealt and sums_only(source):
        every = [Cells(name) for name in schema.names]
        met: Iterator[TreeRecords] = _dealt_by_codes(reading.passes([*cells, *every]), every, len(plans), schema, rng)
    elif dealt:
        met = _dealt(reading.passes(cells), cells, len(plans), schema, rng)
    else:
        met = repeat(held_or_folded(reading.passes(cells), cells, schema))
    told = [plan.answer(records, own, schema, rng) for plan, own, records in zip(plans, steps, met, strict=False)]
    tables = [answer for answers in told for answer in answers]
    return NoisyStatistics(tables, receipt)


def _dealt(
    passes: Passes, cells: Sequence[Cells], hands: int, schema: Schema, rng: Randomness
) -> Iterator[TreeRecords]:
    """The records of each hand in turn. All are held: each record has its lot from one pass, in any order."""
    records = TreeRows(*gather(passes, cells, schema, smallest=True), len(schema.classes))
    hand = rng.integers(hands, (len(records.labels),))
    return (records.among(hand == number) for number in range(hands))


def _dealt_by_codes(
    passes: Passes, cells: Sequence[Cells], hands: int, schema: Schema, rng: Randomness
) -> Iterator[TreeRecords]:
    """The records of each hand in turn, which stay where they are: a record's class and codes tell its hand."""
    factors = tuple(rng.integers(PRIME, (2 + len(cells),)).tolist())
    for number in range(hands):
        yield TreeFolds(passes, len(schema.classes), Hand(tuple(cells), factors, hands, number))
