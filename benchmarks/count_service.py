"""Tables 5.16 to 5.22 of Zorarpacı 2019, learned by count queries over HTTP: a service with workers, asked by a client.

The training records of each fold are registered as a table of a running service, and `OneRule` and `NaiveBayes` are
learned from `client.dataset(...)`, which sends requests of the kind `count` and nothing else. Beside them: the same
models fitted directly at the same ε, the same by a database that only counts, and the thesis's figures. Each table is
also asked once at an ε at which the noise is nothing, and compared with the exact table in every cell: it shows that
file, draft, snapshot, request and answer lost no record.

`python benchmarks/count_service.py --data DIR` made results/count_service.md. Whole folds are run until `--minutes` are
over. The data are public: the scores are exact functions of them and not private. A service draws its noise from the
operating system; that of the direct fits is seeded.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import folds
from accuracy import Columns, _numbers_parsed
from count_queries import EPSILONS, LEARNERS, RESULTS, THESIS, Choosing, Counting, _shown
from discreet import Client, CountDatabase, Ledger, Schema
from discreet.client import RefusedError
from discreet.errors import BudgetError
from discreet.queries.crossed import CrossedCounts
from discreet.research.reproduce.zorarpaci2019.private_cells import PLACES, thesis
from discreet.sources.memory import MemorySource
from service_worlds import Service, started

WAYS = ("direct", "over HTTP", "by counts alone, over HTTP")
COMPARED = (("1R", 0), ("1R", 1), ("1R", 2), ("NB", 0), ("NB", 1))
"""Learners and ways; naive Bayes sends the same requests to a database that only counts."""
CERTAIN = 600
"""An ε at which a cell is wrong with probability e^-26, with 23 tables."""
ATTEMPTS = 8
"""Jobs in a row that may overrun their slots before the benchmark gives up."""


@dataclass
class Bank:
    """A data set, its schema and its folds."""

    name: str
    schema: Schema
    columns: Columns
    y: Any
    folds: list[folds.Fold]

    @classmethod
    def of(cls, directory: str, name: str) -> Bank:
        """Read a data set; classes are numbers, as the folds' labels are."""
        table = folds.load(directory, name)
        schema = Schema.load(Path(directory) / "schemas.json", name).replace(classes=list(range(len(table.classes))))
        planned = list(folds.planned_folds(name, table.y, None, 1))
        return cls(name, schema, Columns(_numbers_parsed(table)), table.y, planned)

    def training(self, fold: int) -> dict[str, Any]:
        """The columns that a fold trains on, the target among them."""
        rows = self.folds[fold].train
        return {**self.columns[rows], self.schema.target: self.y[rows]}

    def accuracy(self, model: Any, fold: int) -> float:
        """The share of the fold's test records that a model classifies correctly."""
        rows = self.folds[fold].test
        return float(np.mean(model.predict(self.columns[rows]) == self.y[rows]))


@dataclass
class Found:
    """What was measured so far."""

    epsilons: Sequence[float]
    scores: dict[tuple[str, str, float, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    asked: dict[tuple[str, str, int], Counting] = field(default_factory=dict)
    direct: dict[tuple[str, str], Fraction] = field(default_factory=dict)
    equal: int = 0
    unequal: int = 0
    lost: int = 0
    requests: int = 0
    folds: int = 0


def register(service: Service, bank: Bank, fold: int) -> str:
    """Register the training records of a fold as a table of the service."""
    name = f"{bank.name}-{fold}"
    path = service.folder / f"{name}.parquet"
    pq.write_table(pa.table({each: pa.array(values) for each, values in bank.training(fold).items()}), path)
    service.register(name, path, bank.schema)
    return name


def fitted(client: Client, bank: Bank, name: str, learner: str, epsilon: float, way: int, found: Found) -> Any:
    """A model learned over HTTP."""

    def fit() -> tuple[Any, Counting]:
        database = (Choosing if way == 1 else Counting)(client.dataset(name), epsilon)
        return LEARNERS[learner](bank.schema, epsilon=epsilon).fit_from(database), database

    model, database = patiently(found, fit)
    found.asked[bank.name, learner, way] = database
    found.requests += database.requests
    return model


def patiently(found: Found, ask: Callable[[], Any]) -> Any:
    """The answer of a request. A job that failed is paid and asked again, as an analyst would; they are counted."""
    for _ in range(ATTEMPTS):
        try:
            return ask()
        except BudgetError:
            raise
        except RefusedError:
            found.lost += 1
    raise RuntimeError(f"{ATTEMPTS} jobs failed one after another; give a longer --slot")


def compare(client: Client, bank: Bank, name: str, fold: int, found: Found) -> None:
    """Whether a table for each column is the exact one, where the noise is nothing."""
    bins = dict.fromkeys(bank.schema.numeric_names, 8)
    by = [{"column": each} | ({"bins": bins[each]} if each in bins else {}) for each in bank.schema.names]
    queries = [{"where": [], "by": [each, {"column": bank.schema.target}]} for each in by]
    local = CountDatabase(bank.training(fold), bank.schema, ledger=Ledger(CERTAIN))
    here = local.ask([CrossedCounts.from_plain(each) for each in queries], CERTAIN)
    there = patiently(found, lambda: client.dataset(name).ask(queries, CERTAIN))
    same = [np.array_equal(ours.counts, theirs.counts) for ours, theirs in zip(here, there, strict=True)]
    found.equal += sum(same)
    found.unequal += len(same) - sum(same)


def run_fold(service: Service, client: Client, banks: Sequence[Bank], fold: int, threads: int, found: Found) -> None:
    """Register the tables of a fold, and learn all models of it."""
    with ThreadPoolExecutor(threads) as pool:
        names = dict(
            zip([bank.name for bank in banks], pool.map(lambda each: register(service, each, fold), banks), strict=True)
        )
        list(pool.map(lambda each: compare(client, each, names[each.name], fold, found), banks))

    def one(case: tuple[Bank, float, tuple[str, int]]) -> None:
        bank, epsilon, (learner, way) = case
        if way:
            model = fitted(client, bank, names[bank.name], learner, epsilon, way, found)
        else:
            seed = folds.Key(bank.name, learner, epsilon, 0, fold).seed()
            model = LEARNERS[learner](bank.schema, epsilon=epsilon, random_state=seed)
            model.fit_from(MemorySource(bank.training(fold)))
            found.direct[bank.name, learner] = Fraction(model.guarantee_.epsilon) / Fraction(str(epsilon))
        found.scores[bank.name, learner, epsilon, way].append(bank.accuracy(model, fold))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, itertools.product(banks, found.epsilons, COMPARED)))
    found.folds += 1


def tables(banks: Sequence[Bank], found: Found) -> list[str]:
    """A table for each data set, then differences and what was asked."""
    lines: list[str] = []
    heads = [f"{learner} {WAYS[way]}" for learner, way in COMPARED]
    top = ["1R in the thesis", *heads[:3], "NB in the thesis", *heads[3:]]
    for bank in banks:
        lines += [f"\n### {bank.name} ({PLACES[bank.name]})\n", "| ε | " + " | ".join(top) + " |"]
        lines += ["|---" * (len(top) + 1) + "|"]
        for epsilon in found.epsilons:
            cells = [_shown(found.scores[bank.name, learner, epsilon, way]) for learner, way in COMPARED]
            told = {each: f"{thesis(bank.name, THESIS[each], str(epsilon)).value:.3f}" for each in LEARNERS}
            lines.append(f"| {epsilon:g} | " + " | ".join([told["1R"], *cells[:3], told["NB"], *cells[3:]]) + " |")
    return lines + differences(banks, found) + questions(banks, found)


def differences(banks: Sequence[Bank], found: Found) -> list[str]:
    """Over HTTP less direct: over all folds and data sets, with the standard error of the mean."""
    lines = ["\n### Over HTTP less direct: mean over data sets and folds ± its standard error\n"]
    shown = [case for case in COMPARED if case[1]]
    lines += ["| ε | " + " | ".join(f"{learner} {WAYS[way]}" for learner, way in shown) + " |", "|---|---|---|---|"]
    for epsilon in found.epsilons:
        cells = []
        for learner, way in shown:
            gaps = [
                ours - theirs
                for bank in banks
                for ours, theirs in zip(
                    found.scores[bank.name, learner, epsilon, way],
                    found.scores[bank.name, learner, epsilon, 0],
                    strict=True,
                )
            ]
            cells.append(f"{mean(gaps):+.3f} ± {stdev(gaps) / len(gaps) ** 0.5:.3f}")
        lines.append(f"| {epsilon:g} | " + " | ".join(cells) + " |")
    return lines


def questions(banks: Sequence[Bank], found: Found) -> list[str]:
    """Requests, tables and cells of a fit, and what it paid."""
    lines = ["\n### What a fit asks (the last one)\n"]
    lines += ["| data set | learner | way | requests | tables | cells | ε paid / ε | ε paid directly / ε |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for bank in banks:
        for learner, way in COMPARED:
            if way:
                each = found.asked[bank.name, learner, way]
                numbers = f"{each.requests} | {each.tables} | {each.cells} | {each.epsilon / each.allowed}"
                paid = found.direct[bank.name, learner]
                lines.append(f"| {bank.name} | {learner} | {WAYS[way]} | {numbers} | {paid} |")
    return lines


def main() -> None:
    """Run whole folds until the time is over, and write the tables after each."""
    parser = folds.arguments(__doc__)
    parser.set_defaults(epsilons=list(EPSILONS), datasets=list(PLACES), out=RESULTS / "count_service.md")
    parser.add_argument("--minutes", type=float, default=120, help="begin no other fold after this time")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--slot", type=float, default=3.0, help="seconds to a result; more on a busy machine")
    options = folds.parse(parser)
    banks = [Bank.of(options.data, name) for name in options.datasets]
    command = " ".join(["python benchmarks/count_service.py", *sys.argv[1:]])
    found, end = Found(options.epsilons), time.monotonic() + 60 * options.minutes
    with (
        tempfile.TemporaryDirectory() as folder,
        started(Path(folder) / "service", slot=options.slot, workers=options.workers) as service,
        Client(service.url, token=service.analysts[0]) as client,
    ):
        for fold in range(options.folds or folds.N_FOLDS):
            if time.monotonic() > end:
                break
            run_fold(service, client, banks, fold, options.workers + 1, found)
            text = HEADER.format(**vars(found), command=command) + "\n".join(tables(banks, found)) + "\n"
            options.out.write_text(text, encoding="utf-8")
            print(f"fold {fold}: {found.requests} requests, {found.lost} lost", flush=True)


HEADER = """# Learned by count queries over HTTP

Command: `{command}`.

Accuracy of `OneRule` and `NaiveBayes(select=None)`, learned from a data set of a running service
(`fit_from(client.dataset(...))`: requests of the kind `count`, answered by workers), beside the same models fitted
directly at the same ε and the thesis's figures without a choice of columns. {folds} of 10 stratified folds, the same
for all; ± is the standard error over folds. {requests} requests in all; {lost} fits met a job that overran its slot on
a busy machine, and were asked again.
Public data: these scores are not themselves private.

Tables asked at ε = 600, where the noise is nothing: {equal} equal the exact ones in every cell, {unequal} do not.
"""

if __name__ == "__main__":
    main()
