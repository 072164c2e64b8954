"""What is done to a rule after the search: conditions that it does not need are dropped, its intervals are widened.

A colony leaves conditions in a rule that do not hurt, and ends of intervals wherever a bee happened to stand between
two records. Both cost nothing on the training records and much on new ones, which then match no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import and_

from discreet.models.bees.coverage import Axis, Gene


def needed(used: Sequence[bool], bits: Sequence[int], active: int, worth: Callable[[int], float]) -> list[bool]:
    """The conditions that a rule needs: one at a time those are dropped whose absence makes it worth most, not less.

    `bits` says what each attribute covers, `worth` what a rule is worth that covers a set of records.
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
    """Genes whose intervals end halfway to the next record, one after the other; what is covered does not change."""
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
