"""What the algorithms of Lopuhaä 2021 claim, and their true privacy loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from discreet.research.papers import Lopuhaa2021NaiveBayes, Lopuhaa2021SVM, Lopuhaa2021Tree
from discreet.research.report import Paragraph, Part, ReportTable, Section
from discreet.research.reproduce.data_sets import facts
from discreet.research.reproduce.lopuhaa2021.findings import DATA, EPSILONS
from discreet.research.reproduce.lopuhaa2021.sections import loss_shown
from discreet.research.reproduce.study import Context
from discreet.schema import Adjacency

MAKERS: dict[str, Callable[..., Any]] = {
    "Lopuhaa2021NaiveBayes": Lopuhaa2021NaiveBayes,
    "Lopuhaa2021SVM": Lopuhaa2021SVM,
    "Lopuhaa2021Tree": Lopuhaa2021Tree,
    "Lopuhaa2021Tree(attributes=schema)": partial(Lopuhaa2021Tree, attributes="schema"),
}


def losses(context: Context) -> Section:
    """The claims of the published algorithms, and their true privacy loss at each epsilon."""
    classifiers = (Lopuhaa2021NaiveBayes, Lopuhaa2021SVM, Lopuhaa2021Tree)
    claims = [[each.__name__, each.claim, each.verdict, each.reason] for each in classifiers]
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, make in MAKERS.items():
        for adjacency in Adjacency:
            for data in DATA:
                known = facts(data, context.directory)
                if known is not None:
                    schema = known.schema.replace(adjacency=adjacency)
                    honest = [loss_shown(make(schema, epsilon=epsilon).honest_epsilon()) for epsilon in EPSILONS]
                    rows.setdefault((name, adjacency.value, *honest), []).append(data)
    body = [[key[0], key[1], ", ".join(data), *key[2:]] for key, data in rows.items()]
    heads = ["algorithm", "adjacency", "data sets", *(f"ε = {epsilon}" for epsilon in EPSILONS)]
    parts: list[Part] = [
        ReportTable("Claims and verdicts", ["algorithm", "claim", "verdict", "in short"], claims, context.origin)
    ]
    if body:
        parts.append(ReportTable("What is lost at most, at each ε that is claimed", heads, body, context.origin))
    parts.append(
        Paragraph(
            "The loss of the SVM is that for the worst number of records, for an exact minimiser; the last variant of "
            "the tree takes thresholds and categories from the schema, which the paper does not. Ours lose at most "
            "the ε that they are given, under the adjacency of the schema."
        )
    )
    return Section("The honest ε of the published algorithms", parts)
