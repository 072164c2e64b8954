"""Records are counted by predicates inside PostgreSQL: only counts come back, and they are those of memory."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, CountDatabase, Ledger, NaiveBayes, Numeric, Schema
from discreet.doors.questions import ask
from discreet.errors import ParameterError
from discreet.privacy.randomness import as_rng
from discreet.queries.crossed import CrossedCounts
from discreet.sources.crossed_counts import CountedTables
from discreet.sources.memory import MemorySource
from discreet.sources.postgres import PostgresSource
from support.agreement import CATEGORIES, CLASSES, NUMBERS, TEXTS, crossed_queries, fill_table, objects

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

DECIMALS = [None, *map(decimal.Decimal, ["1", "1.0", "2.50", "0.3", "-1", "NaN", "Infinity", "1e400", "0.00"])]
TYPED = {
    "text": ("text", TEXTS),
    "100%": ("float8", NUMBERS),
    "word": ("text", TEXTS[::-1]),
    "number": ("numeric", DECIMALS),
    "flag": ("bool", [True, False, None]),
    "large": ("int8", [-1, 0, 1, 3, 2**53 + 1, None]),
    "bytes": ("bytea", [b"a", None]),
    "label": ("text", [*CLASSES, "a", None, "1.0", " it's ", "?"]),
}
SCHEMA = Schema(
    [
        Categorical("text", CATEGORIES),
        Numeric("100%", -1, 3, fill=-1),
        Numeric("word", -1, 3, grid=7),
        Numeric("number", -1, 3, grid=65_000, fill=3),
        Categorical("flag", [0, 1], unlisted=False, missing=1),
        Numeric("large", -1, 3, grid=50),
        Categorical("bytes", ["a"]),
    ],
    "label",
    CLASSES,
)
LAST = [
    CrossedCounts.of(
        [{"column": "100%", "in": [-1, 0.3, 3]}], ["flag", "bytes", "label", {"column": "large", "bins": 9}]
    ),
    CrossedCounts.of([{"column": "flag", "equals": 1}, {"column": "large", "between": [0, 2]}], ["text"]),
    CrossedCounts(),
]


def untidy(rows, seed=0):
    rng = np.random.default_rng(seed)
    return {name: [values[k] for k in rng.integers(len(values), size=rows)] for name, (_, values) in TYPED.items()}


@pytest.mark.parametrize("rows", [0, 1, 400])
def test_crossed_counts_agree(database, postgres, rows):
    columns = untidy(rows)
    fill_table(database, "t", {name: kind for name, (kind, _) in TYPED.items()}, columns)
    memory = MemorySource({name: objects(columns[name]) for name in SCHEMA.all_names})
    task = CountedTables.of([*crossed_queries(SCHEMA), *LAST], SCHEMA)
    for stream in (False, True):
        with PostgresSource(postgres, table="clinic.t", stream=stream) as source:
            source.check(SCHEMA)
            got = source.fold(task.cells, SCHEMA, task)
        np.testing.assert_array_equal(got, memory.fold(task.cells, SCHEMA, task), err_msg=f"stream={stream}")


def test_the_door_and_models_need_no_rows(database, postgres):
    columns = untidy(300)
    fill_table(database, "t", {name: kind for name, (kind, _) in TYPED.items()}, columns)
    memory = MemorySource({name: objects(columns[name]) for name in SCHEMA.all_names})
    source = PostgresSource(postgres, table="clinic.t")
    for epsilon in (Fraction(1), math.inf):
        ours, theirs = (
            ask(each, SCHEMA, LAST, epsilon, Ledger.unlimited(), as_rng(0)).to_dict() for each in (source, memory)
        )
        assert ours == theirs
    model = NaiveBayes(SCHEMA, epsilon=1).fit_from(CountDatabase(source, SCHEMA, ledger=Ledger(1), random_state=2))
    assert model.noisy_.to_dict() == (
        NaiveBayes(SCHEMA, epsilon=1)
        .fit_from(CountDatabase(memory, SCHEMA, ledger=Ledger(1), random_state=2))
        .noisy_.to_dict()
    )


def test_a_view_that_may_differ_between_tables_is_refused_before_the_charge(database, postgres):
    """A record that is in one predicate for one table and in another for the next would be in both."""
    fill_table(database, "t", {name: kind for name, (kind, _) in TYPED.items()}, untidy(20))
    database.execute("CREATE VIEW v AS SELECT * FROM t WHERE random() < 0.5")
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="may give other records each time"):
        ask(PostgresSource(postgres, table="clinic.v"), SCHEMA, LAST, Fraction(1), ledger, as_rng(0))
    assert ledger.entries == []
