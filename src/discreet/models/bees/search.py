"""How a colony finds rules: the landscape of rules, and three ways to learn a set of rules (Zorarpacı 2019)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TypeAlias

import numpy as np

from discreet.models.bees.colony import Uniform, forage
from discreet.models.bees.coverage import Axis, Gene, axes_of, bits_of
from discreet.models.bees.polish import needed, widened
from discreet.models.bees.rules import Condition, Encoded, Rule, weighted_laplace, weighted_support
from discreet.records.encoding import Codes
from discreet.schema import Schema

Quality: TypeAlias = Callable[[int, int], float]
"""The value of a rule, from the numbers of covered records of its class and of other classes."""

STRATEGIES = ("sequential", "wlapms", "one-rule")
MOST_RULES = 100
"""Sequential covering ends after at most this many rules per class: it bounds the time of a fit."""
UNCOVERED = 20
"""Sequential covering also ends when at most one record in this many of the class is left (the published 5 %)."""


class Candidate:
    """A rule during the search: which columns it uses, and for each column a gene and the records that it covers."""

    __slots__ = ("bits", "genes", "similarity", "used", "value")

    def __init__(
        self, used: list[bool], genes: list[Gene], bits: list[int], value: float = 0.0, similarity: int = 0
    ) -> None:
        self.used, self.genes, self.bits = used, genes, bits
        self.value, self.similarity = value, similarity


class RuleLandscape:
    """All rules for one class; a move changes one column, so only the bit set of that column is computed again.

    An unused column covers all active records; the bit set of a rule is the AND of the bit sets of all columns.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        inside: int,
        active: int,
        quality: Quality,
        uniform: Uniform,
        *,
        F: float = 0.6,
        earlier: Sequence[Rule] = (),
    ) -> None:
        self._axes, self._inside, self._active = axes, inside & active, active
        self._quality, self._uniform, self._F = quality, uniform, F
        self._earlier = [self._conditions_on(axis, earlier) for axis in axes]

    @staticmethod
    def _conditions_on(axis: Axis, rules: Sequence[Rule]) -> list[Condition]:
        column = axis.condition((1.0, 1.0)).column
        return [condition for rule in rules for condition in rule.conditions if condition.column == column]

    def draw(self) -> Candidate:
        """Draw a rule: each column is used with probability 1/2, and at least one; first all bits, then all genes."""
        uniform = self._uniform
        used = [uniform() < 0.5 for _ in self._axes]
        genes = [axis.draw(uniform) for axis in self._axes]
        candidate = Candidate(used, genes, [self._active] * len(used))
        self._use_one(candidate)
        for j, is_used in enumerate(used):
            if is_used:
                candidate.bits[j] = self._axes[j].bits(genes[j])
                candidate.similarity += self._axes[j].alike(genes[j], self._earlier[j])
        return self._evaluated(candidate)

    def neighbour(self, current: Candidate, other: Candidate) -> Candidate:
        """Change one column: with probability F its bit becomes the other's if they differ, else 0; its gene moves."""
        uniform = self._uniform
        j = int(uniform() * len(self._axes))
        was_used = used = current.used[j]
        if uniform() < self._F:
            used = False if used == other.used[j] else other.used[j]
        axis = self._axes[j]
        gene = axis.move(current.genes[j], other.genes[j], uniform)
        genes = current.genes.copy()
        genes[j] = gene
        if not was_used and not used:
            return Candidate(current.used, genes, current.bits, current.value, current.similarity)
        candidate = Candidate(current.used.copy(), genes, current.bits.copy(), 0.0, current.similarity)
        candidate.used[j] = used
        if self._earlier[j]:
            candidate.similarity -= axis.alike(current.genes[j], self._earlier[j]) if was_used else 0
            candidate.similarity += axis.alike(gene, self._earlier[j]) if used else 0
        candidate.bits[j] = axis.bits(gene) if used else self._active
        if not used:
            repaired = self._use_one(candidate)
            if repaired is not None:
                candidate.bits[repaired] = self._axes[repaired].bits(genes[repaired])
                candidate.similarity += self._axes[repaired].alike(genes[repaired], self._earlier[repaired])
        return self._evaluated(candidate)

    def _use_one(self, candidate: Candidate) -> int | None:
        """Give a rule without conditions one on a random column; returns that column."""
        if True in candidate.used:
            return None
        j = int(self._uniform() * len(candidate.used))
        candidate.used[j] = True
        return j

    def _evaluated(self, candidate: Candidate) -> Candidate:
        covered = reduce(and_, candidate.bits, self._active)
        inside = (covered & self._inside).bit_count()
        candidate.value = self._quality(inside, covered.bit_count() - inside)
        return candidate

    def polished(self, candidate: Candidate) -> Candidate:
        """Drop the conditions that a rule does not need and widen its intervals; its value does not decrease."""

        def worth(covered: int) -> float:
            inside = (covered & self._inside).bit_count()
            return self._quality(inside, covered.bit_count() - inside)

        used = needed(candidate.used, candidate.bits, self._active, worth)
        genes = widened(self._axes, used, candidate.genes, self._active)
        bits = [
            axis.bits(gene) if is_used else self._active
            for axis, gene, is_used in zip(self._axes, genes, used, strict=True)
        ]
        # widening can move an end inwards, which may make another condition unnecessary
        used = needed(used, bits, self._active, worth)
        bits = [each if is_used else self._active for each, is_used in zip(bits, used, strict=True)]
        return self._evaluated(Candidate(used, genes, bits))

    def accepts(self, candidate: Candidate, current: Candidate) -> bool:
        """Whether the candidate is at least as good, and at most as similar to the earlier rules."""
        return candidate.value >= current.value and candidate.similarity <= current.similarity

    def is_better(self, solution: Candidate, best: Candidate) -> bool:
        """Whether the solution is worth more, or equally much and less similar to the earlier rules."""
        return solution.value > best.value or (solution.value == best.value and solution.similarity < best.similarity)


def _laplace(inside: int, active: int) -> Quality:
    """Weighted Laplace on the active records; a rule that covers no record of its class is worth nothing.

    By the published formula, a rule that covers no record at all is worth as much as one that is right half of the
    time; on a hard class the colony finds nothing better, and covering ends too early (benchmarks/results/bees.md).
    """
    S = inside.bit_count()
    N = active.bit_count() - S
    return lambda p, n: weighted_laplace(p, n, S, N) if p else 0.0


@dataclass(frozen=True)
class RuleSearch:
    """The settings of a search; `discreet.models.bees.bee_rules.BeeRules` explains them."""

    strategy: str = "sequential"
    n_rules: int = 3
    swarm: int = 20
    max_iter: int = 500
    limit: int = 100
    alpha: float = 0.4
    beta: float = 0.6
    F: float = 0.6
    polish: bool = True

    def find(
        self, encoded: Encoded, labels: Codes, schema: Schema, uniform: Uniform, public_bounds: bool
    ) -> list[Rule]:
        """Find rules for each class, in the order of the schema; a class without records has no rules."""
        axes = axes_of(encoded, schema, public_bounds)
        everything = (1 << len(labels)) - 1
        rules: list[Rule] = []
        for label in range(len(schema.classes)):
            inside = bits_of(np.asarray(labels == label))
            if inside:
                training = _Training(axes, label, inside, everything)
                rules += (
                    self._cover(training, uniform) if self.strategy == "sequential" else self._some(training, uniform)
                )
        return rules

    def _cover(self, training: _Training, uniform: Uniform) -> list[Rule]:
        """Find rules by weighted Laplace, each on the records that no earlier rule covers."""
        rules: list[Rule] = []
        active, size = training.everything, training.inside.bit_count()
        while len(rules) < MOST_RULES and UNCOVERED * (training.inside & active).bit_count() > size:
            best = self._best(training, active, _laplace(training.inside & active, active), uniform)
            covered = reduce(and_, best.bits, active)
            if not covered & training.inside:
                break
            rules.append(training.rule(best))
            active &= ~covered
        return rules

    def _some(self, training: _Training, uniform: Uniform) -> list[Rule]:
        """Find a fixed number of rules on all records, each unlike the earlier ones."""
        S = training.inside.bit_count()
        N = training.everything.bit_count() - S

        def support(p: int, n: int) -> float:
            return weighted_support(p, n, S, self.alpha, self.beta)

        def both(p: int, n: int) -> float:
            return weighted_laplace(p, n, S, N) * weighted_support(p, n, S, self.alpha, self.beta)

        rules: list[Rule] = []
        for _ in range(1 if self.strategy == "one-rule" else self.n_rules):
            quality = support if self.strategy == "one-rule" else both
            rules.append(training.rule(self._best(training, training.everything, quality, uniform, rules)))
        return rules

    def _best(
        self, training: _Training, active: int, quality: Quality, uniform: Uniform, earlier: Sequence[Rule] = ()
    ) -> Candidate:
        landscape = RuleLandscape(training.axes, training.inside, active, quality, uniform, F=self.F, earlier=earlier)
        best = forage(landscape, self.swarm // 2, self.max_iter, self.limit, uniform)
        return landscape.polished(best) if self.polish else best


@dataclass(frozen=True)
class _Training:
    """All training records, divided into those of one class and the others."""

    axes: Sequence[Axis]
    label: int
    inside: int
    everything: int

    def rule(self, candidate: Candidate) -> Rule:
        """Make a rule of a candidate, with the number of records that it covers among all."""
        chosen = [
            (axis, gene) for axis, gene, used in zip(self.axes, candidate.genes, candidate.used, strict=True) if used
        ]
        covered = reduce(and_, (axis.bits(gene) for axis, gene in chosen), self.everything)
        inside = (covered & self.inside).bit_count()
        conditions = tuple(axis.condition(gene) for axis, gene in chosen)
        return Rule(self.label, conditions, inside, covered.bit_count() - inside)
