"""What a plan may ask of the records at the nodes of a published tree, wherever the records are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from discreet.queries.arrays import Integers
from discreet.queries.tree_paths import Candidates
from discreet.queries.trees import Node, Places, SplitScore, Tree
from discreet.schema import Schema


class Placed(Protocol):
    """Records at numbered places of a tree that is published down to there. Private: inside a door only."""

    def scores(self, candidates: Candidates, score: SplitScore, places: int, schema: Schema) -> Iterator[Integers]:
        """Yield the scores of all splits at each of `places` places in turn."""
        ...

    def tables(self, candidates: Candidates, places: int, schema: Schema) -> tuple[Integers, Integers]:
        """Counts of the records that go left, by place, class and split; and of all, by place and class."""
        ...

    def by_class(self, places: int) -> Integers:
        """Counts by place and class."""
        ...

    def below(self, chosen: Sequence[Node]) -> Placed:
        """The records one level down, after the split chosen for each place; below a leaf all go left."""
        ...

    def renumbered(self, numbers: Places) -> Placed:
        """The same records, at the place `numbers[place]` each."""
        ...


class TreeRecords(Protocol):
    """The records with one of the classes. Private: inside a door only."""

    def at_the_top(self) -> Placed:
        """All records at one place."""
        ...

    def at_the_leaves(self, tree: Tree) -> Placed:
        """The records at the leaves of a tree, numbered from left to right."""
        ...
