"""The scores of hyperplanes in PostgreSQL's SQL: integers by record, of which only sums come back.

Weights are sent as what each cell adds to a score, an integer in fixed point, and codes pick it from an array.

Guarantee  what a record is given here (its cells, score, slopes, and where p > 0) are the integers of the tasks
           (privacy/mechanisms/slopes.py, curvature.py), for every record.
Proof      Cells are codes (postgres_coded.py), or leaves of a tree. Scores are sums of the same integers: of 64 bits
           where the tasks use those, because no sum leaves them, else of any size (numeric), which PostgreSQL adds,
           subtracts, multiplies, compares, and divides (div, mod) exactly. The tasks sort the scores u of the classes;
           here class k has p > 0 if the sum over j of max(0, u_j - u_k) is below T. That is the same: for the i-th
           largest, i u_(i) > (sum of the i largest) - T says that the sum over j <= i of u_(j) - u_(i) is below T, and
           the terms of smaller u are 0; equal scores have equal sums. It is at most K times the difference of two
           scores, below 2**63 as K times the largest score is below 2**62. With many classes they are sorted here too.
           Division is rounded down: a - mod(mod(a, n) + n, n) is a multiple of n, for n > 0.
Test       tests/engines/test_postgres_linear.py::test_slopes_and_bends_agree, ::test_integers_of_any_size_agree
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.mechanisms.curvature import PARTS, Bend, ClassBend, Vectors
from discreet.privacy.mechanisms.exact_sums import HALF
from discreet.privacy.mechanisms.slopes import ClassSlopes, Slopes
from discreet.queries.hyperplanes import Feature
from discreet.queries.mixing import PRIME
from discreet.queries.trees import Tree
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.feature_sums import OverFeatures
from discreet.sources.postgres_coded import CodedTable, leaf_of, listed

S = TypeVar("S", bound=Slopes | ClassSlopes | Bend | ClassBend)

UNROLLED = 16
"""With at most this many classes, all pairs of scores are compared; the scores of more are sorted."""


@dataclass(frozen=True)
class Celled:
    """A SELECT of the cell of each group (g0, g1, ...) and of the side or class (y), and its parameters.

    Cells are numbered among those that occur in the table (`used`), so that texts and groups are few.
    """

    text: str
    values: list[Any]
    used: tuple[NDArray[np.intp], ...]

    @property
    def cells(self) -> str:
        """The names of the cells, as a list with a comma behind it."""
        return "".join(f"g{place}, " for place in range(len(self.used)))

    def short(self, sums: S) -> S:
        """The same sums, for the cells that occur."""
        tables = tuple(table[used] for table, used in zip(sums.tables, self.used, strict=True))
        if isinstance(sums, Slopes | ClassSlopes):
            return replace(sums, tables=tables)
        places, weights = (
            tuple(each[used] for each, used in zip(every, self.used, strict=True))
            for every in (sums.vectors.places, sums.vectors.weights)
        )
        return replace(sums, tables=tables, vectors=replace(sums.vectors, places=places, weights=weights))


def celled(table: CodedTable, task: OverFeatures, schema: Schema, vectors: Vectors | None) -> Celled:
    """The cells of all records with one of the classes; of those that the vectors count, if there are any."""
    coded = table.select([cells for each in task.features for cells in each.read], schema)

    def cell(feature: Feature) -> str:
        if isinstance(feature.cells, Tree):
            return leaf_of(feature.cells, coded.names, range(feature.cells.leaves))
        return coded.names[feature.cells]

    side = "y" if task.classes > 2 else f"CASE WHEN y = {task.classes - 1} THEN 1 ELSE -1 END AS y"
    cells = [f"{cell(each)} AS g{place}" for place, each in enumerate(task.features)]
    text = f"SELECT {', '.join([*cells, side])} FROM ({coded.text}) AS coded WHERE y < {task.classes} OFFSET 0"
    if vectors is not None and vectors.zeros:
        codes = ["(y & 65535)", *(f"g{place}" for place in range(len(task.features)))]
        terms = " + ".join(f"{code}::int8 * {factor}" for code, factor in zip(codes, vectors.factors, strict=True))
        mask = (1 << vectors.zeros) - 1
        text = f"SELECT * FROM ({text}) AS celled WHERE mod({terms}, {PRIME}) & {mask} = 0 OFFSET 0"
    every = table.occupied([each.cells for each in task.features if isinstance(each.cells, Cells)], schema)
    used, ranks = [], []
    for place, feature in enumerate(task.features):
        if isinstance(feature.cells, Tree):
            used.append(np.arange(feature.cells.leaves))
            ranks.append(f"g{place}")
        else:
            used.append(every[feature.cells])
            rank = np.searchsorted(used[-1], np.arange(used[-1].max(initial=0) + 1))
            ranks.append(f"{listed(rank.tolist(), f'g{place}')} AS g{place}")
    text = f"SELECT {', '.join([*ranks, 'y'])} FROM ({text}) AS celled OFFSET 0"
    return Celled(text, coded.values, tuple(used))


class Numbers:
    """How the integers of a task are written: as those of 64 bits, or of any size."""

    def __init__(self, tables: Sequence[NDArray[Any]]) -> None:
        self.is_small = bool(tables) and tables[0].dtype != object
        self.kind = "int8" if self.is_small else "numeric"

    def of(self, value: int) -> str:
        """An integer."""
        return f"'{int(value)}'::{self.kind}"

    def score(self, tables: Sequence[NDArray[Any]], constant: int) -> str:
        """The constant, and what each cell adds to it."""
        added = [listed(table.tolist(), f"g{place}", self.kind) for place, table in enumerate(tables)]
        return " + ".join([self.of(constant), *added])

    def floor(self, value: str, by: str) -> str:
        """A value divided by a positive one, rounded down."""
        if self.is_small:
            return f"(({value}) - mod(mod({value}, {by}) + {by}, {by})) / {by}"
        return f"div(({value}) - mod(mod({value}, {by}) + {by}, {by}), {by})"

    def limbs(self, value: str, limbs: int, largest: int) -> list[str]:
        """The limbs of an integer of at most this size, each of which fits 32 bits.

        Numbers of any size are made positive first, by a multiple of what the last limb counts in.
        """
        if self.is_small:
            low = [f"(({value} >> {HALF * place}) & {(1 << HALF) - 1})::int4" for place in range(limbs - 1)]
            return [*low, f"({value} >> {HALF * (limbs - 1)})::int4"]
        top = 1 << (HALF * (limbs - 1))
        more = largest // top + 1
        positive = f"({value} + {self.of(more * top)})"
        low = [
            f"mod(div({positive}, {self.of(1 << (HALF * place))}), {self.of(1 << HALF)})::int4"
            for place in range(limbs - 1)
        ]
        return [*low, f"(div({positive}, {self.of(top)}) - {more})::int4"]


def margins(cells: Celled, task: Slopes | Bend) -> str:
    """The SELECT of cells, sides and margins (m)."""
    score = Numbers(task.tables).score(task.tables, task.constant)
    return f"SELECT {cells.cells}y, y * ({score}) AS m FROM ({cells.text}) AS celled OFFSET 0"


def supports(cells: Celled, task: ClassSlopes | ClassBend) -> str:
    """The SELECT of cells, classes, the scores with margins (u0, u1, ...), and of those of classes with p > 0: their
    number (n), their sum less T (above), and the lowest of them (low)."""
    numbers, classes = Numbers(task.tables), range(len(task.constant))
    unit, scores = numbers.of(task.unit), []
    for place in classes:
        score = numbers.score([table[:, place] for table in task.tables], task.constant[place])
        margin = f"CASE WHEN y = {place} THEN {numbers.of(0)} ELSE {numbers.of(task.margin)} END"
        scores.append(f"{score} + {margin} AS u{place}")
    scored = f"SELECT {cells.cells}y, {', '.join(scores)} FROM ({cells.text}) AS celled OFFSET 0"
    every = ", ".join(f"u{place}" for place in classes)
    if len(classes) > UNROLLED:
        kind = numbers.kind
        ranked = (
            f"SELECT u, row_number() OVER w AS j, sum(u) OVER w AS s FROM unnest(ARRAY[{every}]) AS e(u) "
            "WINDOW w AS (ORDER BY u DESC ROWS UNBOUNDED PRECEDING)"
        )
        found = f"SELECT count(*) AS n, (sum(u) - {unit})::{kind} AS above, min(u) AS low FROM ({ranked}) AS ranked"
        return f"SELECT * FROM ({scored}) AS scored, LATERAL ({found} WHERE j * u > s - {unit}) AS found OFFSET 0"
    lead = [
        " + ".join(f"greatest(u{other} - u{place}, 0)" for other in classes if other != place) or "0"
        for place in classes
    ]
    active = ", ".join(f"CASE WHEN {text} < {unit} THEN u{place} END AS a{place}" for place, text in enumerate(lead))
    chosen = f"SELECT *, {active} FROM ({scored}) AS scored OFFSET 0"
    positive = ", ".join(f"a{place}" for place in classes)
    total = " + ".join(f"coalesce(a{place}, 0)" for place in classes)
    found = f"num_nonnulls({positive}) AS n, {total} - {unit} AS above, least({positive}) AS low"
    return f"SELECT {cells.cells}y, {every}, {found} FROM ({chosen}) AS chosen OFFSET 0"


def slopes_of(cells: Celled, task: Slopes | ClassSlopes) -> tuple[str, list[str]]:
    """The SELECT of cells and slopes, and the texts of the limbs of all slopes: those of the first limb come first."""
    numbers, layout = Numbers(task.tables), task.layout
    if isinstance(task, Slopes):
        corner = task.corner
        pieces = zip(corner.ends, corner.widths, corner.factors, strict=True)
        rising = " + ".join(
            f"least(greatest({numbers.of(end)} - m, 0), {numbers.of(width)}) * {factor}"
            for end, width, factor in pieces
        )
        text, largest = f"SELECT {cells.cells}y * ({rising}) AS v0 FROM ({margins(cells, task)}) AS scored", corner.full
    else:
        theta = numbers.floor("above", "n")
        found = f"SELECT *, {theta} AS theta FROM ({supports(cells, task)}) AS supported OFFSET 0"
        slopes = [
            f"greatest(u{place} - theta, 0) - CASE WHEN y = {place} THEN {numbers.of(task.unit)} ELSE 0 END AS v{place}"
            for place in range(layout.classes)
        ]
        text, largest = f"SELECT {cells.cells}{', '.join(slopes)} FROM ({found}) AS found", task.unit
    by_class = [numbers.limbs(f"v{place}", layout.limbs, largest) for place in range(layout.classes)]
    return f"{text} OFFSET 0", list(np.array(by_class).T.ravel())


def bent(cells: Celled, task: Bend | ClassBend) -> str:
    """The SELECT of cells of the records that a bend counts; for several classes, once for each pair of classes with
    p > 0 that is asked for (its number is `pair`), with what it counts there (`c`)."""
    if isinstance(task, Bend):
        numbers = Numbers(task.tables)
        corner = task.corner
        pieces = zip(corner.ends, corner.widths, corner.factors, strict=True)
        cases = " ".join(
            f"WHEN m <= {numbers.of(end)} AND m > {numbers.of(end - width)} THEN {factor}"
            for end, width, factor in pieces
        )
        found = f"SELECT {cells.cells}CASE {cases} ELSE 0 END AS c FROM ({margins(cells, task)}) AS scored OFFSET 0"
        return f"SELECT {cells.cells}0 AS pair, c FROM ({found}) AS found WHERE c > 0 OFFSET 0"
    classes = len(task.constant)
    active = ", ".join(f"CASE WHEN u{place} >= low THEN {place} END" for place in range(classes))
    held = f"array_remove(ARRAY[{active}], NULL)"
    found = f"SELECT {cells.cells}n, {held} AS held FROM ({supports(cells, task)}) AS supported WHERE n > 1 OFFSET 0"
    number = np.full((classes, classes), -1)
    for place, (one, other) in enumerate(task.pairs):
        number[one, other] = place
    pair = listed(number.ravel().tolist(), f"(one * {classes} + other)")
    counts = f"(CASE WHEN one = other THEN {PARTS} ELSE 0 END - {PARTS} / n)::int4"
    each = "unnest(held) AS e(one) CROSS JOIN LATERAL unnest(held) AS f(other)"
    pairs = f"SELECT {cells.cells}{pair} AS pair, {counts} AS c FROM ({found}) AS found CROSS JOIN LATERAL {each}"
    return f"SELECT * FROM ({pairs} WHERE one <= other OFFSET 0) AS paired WHERE pair >= 0 OFFSET 0"
