"""Documents for the tests of reports: one with every kind of part, one of a real comparison, one of hostile texts."""

import numpy as np
from matplotlib.figure import Figure

from discreet import NaiveBayes, OneRule
from discreet.research.comparison import Grid, ResultsFile, compare, picture, summary
from discreet.research.report import Document, Paragraph, Picture, ReportTable, Section

COMMAND = "discreet compare --data iris --epsilon 1 --folds 2, seed 0"

AWKWARD = ["0.951 ± 0.004 (98%)", "–", "−0.5", "1e-11", "", "∞", "-2", "0.9", "12,500", "word"]
"""A column with everything in it, and how it is sorted: numbers, then words, then what says nothing."""
UPWARDS = ["-2", "−0.5", "1e-11", "0.9", "0.951 ± 0.004 (98%)", "12,500", "∞", "word", "–", ""]
DOWNWARDS = ["∞", "12,500", "0.951 ± 0.004 (98%)", "0.9", "1e-11", "−0.5", "-2", "word", "–", ""]

HOSTILE = [
    "<script>document.title='broken'</script>",
    '"><img src=x onerror="document.title=\'broken\'">',
    "' onmouseover='alert(1)",
    "</style></title></script><h1>broken</h1>",
    "<!-- ]]> --><![CDATA[ x ]]>",
    "line\u2028separator\u2029and\x85next\r\nline",
    "javascript:alert(1) https://example.org www.example.org a@example.org",
    "[link](https://example.org) ![picture](https://example.org/x.png) <https://example.org>",
    "| pipe | `code` ``more`` | **bold** __under__ ~~gone~~ $x$ \\| \\\\| \\",
    "nul\x00 bell\x07 half\ud800 &amp; &lt; &#60;",
    "# heading",
    "- list\n1. list\n+ list\n===\n---\n> quote\n    code\n\n:-: | :-:",
]


def line_figure(title="accuracy"):
    figure = Figure(figsize=(5, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot([0.01, 0.1, 1, 10], [0.4, 0.6, 0.9, 0.95], color="#0072B2", marker="o", linewidth=4, label="naive Bayes")
    axes.fill_between([0.01, 0.1, 1, 10], [0.3, 0.5, 0.88, 0.94], [0.5, 0.7, 0.92, 0.96], alpha=0.2, color="#0072B2")
    axes.set(xscale="log", xlabel="ε", ylabel="accuracy", title=title)
    figure.legend(loc="outside lower center")
    return figure


def scatter_figure(points=20_000):
    """As vectors it would be megabytes."""
    figure = Figure(figsize=(4, 3), layout="constrained")
    drawn = np.random.default_rng(0).normal(size=(2, points))
    figure.subplots().scatter(*drawn, s=9, color="#D55E00")
    return figure


def accuracies():
    """A wide table with gaps."""
    losses = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "∞")
    models = ["naive Bayes", "linear SVM", "decision tree", "random forest", "one rule (1R)", "majority"]
    rows = [
        [
            model,
            *(f"{0.5 + 0.04 * place + 0.01 * row:.3f} ± {0.09 - 0.007 * place:.3f}" for place in range(len(losses))),
        ]
        for row, model in enumerate(models)
    ]
    rows[2][4], rows[5][1] = "–", ""
    return ReportTable("Accuracy of each model, all ε", ["model", *(f"ε = {each}" for each in losses)], rows, COMMAND)


def claims():
    """A table with sentences in it."""
    reasons = (
        "The scale of the noise is read from the records, and so tells of them to whoever sees the result.",
        "The choice of the attribute is not charged, and each table is released at the whole ε.",
    )
    rows = [["naive Bayes 2013", "1", "∞", reasons[0]], ["1R 2019", "0.5", "3.5", reasons[1]]]
    return ReportTable("Claims", ["algorithm", "claimed ε", "honest ε", "reason"], rows, COMMAND)


def every_part():
    """Every kind of part; the first table is the awkward one, the first picture small, the second large."""
    words = (
        "Each model learned from the same folds. The deviation is that of single runs.\n\nNo score below is private."
    )
    awkward = ReportTable(
        "An awkward column", ["value", "place"], [[each, str(p)] for p, each in enumerate(AWKWARD)], COMMAND
    )
    line = Picture("accuracy", "Accuracy of naive Bayes against ε; the band is one deviation", line_figure(), COMMAND)
    scatter = Picture("scatter", "Twenty thousand points", scatter_figure(), COMMAND)
    sections = [
        Section("What was measured", [Paragraph(words), awkward]),
        Section("Accuracy against ε", [line, accuracies()]),
        Section("Many points", [scatter, claims()]),
    ]
    notices = (
        "Public data: these scores are exact functions of the records and not private.",
        "This is the quick part; the full one takes an hour.",
    )
    return Document("Private classifiers beside each other", sections, notices, COMMAND)


def real_comparison(folder):
    """Two models, two data sets that come with scikit-learn, two folds."""
    grid = Grid(["iris", "wine"], ["naive-bayes", "one-rule"], ["0.5", "5"], folds=2)
    models = {"naive-bayes": NaiveBayes, "one-rule": OneRule}
    found = summary.cells(compare(grid, models, ResultsFile(folder / "runs.csv"), version="1").measured)
    rows = [[each.data, each.model, summary.shown(each.epsilon), summary.described(each)] for each in found]
    tests = [[*map(str, each[:5]), f"{each.p_value:.2g}"] for each in summary.differences(found)]
    heads = ["first", "second", "pairs", "first better", "second better", "p"]
    return Document(
        "A tiny comparison",
        [
            Section(
                "Accuracy",
                [
                    Picture("accuracy", "Accuracy against ε", picture.draw(found), COMMAND),
                    ReportTable("Accuracy", ["data", "model", "ε", "accuracy"], rows, COMMAND),
                    ReportTable("Wilcoxon signed-rank test", heads, tests, COMMAND),
                ],
            )
        ],
    )


def hostile():
    """Hostile texts wherever a document takes a text."""
    sections = [
        Section(text, [Paragraph(text), ReportTable(text, [text, text], [[text, text], [text, "1"]], text)])
        for text in HOSTILE
    ]
    pictures = [Picture(f"p-{place}", text, line_figure("x"), text) for place, text in enumerate(HOSTILE[:3])]
    return Document(HOSTILE[0], [*sections, Section("pictures", pictures)], HOSTILE, HOSTILE[1])
