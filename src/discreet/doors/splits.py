"""The door for the splits of a tree alone: pay for the levels, read the rows, choose; nothing is counted."""

from __future__ import annotations

from discreet.doors.passage import Payer, passage
from discreet.doors.tree_plans import Greedy
from discreet.doors.tree_table import held_or_folded
from discreet.errors import ParameterError
from discreet.privacy.randomness import Randomness
from discreet.queries.trees import Tree
from discreet.schema import Schema
from discreet.sources import Source


def grow_splits(
    source: Source, schema: Schema, plan: Greedy, ledger: Payer, rng: Randomness, purpose: str = "splits"
) -> Tree:
    """Pay for the levels of a greedy plan, then read, then choose the split of every node.

    Guarantee  the tree is ε-DP under the schema's adjacency, with ε the sum over the plan's levels.
    Proof      that of Greedy without its last step: the leaf of each record and all counts stay inside the door.
    Order      that of the passage.
    Test       tests/doors/test_splits.py::test_splits_stay_within_epsilon and ::test_only_the_levels_are_paid_for
    """
    if type(plan) is not Greedy or plan.leaves is not None or not plan.levels or not plan.splits:
        raise ParameterError(
            "this is not a plan of splits alone; need Greedy with leaves=None, candidates and at least one level"
        )
    steps = plan.steps(schema)
    reading, _ = passage(source, schema, steps, ledger, rng, purpose)
    tree, _ = plan.grown(held_or_folded(reading.passes(plan.cells()), plan.cells(), schema), steps, schema, rng)
    return tree
