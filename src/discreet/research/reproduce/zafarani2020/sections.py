"""The sections of the report on Zafarani and Clifton 2020: Figures 4 to 7 and 10, and the privacy loss."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.research.comparison.grid import as_number
from discreet.research.comparison.summary import shown
from discreet.research.papers.published import count_columns
from discreet.research.papers.zafarani2020 import Zafarani2020NaiveBayes
from discreet.research.report import Paragraph, Part, Picture, ReportTable, Section
from discreet.research.reproduce.accuracies import DEVIATIONS, INDEPENDENT, MISSING, Accuracies, loss_text
from discreet.research.reproduce.curves import Curve, draw
from discreet.research.reproduce.data_sets import data_table, facts
from discreet.research.reproduce.finding import claim_table
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zafarani2020 import findings
from discreet.research.reproduce.zafarani2020.models import (
    GLOBAL,
    RATIOS,
    RIGOROUS,
    RIGOROUS_SMOOTH,
    SMOOTH,
    AllocatedSmooth,
    default_numeric_share,
    global_sensitivity,
)
from discreet.schema import Adjacency

DATA = ("adult", "mushroom", "seeds", "skin")
STAND_INS = ("iris", "breast-cancer")
"""Data sets of the quick mode, which scikit-learn includes."""
CONTESTANTS = (SMOOTH, GLOBAL, RIGOROUS, RIGOROUS_SMOOTH)
QUICK_FOLDS = 3


def names(full: bool) -> Sequence[str]:
    """The data sets of Figures 4 to 7, or those that stand in for them."""
    return DATA if full else STAND_INS


def folds(full: bool) -> int:
    """Number of folds of the cross-validation; the smallest class of a training fold depends on it."""
    said = {row.model: int(row.value) for row in printed("zafarani2020", "Section 6.2")}
    return said["folds"] if full else QUICK_FOLDS


def about(context: Context) -> Section:
    """What the paper does, and what we chose where it does not say."""
    return Section(
        "What the paper does",
        [
            Paragraph(
                "Its results are graphs of accuracy against ε. Neither an accuracy nor a value of ε is printed in the "
                "text or in a table. Typed in are Table 1, the folds and iterations, the divisions of ε that the text "
                "names, and the bound on the time. Compared are statements, at values of ε that we chose."
            ),
            Paragraph(
                "The paper is silent on the bounds of numbers (ours are those of the public schemas), on the smooth "
                "sensitivity of a class count (here 1) and of a deviation, for which it derives the variance, and on "
                "the constant n of the algorithm with global sensitivity that it compares with (here the records of "
                "an average class). Of the smoothing β it says two things: its formula of the smooth sensitivity has "
                "ε in its place, which is what we run, with the ε of the query; its Theorem 2, after Nissim et al., "
                "asks for β ≤ ε / (2(γ + 1)), ε / 6 for Cauchy noise, but with the scale 6 S / ε, where Algorithm 1 "
                "has √2 S / ε. As "
                "in the paper, ε is that of the whole model: the algorithm of Vaidya et al. gets its part for each "
                "query, apart from the noise of its class counts, which no ε changes. Adult and skin are repeated "
                "twice, not five times, and ours by smooth sensitivity is run once and at three ε, as it is slow."
            ),
            data_table("zafarani2020", names(context.full), context.directory, context.origin),
        ],
    )


def figures(scores: Accuracies, context: Context) -> list[Part]:
    """Figures 4 to 7: smooth sensitivity against global."""
    lines = ("--", "--", "-", "-")
    panels = {
        data: [
            *(
                scores.curve(data, model, line, i)
                for i, (model, line) in enumerate(zip(CONTESTANTS, lines, strict=True))
            ),
            scores.largest_class(data),
        ]
        for data in scores.data
    }
    statements = [findings.improvement(scores, data).row for data in scores.data]
    useful = [[data, *(_useful(scores, data, each) for each in CONTESTANTS)] for data in scores.data]
    return [
        Picture(
            "zafarani2020-figures-4-7",
            "Figures 4 to 7 again: both as published (dashed), ours (solid); bands are standard errors "
            f"({INDEPENDENT})",
            draw(panels, "ε as stated"),
            context.origin,
        ),
        ReportTable("The claim of the paper", ["statement", "measured", "verdict"], statements, context.origin),
        Paragraph(
            f"A difference is called clear if it is more than {findings.CHANCE} and more than two standard errors "
            f"({INDEPENDENT}); noise of Cauchy's law makes these large. The paper has no such threshold; both parts of "
            "ours were set after a first look at our runs."
        ),
        *_ours(scores),
        ReportTable(
            f"ε from which on a model is above the largest class by more than {findings.CHANCE} / at all",
            ["data", *CONTESTANTS],
            useful,
            context.origin,
        ),
        *_noise(scores.data, context),
        scores.table(f"Accuracy, {DEVIATIONS}, by stated ε", context.origin),
    ]


def _useful(scores: Accuracies, data: str, model: str) -> str:
    clear, any_margin = (findings.useful_from(scores, data, model, each) for each in (findings.CHANCE, 0.0))
    return MISSING if clear == MISSING else f"{clear} / {any_margin}"


def _ours(scores: Accuracies) -> list[Part]:
    parts: list[Part] = []
    for first, others, words in (
        (
            RIGOROUS,
            (SMOOTH, GLOBAL),
            "Ours and the published algorithms at the same stated ε",
        ),
        (RIGOROUS, (RIGOROUS_SMOOTH,), "Ours by tables of counts and ours by smooth sensitivity, both private"),
    ):
        gaps = [gap for data in scores.data for each in others for gap in findings.gaps(scores, data, first, each)]
        if gaps:
            better, worse = findings.clearly(gaps)
            text = f"the first is clearly better in {better} of {len(gaps)} pairs, clearly worse in {worse}"
            parts.append(Paragraph(f"{words}: {text}."))
    return parts


def _noise(data: Sequence[str], context: Context) -> list[Part]:
    rows, measured = [], []
    for name in data:
        found = findings.noise(name, context.directory)
        cells = [MISSING] * 2 if found is None else [f"{m:.3g} ({low:.3g} to {high:.3g})" for low, m, high in found]
        rows.append([name, *cells])
        if found is not None:
            _, middle, most = found.deviations
            measured.append(f"{name} {middle:.3g} in the median, {most:.3g} at most")
    ratios = f" (error relative to global: {'; '.join(measured)})" if measured else ""
    return [
        Paragraph(
            "Why: in any list some value is at least half the range from a bound, and can be moved there, so that the "
            "smooth sensitivity of a mean is at least half of the global one. Cauchy noise of the published scale then "
            "has a median error that is never below that of Laplace noise, and no variance: means gain nothing, and a "
            "rare draw ruins a class. For deviations the gain is real for large classes whose values differ, of the "
            "order of the root of n, as a deviation is sensitive only where all values are alike; elsewhere there may "
            f"be none{ratios}. Sums of squares have a gain of the same order with Laplace tails. Without numbers, as "
            "in mushroom, there is no smooth sensitivity at all, and only the noise on class counts and the treatment "
            "of negative counts differ."
        ),
        ReportTable(
            "Median error by smooth sensitivity in units of that by global sensitivity for the class's own size, at "
            "ε = 1: median over attributes and classes (least to most); – without numbers",
            ["data", "means", "deviations"],
            rows,
            context.origin,
        ),
    ]


def division(scores: Accuracies, context: Context) -> list[Part]:
    """Figure 10: epsilon divided between numbers and categories."""
    intro = Paragraph(
        "Figure 10 varies what a numeric attribute gets to what a categorical one gets; 2:1 is the paper's algorithm. "
        "The text names 1:2 as the one that is worse and calls the rest inconclusive; which other lines there are is "
        "lost with the figure. Ours is run with the same divisions, and with its own: shares of ε grow with the cube "
        "root of the number of cells of a table, whatever its kind."
    )
    if not scores.data:
        return [
            intro,
            Paragraph("It needs a data set with both kinds of attributes and is not part of the quick mode."),
        ]
    data = scores.data[0]
    known = facts(data, context.directory)
    rows = [each.row for each in findings.allocation(scores, data)]
    ours = findings.allocation_means(scores, data, RIGOROUS)
    said = "; ".join(f"{ratio} {mean:.3f}" for ratio, mean in ours.items()) or MISSING
    own = [scores.mean(data, RIGOROUS, each) for each in scores.epsilons]
    level = [mean for mean in own if mean is not None]
    parts: list[Part] = [
        intro,
        ReportTable("Statements on Figure 10", ["statement", "measured", "verdict"], rows, context.origin),
    ]
    if level and ours:
        apart = max(ours.values()) - min(ours.values())
        text = f"Ours, averaged over ε: {said}, {apart:.3f} apart; its own division {sum(level) / len(level):.3f}"
        parts.append(Paragraph(f"{text}{_own_share(scores, context)}."))
    if known is not None:
        caption = f"Accuracy on {data} against the share of ε that all numbers have together"
        figure = draw(_shares(scores, data, context), "share of ε given to numbers")
        parts.append(Picture("zafarani2020-figure-10", caption, figure, context.origin))
    return [*parts, scores.table(f"Accuracy by division (numeric : categorical), {DEVIATIONS}", context.origin)]


def _own_share(scores: Accuracies, context: Context) -> str:
    known = facts(scores.data[0], context.directory)
    if known is None:
        return ""
    shares = [f"{default_numeric_share(known.schema, Fraction(each)):.2f} at {shown(each)}" for each in scores.epsilons]
    return f", which gives numbers {', '.join(shares)}"


def _shares(scores: Accuracies, data: str, context: Context) -> dict[str, list[Curve]]:
    """A panel per epsilon: accuracy against the share of ε that numbers get, and our own plan as a single point."""
    known = facts(data, context.directory)
    assert known is not None
    panels = {}
    for epsilon in scores.epsilons:
        published, ours = [], []
        for a, b in RATIOS:
            share = AllocatedSmooth(known.schema, numeric_weight=a, categorical_weight=b).numeric_share
            published.append((share, scores.mean(data, f"{SMOOTH}, {a}:{b}", epsilon)))
            categorical, numeric = count_columns(known.schema)
            own = a * numeric / (a * numeric + b * categorical)
            ours.append((own, scores.mean(data, f"{RIGOROUS}, {a}:{b}", epsilon)))
        default = (default_numeric_share(known.schema, Fraction(epsilon)), scores.mean(data, RIGOROUS, epsilon))
        panels[f"{data}, ε = {shown(epsilon)}"] = [
            Curve(SMOOTH, published, "--", 0),
            Curve(RIGOROUS, ours, "-", 2),
            Curve(f"{RIGOROUS}, its own division", [default], "-", 6),
        ]
    return panels


def losses(scores: Accuracies, context: Context) -> list[Part]:
    """The paper's claim, and the exact loss."""
    epsilons = scores.epsilons
    rows = [row for data in names(context.full) for row in _loss_rows(data, epsilons, context)]
    heads = ["data", "model", "adjacency", "records of each class", *(f"stated ε = {shown(each)}" for each in epsilons)]
    return [
        claim_table("Zafarani and Clifton 2020", Zafarani2020NaiveBayes, context.origin),
        Paragraph(
            "The idea is sound, its use here is not. Noise scaled to a bound is private if the bound is smooth between "
            "all neighbours; the paper's is smooth among lists of one size, but the records of a class are a list "
            "whose size is private. One record more can halve the bound, which alone costs ln 2 at every ε; a class of "
            "one record has a deviation without any noise, and the loss is infinite. The smoothing as printed, β = ε, "
            "is larger than the scale √2 S / ε allows, which would take β = ε / √2. Where a record may be replaced, "
            "two class counts and two cells of each table change, and each is paid once. Without numbers the loss is "
            "below ε under add-remove, but for the rounding of real-valued noise."
        ),
        Paragraph(
            'Ours has the idea too, as numeric="smooth": bounds that are smooth when a record joins or leaves, and the '
            "exact trade between shift and scale of Cauchy noise. It loses what it states, up to the rounding of "
            "real-valued noise, for which it is called experimental; the default is a table of counts."
        ),
        Paragraph(
            "The loss by global sensitivity depends on how few records a class can have, which is private. The smaller "
            "figure would hold if every class were known to have at least as many as in a training fold here; nobody "
            "may know that, and for any table it is the larger one."
        ),
        ReportTable("Honest ε of the published algorithms", heads, rows, context.origin),
    ]


def _loss_rows(data: str, epsilons: Sequence[str], context: Context) -> list[list[str]]:
    known = facts(data, context.directory)
    if known is None:
        return [[data, *[MISSING] * (3 + len(epsilons))]]
    rows = []
    for adjacency in Adjacency:
        schema = known.schema.replace(adjacency=adjacency)
        lost = [Zafarani2020NaiveBayes(schema, epsilon=as_number(each)).honest_epsilon() for each in epsilons]
        rows.append([data, SMOOTH, adjacency.value, "any", *map(loss_text, lost)])
    laplace = [global_sensitivity(known.schema, epsilon=as_number(each)) for each in epsilons]
    least = known.smallest_trained(folds(context.full))
    for records, said in ((least, f"at least {least}"), (0, "any")):
        lost = [model.honest_epsilon(records) for model in laplace]
        rows.append([data, GLOBAL, Adjacency.ADD_REMOVE.value, said, *map(loss_text, lost)])
    return rows
