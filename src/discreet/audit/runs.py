"""What many runs on one table showed: numbers as a matrix, and features that a run has or has not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

REFUSALS = ("raises ", "exits: ", "the process ")
"""How features begin that say that a run showed nothing else."""


@dataclass(frozen=True)
class Runs:
    """Runs of a target on one table.

    Attributes
    ----------
    names : what each column of `numbers` is, for instance "class_count_[0]".
    numbers : one row per run; NaN where a run has no such number.
    features : facts such as "raises ValueError: …" or "classes_: int64 of shape (2,)".
    present : one row per run, one column per feature.
    lost : number of runs without an answer: too long, or killed. They are no evidence.
    """

    names: list[str]
    numbers: NDArray[np.float64]
    features: list[str]
    present: NDArray[np.bool_]
    lost: int = 0
    seconds: float = 0.0

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return int(self.numbers.nbytes + self.present.nbytes)

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a name; NaN if no run has it. A feature in quotes is 1 where a run has it, else 0."""
        if is_feature(name) and name not in self.names:
            return self.feature(name[1:-1]).astype(np.float64)
        return self.numbers[:, self.names.index(name)] if name in self.names else np.full(len(self), np.nan)

    def feature(self, name: str) -> NDArray[np.bool_]:
        """Which runs have a feature."""
        if name in self.features:
            return self.present[:, self.features.index(name)]
        return np.zeros(len(self), dtype=np.bool_)

    @property
    def refused(self) -> float:
        """The share of runs that raised, exited or ended their process."""
        refusals = [place for place, name in enumerate(self.features) if name.startswith(REFUSALS)]
        return float(self.present[:, refusals].any(axis=1).mean()) if len(self) and refusals else 0.0

    def under(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The matrix with these columns."""
        places = {name: place for place, name in enumerate(self.names)}
        matrix = np.full((len(self), len(names)), np.nan)
        own = [(at, places[name]) for at, name in enumerate(names) if name in places]
        if own:
            to, of = map(list, zip(*own, strict=True))
            matrix[:, to] = self.numbers[:, of]
        for at, name in enumerate(names):
            if is_feature(name) and name not in places:
                matrix[:, at] = self.column(name)
        return matrix


def is_feature(name: str) -> bool:
    """Whether a name is that of a feature, in quotes, and not of a number."""
    return name.startswith("“")


def together(parts: Sequence[Runs]) -> Runs:
    """All runs of several batches on the same table."""
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    features = list(dict.fromkeys(name for part in parts for name in part.features))
    numbers = np.concatenate([np.empty((0, len(names))), *(part.under(names) for part in parts)])
    present = np.zeros((len(numbers), len(features)), dtype=np.bool_)
    start = 0
    for part in parts:
        at = [features.index(name) for name in part.features]
        present[start : start + len(part), at] = part.present
        start += len(part)
    return Runs(names, numbers, features, present, sum(each.lost for each in parts), sum(e.seconds for e in parts))


@dataclass
class Collector:
    """Gathers the frames of runs; frames of equal names and features are kept together."""

    kinds: dict[tuple[tuple[str, ...], tuple[str, ...]], list[bytes]] = field(default_factory=dict)
    lost: int = 0
    size: int = 0

    def add(self, names: Sequence[str], features: Sequence[str], numbers: bytes) -> None:
        """Add one run."""
        if len(numbers) != 8 * len(names):
            raise ValueError("a run has more or fewer numbers than names")
        self.kinds.setdefault((tuple(map(str, names)), tuple(map(str, features))), []).append(numbers)
        self.size += len(numbers) + 64

    def runs(self, seconds: float = 0.0) -> Runs:
        """The runs, in no particular order."""
        parts = []
        for (names, features), rows in self.kinds.items():
            own = list(dict.fromkeys(names))
            block = np.frombuffer(b"".join(rows), dtype="<f8").reshape(len(rows), len(names)).astype(np.float64)
            if len(own) < len(names):  # a name that occurs twice keeps its first number
                block = block[:, [names.index(name) for name in own]]
            facts = list(dict.fromkeys(features))
            parts.append(Runs(own, block, facts, np.ones((len(rows), len(facts)), dtype=np.bool_)))
        whole = together(parts)
        return Runs(whole.names, whole.numbers, whole.features, whole.present, self.lost, seconds)


def shuffled(runs: Runs, rng: Any) -> Runs:
    """The same runs in random order, so that halves are alike."""
    order = rng.permutation(len(runs))
    return Runs(runs.names, runs.numbers[order], runs.features, runs.present[order], runs.lost, runs.seconds)
