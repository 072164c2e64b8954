"""Zorarpacı 2019, both halves of the thesis: rule learners on perturbed records, and models of noisy counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from discreet.research.report import Section
from discreet.research.reproduce.study import Context, Experiment, Study
from discreet.research.reproduce.zorarpaci2019.private import Zorarpaci2019Private
from discreet.research.reproduce.zorarpaci2019.rules import Zorarpaci2019Rules

HALVES: tuple[Study, ...] = (Zorarpaci2019Rules(), Zorarpaci2019Private())


class Zorarpaci2019(Study):
    """The experiments, sections and statements of both halves, one after the other."""

    name = "zorarpaci2019"
    title = "Zorarpacı 2019: rules by bees, 1R and naive Bayes under differential privacy"

    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """Tables 5.1 to 5.15, then 5.16 to 5.25."""
        return [each for half in HALVES for each in half.experiments(full, directory)]

    def sections(self, context: Context) -> Sequence[Section]:
        """The sections of each half; titles begin with the number of the part."""
        found = []
        for part, half in enumerate(HALVES, 1):
            found += [replace(each, title=f"Part {part}: {each.title}") for each in half.sections(context)]
        return found

    def checks(self, context: Context) -> Mapping[str, bool]:
        """The checks of both halves."""
        return {words: holds for half in HALVES for words, holds in half.checks(context).items()}
