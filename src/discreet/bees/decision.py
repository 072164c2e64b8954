"""From rules to classes: which rule decides when several match, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bees.rules import Encoded, Rule

Matrix = NDArray[np.float64]

RESOLVE = ("best", "vote")
DEFAULT = ("majority", "nearest")
EDGE = 1e-9
"""Of two equally precise rules the one that covers more decides: it weighs more by this part."""
BLOCK = 2**16
"""Rows that are matched at a time: memory stays flat."""


@dataclass(frozen=True)
class RuleSet:
    """Rules and the share of each class in the training records."""

    rules: Sequence[Rule]
    prior: Matrix
    resolve: str = "best"
    default: str = "majority"

    def probabilities(self, encoded: Encoded, rows: int) -> Matrix:
        """Normalised weights of the classes: the most precise matching rule of each, or the sum of all ("vote").

        Where no rule matches: the shares of the classes, or the rules with the fewest violated conditions ("nearest"),
        of which the most precise decides.
        """
        starts = range(0, rows, BLOCK)
        blocks = [{name: values[start : start + BLOCK] for name, values in encoded.items()} for start in starts]
        votes = [self._votes(block, min(BLOCK, rows - start)) for start, block in zip(starts, blocks, strict=True)]
        return np.concatenate(votes) if votes else np.empty((0, len(self.prior)))

    def _votes(self, encoded: Encoded, rows: int) -> Matrix:
        votes = np.tile(self.prior, (rows, 1))
        if not self.rules:
            return votes
        violations = np.stack([rule.violations(encoded, rows) for rule in self.rules], axis=1)
        fewest = violations.min(axis=1)
        matched = fewest == 0
        vote = self._summed if self.resolve == "vote" else self._best
        votes[matched] = vote(violations[matched] == 0)
        if self.default == "nearest":
            votes[~matched] = self._best(violations[~matched] == fewest[~matched, np.newaxis])
        votes /= votes.sum(axis=1, keepdims=True)
        return votes

    def _precisions(self) -> list[float]:
        return [rule.precision(len(self.prior)) for rule in self.rules]

    def _summed(self, matching: NDArray[np.bool_]) -> Matrix:
        """Sum of the precisions of the matching rules, by class."""
        weights = np.zeros((len(self.rules), len(self.prior)))
        for position, (rule, precision) in enumerate(zip(self.rules, self._precisions(), strict=True)):
            weights[position, rule.label] = precision
        return np.asarray(matching @ weights)

    def _best(self, matching: NDArray[np.bool_]) -> Matrix:
        """Largest precision of a matching rule, by class; ties by records covered, then by the order of classes."""
        votes = np.zeros((len(matching), len(self.prior)))
        winner = np.full(len(matching), -1)
        precisions = self._precisions()
        order = sorted(
            range(len(self.rules)), key=lambda i: (-precisions[i], -self.rules[i].inside, self.rules[i].label)
        )
        for i in order:
            rows, label = matching[:, i], self.rules[i].label
            votes[rows, label] = np.maximum(votes[rows, label], precisions[i])
            winner[rows & (winner < 0)] = label
        votes[np.arange(len(matching)), winner] *= 1 + EDGE
        return votes
