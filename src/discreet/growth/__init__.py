"""The door for trees: charge the whole plan, read the rows once, then let each plan make its tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.budget import Charge, Ledger, total
from discreet.encoding import Cells
from discreet.growth.plans import Fixed, Greedy, Labelled, Plan, Published
from discreet.growth.records import Records
from discreet.queries import ClassCounts
from discreet.randomness import Randomness
from discreet.schema import Schema
from discreet.sources import Source
from discreet.statistics import NoisyStatistics, Receipt


def grow(
    source: Source,
    schema: Schema,
    plans: Sequence[Plan],
    ledger: Ledger,
    rng: Randomness,
    purpose: str = "tree",
    *,
    dealt: bool = False,
) -> NoisyStatistics:
    """Charge, then read, then grow one tree for each plan: on all records, or on those that a coin deals to it.

    Guarantee  ε-DP under the schema's adjacency, ε the sum over the plans; if the records are dealt, of one of them
               (plans must cost the same).
    Proof      all records: losses add. Dealt: each record's tree is a uniform draw of its own, whatever the record
               holds and wherever it stands. Fix all draws. Add-remove: the record changes the input of one tree, whose
               plan costs ε; the other trees' laws do not change. Replace-one: give the new record the draw of the old,
               which has the same law: again one tree changes, by a replacement, which its plan covers at ε. Averaging
               over draws, whose law is free of the data, keeps the ratio.
    Order      as for `release`: structure, charge, read, noise; records are dealt after they are read.
    Test       tests/test_growth.py::test_every_plan_stays_within_epsilon, ::test_dealt_records_cost_one_tree
    """
    source.check(schema)
    costs = [plan.charges(schema) for plan in plans]
    if dealt:
        if len({total([line.epsilon for line in lines]) for lines in costs}) != 1:
            raise ValueError("trees that share the records by lot must cost the same")
        charges = tuple(_for_each(line, len(plans)) for line in costs[0])
    else:
        charges = tuple(line for lines in costs for line in lines)
    ledger.charge(purpose, charges, schema.adjacency)
    records = _read(source, [cells for plan in plans for cells in plan.cells()], schema)
    if dealt:
        hand = rng.integers(len(plans), (len(records.labels),))
        tables = [plan.answer(records.among(hand == number), schema, rng) for number, plan in enumerate(plans)]
    else:
        tables = [plan.answer(records, schema, rng) for plan in plans]
    return NoisyStatistics(tables, Receipt(schema.adjacency, charges, rng.seeded, schema.hash))


def _for_each(line: Charge, trees: int) -> Charge:
    text = f"each of {trees} trees, records dealt among them by lot: {line.query}"
    return Charge(text, line.mechanism, line.epsilon, line.sensitivity, line.scale)


def _read(source: Source, wanted: Sequence[Cells], schema: Schema) -> Records:
    """All rows, in as few bytes as their public sizes allow."""
    cells = list(dict.fromkeys(wanted)) or [ClassCounts().cells(schema)]
    classes = len(schema.classes)
    kinds = {each: np.min_scalar_type(each.size(schema)) for each in cells}
    codes: dict[Cells, list[NDArray[Any]]] = {each: [np.zeros(0, dtype=kinds[each])] for each in cells}
    labels = [np.zeros(0, dtype=np.min_scalar_type(classes))]
    for block in source.rows(cells, schema):
        kept = block.labels < classes
        labels.append(block.labels[kept].astype(labels[0].dtype))
        for each in cells:
            codes[each].append(block.codes[each][kept].astype(kinds[each]))
    return Records({each: np.concatenate(parts) for each, parts in codes.items()}, np.concatenate(labels), classes)


__all__ = ["Fixed", "Greedy", "Labelled", "Plan", "Published", "grow"]
