"""Counts by predicates, in PostgreSQL's SQL: one statement and one scan for each table, and only counts come back.

Numbers are coded and tested in SQL as in postgres_sql.py. Values of all else are grouped raw and encoded here, each
distinct combination once, by the encoding itself.

Guarantee  the counts are those that the task itself adds up over coded blocks, to the last integer.
Proof      each record has the codes of the encoding: numbers by the proof of postgres_sql.py; all else since records of
           one group have the same raw values, and the encoding is a function of the value. A group passes, and lies in
           a cell, as each of its records does. All statements read one snapshot of a table that is the same whenever it
           is read (`check_sums`): so all tables of a request are about the same records, as the proof of `Apart`
           (privacy/steps.py) needs.
Test       tests/engines/test_postgres_crossed.py::test_crossed_counts_agree
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.queries.predicates import Spans
from discreet.records.encoding import Cells, class_codes
from discreet.schema import Schema
from discreet.sources import postgres_sql
from discreet.sources.crossed_counts import Coded, CountedTable, CountedTables
from discreet.sources.postgres_session import Rows, Session
from discreet.sources.postgres_values import values_of


def counted(
    session: Session, relation: str, kinds: Mapping[str, str], task: CountedTables, schema: Schema
) -> NDArray[np.int64]:
    """What the task answers for all records."""
    answers = []
    for table in task.tables:
        total = np.zeros(table.size, dtype=np.int64)
        raw = _raw(table, kinds, schema)
        for rows in session.fetch(_statement(table, raw, relation, kinds, schema)):
            codes, numbers = _coded(rows, table, raw, kinds, schema)
            table.add(codes, codes[None] < task.classes, total, numbers)
        answers.append(total)
    return np.concatenate(answers)


def _raw(table: CountedTable, kinds: Mapping[str, str], schema: Schema) -> list[str]:
    """The columns whose values are encoded here; the target comes first."""
    names = [each.column for each in table.cells if not postgres_sql.is_coded(each, schema, kinds)]
    return list(dict.fromkeys([schema.target, *names]))


def _codes(table: CountedTable, kinds: Mapping[str, str], schema: Schema) -> list[Cells]:
    """The cells of the axes whose codes are computed in SQL."""
    axes = [each for each, _ in table.axes if each is not None]
    return [each for each in dict.fromkeys(axes) if postgres_sql.is_coded(each, schema, kinds)]


def _statement(table: CountedTable, raw: list[str], relation: str, kinds: Mapping[str, str], schema: Schema) -> str:
    """The SELECT of one table: raw values, codes, number of records."""
    coded = _codes(table, kinds, schema)
    grouped = [f"{postgres_sql.raw(name, kinds)} AS r{place}" for place, name in enumerate(raw)]
    grouped += [f"{postgres_sql.code(each, schema, kinds)} AS k{place}" for place, each in enumerate(coded)]
    tests = [
        _test(postgres_sql.code(each, schema, kinds), spans)
        for each, spans in table.passing
        if each is not None and postgres_sql.is_coded(each, schema, kinds)
    ]
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    keys = ", ".join(str(place + 1) for place in range(len(grouped)))
    shown = [f"r{place}::text" for place in range(len(raw))] + [f"k{place}" for place in range(len(coded))]
    inner = f"SELECT {', '.join(grouped)}, count(*) AS n FROM {relation}{where} GROUP BY {keys}"
    return f"SELECT {', '.join(shown)}, n FROM ({inner}) AS grouped"


def _test(code: str, spans: Spans) -> str:
    return f"({' OR '.join(f'{code} BETWEEN {start} AND {stop - 1}' for start, stop in spans)})"


def _coded(
    rows: Rows, table: CountedTable, raw: list[str], kinds: Mapping[str, str], schema: Schema
) -> tuple[Coded, NDArray[np.int64]]:
    """The codes of some groups, and the number of records in each. What was tested in SQL passes."""
    values: dict[str, Any] = {
        name: values_of((row[place] for row in rows), kinds[name]) for place, name in enumerate(raw)
    }
    codes: Coded = {None: class_codes(values[schema.target], schema).astype(np.uint16)}
    for place, each in enumerate(_codes(table, kinds, schema), len(raw)):
        codes[each] = np.array([row[place] for row in rows], dtype=np.uint16)
    for tested, spans in table.passing:
        if tested is not None and postgres_sql.is_coded(tested, schema, kinds):
            codes[tested] = np.full(len(rows), spans[0][0], dtype=np.uint16)
    for each in table.cells:
        if each not in codes:
            codes[each] = each.codes(values[each.column], schema).astype(np.uint16)
    return codes, np.array([row[-1] for row in rows], dtype=np.int64)
