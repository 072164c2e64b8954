"""What the text of Marchioro et al. 2022 says about its figures, compared with our runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.report import ReportTable
from discreet.research.reproduce.finding import Finding
from discreet.research.reproduce.marchioro2022.curves import EPSILONS, Curves
from discreet.research.reproduce.marchioro2022.models import CENTRAL, PUBLISHED
from discreet.research.reproduce.marchioro2022.nodes import LAPLACE_TAILS, NORMAL_TAILS, Errors, Sensitivity

STEP = math.sqrt(10)
CLOSE, SMALL = 0.05, 0.02
LUCK = 0.05
"""The fraction of comparisons that may contradict a statement about all of them."""


def table(caption: str, found: Sequence[Finding], origin: str) -> ReportTable:
    """A table of statements, measurements and verdicts."""
    words = {True: "agrees", False: "does not", None: "–"}
    rows = [[each.statement, each.measured, words[each.agrees]] for each in found]
    return ReportTable(caption, ["the paper says", "we measure", "verdict"], rows, origin)


def figure_1(curves: Curves, nodes: Mapping[str, Sequence[int]]) -> list[Finding]:
    """The statements of Section 6.3 on Figure 1; `nodes` are the numbers of nodes of each data set."""
    return [
        _s_shaped(curves, nodes),
        _left_tail(curves),
        *(_ordered(curves, data, nodes.get(data, ())) for data in ("house-votes-84", "mushroom")),
        *_delayed(curves, "house-votes-84", nodes.get("house-votes-84", ())),
        *_delayed(curves, "mushroom", nodes.get("mushroom", ())),
        _top(curves, nodes.get("skin", ())),
        _barely(curves),
        _reversed(curves, nodes.get("adult", ())),
        _restored(curves, nodes.get("adult", ())),
        _always_better(curves, nodes.get("accelerometer", ())),
        _no_matter(curves, nodes.get("accelerometer", ())),
    ]


def _statement(said: str, measured: str, numbers: Sequence[float], holds: bool) -> Finding:
    """A finding; it counts as not measured if a number is missing."""
    if not len(numbers) or any(map(math.isnan, numbers)):
        return Finding(said, "–", None)
    return Finding(said, measured, holds)


def _s_shaped(curves: Curves, nodes: Mapping[str, Sequence[int]]) -> Finding:
    said = (
        "on most data sets the central curve is an S, from a random guess (we take: the largest class) at the smallest "
        "ε to the noiseless accuracy"
    )
    there = [data for data in nodes if not math.isnan(curves.mean(data, CENTRAL, EPSILONS[0]))]
    shaped = [
        data
        for data in there
        if curves.mean(data, CENTRAL, EPSILONS[0]) <= curves.mean(data, MAJORITY, NOT_PRIVATE) + CLOSE
        and curves.mean(data, CENTRAL, EPSILONS[-1]) >= curves.mean(data, CENTRAL, NOT_PRIVATE) - CLOSE
    ]
    measured = f"within {CLOSE} at both ends on {len(shaped)} of {len(there)}: {', '.join(shaped) or 'none'}"
    return _statement(said, measured, [float(len(there))] * bool(there), 2 * len(shaped) > len(there))


def _left_tail(curves: Curves) -> Finding:
    first, guess = curves.mean("mushroom", CENTRAL, EPSILONS[0]), curves.mean("mushroom", MAJORITY, NOT_PRIVATE)
    said = (
        "mushroom: ε = 0.01 is not small enough to see the central curve end at a random guess (we take: it is more "
        f"than {CLOSE} above the largest class)"
    )
    return _statement(said, f"{first:.3f}, largest class {guess:.3f}", [first, guess], first > guess + CLOSE)


def _ordered(curves: Curves, data: str, nodes: Sequence[int]) -> Finding:
    pairs = [(f"{PUBLISHED}{more}", f"{PUBLISHED}{few}") for few, more in pairwise(nodes)]
    leads = [curves.ahead(data, more, few, epsilon) for more, few in pairs for epsilon in EPSILONS]
    against = sum(lead > 2 for lead in leads)
    measured = f"more nodes are better by two standard errors in {against} of {len(leads)} comparisons"
    said = f"{data}: the more nodes, the less accurate (we take: at most {LUCK:.0%} of comparisons are against it)"
    return _statement(said, measured, leads, against <= LUCK * len(leads))


def _delayed(curves: Curves, data: str, nodes: Sequence[int]) -> list[Finding]:
    """How much more epsilon N nodes need for half of the way from the largest class to the noiseless accuracy."""
    start, many = curves.crossing(data, CENTRAL), nodes[1:]
    factors = [curves.crossing(data, f"{PUBLISHED}{each}") / start if start > 0 else math.nan for each in many]
    shown = ", ".join(f"{value:.1f}-fold for {each} nodes" for each, value in zip(many, factors, strict=True))
    power = math.log(max(factors[-1], 1e-9)) / math.log(many[-1]) if many else math.nan
    rest = "; we put the rest down to the raising of negative counts at each node, untested" if power > 0.5 else ""
    return [
        _statement(
            f"{data}: federated curves are the central one, delayed in proportion to the number of nodes (we take: the "
            "more nodes, the later)",
            f"the delay grows as N to the power {power:.2f}; √N is what adding up noise would do{rest}",
            factors,
            factors == sorted(factors),
        ),
        _statement(
            f"{data}: federated training needs only a little more ε (we take: one step of the grid, {STEP:.2f}-fold)",
            f"half of the way up from the largest class to the noiseless accuracy, {shown}",
            factors,
            all(value <= STEP for value in factors),
        ),
    ]


def _top(curves: Curves, nodes: Sequence[int]) -> Finding:
    said = "skin: federated models are below the noiseless accuracy for very small ε only (we take: below 0.1)"
    top = curves.mean("skin", CENTRAL, NOT_PRIVATE)
    found = {(many, e): curves.mean("skin", f"{PUBLISHED}{many}", e) for many in nodes for e in EPSILONS[2:]}
    many, epsilon = min(found, key=lambda key: found[key], default=(0, "1"))
    worst = found.get((many, epsilon), math.nan)
    measured = f"lowest from ε = 0.1 on: {worst:.3f} ({many} nodes, ε = {as_number(epsilon):.3g}), noiseless {top:.3f}"
    return _statement(said, measured, [top, *found.values()], worst >= top - SMALL)


def _barely(curves: Curves) -> Finding:
    best, guess = curves.mean("spect", CENTRAL, NOT_PRIVATE), curves.mean("spect", MAJORITY, NOT_PRIVATE)
    said = f"spect: even the top is hardly above a random guess (we take: at most {CLOSE} above the largest class)"
    return _statement(said, f"noiseless {best:.3f}, largest class {guess:.3f}", [best, guess], best <= guess + CLOSE)


def _reversed(curves: Curves, nodes: Sequence[int]) -> Finding:
    said = "adult, small ε: federated is more accurate than central, the more so the more nodes"
    means = [float(np.mean(curves.curve("adult", f"{PUBLISHED}{many}")[:3])) for many in nodes[1:]]
    central = float(np.mean(curves.curve("adult", CENTRAL)[:3]))
    shown = ", ".join(f"{value:.3f} with {many}" for many, value in zip(nodes[1:], means, strict=True))
    holds = bool(means) and means == sorted(means) and means[-1] > central + SMALL
    return _statement(said, f"mean up to ε = 0.1: central {central:.3f}; {shown} nodes", [central, *means], holds)


def _restored(curves: Curves, nodes: Sequence[int]) -> Finding:
    """Central and the fewest nodes are ahead of the most nodes, and more nodes are never ahead of fewer."""
    said = "adult, large ε: central is ahead, and fewer nodes are ahead of more (we take: by two standard errors)"
    models = [CENTRAL, *(f"{PUBLISHED}{many}" for many in nodes)]
    means = [curves.mean("adult", model, EPSILONS[-1]) for model in models]
    against = [curves.ahead("adult", more, few, EPSILONS[-1]) for few, more in pairwise(models)]
    ends = [curves.ahead("adult", first, models[-1], EPSILONS[-1]) for first in models[:2]]
    shown = ", ".join(f"{value:.3f} with {many}" for many, value in zip(nodes, means[1:], strict=True))
    measured = f"ε = {EPSILONS[-1]}: central {means[0]:.3f}; {shown} nodes"
    holds = all(lead <= 2 for lead in against) and all(lead > 2 for lead in ends)
    return _statement(said, measured, [*means, *against] if nodes else [], holds)


def _always_better(curves: Curves, nodes: Sequence[int]) -> Finding:
    said = "accelerometer: federated is always more accurate than central"
    found = [curves.ahead("accelerometer", f"{PUBLISHED}{many}", CENTRAL, e) for many in nodes for e in EPSILONS]
    worse, better = sum(lead < -2 for lead in found), sum(lead > 2 for lead in found)
    single, central = (np.mean(curves.curve("accelerometer", model)) for model in (f"{PUBLISHED}1", CENTRAL))
    one = float(single - central)
    measured = (
        f"better by two standard errors in {better} of {len(found)} comparisons, worse in {worse}; but one node, where "
        f"nothing is federated, is already {one:+.3f} on average: the two have different formulas for the noise"
    )
    return _statement(said, measured, [*found, one], worse == 0 and 2 * better > len(found))


def _no_matter(curves: Curves, nodes: Sequence[int]) -> Finding:
    said = "accelerometer: the number of nodes hardly matters"
    table = np.array([curves.curve("accelerometer", f"{PUBLISHED}{many}") for many in nodes])
    spread = np.ptp(table, axis=0) if len(table) else np.array([math.nan])
    place = int(np.argmax(spread))
    measured = f"largest difference between numbers of nodes {spread[place]:.3f} (ε = {as_number(EPSILONS[place]):.3g})"
    return _statement(said, measured, spread.tolist(), bool(spread.max() <= CLOSE))


def figure_2(found: Mapping[str, Sequence[Sensitivity]]) -> list[Finding]:
    """The statements on the sensitivities of Adult and Skin."""
    falls = {data: _falls(rows) for data, rows in found.items()}
    adult, skin = falls.get("adult", math.nan), falls.get("skin", math.nan)
    growths = [row.growth for rows in found.values() for row in rows if row.nodes > 1]
    lowest = min(growths, default=math.nan)
    return [
        _statement(
            "the sensitivity drops with the number of nodes on adult, much less on skin",
            f"from 1 node to the most, the median over nodes falls to {adult:.2f} of its value on adult and to "
            f"{skin:.2f} on skin (geometric mean over columns)",
            [adult, skin],
            adult < 0.8 * skin,
        ),
        _statement(
            "many small contributions add up to less noise than one large one, which makes federated training better",
            f"the noise in the sums is {lowest:.1f} to {max(growths, default=math.nan):.1f} times that of one node, "
            "never less: the largest value of all is held by some node, which adds as much noise as one node would",
            [lowest],
            lowest < 1,
        ),
    ]


def _falls(rows: Sequence[Sensitivity]) -> float:
    """The median with the most nodes over that with the fewest: the geometric mean over columns."""
    fewest, most = min(row.nodes for row in rows), max(row.nodes for row in rows)
    medians = {(row.column, row.nodes): float(np.median(row.fractions)) for row in rows}
    columns = dict.fromkeys(row.column for row in rows)
    falls = [medians[name, most] / medians[name, fewest] for name in columns if medians[name, fewest] > 0]
    return float(np.exp(np.mean(np.log(np.maximum(falls, 1e-9))))) if falls else math.nan


def figure_3(found: Sequence[Errors]) -> list[Finding]:
    """The statement on the law of the errors."""
    tails = {row.nodes: row.tails for row in found if row.method == "published"}
    few, many = tails.get(min(tails, default=0), math.nan), tails.get(max(tails, default=0), math.nan)
    said = "with more nodes the law of the error turns from a Laplace law into a normal one"
    measured = (
        f"95% width over 50% width: {few:.2f} with one node, {many:.2f} with the most "
        f"(Laplace {LAPLACE_TAILS:.2f}, normal {NORMAL_TAILS:.2f})"
    )
    middle = (LAPLACE_TAILS + NORMAL_TAILS) / 2
    return [_statement(said, measured, [few, many], many < few and many < middle)]
