"""A comparison as a report: accuracies, ranks, tests and pictures, each with the command and seed that made it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from discreet.errors import MissingExtra
from discreet.privacy.receipt import Charge
from discreet.research.comparison import difference_picture, noise_picture, picture, spread_picture
from discreet.research.comparison.data_facts import DataFacts
from discreet.research.comparison.findings import best_cells, findings
from discreet.research.comparison.grid import Grid, as_number
from discreet.research.comparison.summary import (
    Cell,
    average_ranks,
    critical_difference,
    described,
    differences,
    rates,
    shown,
)
from discreet.research.comparison.summary import ranked_pairs as ranked
from discreet.research.report import Document, Paragraph, Part, Picture, ReportTable, Section

PUBLIC = (
    "Public data: these scores are exact functions of the records, and not private. Every run has a seed, so that it "
    "can be repeated; a seeded model has no guarantee."
)
HINT = "pairs of one data set are not independent, so that this is a hint"

PICTURES = ("accuracy", "ranks", "p-values", "spread", "noise")
"""The names of all pictures that a report may have."""

Charges = tuple[str, Mapping[str, Sequence[Charge]]]


def origin(grid: Grid, version: str, *, directory: bool = False) -> str:
    """The command and seed that make the numbers again; the folder of the data is not named."""
    flags = {
        "data": ",".join(grid.data),
        "models": ",".join(grid.models),
        "epsilons": ",".join(grid.epsilons),
        "folds": grid.folds,
        "repeats": grid.repeats,
        "seed": grid.seed,
        "adjacency": grid.adjacency,
    }
    words = " ".join(f"--{name} {shlex.quote(str(value))}" for name, value in flags.items())
    return f"discreet {version}: discreet compare {words}{' --directory DIR' if directory else ''} --out FOLDER"


def describe(
    grid: Grid,
    found: Sequence[Cell],
    charges: Charges,
    remarks: Sequence[str],
    version: str,
    *,
    drawn: bool = True,
    records: Mapping[str, DataFacts] | None = None,
    directory: bool = False,
) -> Document:
    """The report of a comparison.

    Parameters
    ----------
    drawn : whether the report has pictures, which need matplotlib.
    records : facts of each data set, for a table that shows whether a reader has the same data.
    directory : whether a folder of data sets was named on the command line.
    """
    source = origin(grid, version, directory=directory)
    tables = [*_data_table(records or {}, source), *_accuracy_tables(found, source)]
    sections = [
        Section("Accuracy", [*_accuracy_text(grid), *tables]),
        Section("Which models differ", _difference_tables(found, source)),
    ]
    if drawn:
        sections = _with_pictures(sections, found, charges, source)
    told = findings(found)
    if told:
        sections.insert(0, Section("Findings", [Paragraph(each) for each in told]))
    title = f"{len(grid.models)} models on {len(grid.data)} data sets" if len(grid.data) > 1 else grid.data[0]
    return Document(f"Comparison: {title}", [each for each in sections if each.parts], [PUBLIC, *remarks], source)


def _accuracy_text(grid: Grid) -> list[Part]:
    times = "" if grid.repeats == 1 else f", shuffled {grid.repeats} times"
    return [
        Paragraph(
            f"Stratified {grid.folds}-fold cross-validation{times}; all models are tested on the same folds. Shown are "
            "the mean, the deviation of single runs, and the ratio to the same model without noise (ε = ∞)."
        )
    ]


def _data_table(records: Mapping[str, DataFacts], source: str) -> list[Part]:
    if not records:
        return []
    rows = [[name, str(own.number), str(own.without_class), own.data_hash] for name, own in records.items()]
    heads = ["data", "records", "without a known class", "hash"]
    return [ReportTable("Data sets; the hash is of schema and records", heads, rows, source)]


def _accuracy_tables(found: Sequence[Cell], source: str) -> list[Part]:
    tables: list[Part] = []
    for data in dict.fromkeys(cell.data for cell in found):
        own = [cell for cell in found if cell.data == data]
        epsilons = sorted({cell.epsilon for cell in own}, key=as_number)
        heads, best = ["model", *(f"ε = {shown(each)}" for each in epsilons)], best_cells(own, epsilons)
        tables.append(ReportTable(data, heads, _by_model(own, epsilons, described), source, best))
        if any(cell.balanced is not None for cell in own):
            caption = f"{data}: balanced accuracy / fraction of the rarest class that is found"
            tables.append(ReportTable(caption, heads, _by_model(own, epsilons, rates), source))
    return tables


def _by_model(own: Sequence[Cell], epsilons: Sequence[str], told: Callable[[Cell], str]) -> list[list[str]]:
    """A row for each model, with a text for each epsilon."""
    rows = []
    for model in dict.fromkeys(cell.model for cell in own):
        at = {cell.epsilon: cell for cell in own if cell.model == model}
        rows.append([model, *(told(at[each]) if each in at else "–" for each in epsilons)])
    return rows


def _difference_tables(found: Sequence[Cell], source: str) -> list[Part]:
    parts: list[Part] = []
    ranks, pairs = ranked(found)
    if len(ranks) > 1:
        gap = critical_difference(len(ranks), pairs)
        caption = (
            f"Average rank over {pairs} data sets and ε, 1 is best; {gap:.2f} apart differ (Nemenyi, 0.05; {HINT})"
        )
        rows = [[model, f"{rank:.2f}"] for model, rank in ranks.items()]
        parts.append(ReportTable(caption, ["model", "rank"], rows, source))
    if tested := differences(found):
        heads = ["first", "second", "pairs", "first better", "second better", "p"]
        rows = [[*map(str, each[:5]), f"{each.p_value:.2g}"] for each in tested]
        parts.append(
            ReportTable(f"Wilcoxon signed-rank test, two-sided, zeros divided evenly ({HINT})", heads, rows, source)
        )
    return parts


def _with_pictures(sections: list[Section], found: Sequence[Cell], charges: Charges, source: str) -> list[Section]:
    """The sections with pictures in front of their tables, and two more sections."""
    accuracy, difference = sections
    curves = Picture("accuracy", "Accuracy against ε; bands are one deviation wide", picture.draw(found), source)
    tests: list[Part] = []
    if len(average_ranks(found)) > 1:
        ranks = difference_picture.draw_ranks(found)
        heat = difference_picture.draw_p_values(found)
        tests = [
            Picture("ranks", f"Average ranks; two models differ if their bars do not overlap ({HINT})", ranks, source),
            Picture("p-values", f"p-values of the Wilcoxon test between every two models ({HINT})", heat, source),
        ]
    more: list[Section] = []
    if any(as_number(cell.epsilon) < float("inf") for cell in found):
        figure = spread_picture.draw_spread(found)
        boxes = Picture(
            "spread",
            "Accuracy and its ratio to no noise, at each ε: box, half of data sets and models; line, the middle",
            figure,
            source,
        )
        more.append(Section("Spread at each ε", [boxes]))
    where, asked = charges
    if asked:
        caption = "What each query costs, and the noise of its answer"
        noise = Picture("noise", caption, noise_picture.draw_noise(asked, where), source)
        more.append(Section("Budget and noise of each query", [noise]))
    return [
        Section(accuracy.title, [accuracy.parts[0], curves, *accuracy.parts[1:]]),
        Section(difference.title, [*tests, *difference.parts]),
        *more,
    ]


def has_pictures() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        return False
    return True


def missing_pictures() -> str:
    """The remark that replaces the pictures if matplotlib is missing."""
    return f"No picture: {MissingExtra('plot')}"
