"""A fingerprint of the records that a pass has met: passes over one table have the same, in any order of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.queries.mixing import mixed
from discreet.sources import Task
from discreet.sources.exact import ExactRows

FINGERPRINT = 3
"""Length of a fingerprint."""
BLOCK = 1 << 15
"""Records that are mixed at a time: few enough for the processor's cache."""
LOW = np.uint64(2**32 - 1)


def fingerprint(block: ExactRows) -> NDArray[np.int64]:
    """The number of records, and the sums of their mixed codes in halves of 32 bits; those of 2**31 records fit."""
    sums = np.zeros(FINGERPRINT, dtype=np.int64)
    columns = [block.labels, *(block.codes[each] for each in sorted(block.codes, key=repr))]  # in any order of columns
    for start in range(0, len(block.labels), BLOCK):
        words = mixed([codes[start : start + BLOCK] for codes in columns])
        sums += (len(words), int((words & LOW).sum()), int((words >> np.uint64(32)).sum()))
    return sums


@dataclass(frozen=True)
class Fingerprinted:
    """A task that adds up the fingerprint of the records as well."""

    task: Task

    @property
    def size(self) -> int:
        """Length of the task's answer and of the fingerprint."""
        return self.task.size + FINGERPRINT

    def __call__(self, block: ExactRows) -> NDArray[np.int64]:
        """The task's answer, followed by the fingerprint."""
        return np.concatenate([self.task(block), fingerprint(block)])
