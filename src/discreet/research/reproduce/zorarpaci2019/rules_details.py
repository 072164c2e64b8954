"""Sections on numbers of rules, F, the noise on Iris and the true loss (Zorarpacı 2019, Tables 5.2 to 5.24)."""

from __future__ import annotations

import math
import warnings
from statistics import mean

import numpy as np
from sklearn.model_selection import StratifiedKFold

from discreet import datasets
from discreet.errors import DiscreetError
from discreet.records.encoding import class_codes
from discreet.research.papers.zorarpaci2019_input import Zorarpaci2019InputPerturbation
from discreet.research.report import Paragraph, Part, ReportTable, Section
from discreet.research.reproduce.accuracies import INDEPENDENT
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zorarpaci2019 import rules_iris as noise
from discreet.research.reproduce.zorarpaci2019 import rules_pictures as pictures
from discreet.research.reproduce.zorarpaci2019 import rules_prose as prose
from discreet.research.reproduce.zorarpaci2019 import rules_tables as tables
from discreet.research.reproduce.zorarpaci2019.rules_models import DATA, Rules, as_numbers
from discreet.research.reproduce.zorarpaci2019.rules_tables import EPSILONS, Means

SEQUENTIAL = "Seq. cov. wLap ABC"


def rule_numbers(context: Context) -> Section:
    """Tables 5.2, 5.4, 5.6 and 5.8: sequential covering finds its number of rules; the other learner is given it."""
    folds, data = (2, DATA) if context.full else (1, ("iris",))
    counted = count_rules(data, folds, context.directory)
    more = sum(
        value > tables.theirs(tables.NUMBERS[loss])[name, SEQUENTIAL, loss].value
        for (name, loss), value in counted.items()
    )
    said = (
        f"In {more} of {len(counted)} cells ours has more rules than the thesis ({folds} of ten folds each, plainest "
        "decisions)."
    )
    parts: list[Part] = [tables.numbers_of_rules(counted, context.origin), Paragraph(said), Paragraph(prose.NUMBERS)]
    return Section("Number of rules (Tables 5.2, 5.4, 5.6 and 5.8)", parts)


def count_rules(data: tuple[str, ...], folds: int, directory: str | None) -> dict[tuple[str, str], float]:
    """The mean number of rules of sequential covering, by data set that was found and epsilon."""
    counted = {}
    for name in data:
        try:
            X, y, schema = datasets.load(name, directory)
        except DiscreetError:
            continue
        splitter = StratifiedKFold(10, shuffle=True, random_state=0)
        with warnings.catch_warnings():  # a class may have fewer records than there are folds
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            chosen = [train for train, _ in splitter.split(np.zeros((len(y), 1)), class_codes(y, schema))][:folds]
        for epsilon in EPSILONS:
            models = [
                Rules(schema, epsilon=float(epsilon), random_state=fold, learner=SEQUENTIAL) for fold in range(folds)
            ]
            for model, train in zip(models, chosen, strict=True):
                model.fit({key: values[train] for key, values in X.items()}, y[train])
            counted[name, epsilon] = mean(len(model.model_.rules_) for model in models)
    return counted


def moves(context: Context, means: Means) -> Section:
    """Table 5.11."""
    found, gaps = tables.spread(means), tables.disagreements()
    known = tables.theirs("Table 5.11")
    best = {data: max((each.value, model) for (name, model, _), each in known.items() if name == data) for data in gaps}
    said = "; ".join(f"{data} {first:.3f} and {second:.3f}" for data, (first, second) in gaps.items())
    parts: list[Part] = [
        tables.moves(means, context.origin),
        pictures.moves(means, context.origin),
        Paragraph(tables.verdict(means, "Table 5.11", {model for _, model, _ in known}).sentence("1-rule ABC by F")),
        Paragraph(
            "For one learner and one setting (F = 0.6, clear records) the thesis prints two accuracies, in Table "
            f"5.1 and here: {said}; up to {max(abs(a - b) for a, b in gaps.values()):.3f} apart."
        ),
        Paragraph(
            "Best F of the thesis: "
            + ", ".join(f"{model} on {data}" for data, (_, model) in best.items())
            + ". "
            + (
                f"Over F our accuracies spread by {found[0]:.3f} on average, with a standard error of {found[1]:.3f} "
                f"each ({INDEPENDENT}): the largest and the smallest of ten such numbers are some three standard "
                "errors apart by luck alone."
                if found
                else "Ours was not run."
            )
        ),
    ]
    return Section("The parameter F (Table 5.11)", parts)


def iris(context: Context) -> Section:
    """Tables 5.12 to 5.15."""
    try:
        found = noise.averages(context.directory)
        ratios, revealed = noise.variance_ratios(context.directory), noise.recovered(context.directory)
    except DiscreetError:
        return Section("What the noise does (Tables 5.12 to 5.15)", [Paragraph("Iris is not there.")])
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    parts: list[Part] = [
        *(noise.column_table(place, found, context.origin) for place in noise.ATTRIBUTES),
        Paragraph(
            f"The printed variances of the noise at ε = 1 are {shown} squared ranges of the attribute: range / ε is "
            "the scale of the Laplace noise (2 squared ranges), not its standard deviation (1), which the text "
            "calls it."
        ),
        Paragraph(
            f"{noise.one_draw_sentence()} Whoever sees two such tables sees everything: from x + z and x + z/2 "
            f"follows x. With our reproduction and one seed at ε = 1 and 2 this gives back {revealed:.0%} of the "
            "numbers to nine digits. Nobody says that the tables are to be published together; noise has to be "
            "drawn anew each time."
        ),
        Paragraph(prose.IRIS),
    ]
    return Section("What the noise does to Iris (Tables 5.12 to 5.15)", parts)


def colonies(context: Context, means: Means) -> Section:
    """Table 5.24."""
    return Section(
        "Other rules found by bees (Table 5.24)",
        [tables.other_colonies(means, context.origin), Paragraph(prose.COLONIES)],
    )


def honest(context: Context) -> Section:
    """What is claimed for the perturbed table, what holds, and what is lost."""
    algorithm = Zorarpaci2019InputPerturbation
    rows = []
    for data in DATA:
        try:
            schema = as_numbers(datasets.load(data, context.directory)[2])
        except DiscreetError:
            continue
        for epsilon in EPSILONS[1:]:
            published = algorithm(schema, epsilon=epsilon)
            public = algorithm(schema, epsilon=epsilon, ranges="schema")
            rows.append([data, epsilon, _loss(published.honest_epsilon()), _loss(public.numbers_epsilon())])
    heads = ["data set", "claimed ε", "honest ε", "ε of the numbers alone, were their ranges public"]
    words = [["claim", algorithm.claim], ["verdict", algorithm.verdict], ["reason", algorithm.reason]]
    parts: list[Part] = [
        ReportTable("Input perturbation as published", ["", "what is said"], words, context.origin),
        ReportTable("The loss of one record that is replaced", heads, rows, context.origin),
        Paragraph(prose.HONEST),
    ]
    return Section("The honest ε", parts)


def _loss(epsilon: float) -> str:
    return "∞" if epsilon == math.inf else f"{epsilon:g}"
