"""One-rule and naive Bayes learned from a count-query database, beside the same models fitted directly on the same ε.

Tables 5.16 to 5.22 of Zorarpacı 2019 again: the same data sets and epsilons, its figures without a choice of columns
(which the thesis makes on exact records, unpaid) beside ours, in three ways that all cost ε: directly; from a database
that counts and tells which column is best; and from one that only counts. A line says by how many requests and tables.
`python benchmarks/count_queries.py --data DIR` made results/count_queries.md.

The database is `discreet.CountDatabase`; `--factory MODULE:FUNCTION` names another one, such as a service asked over
HTTP: a function of the columns (the target too), the schema, ε and a seed, which returns what has `schema` and `ask`.
The data are public: the scores are exact functions of them and not private. Noise is seeded, by a seed of its own for
each fit, so that equal accuracies are equal in law and not by the same draw.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

import folds
from accuracy import Columns, _numbers_parsed
from discreet import CountDatabase, Ledger, NaiveBayes, OneRule, Schema
from discreet.research.reproduce.zorarpaci2019.private_cells import PLACES, thesis
from discreet.sources.memory import MemorySource

RESULTS = Path(__file__).parent / "results"
EPSILONS = (3.0, 2.0, 1.0, 0.5, 0.25, 0.1)
DRAWS = 2
"""Draws of the noise for each fold."""
LEARNERS: dict[str, Callable[..., Any]] = {
    "1R": OneRule,
    "NB": lambda schema, **given: NaiveBayes(schema, select=None, **given),
}
THESIS = {"1R": "1R without F.S.", "NB": "NB without F.S."}
WAYS = ("direct", "by queries", "by counts alone")
Scores = dict[tuple[str, str, float, str], list[float]]
"""Accuracies by data set, learner, epsilon and way."""


class Counting:
    """A count-query database that notes how often it is asked, for how many tables and cells, and at what ε."""

    def __init__(self, database: Any, allowed: float) -> None:
        self._database, self.allowed = database, Fraction(str(allowed))
        self.schema = database.schema
        self.requests = self.tables = self.cells = 0
        self.epsilon = Fraction(0)

    def noted(self, receipt: Any) -> None:
        """Note a request and what it cost."""
        self.requests += 1
        self.epsilon += receipt.epsilon

    def ask(self, queries: Sequence[Any], epsilon: Any, **options: Any) -> Any:
        """Ask the database itself."""
        answers = self._database.ask(queries, epsilon, **options)
        self.tables += len(answers)
        self.cells += sum(each.values.size for each in answers.answers)
        self.noted(answers.receipt)
        return answers


class Choosing(Counting):
    """The same of a database that tells which columns are best."""

    def choose(self, candidates: Sequence[Any], wanted: int, epsilon: Any, **options: Any) -> Any:
        """Ask the database itself."""
        chosen = self._database.choose(candidates, wanted, epsilon, **options)
        self.noted(chosen.receipt)
        return chosen


def local(columns: Any, schema: Schema, epsilon: float, seed: int) -> CountDatabase:
    """The count-query database of the library, in this process."""
    return CountDatabase(columns, schema, ledger=Ledger(epsilon), random_state=seed)


def measured(options: Any, name: str, scores: Scores, asked: dict[tuple[str, str, str], Counting]) -> None:
    """Fit both learners in all ways on each fold and draw."""
    table = folds.load(options.data, name)
    schema = Schema.load(Path(options.data) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
    X = Columns(_numbers_parsed(table))
    for fold in folds.planned_folds(name, table.y, options.folds, options.repeats):
        columns = {**X[fold.train], schema.target: table.y[fold.train]}
        for epsilon in options.epsilons:
            for learner, build in LEARNERS.items():
                for draw in range(options.draws):
                    key = folds.Key(name, f"{learner} {draw}", epsilon, fold.repeat, fold.fold)
                    models = {WAYS[0]: build(schema, epsilon=epsilon, random_state=key.seed())}
                    models[WAYS[0]].fit_from(MemorySource(columns))
                    for place, (way, kind) in enumerate(zip(WAYS[1:], (Choosing, Counting), strict=True), 1):
                        database = kind(options.make(columns, schema, epsilon, key.seed() + place), epsilon)
                        models[way] = build(schema, epsilon=epsilon).fit_from(database)
                        asked[name, learner, way] = database
                    for way, model in models.items():
                        right = np.mean(model.predict(X[fold.test]) == table.y[fold.test])
                        scores[name, learner, epsilon, way].append(float(right))


def rows(name: str, scores: Scores, epsilons: Sequence[float]) -> list[str]:
    """The table of one data set: the thesis, then ours with the standard error of their mean."""
    lines = [f"\n### {name} ({PLACES[name]})\n"]
    heads = [f"{learner} {way}" for learner in LEARNERS for way in ("in the thesis", *WAYS)]
    lines += ["| ε | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for epsilon in epsilons:
        cells = [f"{epsilon:g}"]
        for learner in LEARNERS:
            cells.append(f"{thesis(name, THESIS[learner], str(epsilon)).value:.3f}")
            cells += [_shown(scores[name, learner, epsilon, way]) for way in WAYS]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _shown(values: list[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values) / math.sqrt(len(values)):.3f}" if len(values) > 1 else "–"


def differences(scores: Scores, epsilons: Sequence[float], names: Sequence[str]) -> list[str]:
    """From a database less direct, on average over data sets, with the largest difference either way."""
    lines = ["\n### From a database less direct: mean over data sets (least, most)\n"]
    heads = [f"{learner} {way}" for learner in LEARNERS for way in WAYS[1:]]
    lines += ["| ε | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for epsilon in epsilons:
        cells = [f"{epsilon:g}"]
        for learner in LEARNERS:
            for way in WAYS[1:]:
                pairs = [[mean(scores[name, learner, epsilon, each]) for each in (way, WAYS[0])] for name in names]
                gaps = [ours - theirs for ours, theirs in pairs]
                cells.append(f"{mean(gaps):+.3f} ({min(gaps):+.3f}, {max(gaps):+.3f})")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def questions(asked: dict[tuple[str, str, str], Counting], names: Sequence[str]) -> list[str]:
    """How many requests, tables and cells the last fit of each learner asked for."""
    lines = ["\n### What is asked (at the smallest ε)\n"]
    lines += ["| data set | learner | way | requests | tables | cells | ε paid / ε |", "|---|---|---|---|---|---|---|"]
    for name in names:
        for learner in LEARNERS:
            for way in WAYS[1:]:
                each = asked[name, learner, way]
                numbers = f"{each.requests} | {each.tables} | {each.cells} | {each.epsilon / each.allowed}"
                lines.append(f"| {name} | {learner} | {way} | {numbers} |")
    return lines


def _header(options: Any) -> str:
    repeats = "5 repeats below 1,000 rows" if options.repeats is None else f"repeats: {options.repeats}"
    more = "" if options.repeats is None else f" --repeats {options.repeats}"
    return HEADER.format(draws=options.draws, repeats=repeats, more=more)


def main() -> None:
    """Run everything, then print and write the tables."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(epsilons=list(EPSILONS), datasets=list(PLACES), out=RESULTS / "count_queries.md")
    parser.add_argument("--draws", type=int, default=DRAWS, help=f"draws of the noise for each fold (default {DRAWS})")
    parser.add_argument("--factory", help="another count-query database: MODULE:FUNCTION (default: in this process)")
    options = folds.parse(parser)
    module, _, function = (options.factory or ":").partition(":")
    options.make = getattr(import_module(module), function) if options.factory else local
    scores: Scores = defaultdict(list)
    asked: dict[tuple[str, str, str], Counting] = {}
    lines: list[str] = []
    for name in options.datasets:
        measured(options, name, scores, asked)
        lines += rows(name, scores, options.epsilons)
        print("\n".join(rows(name, scores, options.epsilons)), flush=True)
    lines += differences(scores, options.epsilons, options.datasets) + questions(asked, options.datasets)
    options.out.write_text(_header(options) + "\n".join(lines) + "\n", encoding="utf-8")


HEADER = """# Learned by count queries

Command: `python benchmarks/count_queries.py --data DIR{more}`.

Accuracy of `OneRule` and `NaiveBayes(select=None)`, fitted directly and learned from a count-query database
(`fit_from(CountDatabase(...))`), each at the whole ε, beside the thesis's figures without a choice of columns.
Stratified 10-fold, {repeats}, {draws} draws of the noise for each fold; ± is the standard error over folds and draws.
Public data: these scores are not themselves private.

"By queries" asks what a direct fit asks: the law of the model is the same (and with the same seed the model itself,
tests/models/test_count_database.py). "By counts alone" is the thesis's way: naive Bayes asks the same tables; one-rule
buys a table of each column for half of ε, since nothing tells it the best, and one more of the best for the rest.
"""

if __name__ == "__main__":
    main()
