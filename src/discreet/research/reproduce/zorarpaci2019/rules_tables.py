"""Accuracies and numbers of rules beside those of Zorarpacı 2019 (Tables 5.1 to 5.8, 5.11 and 5.24)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from discreet.research.comparison.grid import MAJORITY
from discreet.research.comparison.summary import Cell
from discreet.research.report import ReportTable
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.printed import Printed, printed
from discreet.research.reproduce.zorarpaci2019.rules_counterparts import COUNTERPARTS
from discreet.research.reproduce.zorarpaci2019.rules_models import DATA, LEARNERS, PAPER

NEAR = 0.03
"""Accuracies that differ by at most this are said to agree."""
DEVIATIONS = "ours: of single folds; the thesis does not say"
EPSILONS = ("inf", "1", "2", "3")
ACCURACIES = dict(zip(EPSILONS, ("Table 5.1", "Table 5.3", "Table 5.5", "Table 5.7"), strict=True))
NUMBERS = dict(zip(EPSILONS, ("Table 5.2", "Table 5.4", "Table 5.6", "Table 5.8"), strict=True))
LOCAL = ", local"
"""Added to the name of a learner that is trained under local privacy."""
CENTRAL = {"our naive Bayes": "naive-bayes", "our 1R": "one-rule"}
"""Our private models of noisy counts, by the names of their rows."""

Means = Mapping[tuple[str, str, str], Cell]
"""Cells by data set, model and epsilon."""


def by_name(found: Mapping[str, Sequence[Cell]]) -> Means:
    """The cells of all experiments; if several experiments have a cell, the one with most runs counts."""
    cells: dict[tuple[str, str, str], Cell] = {}
    for cell in (cell for each in found.values() for cell in each):
        before = cells.get(cell[:3])
        if before is None or before.runs < cell.runs:
            cells[cell[:3]] = cell
    return cells


def theirs(place: str) -> dict[tuple[str, str, str], Printed]:
    """The numbers of a table by data set, model and epsilon."""
    return {each[1:4]: each for each in printed(PAPER, place)}


class Verdict(NamedTuple):
    """Number of cells in which ours is near, above and below the thesis, and the mean difference."""

    near: int
    above: int
    below: int
    difference: float

    @property
    def cells(self) -> int:
        """Number of cells that both have."""
        return self.near + self.above + self.below

    def sentence(self, of: str) -> str:
        """The verdict as a sentence."""
        if not self.cells:
            return f"{of}: nothing was run."
        return (
            f"{of}: within {NEAR:.2f} of the thesis in {self.near} of {self.cells} cells, above in {self.above}, below "
            f"in {self.below}; on average {self.difference:+.3f}."
        )


def verdict(means: Means, place: str, models: Iterable[str], suffix: str = "") -> Verdict:
    """Ours (models whose names have the suffix) against the thesis, cell by cell."""
    chosen = set(models)
    gaps = [
        means[data, model + suffix, epsilon].mean - each.value
        for (data, model, epsilon), each in theirs(place).items()
        if model in chosen and (data, model + suffix, epsilon) in means
    ]
    near = sum(abs(gap) <= NEAR + 1e-9 for gap in gaps)
    above = sum(gap > NEAR + 1e-9 for gap in gaps)
    return Verdict(near, above, len(gaps) - near - above, mean(gaps) if gaps else 0.0)


def accuracies(means: Means, epsilon: str, origin: str) -> ReportTable:
    """One of Tables 5.1, 5.3, 5.5 and 5.7, and below it models that are not in the thesis."""
    place = ACCURACIES[epsilon]
    known = theirs(place)
    rows = [_row(model, model, known, means, epsilon) for model in (*COUNTERPARTS, *LEARNERS)]
    note = "our defaults" if epsilon == "inf" else "under local privacy"
    rows += [_row(f"{model}, {note}", model + LOCAL, {}, means, epsilon) for model in LEARNERS]
    if epsilon != "inf":
        rows += [_row(f"{name}, private", name, {}, means, epsilon) for name in CENTRAL]
    rows.append(_row("largest class", MAJORITY, {}, means, "inf"))
    what = "clear records" if epsilon == "inf" else f"records perturbed at ε = {epsilon}"
    heads = ["method", *(f"{data}: {whose}" for data in DATA for whose in ("thesis", "ours"))]
    return ReportTable(
        f"{place}: accuracy after training on {what}, mean ± deviation ({DEVIATIONS})", heads, rows, origin
    )


def _row(name: str, model: str, known: Mapping[tuple[str, str, str], Printed], means: Means, epsilon: str) -> list[str]:
    row = [name]
    for data in DATA:
        key = data, model, epsilon
        row += [_printed(known.get(key)), _measured(means.get(key))]
    return row


def _printed(each: Printed | None) -> str:
    if each is None:
        return MISSING
    return f"{each.value:.3f}" + (f" ± {each.deviation:.2f}" if each.deviation is not None else "")


def _measured(cell: Cell | None) -> str:
    return MISSING if cell is None else f"{cell.mean:.3f} ± {cell.deviation:.2f}"


def ahead(scores: Mapping[tuple[str, str, str], float], epsilon: str, rivals: Iterable[str]) -> list[float]:
    """The best of the learners minus the best of the rivals, for each data set that has both."""
    leads, rivals = [], set(rivals)
    for data in DATA:
        ours = [value for key, value in scores.items() if key in {(data, each, epsilon) for each in LEARNERS}]
        others = [value for key, value in scores.items() if key in {(data, each, epsilon) for each in rivals}]
        if ours and others:
            leads.append(max(ours) - max(others))
    return leads


def places(scores: Mapping[tuple[str, str, str], float], model: str, epsilon: str, models: Iterable[str]) -> list[int]:
    """The rank of a model among others, 1 for the best, for each data set that it was run on."""
    chosen, found = set(models), []
    for data in DATA:
        own = scores.get((data, model, epsilon))
        if own is not None:
            found.append(1 + sum(scores.get((data, each, epsilon), 0.0) > own for each in chosen - {model}))
    return found


def helped(scores: Mapping[tuple[str, str, str], float], models: Iterable[str]) -> tuple[int, int]:
    """Number of accuracies on perturbed records that are above those on clear records, and number of all."""
    chosen = set(models)
    pairs = [
        (value, scores[data, model, "inf"])
        for (data, model, epsilon), value in scores.items()
        if epsilon != "inf" and model in chosen and (data, model, "inf") in scores
    ]
    return sum(noisy > clear for noisy, clear in pairs), len(pairs)


def printed_scores() -> dict[tuple[str, str, str], float]:
    """All accuracies of Tables 5.1, 5.3, 5.5 and 5.7."""
    return {key: each.value for place in ACCURACIES.values() for key, each in theirs(place).items()}


def numbers_of_rules(counted: Mapping[tuple[str, str], float], origin: str) -> ReportTable:
    """Tables 5.2, 5.4, 5.6 and 5.8; `counted` has our sequential covering by data set and epsilon."""
    heads = ["data set", "ε", "wLapMS ABC", "PART", "RIPPER", "Seq. cov. wLap ABC", "ours, sequential covering"]
    rows = []
    for epsilon, place in NUMBERS.items():
        known = theirs(place)
        for data in DATA:
            ours = counted.get((data, epsilon))
            shown = [f"{known[data, model, epsilon].value:g}" for model in heads[2:6]]
            rows.append([data, epsilon, *shown, MISSING if ours is None else f"{ours:.1f}"])
    return ReportTable("Tables 5.2, 5.4, 5.6 and 5.8: number of rules (inf: clear records)", heads, rows, origin)


def moves(means: Means, origin: str) -> ReportTable:
    """Table 5.11."""
    known = theirs("Table 5.11")
    data = list(dict.fromkeys(each[0] for each in known))
    rows = [
        [model, *(text for each in data for text in (_printed(known[each, model, "inf"]), _shown(means, each, model)))]
        for model in dict.fromkeys(key[1] for key in known)
    ]
    heads = ["F", *(f"{each}: {whose}" for each in data for whose in ("thesis", "ours"))]
    return ReportTable(
        "Table 5.11: accuracy of 1-rule ABC by the probability F of a change of conditions, mean ± deviation "
        f"({DEVIATIONS})",
        heads,
        rows,
        origin,
    )


def _shown(means: Means, data: str, model: str) -> str:
    return _measured(means.get((data, model, "inf")))


def disagreements() -> dict[str, tuple[float, float]]:
    """1-rule ABC on clear records at F = 0.6 in Table 5.1 and in Table 5.11, by data set."""
    first, second = theirs("Table 5.1"), theirs("Table 5.11")
    return {
        data: (first[data, "1-rule ABC", "inf"].value, each.value)
        for (data, model, _), each in second.items()
        if model == "F=0.6"
    }


def spread(means: Means) -> tuple[float, float] | None:
    """The largest mean over F minus the smallest, averaged over data sets; and the mean standard error of one cell."""
    spreads, errors = [], []
    for data in DATA:
        cells = [cell for (name, model, _), cell in means.items() if name == data and model.startswith("F=")]
        if len(cells) > 1:
            spreads.append(max(cell.mean for cell in cells) - min(cell.mean for cell in cells))
            errors += [cell.deviation / cell.runs**0.5 for cell in cells]
    return (mean(spreads), mean(errors)) if spreads else None


def other_colonies(means: Means, origin: str) -> ReportTable:
    """Table 5.24."""
    known = theirs("Table 5.24")
    models = ["Celik et al. (2011)", "Shukran et al. (2011)", "Talebi and Abadi (2014)", *LEARNERS]
    rows = []
    for data in dict.fromkeys(each[0] for each in known):
        ours = [means.get((data, model + suffix, "inf")) for suffix in ("", LOCAL) for model in LEARNERS]
        rows.append([data, *(_printed(known.get((data, model, "inf"))) for model in models), *map(_measured, ours)])
    heads = ["data set", *models, *(f"{model}, {how}" for how in ("ours", "our defaults") for model in LEARNERS)]
    return ReportTable(
        f"Table 5.24: rules found by bees, clear records, mean ± deviation ({DEVIATIONS})", heads, rows, origin
    )
