"""The loss that the thesis's private 1R and naive Bayes have, beside the one that they claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet import datasets
from discreet.encoding import Cells
from discreet.errors import DiscreetError
from discreet.papers.zorarpaci2019 import Zorarpaci2019NaiveBayes
from discreet.papers.zorarpaci2019_one_rule import Zorarpaci2019OneRule
from discreet.papers.zorarpaci2019_pipeline import Zorarpaci2019Pipeline
from discreet.report import Paragraph, Part, Table
from discreet.reproduce.study import Context
from discreet.reproduce.zorarpaci2019.private_cells import MISSING, Accuracies
from discreet.reproduce.zorarpaci2019.private_models import BINS
from discreet.schema import Adjacency, Schema

ALGORITHMS: dict[str, Any] = {
    "1R without F.S.": Zorarpaci2019OneRule,
    "NB without F.S.": Zorarpaci2019NaiveBayes,
    "with F.S.": Zorarpaci2019Pipeline,
}


def parts(found: Accuracies, context: Context) -> Sequence[Part]:
    """What is claimed and what holds; then the loss on each data set that was run."""
    claims = [[name, each.claim, each.verdict] for name, each in ALGORITHMS.items()]
    rows = [[data, *_losses(data, context)] for data in found.data]
    heads = ["data set", "queries"]
    heads += [f"{name}, {each.value}" for name in list(ALGORITHMS)[:2] for each in Adjacency]
    return [
        Table("What the thesis claims, and what holds.", ["algorithm", "claim", "verdict"], claims, context.origin),
        Table(
            "The loss at a claimed ε of 1, for real-valued noise; and how much smaller the noise of 1R could be.",
            [*heads, "with F.S.", "noise too large by"],
            rows,
            context.origin,
        ),
        Paragraph(
            "Without a search the counts lose less than claimed, since a record is in one value of each column and "
            "not in all: the thesis pays for every value, and its noise is larger than it need be by the factor in the "
            "last column. Ours pays for every column once, or for the one that is used. With a search the loss is "
            "infinite: the rows with F.S. are no private models at any epsilon, and are the bar here all the same."
        ),
    ]


def _losses(data: str, context: Context) -> list[str]:
    try:
        schema = datasets.load(data, context.directory)[2]
    except DiscreetError:  # the data are not there: a report of an earlier run can still be written
        return [MISSING] * 7
    queries = len(schema.classes) * sum(Cells(name, BINS).size(schema) for name in schema.names)
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
