"""Numbers of the thesis that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.research.comparison.grid import NOT_PRIVATE
from discreet.research.report import Paragraph
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.zorarpaci2019.private_cells import (
    EPSILONS,
    FIGURES,
    PLACES,
    PUBLISHED,
    PrivateAccuracies,
    listed,
    number,
    thesis,
)

APART = 0.01


def paragraphs(found: PrivateAccuracies) -> Sequence[Paragraph]:
    """One paragraph per kind of contradiction."""
    return [
        Paragraph(
            "1R uses one column, so that without noise a search before it can change little. Without noise and "
            f"search it differs from with search by more than {APART} on: {listed(_changed())}. More accurate with "
            f"noise than without, by more than {APART}: {listed(_helped())}. The limit of {APART} was set with "
            "the figures in view."
        ),
        Paragraph(f"The same figures with the same deviations under two data sets, without noise: {listed(_twice())}."),
        Paragraph(
            "Without noise below what the largest class alone reaches on our folds: "
            f"{listed(_below_majority(found))}. SPECT has a training part with as many records of one class as of the "
            "other; figures around these could come from that part alone, which the sizes in Table 3.1 do not say."
        ),
        Paragraph(f"Classes of Table 3.2 do not sum to the records of Table 3.1: {listed(_sums())}."),
        Paragraph(
            f"Table 5.25 differs from the tables it is taken from: {listed(_quoted())}. Rows of Table 5.25 that are "
            f"equal in every column: {listed(_equal_rows())}; the first of two is named after another paper, and "
            "seems to be the thesis's own algorithm."
        ),
    ]


def _changed() -> list[str]:
    names = ("1R with F.S.", "1R without F.S.")
    pairs = {data: [thesis(data, row, NOT_PRIVATE).value for row in names] for data in PLACES}
    return [f"{data} ({b:.3f}, not {a:.3f})" for data, (a, b) in pairs.items() if abs(a - b) > APART]


def _helped() -> list[str]:
    return [
        f"{row} on {data} at {epsilon} ({noisy:.3f} over {clear:.3f})"
        for data in PLACES
        for row in PUBLISHED
        for epsilon in EPSILONS
        if (noisy := thesis(data, row, epsilon).value) > (clear := thesis(data, row, NOT_PRIVATE).value) + APART
    ]


def _twice() -> list[str]:
    cells = [(data, row, thesis(data, row, NOT_PRIVATE)) for data in PLACES for row in PUBLISHED]
    return [
        f"{row} of {data} and of {other} ({cell.value:.3f} ± {cell.deviation:g})"
        for place, (data, row, cell) in enumerate(cells)
        for other, other_row, twin in cells[place + 1 :]
        if row == other_row and data != other and (cell.value, cell.deviation) == (twin.value, twin.deviation)
    ]


def _below_majority(found: PrivateAccuracies) -> list[str]:
    return [
        f"{row} on {data} ({value:.3f} below {largest.mean:.3f})"
        for data in found.data
        if (largest := found.majority(data)) is not None
        for row in PUBLISHED
        if (value := thesis(data, row, NOT_PRIVATE).value) < largest.mean
    ]


def _sums() -> list[str]:
    classes = {data: sum(cell.value for cell in printed(FIGURES, "Table 3.2") if cell.data == data) for data in PLACES}
    records = {data: number(data, "Table 3.1", "instances") for data in PLACES}
    return [f"{data} ({classes[data]:.0f} of {records[data]:.0f})" for data in PLACES if classes[data] != records[data]]


def _quoted() -> list[str]:
    own = [cell for cell in printed(FIGURES, "Table 5.25") if cell.model in PUBLISHED]
    return [
        f"{cell.model} on {cell.data} ({cell.value:.3f}, there {there:.3f})"
        for cell in own
        if abs(cell.value - (there := thesis(cell.data, cell.model, "1").value)) > 0.0005
    ]


def _equal_rows() -> list[str]:
    cells = printed(FIGURES, "Table 5.25")
    rows = {
        model: {(cell.data, cell.value) for cell in cells if cell.model == model}
        for model in dict.fromkeys(cell.model for cell in cells)
    }
    names = list(rows)
    return [f"{a} = {b}" for place, a in enumerate(names) for b in names[place + 1 :] if rows[a] == rows[b]]
