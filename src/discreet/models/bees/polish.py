"""Polishing of a rule after the search: drop conditions that it does not need, and widen its intervals.

A colony leaves harmless conditions in a rule, and ends an interval anywhere between two records. Neither matters on the
training records, but new records then often match no rule. benchmarks/bees.py shows what polishing gains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_

from discreet.models.bees.coverage import Axis, Gene


def needed(used: Sequence[bool], bits: Sequence[int], active: int, worth: Callable[[int], float]) -> list[bool]:
    """Return the conditions that a rule needs: drop the least useful one as long as the value does not decrease.

    `bits` holds the records that each column covers; `worth` gives the value of a rule from the records that it covers.
    """
    kept = list(used)
    current = worth(_covered(kept, bits, active))
    while sum(kept) > 1:
        without = {
            j: worth(_covered([each and i != j for i, each in enumerate(kept)], bits, active))
            for j, is_used in enumerate(kept)
            if is_used
        }
        idle = max(without, key=without.__getitem__)
        if without[idle] < current:
            break
        current, kept[idle] = without[idle], False
    return kept


def widened(axes: Sequence[Axis], used: Sequence[bool], genes: Sequence[Gene], active: int) -> list[Gene]:
    """Widen the intervals one by one, halfway to the next record; the covered records do not change."""
    wide = list(genes)
    bits = [axis.bits(gene) if is_used else active for axis, gene, is_used in zip(axes, genes, used, strict=True)]
    for j, axis in enumerate(axes):
        if used[j]:
            others = reduce(and_, bits[:j] + bits[j + 1 :], active)
            wide[j] = axis.widen(wide[j], others)
            bits[j] = axis.bits(wide[j])
    return wide


def _covered(used: Sequence[bool], bits: Sequence[int], active: int) -> int:
    return reduce(and_, (each for each, is_used in zip(bits, used, strict=True) if is_used), active)
