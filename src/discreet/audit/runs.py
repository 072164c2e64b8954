"""What many runs on one table showed: numbers as a matrix, and features that a run has or has not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

REFUSALS = ("raises ", "exits: ", "the process ")
"""How features begin that say that a run showed nothing else."""
FEW = 4
"""With fewer runs than this, a feature that one run has is looked at; else it is only counted, as texts that are drawn
anew in each run, such as unique names, tell nothing and are as many as the runs."""
MOST_FLAGS, MOST_FEATURES = 32 << 20, 4000
"""The most bytes of flags for features of runs, and the most features: what more runs have is kept first."""
OF_TEXT = 100
"""Bytes that a text takes besides its letters."""

Places = NDArray[np.intp]


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
    rare : features that too few runs have to be looked at, with the rows of these runs: events about them are counted.
    """

    names: list[str]
    numbers: NDArray[np.float64]
    features: list[str]
    present: NDArray[np.bool_]
    lost: int = 0
    seconds: float = 0.0
    rare: Mapping[str, Places] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def size(self) -> int:
        """Bytes of memory."""
        texts = sum(len(name) + 2 * OF_TEXT + rows.nbytes for name, rows in self.rare.items())
        return int(self.numbers.nbytes + self.present.nbytes + texts)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _feature_places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.features)}

    def column(self, name: str) -> NDArray[np.float64]:
        """The numbers of a name; NaN if no run has it. A feature in quotes is 1 where a run has it, else 0."""
        place = self._places.get(name)
        if place is not None:
            return self.numbers[:, place]
        return self.feature(name[1:-1]).astype(np.float64) if is_feature(name) else np.full(len(self), np.nan)

    def feature(self, name: str) -> NDArray[np.bool_]:
        """Which runs have a feature."""
        place = self._feature_places.get(name)
        if place is not None:
            return self.present[:, place]
        found = np.zeros(len(self), dtype=np.bool_)
        found[self.rare.get(name, [])] = True
        return found

    @property
    def refused(self) -> float:
        """The share of runs that raised, exited or ended their process."""
        refused = np.zeros(len(self), dtype=np.bool_)
        for name in (*self.features, *self.rare):
            if name.startswith(REFUSALS):
                refused |= self.feature(name)
        return float(refused.mean()) if len(self) else 0.0

    def under(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The matrix with these columns."""
        places = self._places
        matrix = np.full((len(self), len(names)), np.nan)
        own = [(at, places[name]) for at, name in enumerate(names) if name in places]
        if own:
            to, of = map(list, zip(*own, strict=True))
            matrix[:, to] = self.numbers[:, of]
        for at, name in enumerate(names):
            if is_feature(name) and name not in places:
                matrix[:, at] = self.column(name)
        return matrix


LOWEST_BIT = "lowest bit of "
"""How the name begins of the place of a number's lowest bit."""


def is_feature(name: str) -> bool:
    """Whether a name is that of a feature, in quotes, and not of a number."""
    return name.startswith("“")


def together(parts: Sequence[Runs]) -> Runs:
    """All runs of several batches on the same table."""
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    numbers = np.concatenate([np.empty((0, len(names))), *(part.under(names) for part in parts)])
    rows: dict[str, list[Places]] = {}
    start = 0
    for part in parts:
        for place, name in enumerate(part.features):
            rows.setdefault(name, []).append(np.flatnonzero(part.present[:, place]) + start)
        for name, own in part.rare.items():
            rows.setdefault(name, []).append(own + start)
        start += len(part)
    seconds = sum(each.seconds for each in parts)
    return _runs(names, numbers, rows.items(), sum(each.lost for each in parts), seconds)


def _runs(
    names: list[str],
    numbers: NDArray[np.float64],
    rows: Iterable[tuple[str, list[Places]]],
    lost: int,
    seconds: float,
) -> Runs:
    """Runs with these numbers, and features in these rows: those that many runs have are looked at."""
    which = {name: own[0] if len(own) == 1 else np.concatenate(own) for name, own in rows}
    common = [name for name, own in which.items() if len(own) > 1 or len(numbers) < FEW]
    most = min(MOST_FEATURES, MOST_FLAGS // max(1, len(numbers)))
    if len(common) > most:
        kept = set(sorted(common, key=lambda name: (not name.startswith(REFUSALS), -len(which[name])))[:most])
        common = [name for name in common if name in kept]
    present = np.zeros((len(numbers), len(common)), dtype=np.bool_)
    for place, name in enumerate(common):
        present[which.pop(name), place] = True
    return Runs(names, numbers, common, present, lost, seconds, which)


@dataclass
class Collector:
    """Gathers the frames of runs; frames of equal names and features are kept together, and each text once."""

    kinds: dict[tuple[tuple[str, ...], tuple[str, ...]], list[bytes]] = field(default_factory=dict)
    lost: int = 0
    size: int = 0
    _texts: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)

    def add(self, names: Sequence[str], features: Sequence[str], numbers: bytes) -> None:
        """Add one run."""
        if len(numbers) != 8 * len(names):
            raise ValueError("a run has more or fewer numbers than names")
        own = tuple(map(str, names))
        if own not in self._names:
            self.size += sum(len(each) + OF_TEXT for each in own)
        kind = self._names.setdefault(own, own), tuple(map(self._text, features))
        if kind not in self.kinds:
            self.size += 8 * len(features) + 2 * OF_TEXT
        self.kinds.setdefault(kind, []).append(numbers)
        self.size += len(numbers) + 64

    def _text(self, feature: Any) -> str:
        text = str(feature)
        if text not in self._texts:
            self.size += len(text) + OF_TEXT
        return self._texts.setdefault(text, text)

    def runs(self, seconds: float = 0.0) -> Runs:
        """The runs, in no particular order."""
        alike: dict[tuple[str, ...], list[bytes]] = {}
        for (names, _), found in self.kinds.items():
            alike.setdefault(names, []).extend(found)
        parts = [_block(names, found) for names, found in alike.items()]
        starts = dict(zip(alike, np.cumsum([0, *map(len, parts)]).tolist(), strict=False))
        rows: dict[str, list[Places]] = {}
        for (names, features), found in self.kinds.items():
            own = np.arange(starts[names], starts[names] + len(found))
            starts[names] += len(found)
            for feature in dict.fromkeys(features):
                rows.setdefault(feature, []).append(own)
        whole = together(parts)
        return _runs(whole.names, whole.numbers, rows.items(), self.lost, seconds)


def _block(names: tuple[str, ...], found: list[bytes]) -> Runs:
    """Runs of the same names; a name that occurs twice keeps its first number."""
    own = list(dict.fromkeys(names))
    block = np.frombuffer(b"".join(found), dtype="<f8").reshape(len(found), len(names)).astype(np.float64)
    if len(own) < len(names):
        block = block[:, [names.index(name) for name in own]]
    return Runs(own, block, [], np.zeros((len(found), 0), dtype=np.bool_))


def shuffled(runs: Runs, rng: Any) -> Runs:
    """The same runs in random order, so that halves are alike."""
    order = rng.permutation(len(runs))
    places = np.argsort(order)
    rare = {name: places[rows] for name, rows in runs.rare.items()}
    return Runs(runs.names, runs.numbers[order], runs.features, runs.present[order], runs.lost, runs.seconds, rare)
