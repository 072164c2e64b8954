"""How good `discreet advise` is on tables that it has not seen: bias of what it expects, and how often ranges hold.

Decides how ranges are made. `python benchmarks/advise.py` made results/advise.md from the cells that come with the
package (`benchmarks/advise_cells.py`). The table that is advised on is left out of everything: of the means and
quantiles, and of the widening of the ranges; of a made-up table its whole family is.

One collection of data sets is also advised on by the other one alone, with the made-up tables: a table of yours may be
as unlike all cases as one collection is unlike the other.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

import keel
from discreet.advice import cases as cases_module
from discreet.advice import neighbours
from discreet.advice.cases import ADVISED, Case, committed, rows
from discreet.advice.facts import Facts
from discreet.advice.ranges import expected

OUT = Path(__file__).parent / "results" / "advise.md"
Values = NDArray[np.float64]


class Trial(NamedTuple):
    """A case that was advised on by others, and what was said: low, middle and high of each model at each epsilon."""

    case: Case
    told: Values

    @property
    def held(self) -> Values:
        """Where the range holds the accuracy."""
        low, _, high = self.told
        return np.asarray((low - 1e-9 <= self.case.accuracies) & (self.case.accuracies <= high + 1e-9))

    @property
    def bias(self) -> Values:
        """By how much the middle is too optimistic."""
        return np.asarray(self.told[1] - self.case.accuracies)

    @property
    def width(self) -> Values:
        """How wide the ranges are."""
        return np.asarray(self.told[2] - self.told[0])


def left_out(cases: Sequence[Case], tried: Sequence[Case]) -> list[Trial]:
    """Each of the tried cases, advised on by all others; a made-up table by all that are not of its family."""
    found = []
    for case in tried:
        others = [each for each in cases if each is not case and (each.is_real or each.family != case.family)]
        found.append(Trial(case, expected(case.facts, case.epsilons, others)))
    return found


def advised_by(cases: Sequence[Case], tried: Sequence[Case]) -> list[Trial]:
    """Each of the tried cases, advised on by the given ones."""
    return [Trial(case, expected(case.facts, case.epsilons, cases)) for case in tried]


def figures(trials: Sequence[Trial], chosen: Callable[[Values], Values] = lambda each: each) -> str:
    """How often ranges held, the bias with the error of its mean over tables, and the width, as cells of a table."""
    held, bias, width = (
        np.array([float(np.mean(chosen(getattr(trial, name)))) for trial in trials])
        for name in ("held", "bias", "width")
    )
    error = bias.std(ddof=1) / math.sqrt(len(bias)) if len(bias) > 1 else 0.0
    off = np.mean([np.mean(np.abs(chosen(trial.bias))) for trial in trials])
    return f"{held.mean():.1%} | {bias.mean():+.3f} ± {error:.3f} | {off:.3f} | {width.mean():.2f} |"


def report(cases: Sequence[Case]) -> str:
    """The tables as Markdown."""
    real = [case for case in cases if case.is_real]
    made = [case for case in cases if not case.is_real]
    second = [case for case in real if case.name in keel.NAMES]
    first = [case for case in real if case.name not in keel.NAMES]
    unseen, families = left_out(cases, real), left_out(cases, made)
    head = ["| | tables | ranges hold | bias ± its standard error | mean error | width |", "|---|---|---|---|---|---|"]

    def row(name: str, trials: Sequence[Trial], chosen: Callable[[Values], Values] = lambda each: each) -> str:
        return f"| {name} | {len(trials)} | {figures(trials, chosen)}"

    def alone(name: str) -> Callable[[Values], Values]:
        return lambda each: each[ADVISED.index(name)]

    return "\n".join(
        [
            *TITLE,
            f"{len(first)} data sets and {len(second)} of the KEEL repository, {len(made)} made-up tables of "
            f"{len({case.family for case in made})} families; add-remove; models: {', '.join(ADVISED)}.",
            "",
            "## Left out, one after another",
            "",
            *head,
            row("**real data sets**", unseen),
            row("of these, the first collection", [each for each in unseen if each.case in first]),
            row("of these, KEEL", [each for each in unseen if each.case in second]),
            row("made-up tables, their family left out", families),
            *(row(f"{name}, real data sets", unseen, alone(name)) for name in ADVISED),
            *(row(f"ε = {epsilon:g}, real", _at(unseen, epsilon)) for epsilon in _epsilons(real)),
            row("two classes, real", [each for each in unseen if each.case.facts.classes == 2]),
            row("more classes, real", [each for each in unseen if each.case.facts.classes > 2]),
            row("fewer than 1,000 records, real", [each for each in unseen if each.case.facts.records < 1000]),
            "",
            "## One collection advised on by the other",
            "",
            *head,
            row("KEEL, by the first collection and made-up tables", advised_by([*first, *made], second)),
            row("KEEL, by the first collection alone", advised_by(first, second)),
            row("the first collection, by KEEL and made-up tables", advised_by([*second, *made], first)),
            row("the first collection, by KEEL alone", advised_by(second, first)),
            "",
            *settings_text(cases),
            *_precision(),
        ]
    )


def _epsilons(cases: Sequence[Case]) -> list[float]:
    return sorted({epsilon for case in cases for epsilon in case.epsilons.tolist()})


def _at(trials: Sequence[Trial], epsilon: float) -> list[Trial]:
    """The trials of an epsilon alone."""
    found = []
    for case, told in trials:
        if epsilon in case.epsilons:
            place = case.epsilons.tolist().index(epsilon)
            one = replace(case, epsilons=case.epsilons[[place]], accuracies=case.accuracies[:, [place]])
            found.append(Trial(one, told[:, :, [place]]))
    return found


TITLE = [
    "# Advice from public facts",
    "",
    "Command: `python benchmarks/advise.py`. A range should hold the accuracy of four in five tables. The bias is the",
    "expected accuracy minus the measured one; the mean error is without signs. Figures are means over tables, all",
    "models and all finite epsilons of `cells.csv`; a table that is advised on has no part in its advice.",
]


class Setting(NamedTuple):
    """Which facts place a table among others, the weight of a made-up table, and where curves begin with guessing."""

    point: Callable[[Facts], list[float]] = lambda facts: [math.log(facts.classes), math.log(facts.columns) / 2]
    made_up: float = neighbours.MADE_UP
    nothing: float = cases_module.NOTHING


SETTINGS = {
    "as shipped: classes and columns": Setting(),
    "no fact: all cases weigh the same": Setting(lambda facts: [0.0]),
    "classes alone": Setting(lambda facts: [math.log(facts.classes)]),
    "records too": Setting(lambda facts: [*Setting().point(facts), math.log(facts.records) / 3]),
    "the fraction of numeric columns too": Setting(
        lambda facts: [*Setting().point(facts), facts.numeric / facts.columns]
    ),
    "made-up tables weigh nothing": Setting(made_up=1e-9),
    "made-up tables weigh as much as real ones": Setting(made_up=1.0),
    "curves begin with guessing at a signal of 1": Setting(nothing=1.0),
}


def settings_text(cases: Sequence[Case]) -> list[str]:
    """How much the choice of facts and weights matters: the same figures for other settings."""
    lines = [
        "## Other settings, real data sets left out",
        "",
        "Ranges are widened without the data set in question, but these settings were chosen by someone who had seen",
        "figures of all data sets. What they matter is what this may flatter.",
        "",
        "| setting | hold at ε = 0.01 | ranges hold | bias ± its standard error | mean error | width |",
        "|---|---|---|---|---|---|",
    ]
    for name, setting in SETTINGS.items():
        with (
            mock.patch.object(Facts, "coordinates", lambda facts, point=setting.point: np.array(point(facts))),
            mock.patch.object(neighbours, "MADE_UP", setting.made_up),
            mock.patch.object(cases_module, "NOTHING", setting.nothing),
        ):
            fresh = [replace(case) for case in cases]  # nothing that was computed before
            trials = left_out(fresh, [case for case in fresh if case.is_real])
        weak = np.mean([trial.held for trial in _at(trials, 0.01)])
        lines.append(f"| {name} | {weak:.1%} | {figures(trials)}")
    return [*lines, ""]


def _precision() -> list[str]:
    """How precise the cells themselves are."""
    errors = [
        float(row["deviation"]) / math.sqrt(int(row["runs"])) for row in rows("cells.csv") if row["model"] in ADVISED
    ]
    return [
        f"The cells are means of runs: their standard error is {np.median(errors):.4f} in the middle and below",
        f"{np.quantile(errors, 0.9):.4f} in nine of ten.",
        "",
    ]


def main() -> None:
    """Leave each out, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    text = report(committed())
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
