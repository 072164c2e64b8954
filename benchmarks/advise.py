"""How good `discreet advise` is: each data set of the committed comparison is advised on from the others alone.

Decides whether advice from cases and simulation together is better than from either alone.
`python benchmarks/advise.py` made results/advise.md; it needs DISCREET_DATA, but reads only the schemas there. The data
set that is advised on is left out of the cases and of the widening of the ranges; simulations never see it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

from discreet import datasets
from discreet.advice import Facts, advisor
from discreet.advice.advisor import CLOSE, Choice, consider
from discreet.advice.cases import ADVISED, Case, committed, rows
from discreet.advice.neighbours import peers, weights
from discreet.advice.ranges import NOMINAL
from discreet.advice.simulation import simulate
from discreet.schema import Schema

OUT = Path(__file__).parent / "results" / "advise.md"

Verdicts = dict[tuple[str, float], Choice]


def schema_of(name: str, directory: str | None) -> Schema:
    """The public schema of a data set."""
    return datasets.load(name, directory)[2]


def left_out(cases: tuple[Case, ...], worlds: dict[str, list[Case]], schemas: dict[str, Schema]) -> Verdicts:
    """What is advised for each data set and epsilon by all other data sets."""
    found: Verdicts = {}
    for case in cases:
        others = [other for other in cases if other is not case]
        epsilons = (case.signals / case.facts.signal(1.0)).round(9).tolist()
        advice = consider(case.facts, epsilons, others, worlds.get(case.name, []), schemas[case.name])
        found |= {(case.name, choice.epsilon): choice for choice in advice.choices}
    return found


def regrets(cases: tuple[Case, ...], chosen: Callable[[Case, float], str]) -> np.ndarray:
    """How far the chosen model is below the best, for each data set (rows) and epsilon."""
    found = []
    for case in cases:
        epsilons = (case.signals / case.facts.signal(1.0)).round(9).tolist()
        best = case.accuracies.max(axis=0)
        picked = [
            case.accuracies[ADVISED.index(chosen(case, epsilon)), place] for place, epsilon in enumerate(epsilons)
        ]
        found.append(best - picked)
    return np.array(found)


def coverage(cases: tuple[Case, ...], verdicts: Verdicts) -> tuple[float, float]:
    """How often the range held the accuracy, all models; and how wide the ranges were on average."""
    held, width = [], []
    for case in cases:
        for place, signal in enumerate(case.signals):
            choice = verdicts[case.name, round(float(signal / case.facts.signal(1.0)), 9)]
            for each in choice.expectations:
                held.append(each.low <= case.accuracies[ADVISED.index(each.model), place] <= each.high)
                width.append(each.high - each.low)
    return float(np.mean(held)), float(np.mean(width))


def line(name: str, regret: np.ndarray) -> str:
    """One row of the table."""
    hits = regret <= CLOSE + 1e-9
    return f"| {name} | {hits.mean():.1%} | {regret.mean():.4f} | {np.quantile(regret, 0.9):.3f} |"


def report(cases: tuple[Case, ...], worlds: dict[str, list[Case]], schemas: dict[str, Schema]) -> str:
    """The tables as Markdown."""
    both, alone = left_out(cases, worlds, schemas), left_out(cases, {}, schemas)
    simulated = regrets(cases, lambda case, epsilon: _best_simulated(worlds[case.name], case.facts.signal(epsilon)))
    simple = {True: "decision-tree", False: "naive-bayes(select=auto)"}
    by_signal = regrets(cases, lambda case, epsilon: simple[case.facts.signal(epsilon) < 100])
    ours = regrets(cases, lambda case, epsilon: both[case.name, epsilon].first.model)
    text = [
        "# Advice from public facts",
        "",
        "Command: `python benchmarks/advise.py`. Each of the data sets of the committed comparison (`cells.csv` in the",
        "package) is advised on by all others; simulated tables have its schema and none of its records. A hit is a",
        f"first choice within {CLOSE:g} of the best of the six models; the loss is how far it is below the best.",
        f"{len(cases)} data sets × {len(cases[0].signals)} epsilons, add-remove.",
        "",
        "| first choice | hits | mean loss | 90 % of losses below |",
        "|---|---|---|---|",
        line("**advise**: cases and simulation", ours),
        line("cases alone", regrets(cases, lambda case, epsilon: alone[case.name, epsilon].first.model)),
        line("simulation alone", simulated),
        line("tree below a signal n ε of 100, else naive-bayes(select=auto): a rule found by looking", by_signal),
        *(line(f"always {model}", regrets(cases, lambda case, epsilon, each=model: each)) for model in ADVISED),
        "",
        *settings_text(cases, worlds),
    ]
    hits = {key: bool(value <= CLOSE + 1e-9) for key, value in zip(both, ours.ravel(), strict=True)}
    known, width = coverage(cases, both)
    text += [
        "",
        "## Ranges",
        "",
        f"A range should hold the accuracy in {NOMINAL:.0%} of cases; left out, it held it in {known:.1%} (all models,",
        f"data sets and epsilons), and was {width:.2f} wide on average.",
        "",
        "## Hits by data set (columns: epsilon)",
        "",
        *_grid(cases, both, hits),
        "",
        *_precision(ours),
    ]
    return "\n".join(text) + "\n"


WEIGHTS = ("all cases, the nearer the more", "of as many classes, the nearer the more", "of as many classes, alike")
SETTINGS = list(product(WEIGHTS, (0.02, 0.03, 0.1, 1.0), (0.0, 0.1, 0.25)))
"""Which cases count, the cap on a loss, and the say of the simulation."""

Setting = tuple[str, float, float]


def nested(cases: tuple[Case, ...], worlds: dict[str, list[Case]]) -> tuple[dict[str, float], list[float]]:
    """Hits if the setting is chosen inside the loop, by the other data sets alone, for the most hits or the least mean
    loss; and the hits of each setting."""

    def chosen(case: Case, others: list[Case], setting: Setting) -> np.ndarray:
        """Losses of the first choices."""
        which, cap, say = setting
        weight = np.full(len(others), 1.0) if which == WEIGHTS[2] else weights(case.facts, others)
        if which != WEIGHTS[0]:
            alike = np.isin(np.arange(len(others)), peers(case.facts, others))
            weight = np.where(alike, weight, 0.0)
        lost = np.array([np.minimum(advisor.shortfalls(others, signal), cap) for signal in case.signals])
        made_up = np.array([np.minimum(advisor.shortfalls(worlds[case.name], signal), cap) for signal in case.signals])
        loss = (1 - say) * np.einsum("o,eom->em", weight / weight.sum(), lost) + say * made_up.mean(axis=1)
        own = case.accuracies.max(axis=0) - case.accuracies
        return np.asarray(own[loss.argmin(axis=1), np.arange(len(loss))])

    def all_losses(rest: list[Case], setting: Setting) -> np.ndarray:
        return np.array([chosen(case, [each for each in rest if each is not case], setting) for case in rest])

    found: dict[str, list[float]] = {"most hits": [], "least mean loss": []}
    for case in cases:
        rest = [each for each in cases if each is not case]
        lost = [all_losses(rest, setting) for setting in SETTINGS]
        best = {
            "most hits": int(np.argmax([(each <= CLOSE + 1e-9).mean() for each in lost])),
            "least mean loss": int(np.argmin([each.mean() for each in lost])),
        }
        for aim, place in best.items():
            found[aim] += (chosen(case, rest, SETTINGS[place]) <= CLOSE + 1e-9).tolist()
    hits = [float((all_losses(list(cases), setting) <= CLOSE + 1e-9).mean()) for setting in SETTINGS]
    return {aim: float(np.mean(each)) for aim, each in found.items()}, hits


def settings_text(cases: tuple[Case, ...], worlds: dict[str, list[Case]]) -> list[str]:
    """What the figures are worth."""
    inside, each = nested(cases, worlds)
    return [
        "Where the signal is weak a tree is nearly always right; where it is strong, which model is best depends on",
        "what the columns tell. Of public facts the number of classes says most about that: counts by class do well",
        "with more than two, trees and hyperplanes with two. The advisor has no other constant: the mean loss over",
        "the cases of as many classes (two, or more) at the same n ε decides, the simulation counts as one case more.",
        "",
        "That the number of classes is what counts was found by looking at these data sets, so that the first line",
        f"flatters the advisor. {len(SETTINGS)} settings (which cases count, cap on a loss, say of the simulation)",
        f"have from {min(each):.0%} to {max(each):.0%} of hits. Chosen inside the loop, by the other data sets alone,",
        f"a setting has {inside['least mean loss']:.1%} if the least mean loss decides, and {inside['most hits']:.1%}",
        "if the most hits do.",
        "What to expect for a new table lies between that and the first line.",
    ]


def _best_simulated(worlds: list[Case], signal: float) -> str:
    lost = advisor.shortfalls(worlds, signal).mean(axis=0)
    return ADVISED[int(lost.argmin())]


def _grid(cases: tuple[Case, ...], verdicts: Verdicts, hits: dict[tuple[str, float], bool]) -> list[str]:
    epsilons = sorted({epsilon for _, epsilon in verdicts})
    lines = [f"| data set | {' | '.join(f'{epsilon:g}' for epsilon in epsilons)} |", "|---" * (len(epsilons) + 1) + "|"]
    for case in cases:
        marks = [
            f"{verdicts[case.name, epsilon].first.model} {'✓' if hits[case.name, epsilon] else '✗'}"
            for epsilon in epsilons
        ]
        lines.append(f"| {case.name} | {' | '.join(marks)} |")
    return lines


def _precision(ours: np.ndarray) -> list[str]:
    """What is to be said of the cells themselves, and of so few data sets."""
    errors = [
        float(row["deviation"]) / math.sqrt(int(row["runs"])) for row in rows("cells.csv") if row["model"] in ADVISED
    ]
    by_data = (ours <= CLOSE + 1e-9).mean(axis=1)
    return [
        f"The cells are means of runs: their standard error is {np.median(errors):.4f} in the middle and below",
        f"{np.quantile(errors, 0.9):.4f} in nine of ten, so that some misses and some hits are luck. Over data",
        f"sets the share of hits has a standard error of {by_data.std(ddof=1) / math.sqrt(len(by_data)):.1%}.",
    ]


def main() -> None:
    """Simulate for each schema, leave each out, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", help="directory with schemas.json; default: DISCREET_DATA")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    cases = committed()
    worlds, schemas = {}, {}
    for case in cases:
        schemas[case.name] = schema_of(case.name, options.data)
        worlds[case.name] = simulate(schemas[case.name], Facts.of(schemas[case.name]))
        print(f"simulated {case.name}", flush=True)
    text = report(cases, worlds, schemas)
    options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
