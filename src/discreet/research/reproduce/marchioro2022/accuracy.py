"""Figure 1 of Marchioro et al. 2022, where its advantage comes from, and the authors' program beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from discreet.research.comparison.grid import MAJORITY, NOT_PRIVATE, as_number
from discreet.research.comparison.summary import Cell, shown
from discreet.research.report import Paragraph, Picture, ReportTable, Section
from discreet.research.reproduce.accuracies import INDEPENDENT
from discreet.research.reproduce.finding import Finding
from discreet.research.reproduce.marchioro2022 import pictures, statements, words
from discreet.research.reproduce.marchioro2022.curves import EPSILONS, Curves
from discreet.research.reproduce.marchioro2022.models import (
    BOUNDED,
    CENTRAL,
    LOCAL,
    NOISE,
    OURS,
    PROGRAM,
    PUBLISHED,
    SUMMED,
)
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context

PAPER, AUTHORS = "marchioro2022", "authors' program"
AGREE, CHANCE = 0.05, 0.01


def figure_1(context: Context, cells: Sequence[Cell], curves: Curves, nodes: Mapping[str, Sequence[int]]) -> Section:
    """Published accuracies and ours, the statements of the text, and which is ahead."""
    title = "Figure 1: accuracy against ε"
    if not nodes:
        return Section(title, [Paragraph("No runs yet.")])
    found = statements.figure_1(curves, nodes)
    return Section(
        title,
        [
            Paragraph(words.FIGURE_1),
            *_pictures(cells, context),
            statements.table("What the text says of Figure 1", found, context.origin),
            Paragraph(_tally(found)),
            _ahead(curves, nodes, context),
            Paragraph(words.AHEAD),
            _accuracies(curves, nodes, context),
        ],
    )


def _pictures(cells: Sequence[Cell], context: Context) -> list[Picture]:
    """Pictures of the published models and of ours, if they were run."""
    drawn = (
        (
            "figure-1-published",
            "The published classifier: central, and N nodes. Mean and one deviation of single runs, "
            "which share records; open markers are the authors' own program.",
            (CENTRAL, PUBLISHED),
            printed(PAPER, AUTHORS),
        ),
        (
            "figure-1-ours",
            "Ours: at one place, N parties with noise of their own, and a secure sum. Mean and one "
            "deviation of single runs, which share records.",
            (OURS, LOCAL, SUMMED),
            (),
        ),
    )
    return [
        Picture(name, caption, pictures.draw_accuracies(_of(cells, starts), theirs), context.origin)
        for name, caption, starts, theirs in drawn
        if any(cell.model.startswith(starts) for cell in cells)
    ]


def leak(context: Context, cells: Sequence[Cell], curves: Curves, nodes: Mapping[str, Sequence[int]]) -> Section:
    """The accuracy of the federated classifier without the data, and without the scales that depend on the data."""
    title = "Where the advantage of many nodes comes from"
    here = {data: max(many) for data, many in nodes.items() if curves.cell(data, f"{NOISE}{max(many)}", EPSILONS[0])}
    if not here:
        return Section(title, [Paragraph("No data set with numbers has been run.")])
    rows = []
    for data, most in here.items():
        compared = (CENTRAL, *(f"{name}{most}" for name in (PUBLISHED, NOISE, BOUNDED, LOCAL)))
        guess = curves.mean(data, MAJORITY, NOT_PRIVATE)
        for epsilon in (EPSILONS[0], EPSILONS[2]):
            numbers = [curves.mean(data, model, epsilon) for model in compared]
            rows.append([f"{data}, N = {most}", shown(epsilon), *map(_number, [guess, *numbers])])
    heads = [
        "data set",
        "ε",
        "largest class",
        "central",
        "published",
        "noise alone",
        "public bounds",
        "ours, local noise",
    ]
    kinds = (CENTRAL, *(f"{name}{most}" for name in (PUBLISHED, NOISE, BOUNDED, LOCAL) for most in set(here.values())))
    own = [cell for cell in cells if cell.data in here and cell.model in (*kinds, MAJORITY)]
    return Section(
        title,
        [
            Paragraph(words.LEAK),
            ReportTable("Accuracy at small ε", heads, rows, context.origin),
            *(Paragraph(_leak_verdict(curves, data, most)) for data, most in here.items()),
            Picture(
                "leak",
                "The exchange with the most nodes: as published, without the data, with public bounds. "
                "Mean and one deviation of single runs, which share records.",
                pictures.draw_accuracies(own),
                context.origin,
            ),
        ],
    )


def _leak_verdict(curves: Curves, data: str, most: int) -> str:
    """How much of the advantage of many nodes over central, at the smallest epsilon, remains without the data."""
    models = (CENTRAL, *(f"{name}{most}" for name in (PUBLISHED, NOISE, BOUNDED)))
    central, whole, noise, bounded = (curves.mean(data, model, EPSILONS[0]) for model in models)
    start = f"{data} at ε = {EPSILONS[0]}: "
    if any(map(math.isnan, (central, whole, noise, bounded))):
        return start + "not all runs are there."
    start += f"many nodes score {whole:.3f}, central {central:.3f}"
    chance = f"{CHANCE} and two standard errors; {INDEPENDENT}"
    if whole <= central + _margin(curves, data, models[1]):
        return start + f": no advantage to explain ({chance}). Noise alone scores {noise:.3f}."
    part = (noise - central) / (whole - central)
    gone = bounded <= central + _margin(curves, data, models[3])
    guess = curves.mean(data, MAJORITY, NOT_PRIVATE)
    return start + (
        f", the largest class {_number(guess)}. Messages that hold no data but the scale of their noise score "
        f"{noise:.3f}: noise alone gives {part:.0%} of what many nodes are above central. With the noise that the "
        f"claim needs, it is {bounded:.3f}: {'the advantage is gone' if gone else 'an advantage stays'} ({chance})."
    )


def _margin(curves: Curves, data: str, model: str) -> float:
    """The difference from central, at the smallest epsilon, that may be chance."""
    return max(CHANCE, 2 * math.hypot(*(curves.error(data, each, EPSILONS[0]) for each in (model, CENTRAL))))


def program(context: Context, curves: Curves) -> Section:
    """Our reproduction beside the authors' program."""
    rows, near, known = [], 0, 0
    theirs = [row for row in printed(PAPER, AUTHORS) if row.epsilon != NOT_PRIVATE]
    for data in dict.fromkeys(row.data for row in theirs):
        for model in dict.fromkeys(row.model for row in theirs if row.data == data):
            entries = []
            for row in (row for row in theirs if (row.data, row.model) == (data, model)):
                ours = curves.cell(data, _counterpart(curves, data, model), row.epsilon)
                entries.append(f"{row.value:.3f} / {_number(ours.mean if ours else math.nan)}")
                if ours is not None and row.deviation is not None:
                    error = math.hypot(row.deviation / math.sqrt(20), ours.deviation / math.sqrt(ours.runs))
                    known, near = known + 1, near + (abs(row.value - ours.mean) <= max(AGREE, 2 * error))
            rows.append([data, model, *entries])
    verdict = (
        f"They agree within {AGREE} or two standard errors ({INDEPENDENT}) in {near} of {known} cells that are here."
    )
    heads = ["data set", "model", *(f"ε = {shown(epsilon)}" for epsilon in EPSILONS)]
    table = ReportTable("The authors' program (20 runs) / our reproduction of it", heads, rows, context.origin)
    return Section(
        "The authors' program", [Paragraph(words.PROGRAM), table, Paragraph(verdict), Paragraph(words.SPECT)]
    )


def _counterpart(curves: Curves, data: str, model: str) -> str:
    """Our model that does what the program does: where we ran it, nodes without records of a class send zeros."""
    silent = PROGRAM + model.removeprefix("N=")
    if curves.cell(data, silent, EPSILONS[0]) is not None:
        return silent
    return CENTRAL if model == "central" else PUBLISHED + model.removeprefix("N=")


def _of(cells: Iterable[Cell], starts: tuple[str, ...]) -> list[Cell]:
    return [cell for cell in cells if cell.model.startswith((*starts, MAJORITY))]


def _tally(found: Sequence[Finding]) -> str:
    tested = [each.agrees for each in found if each.agrees is not None]
    return f"{sum(tested)} of {len(tested)} statements that could be tested agree."


def _ahead(curves: Curves, nodes: Mapping[str, Sequence[int]], context: Context) -> ReportTable:
    """Ours against published at equal epsilon and number of nodes."""
    pairs = {
        "central: ours / published": [(data, OURS, CENTRAL) for data in nodes],
        "N nodes: ours with local noise / published": [
            (data, f"{LOCAL}{n}", f"{PUBLISHED}{n}") for data, many in nodes.items() for n in many if n > 1
        ],
        "N nodes: our secure sum / published": [
            (data, f"{SUMMED}{max(many)}", f"{PUBLISHED}{max(many)}") for data, many in nodes.items()
        ],
        "our secure sum / ours at one place": [(data, f"{SUMMED}{max(many)}", OURS) for data, many in nodes.items()],
    }
    rows = []
    for name, compared in pairs.items():
        leads = [
            (data, epsilon, curves.ahead(data, first, second, epsilon))
            for data, first, second in compared
            for epsilon in EPSILONS
        ]
        known = [each for each in leads if not math.isnan(each[2])]
        behind = dict.fromkeys(data for data, _, lead in known if lead < -2)
        where = ", ".join(f"{data} (ε = {_epsilons(data, known)})" for data in behind) or "nowhere"
        ahead = sum(lead > 2 for *_, lead in known)
        rows.append([name, str(len(known)), str(ahead), str(sum(lead < -2 for *_, lead in known)), where])
    heads = ["first / second", "cells", "first better", "second better", "where the second is better"]
    caption = f"Who is ahead by two standard errors at the same ε ({INDEPENDENT})"
    return ReportTable(caption, heads, rows, context.origin)


def _epsilons(data: str, known: Sequence[tuple[str, str, float]]) -> str:
    found = dict.fromkeys(epsilon for name, epsilon, lead in known if name == data and lead < -2)
    return ", ".join(f"{as_number(epsilon):.3g}" for epsilon in found)


def _accuracies(curves: Curves, nodes: Mapping[str, Sequence[int]], context: Context) -> ReportTable:
    """A table of all cells."""
    rows = []
    for data in nodes:
        for model in curves.models(data):
            found = [curves.cell(data, model, epsilon) for epsilon in (*EPSILONS, NOT_PRIVATE)]
            rows.append(
                [data, model, *("–" if each is None else f"{each.mean:.3f} ± {each.deviation:.3f}" for each in found)]
            )
    heads = ["data set", "model", *(f"ε = {shown(epsilon)}" for epsilon in EPSILONS), "no noise"]
    return ReportTable("Accuracy, mean ± deviation of single runs, which share records", heads, rows, context.origin)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
