"""The sections of the study of Marchioro et al. 2022."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.federated import invite
from discreet.records.encoding import as_floats
from discreet.research.papers import Marchioro2022NaiveBayes
from discreet.research.papers.published import ExactRecords, count_columns
from discreet.research.report import Paragraph, Picture, ReportTable, Section
from discreet.research.reproduce.marchioro2022 import pictures, statements, words
from discreet.research.reproduce.marchioro2022.models import PublicBounds
from discreet.research.reproduce.marchioro2022.nodes import (
    NODES,
    Errors,
    our_errors,
    published_errors,
    sensitivities,
)
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context
from discreet.schema import Adjacency, Schema
from discreet.schema.columns import Numeric

PAPER = "marchioro2022"
RecordsByData = Mapping[str, ExactRecords]

SEED = 0
ERROR_EPSILON = 1.0
"""The paper does not say at which epsilon its Figure 3 was drawn."""


def set_up(context: Context, records: RecordsByData) -> Section:
    """Table 2 beside our data, what the paper leaves open, and what we chose."""
    facts = ("samples", "labels", "numeric features", "categorical features")
    rows, agree, there = [], 0, 0
    table = {(row.data, row.model): row.value for row in printed(PAPER, "Table 2")}
    for data in dict.fromkeys(data for data, _ in table):
        loaded = records.get(data)
        theirs = [table[data, fact] for fact in facts]
        if loaded is None:
            rows.append([data, *(f"{value:.0f} / –" for value in theirs)])
            continue
        categorical, numeric = count_columns(loaded.schema)
        ours = [len(loaded.labels), len(loaded.schema.classes), numeric, categorical]
        there, agree = there + 1, agree + (theirs == ours)
        rows.append([data, *(f"{value:.0f} / {own}" for value, own in zip(theirs, ours, strict=True))])
    verdict = f"Our copies agree with Table 2 of the paper in all four numbers on {agree} of {there} data sets."
    return Section(
        "The paper and our set-up",
        [
            Paragraph(words.INTRODUCTION),
            ReportTable("Table 2 of the paper / our data", ["data set", *facts], rows, context.origin),
            Paragraph(verdict),
            *map(Paragraph, words.CHOICES if context.full else (*words.CHOICES, words.QUICK)),
        ],
    )


def figure_2(context: Context, records: RecordsByData) -> Section:
    """Sensitivities of the sums on Adult and Skin."""
    title = "Figure 2: the sensitivity of the sums"
    found = {data: sensitivities(records[data], NODES, SEED) for data in ("adult", "skin") if data in records}
    if not found:
        return Section(title, [Paragraph(words.NO_DATA)])
    rows = []
    for data, own in found.items():
        for column in dict.fromkeys(row.column for row in own):
            of = [row for row in own if row.column == column]
            medians, growths = [f"{np.median(row.fractions):.2f}" for row in of], [f"{row.growth:.1f}" for row in of]
            rows.append([data, column, *medians, *growths])
    heads = ["data set", "column", *(f"N = {many}" for many in NODES), *(f"noise, N = {many}" for many in NODES)]
    bare = {(data, row.column): row.bare for data, own in found.items() for row in own if row.nodes == max(NODES)}
    data, column = max(bare, key=lambda key: bare[key])
    verdict = (
        f"With {max(NODES)} nodes {bare[data, column]:.0%} of the sums of {column} on {data} are sent without noise: "
        "the node holds nothing but zeros in that class, or nobody, and its sensitivity is zero. Whoever sees the "
        "message knows this for certain."
    )
    origin = f"{context.origin}, seed {SEED}"
    return Section(
        title,
        [
            Paragraph(words.FIGURE_2),
            Picture(
                "figure-2",
                "Largest value of a class at a node, as a share of the largest that the schema "
                "allows; boxes over nodes and classes, whiskers from 5% to 95%.",
                pictures.draw_sensitivities(found),
                origin,
            ),
            ReportTable(
                "Median sensitivity as a share of the public bound, and the noise in the sum of all nodes relative "
                "to one node",
                heads,
                rows,
                origin,
            ),
            Paragraph(verdict),
            statements.table("What the text says of Figure 2", statements.figure_2(found), origin),
        ],
    )


def figure_3(context: Context, records: RecordsByData, draws: int) -> Section:
    """Relative errors of noisy means on Adult."""
    title = "Figure 3: the error of the noisy mean"
    if "adult" not in records:
        return Section(title, [Paragraph(words.NO_DATA)])
    measures = (published_errors, our_errors)
    found = [measure(records["adult"], ERROR_EPSILON, many, draws, SEED) for measure in measures for many in NODES]
    rows = [[row.method, str(row.nodes), f"{row.middle:+.3f}", f"{row.width:.3f}", f"{row.tails:.2f}"] for row in found]
    heads = ["method", "nodes", "median", "between the quartiles", "95% width / 50% width"]
    origin = f"{context.origin}, seed {SEED}, {draws} draws at ε = {ERROR_EPSILON:g}"
    return Section(
        title,
        [
            Paragraph(words.FIGURE_3),
            Picture(
                "figure-3",
                "Density of the relative error of the mean on adult, averaged over columns and "
                "classes, on a logarithmic axis: a Laplace law has straight flanks, a normal one a parabola.",
                pictures.draw_errors(found),
                origin,
            ),
            ReportTable("Relative error of the mean on adult", heads, rows, origin),
            statements.table("What the text says of Figure 3", statements.figure_3(found), origin),
            Paragraph(_error_verdict(found)),
        ],
    )


def _error_verdict(found: Sequence[Errors]) -> str:
    of = {(row.method, row.nodes): row for row in found}
    most = max(NODES)
    return (
        f"With {most} nodes the published mean is {of['published', most].middle:+.0%} off in the median: the noise "
        "does not cancel, since each node raises its negative counts, so that the sum of the counts is too large. Our "
        f"one place, and so our secure sum of any number of parties, has {of['ours', 1].width:.3f} between the "
        f"quartiles where one published node has {of['published', 1].width:.3f}: public bounds cost this, and hold. "
        f"With noise of their own, {most} parties have {of['ours', most].width:.2f}."
    )


def guarantee(context: Context, records: RecordsByData) -> Section:
    """Claim, verdict, and the true privacy loss on each data set."""
    rows = [[name, *map(_loss, _losses(own.schema))] for name, own in records.items()]
    heads = [
        "data set",
        "claimed",
        "as published, add-remove",
        "as published, replace-one",
        "authors' program, add-remove",
        "public bounds, add-remove",
        "ours, one party's answers, add-remove",
    ]
    published = Marchioro2022NaiveBayes
    return Section(
        "The guarantee",
        [
            ReportTable(
                "Claim and verdict",
                ["claim", "verdict", "reason"],
                [[published.claim, published.verdict, published.reason]],
                context.origin,
            ),
            ReportTable(
                "The loss of a record that stays at its node, where ε = 1 is claimed", heads, rows, context.origin
            ),
            Paragraph(words.GUARANTEE),
        ],
    )


def _losses(schema: Schema) -> list[float]:
    """The losses: claimed, as published under both adjacencies, in the program, with public bounds, and ours."""
    add, swap = (schema.replace(adjacency=each.value) for each in (Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE))
    published = Marchioro2022NaiveBayes(add, epsilon=1)
    ours = invite(add, 1, ["first", "second"]).steps("first")
    return [
        published.claimed_epsilon,
        published.honest_epsilon(),
        Marchioro2022NaiveBayes(swap, epsilon=1).honest_epsilon(),
        Marchioro2022NaiveBayes(add, epsilon=1, skip_empty=True).honest_epsilon(),
        PublicBounds(add, epsilon=1).honest_epsilon(),
        float(sum(step.epsilon for step in ours)),
    ]


def _loss(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:g}"


def load(names: Iterable[str], directory: str | None) -> dict[str, ExactRecords]:
    """The public data sets that were found; numbers are parsed once."""
    found = {}
    for name in names:
        try:
            X, y, schema = datasets.load(name, directory)
        except DiscreetError:
            continue
        columns = {c.name: as_floats(X[c.name]) if isinstance(c, Numeric) else X[c.name] for c in schema.columns}
        found[name] = ExactRecords.read(columns, y, schema)
    return found
