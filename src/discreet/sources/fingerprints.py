"""Numbers that tell records apart: which table a pass has met, and which records are a sample of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.sources import Task
from discreet.sources.exact import ExactRows

Words = NDArray[np.uint64]

SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
"""Where the two halves of a fingerprint begin: any two odd numbers."""
LOW = np.uint64(2**32 - 1)


def words_of(block: ExactRows, seed: int = SEEDS[0]) -> Words:
    """A number of 64 bits for each record that depends on its codes and its class, and looks random.

    Equal records have equal numbers, in any block of any engine.
    """
    words = np.full(len(block.labels), seed, dtype=np.uint64)
    for codes in (block.labels, *block.codes.values()):
        words ^= codes
        words *= np.uint64(0xBF58476D1CE4E5B9)
        words ^= words >> np.uint64(29)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(32)
    return words


def fingerprint(block: ExactRows) -> NDArray[np.int64]:
    """The number of records, and sums of their numbers in 32-bit halves: equal for equal tables in any order.

    Sums of up to 2**31 records stay within 63 bits.
    """
    sums = [len(block.labels)]
    for seed in SEEDS:
        words = words_of(block, seed)
        sums += [int((words & LOW).sum()), int((words >> np.uint64(32)).sum())]
    return np.array(sums, dtype=np.int64)


@dataclass(frozen=True)
class Fingerprinted:
    """A task that adds up the fingerprint of the records as well."""

    task: Task

    @property
    def size(self) -> int:
        """Length of the task's answer and of the fingerprint."""
        return self.task.size + 1 + 2 * len(SEEDS)

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The task's answer, followed by the fingerprint."""
        return np.concatenate([self.task(block), fingerprint(block)])
