"""In place of Figures 8, 9, 11 and 12: accuracy and time against the number of records of a generated table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.research.report import Paragraph, Part, Picture, ReportTable
from discreet.research.reproduce.curves import Curve, draw
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.zafarani2020 import generated
from discreet.research.reproduce.zafarani2020.generated import TimedFit
from discreet.research.reproduce.zafarani2020.models import FIGURES, GLOBAL, RIGOROUS, SMOOTH


def parts(found: Sequence[TimedFit], origin: str) -> list[Part]:
    """Pictures, tables and what they show."""
    origin = f"{origin}; generated records, seeds 0 (training) and 1 (test)"
    return [
        Paragraph(
            f"The census extracts cannot be had here. In their place stands a generated table of their shape: "
            f"{generated.NUMBERS} numbers and {len(generated.CATEGORIES)} categories, two classes, as many records as "
            "Table 1 gives for the states. Nothing in it is a person's. Attributes are independent within a class, so "
            "that accuracies are not those of the paper; how they depend on n and ε may be. Models are trained once "
            f"for each n and ε and tested on {generated.TESTED:,} other records, not by cross-validation."
        ),
        Picture(
            "zafarani2020-records",
            "Accuracy against the number of records of a generated table: published (dashed) and ours (solid)",
            draw(_accuracies(found), "records"),
            origin,
        ),
        Paragraph(_verdict(found)),
        _accuracy_table(found, origin),
        Picture(
            "zafarani2020-time",
            "Processor time of a fit against the number of records",
            draw({f"a fit at ε = {generated.TIMED:g}": _times(found)}, "records", "seconds", logarithmic_y=True),
            origin,
        ),
        Paragraph(_time_verdict(found)),
        _time_table(found, origin),
    ]


def _line(model: str) -> str:
    return "-" if model.startswith(RIGOROUS) else "--"


def _accuracies(found: Sequence[TimedFit]) -> dict[str, list[Curve]]:
    panels: dict[str, list[Curve]] = {}
    rows = sorted({each.rows for each in found})
    largest = generated.majority()
    for epsilon in sorted({each.epsilon for each in found if each.epsilon != math.inf}):
        own = [each for each in found if each.epsilon == epsilon]
        panels[f"generated, ε = {epsilon:g}"] = [
            *(
                Curve(model, [(each.rows, each.accuracy) for each in own if each.model == model], _line(model), colour)
                for colour, model in enumerate(FIGURES)
            ),
            Curve("largest class", [(each, largest) for each in rows], ":", -1),
        ]
    return panels


def _times(found: Sequence[TimedFit]) -> list[Curve]:
    return [
        Curve(model, list(generated.seconds(found, model).items()), _line(model), colour)
        for colour, model in enumerate(FIGURES)
    ]


def _verdict(found: Sequence[TimedFit]) -> str:
    score = {(each.rows, each.epsilon, each.model): each.accuracy for each in found}
    private = [(rows, epsilon) for rows, epsilon, model in score if model == SMOOTH and epsilon != math.inf]
    smooth = sum(score[*each, SMOOTH] > score.get((*each, GLOBAL), math.inf) for each in private)
    ours = sum(
        score.get((*each, RIGOROUS), -1) >= max(score[*each, SMOOTH], score.get((*each, GLOBAL), 0)) for each in private
    )
    return (
        f"Of {len(private)} pairs of n and ε, smooth sensitivity is more accurate than global in {smooth}, and ours is "
        f"at least as accurate as both in {ours}."
    )


def _time_verdict(found: Sequence[TimedFit]) -> str:
    powers = {model: generated.exponent(generated.seconds(found, model)) for model in FIGURES}
    said = "; ".join(f"{model}: n to the {power:.2f}" for model, power in powers.items() if power is not None)
    bound = next(row.value for row in printed("zafarani2020", "Theorem 9"))
    largest = max((each.rows for each in found), default=0)
    return (
        f"Time between the two largest n grows as {said or 'not measured'}. Theorem 9 bounds it by n to the {bound:g}, "
        f"which for {largest:,} records is {largest**bound:.1e} steps for one column; ours finds the same smooth "
        "sensitivities of means in closed form, and of deviations from sorted values and prefix sums, by bounds that "
        "are exact for the first steps. Small ε take longer, as more steps count."
    )


def _accuracy_table(found: Sequence[TimedFit], origin: str) -> ReportTable:
    epsilons = sorted({each.epsilon for each in found})
    score = {(each.rows, each.model, each.epsilon): f"{each.accuracy:.3f}" for each in found}
    heads = ["records", "model", *("ε = ∞" if each == math.inf else f"ε = {each:g}" for each in epsilons)]
    rows = [
        [str(size), model, *(score.get((size, model, each), "–") for each in epsilons)]
        for size in sorted({each.rows for each in found})
        for model in FIGURES
    ]
    return ReportTable("Accuracy on a generated table; one run each", heads, rows, origin)


def _time_table(found: Sequence[TimedFit], origin: str) -> ReportTable:
    heads = ["records", *(f"{model}, seconds" for model in FIGURES)]
    seconds = {model: generated.seconds(found, model) for model in FIGURES}
    rows = [
        [str(size), *(f"{seconds[model][size]:.3f}" if size in seconds[model] else "–" for model in FIGURES)]
        for size in sorted({each.rows for each in found})
    ]
    return ReportTable(
        f"Processor time of a fit at ε = {generated.TIMED:g}, generated table, one core", heads, rows, origin
    )
