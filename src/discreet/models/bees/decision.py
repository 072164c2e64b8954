"""From rules to classes: which rules decide if several match, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.models.bees.rules import Encoded, Rule

Matrix = NDArray[np.float64]

RESOLVE = ("best", "vote")
DEFAULT = ("majority", "nearest")
EDGE = 1e-9
"""Extra weight, as a fraction, of the rule that decides a tie; also the least weight of a vote."""
FADE = 3.0
"""Where no rule matches, each violated condition divides the vote of a rule by e to this power. How rules vote was
chosen on the first two runs of benchmarks/bees.py (see benchmarks/results/bees.md)."""
BLOCK = 2**16
"""Number of rows that are matched at a time, so that memory use stays flat."""


@dataclass(frozen=True)
class RuleSet:
    """Rules, and the frequency of each class among the training records."""

    rules: Sequence[Rule]
    prior: Matrix
    resolve: str = "vote"
    default: str = "nearest"

    def probabilities(self, encoded: Encoded, rows: int) -> Matrix:
        """Normalised weights of the classes: the sum over all matching rules ("vote"), or the most precise ("best").

        Where no rule matches, "majority" takes the class frequencies. "nearest" lets all rules vote, each with less
        weight the more of its conditions are violated; with "best" the most precise of the nearest rules decides.
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
        decided = matched if self.default == "majority" else np.ones(rows, dtype=bool)
        beyond = violations[decided] - fewest[decided, np.newaxis]
        if self.resolve == "best":
            votes[decided] = self._best(beyond == 0)
        else:
            faded = np.where(matched[decided, np.newaxis], beyond == 0, np.exp(-FADE * beyond))
            votes[decided] = faded @ self._excess()
        votes /= votes.sum(axis=1, keepdims=True)
        return votes

    def _precisions(self) -> list[float]:
        return [rule.precision(len(self.prior)) for rule in self.rules]

    def _excess(self) -> Matrix:
        """The vote of each rule for its class: how far its precision exceeds the frequency of the class."""
        weights = np.zeros((len(self.rules), len(self.prior)))
        for position, (rule, precision) in enumerate(zip(self.rules, self._precisions(), strict=True)):
            weights[position, rule.label] = max(precision - self.prior[rule.label], EDGE)
        return weights

    def _best(self, matching: NDArray[np.bool_]) -> Matrix:
        """Largest precision of a matching rule per class; covered records, then the order of classes, break ties."""
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
