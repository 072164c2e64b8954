"""What is said of Vaidya et al. 2013: statements, pictures, and the honest epsilon."""

from __future__ import annotations

import math
from functools import partial

from discreet.comparison.grid import as_number
from discreet.comparison.summary import shown
from discreet.papers.published import count_columns
from discreet.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.report import Paragraph, Part, Picture, Section, Table
from discreet.reproduce.printed import printed
from discreet.reproduce.study import Context
from discreet.reproduce.vaidya2013 import findings
from discreet.reproduce.vaidya2013.findings import PUBLISHED, RIGOROUS
from discreet.reproduce.vaidya2013.picture import Curve, draw
from discreet.reproduce.vaidya2013.scores import MISSING, Scores, data_table, facts, loss_text

CATEGORICAL, NUMERIC = ("mushroom", "nursery"), ("adult", "skin", "optdigits")
STAND_INS = ("digits", "iris", "breast-cancer")
"""Quick mode: data that scikit-learn brings along; digits are the smaller part of the paper's optical digits."""

LIMITS = (2.0, 10.0)
"""Published points that lose at most this much are set beside ours at ε = 1."""


def printed_values(model: str) -> list[float]:
    """Numbers of the text by what they are, as typed in."""
    return [row.value for row in printed("vaidya2013") if row.model == model]


def about(context: Context) -> Section:
    """What is in the paper, and what we chose where it is silent."""
    names = [*CATEGORICAL, *NUMERIC] if context.full else list(STAND_INS)
    quick = (
        ""
        if context.full
        else (
            " This is the quick part: data sets that scikit-learn brings along stand in for the paper's, with fewer "
            "folds, epsilons and n."
        )
    )
    return Section(
        "What the paper does",
        [
            Paragraph(
                "Its only results are the five graphs of Figure 3: accuracy against ε, one curve for each n, beside "
                "naive Bayes without noise. No accuracy is printed in the text or in a table, so that statements are "
                "compared here, not figures. Typed in are the grid of n and ε, the sizes of the data sets, the number "
                "of iterations and folds, and the ε from which two of the data sets are said to lose little." + quick
            ),
            Paragraph(
                "The n of the figure can be read in two ways. The program has n as a setting beside ε, and the values "
                "go beyond the size of every data set, so that n is a constant in the noise of means and deviations "
                "and the training set is always the whole fold: this is how the figure is reproduced. As a number of "
                "training records it is tried in a section of its own. The paper is silent on the bounds of numbers "
                "(ours are those of the public schemas), on missing values and on what happens to a deviation of zero. "
                "Data sets with numbers are repeated three times here, not five, for time."
            ),
            data_table("vaidya2013", names, context.directory, context.origin),
        ],
    )


def figure_three(scores: Scores, context: Context) -> list[Part]:
    """Picture, statements and figures."""
    panels = {}
    for data in scores.data:
        curves = [scores.curve(data, model, "--", i) for i, model in enumerate(findings.published(scores, data))]
        panels[data] = [*curves, scores.curve(data, RIGOROUS, "-", 6), scores.majority(data)]
    statements = Table(
        "Statements of the text on Figure 3",
        ["statement", "measured", "verdict"],
        [each.row for each in findings.findings(scores)],
        context.origin,
    )
    caption = (
        "Figure 3 again: as published (dashed) for each n in the noise, and ours (solid); bands are standard errors"
    )
    return [
        Picture("vaidya2013-figure-3", caption, draw(panels, "ε as stated"), context.origin),
        statements,
        *_contests(scores, context),
        Paragraph(
            "Where all attributes are categorical n is nowhere in the noise: the curves of all n are one and the same, "
            "and one is run. With numbers, n divides the noise on means, and its root that on deviations: at ε = 0.1 "
            f"the noise on a deviation is {_deviation_noise(0):.3f} of an attribute's range for the smallest n of the "
            f"paper and {_deviation_noise(-1):.3f} for the largest. Algorithm 1 thus leaves n no way not to matter "
            "where all attributes are numbers, as in optical digits, unless they were read as categories; the paper "
            "does not say why its curves do not vary there. A large n is a way to switch the noise off, whatever ε is "
            "stated. Ours has no such constant."
        ),
        scores.table("Accuracy, mean ± deviation of single runs, by stated ε", context.origin),
    ]


def _deviation_noise(place: int) -> float:
    """Scale of the noise on a deviation at ε = 0.1, as a part of the attribute's range."""
    n = printed_values("n")[place]
    return math.sqrt(n) / (n + 1) / 0.1


def _contests(scores: Scores, context: Context) -> list[Part]:
    equal = findings.at_equal_epsilon(scores)
    loss = partial(honest_loss, directory=context.directory)
    parts: list[Part] = []
    if equal.pairs:
        text = f"At the same stated ε ours is at least as accurate in {equal.won} of {len(equal.pairs)} pairs"
        parts.append(Paragraph(f"{text}; this is no fair comparison, as the published algorithm loses more than ε."))
    for limit in (*LIMITS, math.inf):
        beaten = findings.at_honest_epsilon(scores, loss, limit)
        if beaten:
            won = sum(each.ours >= each.theirs for each in beaten)
            points = "all published points" if limit == math.inf else f"published points that lose at most {limit:g}"
            each = "; ".join(
                f"{b.data} {b.ours:.3f} against {b.theirs:.3f} ({b.model} at {shown(b.epsilon)}, which loses "
                f"{loss_text(b.loss)})"
                for b in beaten
            )
            text = f"at least as accurate as the best of {points} on {won} of {len(beaten)} data sets: {each}."
            parts.append(Paragraph(f"Ours at ε = 1, which loses 1, is {text}"))
    for data, (noisy, exact) in findings.helped_by_noise(scores).items():
        parts.append(
            Paragraph(
                f"{data}: the published algorithm is better with noise ({noisy:.3f}) than without ({exact:.3f}). A "
                "number that is constant within a class has a deviation of zero, which rules the class out for every "
                "other value; noise on the deviation, redrawn until it is not negative, softens this."
            )
        )
    return parts


def fewer_records(main: Scores, sized: Scores, context: Context) -> list[Part]:
    """The other reading of n."""
    panels: dict[str, list[Curve]] = {}
    for data in sized.data:
        sizes = [name.removeprefix(PUBLISHED) for name in sized.models(data) if name.startswith(PUBLISHED)]
        panels[data] = [
            sized.curve(data, f"{model}{size}", line, colour)
            for colour, size in enumerate(sizes)
            for model, line in ((PUBLISHED, "--"), (RIGOROUS, "-"))
        ]
        panels[data] += [main.curve(data, RIGOROUS, "-", 6, f"{RIGOROUS}, all records"), sized.majority(data)]
    won = _sized_contest(sized)
    return [
        Paragraph(
            "Both algorithms on the first n records of one shuffle of each training fold; n beyond the fold is the "
            "whole fold, shown as all records. The published algorithm has the true n in its noise, ours has it as the "
            "declared number of records, which is public as it was fixed before any record was seen; under add-remove "
            f"it sets the plan and not the noise. {won}"
        ),
        Picture(
            "vaidya2013-records",
            "Accuracy with n training records: the published algorithm (dashed) and ours (solid)",
            draw(panels, "ε as stated"),
            context.origin,
        ),
        sized.table("Accuracy with n training records, mean ± deviation of single runs", context.origin),
    ]


def _sized_contest(sized: Scores) -> str:
    pairs = [
        (sized.mean(data, model.replace(PUBLISHED, RIGOROUS), each), sized.mean(data, model, each))
        for data in sized.data
        for model in findings.published(sized, data)
        for each in sized.epsilons
    ]
    known = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    better = sum(ours >= theirs for ours, theirs in known)
    return f"At the same stated ε ours is at least as accurate in {better} of {len(known)} cells." if known else ""


def honest_loss(data: str, model: str, epsilon: str, directory: str | None) -> float | None:
    """The exact loss of a published model, if classes are known to be no smaller than those of the data set."""
    known = facts(data, directory)
    if known is None:
        return None
    n = int(model.rpartition("= ")[2].replace(",", ""))
    return Vaidya2013NaiveBayes(known.schema, epsilon=as_number(epsilon), n=n).honest_epsilon(known.smallest_class)


def losses(context: Context) -> list[Part]:
    """What is claimed, and the exact loss."""
    author = Vaidya2013NaiveBayes
    said = [["claim", author.claim], ["verdict", author.verdict], ["in short", author.reason]]
    heads = ["data", "n", "records of each class", *(f"stated ε = {each:g}" for each in printed_values("epsilon"))]
    names = [*CATEGORICAL, *NUMERIC] if context.full else STAND_INS
    rows = [row for data in names for row in _loss_rows(data, context.directory)]
    return [
        Table("The guarantee", ["", "Vaidya et al. 2013"], said, context.origin),
        Paragraph(
            "The honest ε is the exact loss for one record more or less, with real-valued noise. It depends on how few "
            "records a class can have, which is private: with classes known to be at least as large as here it is the "
            "smaller figure, for any table the larger one. The class counts alone cost 1 at every ε. Ours loses what "
            "it states, whatever the table is."
        ),
        Table("Honest ε of the published algorithm, add-remove", heads, rows, context.origin),
    ]


def _loss_rows(data: str, directory: str | None) -> list[list[str]]:
    epsilons, constants = printed_values("epsilon"), [int(each) for each in printed_values("n")]
    known = facts(data, directory)
    if known is None:
        return [[data, *[MISSING] * (2 + len(epsilons))]]
    numeric, rows = count_columns(known.schema)[1], []
    for n in (constants[0], constants[-1]) if numeric else constants[:1]:
        models = [Vaidya2013NaiveBayes(known.schema, epsilon=each, n=n) for each in epsilons]
        for records, said in ((known.smallest_class, f"at least {known.smallest_class}"), (0, "any")):
            lost = [loss_text(model.honest_epsilon(records)) for model in models]
            rows.append([data, f"{n:,}" if numeric else "all", said, *lost])
    return rows
