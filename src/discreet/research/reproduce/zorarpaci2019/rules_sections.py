"""Sections on Tables 5.1 to 5.7 of Zorarpacı 2019; every number comes from the cells and the printed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean

from discreet.research.report import Paragraph, Part, ReportTable, Section
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zorarpaci2019 import rules_noise as noise
from discreet.research.reproduce.zorarpaci2019 import rules_pictures as pictures
from discreet.research.reproduce.zorarpaci2019 import rules_prose as prose
from discreet.research.reproduce.zorarpaci2019 import rules_tables as tables
from discreet.research.reproduce.zorarpaci2019.caveats import AFTER_A_LOOK
from discreet.research.reproduce.zorarpaci2019.rules_counterparts import COUNTERPARTS
from discreet.research.reproduce.zorarpaci2019.rules_models import LEARNERS
from discreet.research.reproduce.zorarpaci2019.rules_tables import EPSILONS, LOCAL, Means


def choices(context: Context, means: Means) -> Section:
    """What replaces Weka's classifiers, what the thesis leaves open, and how often each model was run."""
    rows = [[name, each.description] for name, each in COUNTERPARTS.items()]
    missing = [name for name, each in COUNTERPARTS.items() if each.factory is None]
    parts: list[Part] = [
        Paragraph(prose.SETTING),
        ReportTable("What stands for the classifiers of Weka", ["Weka", "here"], rows, context.origin),
        Paragraph(
            f"{len(COUNTERPARTS) - len(missing)} of {len(COUNTERPARTS)} have something that stands for them; "
            f"{', '.join(missing)} have not, and are shown as the thesis prints them."
        ),
        *map(Paragraph, prose.SILENT),
        runs_table(means, context.origin),
    ]
    return Section("What was run, and what the thesis leaves open", parts)


def runs_table(means: Means, origin: str) -> ReportTable:
    """The number of folds behind the cells of each model; the smallest if its cells differ."""
    counted: dict[int, list[str]] = {}
    for model in dict.fromkeys(key[1] for key in means):
        runs = min(cell.runs for key, cell in means.items() if key[1] == model)
        counted.setdefault(runs, []).append(model)
    rows = [[str(runs), "; ".join(models)] for runs, models in sorted(counted.items(), reverse=True)]
    return ReportTable("Fits behind a cell; the thesis has 100, and 20 for F", ["fits", "models"], rows, origin)


def clear(context: Context, means: Means) -> Section:
    """Table 5.1."""
    known = [name for name, each in COUNTERPARTS.items() if each.factory is not None]
    parts: list[Part] = [
        tables.accuracies(means, "inf", context.origin),
        Paragraph(f"The limit of {tables.NEAR} within which accuracies are said to agree was {AFTER_A_LOOK}."),
        Paragraph(tables.verdict(means, "Table 5.1", known).sentence("Well-known classifiers")),
        Paragraph(tables.verdict(means, "Table 5.1", LEARNERS).sentence("Learners of rules, plainest decisions")),
        Paragraph(tables.verdict(means, "Table 5.1", LEARNERS, LOCAL).sentence("Learners of rules, our defaults")),
        *map(Paragraph, prose.CLEAR),
        Paragraph(places_sentence(means)),
        Paragraph(deviations_sentence()),
    ]
    return Section("Clear records (Table 5.1)", parts)


def places_sentence(means: Means) -> str:
    """The rank of sequential covering among all; the thesis says that it is first or second everywhere."""
    known = [name for name, each in COUNTERPARTS.items() if each.factory is not None]
    theirs = tables.places(tables.printed_scores(), "Seq. cov. wLap ABC", "inf", (*COUNTERPARTS, *LEARNERS))
    ours = tables.places(
        {key: cell.mean for key, cell in means.items()}, "Seq. cov. wLap ABC", "inf", (*known, *LEARNERS)
    )
    return (
        f"Sequential covering is among the best two on {sum(place <= 2 for place in theirs)} of {len(theirs)} data "
        f"sets of the thesis, and ours, with plainest decisions, on {sum(place <= 2 for place in ours)} of "
        f"{len(ours)}."
    )


def deviations_sentence() -> str:
    """Where a printed deviation is less than half of what random folds alone would cause."""
    sizes = {"breast-w": 699, "ecoli": 336, "heart-statlog": 270, "iris": 150, "sonar": 208}
    low = [
        f"{model} on {data} ({each.deviation:.2f} against {luck:.2f})"
        for (data, model, _), each in tables.theirs("Table 5.1").items()
        for luck in [math.sqrt(each.value * (1 - each.value) / (sizes[data] / 10))]
        if each.deviation is not None and each.deviation < luck / 2 - 0.005
    ]
    return (
        "A fold of n records on which a classifier is right with probability p has an accuracy of deviation "
        "√(p(1-p)/n), about, for folds at random; stratified ones have somewhat less. The "
        "thesis prints less than half of that for: "
        + ", ".join(low)
        + ". Deviations of means of ten folds, beside deviations of single folds in the same table, would look so."
    )


def perturbed(context: Context, means: Means) -> Section:
    """Tables 5.3, 5.5 and 5.7, and the picture."""
    known = [name for name, each in COUNTERPARTS.items() if each.factory is not None]
    parts: list[Part] = [Paragraph(prose.PERTURBED)]
    for epsilon in EPSILONS[1:]:
        place = tables.ACCURACIES[epsilon]
        parts += [
            tables.accuracies(means, epsilon, context.origin),
            Paragraph(tables.verdict(means, place, known).sentence("Well-known classifiers, noise as published")),
            Paragraph(tables.verdict(means, place, LEARNERS).sentence("Learners of rules, noise as published")),
            Paragraph(tables.verdict(means, place, LEARNERS, LOCAL).sentence("Learners of rules, local privacy")),
        ]
    parts += [Paragraph(text) for text in (heart_sentence(means), *lead_sentences(means), *noise.sentences(means))]
    parts += map(Paragraph, prose.EXPLAINED)
    parts += [Paragraph(noise.central_sentence(means)), pictures.accuracies(means, context.origin)]
    return Section("Perturbed records (Tables 5.3, 5.5 and 5.7)", parts)


def heart_sentence(means: Means) -> str:
    """Whether the thesis left the categories of heart clear: which of the two readings is closer to its numbers."""
    gaps: dict[str, list[float]] = {"": [], ", categories clear": []}
    for key, value in tables.printed_scores().items():
        data, model, epsilon = key
        cells = {suffix: means.get((data, model + suffix, epsilon)) for suffix in gaps}
        if data == "heart-statlog" and epsilon != "inf" and all(cells.values()):
            for suffix, cell in cells.items():
                gaps[suffix].append(abs(cell.mean - value) if cell else 0.0)
    if not gaps[""]:
        return "Whether the numbered categories of heart-statlog were perturbed was not run here."
    numbers, categories = (mean(each) for each in gaps.values())
    return (
        "Seven attributes of heart-statlog are numbered categories. The thesis calls them categorical and perturbs "
        f"numbers only; but the well-known classifiers are {numbers:.3f} from its figures on average over ε if these "
        f"categories get noise as numbers, and {categories:.3f} if they stay clear. The first is how it is run here."
    )


def lead_sentences(means: Means) -> Iterator[str]:
    """How often rule learners are ahead on noisy records, as the thesis claims, and how often noise helps."""
    known = [name for name, each in COUNTERPARTS.items() if each.factory is not None]
    measured = {key: cell.mean for key, cell in means.items()}
    for epsilon in EPSILONS[1:]:
        theirs = tables.ahead(tables.printed_scores(), epsilon, COUNTERPARTS)
        ours = tables.ahead(measured, epsilon, known)
        said = (
            f"ours on {sum(lead > 0 for lead in ours)} of {len(ours)} (on average {mean(ours):+.3f})"
            if ours
            else "ours was not run"
        )
        yield (
            f"At ε = {epsilon} the best learner of rules is ahead of the best well-known classifier (each picked after "
            f"the fact) on {sum(lead > 0 for lead in theirs)} of {len(theirs)} data sets of the thesis (on average "
            f"{mean(theirs):+.3f}); {said}."
        )
    scores = tables.printed_scores()
    for models, words in ((LEARNERS, "learners of rules"), (COUNTERPARTS, "well-known classifiers")):
        theirs_helped, ours_helped = tables.helped(scores, models), tables.helped(measured, models)
        yield (
            f"More accurate after noise than without: {words} in {theirs_helped[0]} of {theirs_helped[1]} cells of the "
            f"thesis, ours in {ours_helped[0]} of {ours_helped[1]}."
        )
