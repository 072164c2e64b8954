"""The sections of the report on Table 2 of Lopuhaä 2021, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.research.report import Paragraph, Part, ReportTable, Section
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.data_sets import Facts, facts
from discreet.research.reproduce.lopuhaa2021.explanations import explanations, published_loss, remarks
from discreet.research.reproduce.lopuhaa2021.findings import (
    DATA,
    EPSILONS,
    OURS,
    PRINTED_EPSILONS,
    Contest,
    Defeat,
    TableTwo,
    average,
    average_ceiling,
    contests,
    defeats,
    envelope,
    table_two,
)
from discreet.research.reproduce.lopuhaa2021.models import AGAINST_REST, FAMILIES, OTHERS
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context

MEASURES = ("no privacy", "average", "ratio")
HALF_A_DIGIT = 5e-5
"""Half a unit of the fourth decimal, the last that the paper prints."""

INDEPENDENT = "runs are taken as independent; they share records, so that true errors may be larger"


def about(scores: TableTwo, context: Context) -> Section:
    """The data, our choices, and what the paper leaves open."""
    sizes = {(each.data, each.model): each.value for each in printed("lopuhaa2021", "Table 1")}
    rows = []
    for data in DATA:
        known = facts(data, context.directory)
        ours = (
            [str(known.records), str(len(known.schema.columns)), f"{known.largest_fraction:.4f}"]
            if known
            else [MISSING] * 3
        )
        rows.append([data, f"{sizes[data, 'instances']:.0f}", f"{sizes[data, 'attributes']:.0f}", *ours])
    heads = ["data set", "records (paper)", "attributes (paper)", "records", "attributes", "largest class"]
    runs = sorted({cell.runs for cell in scores.cells}) or [0]
    counted = f"{runs[0]}" if len(runs) == 1 else f"between {runs[0]} and {runs[-1]}"
    return Section(
        "What was run",
        [
            Paragraph(
                f"Each model has {counted} runs in a cell of data set and ε (stratified folds, the same for all "
                "models). Ours run with their defaults, under add-remove, the published algorithms as they are "
                "printed. Public data: these accuracies are exact functions of the records and not private."
            ),
            Paragraph(
                "The paper has 100 repeats of ten folds for naive Bayes and SVM and 10 for trees; it tunes the "
                "parameters for each data set to the highest accuracy, does not say on which records, and does not "
                "pay for it. It is silent on seeds and on whether folds are stratified, on the scaling of numbers and "
                "on more than two classes for the SVM, on missing values, and on which m sets the depth of its trees; "
                "what we chose is in the descriptions of the classes. It speaks of ε above 3, which is not in its list."
            ),
            Paragraph(
                "A model of ours that refuses ε = 1e-11, because its noise would need integers beyond what is drawn "
                "exactly, is replaced there by one class drawn at random, which needs no data."
            ),
            ReportTable("Table 1 and our files", heads, rows, context.origin),
        ],
    )


def table(scores: TableTwo, context: Context) -> Section:
    """Table 2 beside ours, and whether its own columns are consistent."""
    parts: list[Part] = [
        ReportTable("Table 2, as printed and as measured", _heads(), _rows_of_table(scores), context.origin)
    ]
    rows = [[model, measure, *_measured(scores, model, measure)] for model in OTHERS for measure in MEASURES]
    parts.append(
        ReportTable("Our other models in the same terms", ["model", "measure", *_heads()[3:]], rows, context.origin)
    )
    return Section("Table 2", [*_fewer_epsilons(scores), *parts, Paragraph(_consistency())])


def _fewer_epsilons(scores: TableTwo) -> list[Part]:
    """A warning, unless all epsilons were run."""
    if scores.whole:
        return []
    run = f"Only {len(scores.grid)} of the paper's {len(EPSILONS)} epsilons were run"
    return [Paragraph(f"{run}: averages of ours are over those, are not its averages, and are not set against them.")]


def _heads() -> list[str]:
    return ["classifier", "measure", "source", *DATA, "average"]


def _rows_of_table(scores: TableTwo) -> list[list[str]]:
    rows = []
    for family, (published, rigorous) in FAMILIES.items():
        for measure in MEASURES:
            values = table_two(measure)
            rows.append([family, measure, "paper", *(f"{values[data, family]:.4f}" for data in (*DATA, ""))])
            rows.append([family, measure, published, *_measured(scores, published, measure)])
            rows.append([family, measure, rigorous, *_measured(scores, rigorous, measure)])
    return rows


def _measured(scores: TableTwo, model: str, measure: str) -> list[str]:
    read = {"no privacy": scores.mean, "average": scores.average, "ratio": scores.ratio}[measure]
    values = [read(data, model) for data in DATA]
    return [shown(value) for value in (*values, average(values))]


def _consistency() -> str:
    """Whether the printed averages and ratios follow from the printed accuracies, up to rounding."""
    values = {measure: table_two(measure) for measure in MEASURES}
    wrong = []
    for family in FAMILIES:
        for measure in MEASURES:
            mean = average([values[measure][data, family] for data in DATA])
            if mean is not None and abs(mean - values[measure]["", family]) > 2 * HALF_A_DIGIT + 1e-9:
                wrong.append(f"{family} {measure} (mean {mean:.4f}, printed {values[measure]['', family]:.4f})")
        for data in DATA:
            private, without = values["average"][data, family], values["no privacy"][data, family]
            low, high = ((private + sign * HALF_A_DIGIT) / (without - sign * HALF_A_DIGIT) for sign in (-1, 1))
            if not low - HALF_A_DIGIT <= values["ratio"][data, family] <= high + HALF_A_DIGIT:
                quotient = f"quotient {private / without:.4f}, printed {values['ratio'][data, family]:.4f}"
                wrong.append(f"{family} ratio on {data} ({quotient})")
    if not wrong:
        return "The printed averages and ratios follow from the printed accuracies, up to rounding."
    return f"Up to rounding averages and ratios follow from the printed accuracies, but for: {', '.join(wrong)}."


def verdicts(scores: TableTwo, context: Context) -> Section:
    """The cells in which ours is above the paper, and why it is not in the others."""
    found = contests(scores)
    below = [each for each in found if each.above is False]
    why = [[each.data, each.family, *_why(each, scores, context)] for each in below]
    heads = ["data set", "classifier", "paper", "as published", "rigorous", "ours is"]
    heads += [f"best of {_SIX}, after the fact", "ceiling, paper's own accuracy", "ceiling, best without noise"]
    heads += ["best at each ε, after the fact"]
    rows = [_row_of_verdicts(each, scores, context) for each in found]
    parts: list[Part] = [
        *_fewer_epsilons(scores),
        *_counted(found),
        ReportTable("Average accuracy over the epsilons, cell by cell", heads, rows, context.origin),
        Paragraph(_about_ceilings(scores, context)),
    ]
    if why:
        heads = ["data set", "classifier", "why", "beside it (no explanation)"]
        without = sum(row[2] == MISSING for row in why)
        parts.append(ReportTable("Where ours is below, and why", heads, why, context.origin))
        parts.append(
            Paragraph(f"Cells below without an explanation: {without} of {len(why)}. Standard errors: {INDEPENDENT}.")
        )
    return Section("Is ours above the paper?", parts)


def _counted(found: Sequence[Contest]) -> list[Part]:
    """The number of cells in which ours is above; nothing if no cell can be judged."""
    known = [each for each in found if each.above is not None]
    if not known:
        return []
    text = (
        "The rigorous counterpart is above the paper's average over the epsilons in "
        f"{sum(each.above is True for each in known)} of {len(known)} cells "
        f"({len(table_two('average')) - len(FAMILIES)} in the table); some model of ours with a guarantee in "
        f"{sum(each.some_above for each in found)} (the best of {_SIX}, picked after the fact; not one model)."
    )
    return [Paragraph(text)]


_SIX = {6: "six"}.get(len(OURS), str(len(OURS)))


def _row_of_verdicts(each: Contest, scores: TableTwo, context: Context) -> list[str]:
    """The averages of one cell, and their upper bounds."""
    data = facts(each.data, context.directory)
    own, best = table_two("no privacy")[each.data, each.family], scores.best_without_noise(each.data)
    ceilings = [MISSING, MISSING, MISSING]
    if data is not None:
        ceilings = [shown(average_ceiling(data, most, PRINTED_EPSILONS)) if most else MISSING for most in (own, best)]
        ceilings.append(shown(envelope(scores, each.data, data)))
    top = MISSING if each.best is None else f"{each.best[1]:.4f} ({each.best[0]})"
    words = {True: "above", False: "below", None: MISSING}[each.above]
    measured = [shown(each.published), shown(each.rigorous)]
    return [each.data, each.family, f"{each.printed:.4f}", *measured, words, top, *ceilings]


def _why(each: Contest, scores: TableTwo, context: Context) -> list[str]:
    """What explains a cell, and remarks that do not explain it."""
    known = facts(each.data, context.directory)
    return ["; ".join(said(each, scores, known)) or MISSING for said in (explanations, remarks)]


def _about_ceilings(scores: TableTwo, context: Context) -> str:
    """The printed averages that no ε-DP learner that treats classes alike can have."""
    beyond = []
    for (data, family), value in table_two("average").items():
        known = facts(data, context.directory) if data in scores.data else None
        if known is not None:
            most = average_ceiling(known, table_two("no privacy")[data, family], PRINTED_EPSILONS)
            beyond += [f"{family} on {data} ({value:.4f} > {most:.4f})"] if value > most else []
    return (
        "At ε = 1e-11 an ε-DP learner can learn nothing: by group privacy what it answers for n records is the same, "
        "up to n ε (tables that differ in one row; 2 n ε under add-remove), if all labels are renamed, so that its "
        "expected accuracy averaged over the namings of K classes is 1/K; in general it is at most "
        "1 / (1 + (K - 1) e^(-n ε)). The ceilings are the averages of this bound over the paper's ten epsilons, "
        "nowhere above the paper's own accuracy without privacy, or the best that any model here has without noise. "
        "The last column takes the best of our models at each ε, after the fact, and cuts what is by luck above the "
        "bound for 2 n ε. A printed average above the first ceiling says that the learner is not ε-DP (the last "
        "section: no published one is, as run), that the private runs did better than the one without privacy, or that "
        "the learner prefers a class from the start (as one does that answers the largest class whatever the noise); "
        f"luck, too, may add a little. Above it: {', '.join(beyond) or 'none'}."
    )


def same_folds(scores: TableTwo, context: Context) -> Section:
    """Each cell in which the rigorous model loses to the published one."""
    found, cells = defeats(scores)
    rows = []
    for each in found:
        difference = f"{shown(each.difference)}{' *' if each.clear else ''}"
        accuracies = [shown(each.rigorous), shown(each.published), difference]
        rows.append([each.data, each.family, f"{each.epsilon:g}", *accuracies, _honest(each, context)])
    by_family = {family: sum(each.family == family for each in found) for family in FAMILIES}
    counted = ", ".join(f"{family} {count}" for family, count in by_family.items())
    parts: list[Part] = [
        Paragraph(
            f"On the same folds, at the same nominal ε, the rigorous model is below the published one in {len(found)} "
            f"of {cells} cells of data set, classifier and ε ({counted}), and by more than two standard errors in "
            f"{sum(each.clear for each in found)}; those are marked *. {INDEPENDENT.capitalize()}, and of "
            f"{cells} cells some few are marked by luck. Equal ε is not equal privacy. The last column is what the "
            "published one loses for tables that differ in one row, as the paper has it; ours, run at ε under "
            "add-remove, lose at most 2 ε there. At ε = 1e-11 ours learn nothing and score by luck alone; the "
            "published naive Bayes does not where a column is numeric, as the size of a class sets its noise there."
        )
    ]
    if rows:
        heads = ["data set", "classifier", "ε", "rigorous", "as published", "difference", "honest ε as published"]
        parts.append(ReportTable("Rigorous below published on the same folds", heads, rows, context.origin))
    return Section("Rigorous against published on the same folds", parts)


def _honest(defeat: Defeat, context: Context) -> str:
    """The privacy loss of the published algorithm there, for tables that differ in one row."""
    known = facts(defeat.data, context.directory)
    if known is None:
        return MISSING
    return loss_shown(published_loss(defeat.family, known, defeat.epsilon))


def nursery(scores: TableTwo, rest: TableTwo, context: Context) -> Section:
    """Two accuracies that belong to other problems: the SVM's .9747 and the naive Bayes's .0834."""
    known = facts("nursery", context.directory)
    parts: list[Part] = [] if known is None else [_svm_on_nursery(known, below=bool(rest.cells))]
    if rest.cells:
        parts.append(_against_rest(rest, context.origin))
    return Section("Nursery: figures of other problems", [*parts, _naive_bayes_on_nursery(scores, known)])


def _svm_on_nursery(known: Facts, *, below: bool) -> Paragraph:
    printed_accuracy = table_two("no privacy")["nursery", "SVM"]
    rare = {name: count for name, count in known.counts.items() if count}
    smallest = min(rare, key=lambda name: abs(1 - rare[name] / known.records - printed_accuracy))
    others = 1 - rare[smallest] / known.records
    return Paragraph(
        f"The paper's SVM has {printed_accuracy:.4f} on nursery without privacy. To answer anything but "
        f"{smallest} always is right with 1 - {rare[smallest]}/{known.records} = {others:.4f} of the records: "
        "the figure equals that of one problem of two classes, solved by a constant; presumably it is, and not "
        f"of the five classes.{' Below are both SVMs on that problem.' if below else ''}"
    )


def _against_rest(rest: TableTwo, origin: str) -> ReportTable:
    """Our SVM and the published one on the problem of two classes."""
    none, averages = table_two("no privacy"), table_two("average")
    rows = [
        ["paper", f"{none['nursery', 'SVM']:.4f}", f"{averages['nursery', 'SVM']:.4f}", *[MISSING] * len(rest.grid)]
    ]
    for name in AGAINST_REST:
        average_shown = shown(rest.average("nursery", name) if rest.whole else None)
        values = [rest.mean("nursery", name, epsilon) for epsilon in rest.grid]
        rows.append([name, shown(rest.mean("nursery", name)), average_shown, *map(shown, values)])
    heads = ["model", "no noise", "average over ε", *(f"ε = {epsilon:g}" for epsilon in rest.grid)]
    return ReportTable("One class of nursery against the rest", heads, rows, origin)


def _naive_bayes_on_nursery(scores: TableTwo, known: Facts | None) -> Paragraph:
    chance = "" if known is None else f", below the {1 / len(known.schema.classes):.4f} of an answer at random"
    smallest_count = MISSING if known is None else str(known.smallest_class)
    ours = [f"{model} {shown(scores.mean('nursery', model))}" for model in FAMILIES["NB"]]
    averages = [f"{model} {shown(scores.average('nursery', model))}" for model in FAMILIES["NB"]]
    return Paragraph(
        f"The paper's naive Bayes has {table_two('no privacy')['nursery', 'NB']:.4f} on nursery without privacy{chance}"
        f", and {table_two('average')['nursery', 'NB']:.4f} with noise, which points to an error in its program. "
        f"Without noise there is here: {', '.join(ours)}. With noise a class of {smallest_count} records can keep "
        "the published one low: where its noisy count is raised to 1e-5, cells of noise divided by that are "
        "probabilities far above 1. "
        f"Averages over ε: {', '.join(averages)}."
    )


def loss_shown(value: float) -> str:
    """A privacy loss for people."""
    return "∞" if math.isinf(value) else f"{value:.3g}"


def shown(value: float | None) -> str:
    """An accuracy for people; a dash if it is missing."""
    return MISSING if value is None else f"{value:.4f}"
