"""The true privacy loss of the thesis's 1R and naive Bayes, beside the claimed one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.research.papers.published import count_cells
from discreet.research.papers.zorarpaci2019 import Zorarpaci2019NaiveBayes
from discreet.research.papers.zorarpaci2019_one_rule import Zorarpaci2019OneRule
from discreet.research.papers.zorarpaci2019_pipeline import Zorarpaci2019Pipeline
from discreet.research.report import Paragraph, Part, ReportTable
from discreet.research.reproduce.accuracies import MISSING
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zorarpaci2019.private_cells import PrivateAccuracies
from discreet.research.reproduce.zorarpaci2019.private_models import BINS
from discreet.schema import Adjacency, Schema

ALGORITHMS: dict[str, Any] = {
    "1R without F.S.": Zorarpaci2019OneRule,
    "NB without F.S.": Zorarpaci2019NaiveBayes,
    "with F.S.": Zorarpaci2019Pipeline,
}
SUBSETS = int(inspect.signature(Zorarpaci2019Pipeline).parameters["population"].default)
"""Number of subsets in our runs of the search; the thesis does not name its own."""


def least_loss(subsets: int, adjacency: Adjacency) -> float:
    """Lower bound on the loss of a search that starts from this many random subsets, on some table of two columns.

    The proof for one replaced record is in `Zorarpaci2019Pipeline`. A replacement is a removal and an addition, so the
    loss of one of these two steps is at least half of it.
    """
    replaced = subsets * math.log(8 / 3) + math.log1p(-((5 / 8) ** subsets))
    return replaced if adjacency is Adjacency.REPLACE_ONE else replaced / 2


def searched_loss() -> str:
    """What is known of the loss under add-remove of the thesis's rows with a search."""
    return f"≥ {least_loss(SUBSETS, Adjacency.ADD_REMOVE):.1f} ({SUBSETS} subsets), ∞ at convergence"


def search_sentence() -> str:
    """What is proved about a search on exact records."""
    replaced, more = (f"{least_loss(SUBSETS, each):.1f}" for each in (Adjacency.REPLACE_ONE, Adjacency.ADD_REMOVE))
    return (
        "With a search no finite loss is proved. It is infinite if the search finds the best subset or its seed is "
        f"known (as in our runs). For a search from {SUBSETS} random subsets whose seed nobody knows it is at least "
        f"{replaced} for one record that is replaced, hence at least {more} for one more or less: shown on tables of "
        f"two columns, and {SUBSETS} is our number, as the thesis names none."
    )


def parts(found: PrivateAccuracies, context: Context) -> Sequence[Part]:
    """The claims and verdicts, then the loss on each data set that was run."""
    claims = [[name, each.claim, each.verdict] for name, each in ALGORITHMS.items()]
    rows = [[data, *_losses(data, context)] for data in found.data]
    heads = ["data set", "queries"]
    heads += [f"{name}, {each.value}" for name in list(ALGORITHMS)[:2] for each in Adjacency]
    return [
        ReportTable(
            "What the thesis claims, and what holds.", ["algorithm", "claim", "verdict"], claims, context.origin
        ),
        ReportTable(
            "The loss of one record at a claimed ε of 1, for a public schema, public bins and real-valued noise; and "
            "by how much the noise of 1R is too large under add-remove.",
            [*heads, "with F.S., seed known", "noise too large by"],
            rows,
            context.origin,
        ),
        Paragraph(
            "Without a search, and with schema and bins that were not read off the data, the counts lose less than "
            "claimed, since a record is in one value of each column and not in all: the thesis pays for every value, "
            "and its noise is larger than it need be by the factor in the last column. Ours pays for every column "
            f"once, or for the one that is used. {search_sentence()} The rows with F.S. have no guarantee at any ε "
            "of the tables, and are the bar here all the same."
        ),
    ]


def _losses(data: str, context: Context) -> list[str]:
    try:
        schema = datasets.load(data, context.directory)[2]
    except DiscreetError:  # without the data, a report of an earlier run can still be written
        return [MISSING] * 7
    queries = len(schema.classes) * sum(count_cells(schema, BINS).values())
    true = [_loss(kind, schema, each) for kind in list(ALGORITHMS.values())[:2] for each in Adjacency]
    searched = _loss(Zorarpaci2019Pipeline, schema, Adjacency.ADD_REMOVE)
    wasted = 1 / true[0]
    return [
        str(queries),
        *(f"{loss:.3f}" for loss in true),
        "∞" if searched == float("inf") else f"{searched:.3f}",
        f"{wasted:.1f}",
    ]


def _loss(kind: Any, schema: Schema, adjacency: Adjacency) -> float:
    return float(kind(schema.replace(adjacency=adjacency), epsilon=1.0).honest_epsilon())
