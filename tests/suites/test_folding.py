"""Every model is the same to the last integer whether records are held or added up where they live."""

import csv
import json
import pickle
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, LinearSVM, Numeric, Schema
from discreet.doors import gathering, tree_folds
from discreet.errors import DataError
from discreet.models.saving import to_dict
from discreet.privacy.mechanisms import problem, secants
from discreet.sources import tree_counts
from discreet.sources.blocks import BlockSource
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.memory import MemorySource
from support.estimators import DEALT, PRIVATE
from support.neighbours import ADJACENCIES, neighbours
from support.neighbours import schema as small_schema
from support.records import draw_records
from support.replay import replay, visible

ROWS = 600
CLASSES = {"two": ["well", "ill"], "three": ["well", "ill", "unknown"]}


def public(classes="two"):
    return Schema(
        [
            Numeric("age", 0, 100),
            Numeric("dose", -2, 3, grid=50),
            Categorical("sex", ["F", "M"]),
            Categorical("site", ["north", "south", "3"]),
        ],
        "outcome",
        CLASSES[classes],
        records=ROWS,
    )


def sources(folder):
    """The same table on every engine, in the same order."""
    columns = draw_records(ROWS, 3)
    table = pa.table({name: pa.array(list(values), from_pandas=True) for name, values in columns.items()})
    pq.write_table(table, folder / "t.parquet")
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(
            ["" if each is None or each != each else each for each in row]
            for row in zip(*columns.values(), strict=True)
        )
    connection = duckdb.connect()
    connection.register("view", table)
    connection.execute("CREATE TABLE t AS SELECT * FROM view")

    def blocks(schema):
        for start in range(0, ROWS, 100):
            yield {name: columns[name][start : start + 100] for name in schema.all_names}

    return {
        "memory": MemorySource(columns),
        "csv": CsvSource(folder / "t.csv"),
        "parquet": DuckDBSource(folder / "t.parquet"),
        "duckdb": DuckDBSource(connection=connection, table="t"),
        "blocks": BlockSource(blocks),
    }


def file_of(model):
    return json.dumps(to_dict(model))


def folding(monkeypatch, **bounds):
    """No record may be held, and as few counts as wanted."""
    monkeypatch.setattr(gathering, "HELD", 0)
    for name, value in bounds.items():
        monkeypatch.setattr(tree_counts if name == "BLOCK" else tree_folds, name, value)


@pytest.mark.slow
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", PRIVATE)
def test_folded_fits_equal_those_in_memory(name, classes, monkeypatch, tmp_path):
    """The same seed gives the same model file on every engine."""
    schema, engines = public(classes), sources(tmp_path)
    expected = file_of(PRIVATE[name](schema, epsilon=4, random_state=5).fit_from(engines["memory"]))
    folding(monkeypatch)
    for engine, source in engines.items():
        assert file_of(PRIVATE[name](schema, epsilon=4, random_state=5).fit_from(source)) == expected, engine


@pytest.mark.parametrize("depth", [1, 3, 6])
@pytest.mark.parametrize("bounds", [{"AT_ONCE": 1}, {"AT_ONCE": 2000, "BLOCK": 7}])
def test_levels_may_take_several_passes(bounds, depth, monkeypatch, tmp_path):
    """A level with too many counts for one pass is counted in several, with the same result."""
    schema, engines = public("three"), sources(tmp_path)
    model = PRIVATE["decision-tree greedy"](schema, epsilon=50, random_state=1).set_params(max_depth=depth)
    expected = file_of(model.fit_from(engines["memory"]))
    folding(monkeypatch, **bounds)
    for engine in ("memory", "duckdb"):
        assert file_of(model.fit_from(engines[engine])) == expected


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", sorted(set(PRIVATE) - DEALT))
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_record_and_replay_through_folding(name, adjacency, data):
    """Neighbours that are folded cost no more than epsilon, and show nothing else."""
    table, other = data.draw(neighbours(adjacency))

    def fit(rows):
        return PRIVATE[name](small_schema(adjacency), epsilon=1, random_state=3).fit(rows)

    with pytest.MonkeyPatch.context() as patch:
        folding(patch)
        loss, model, again = replay(fit, table, other)
    assert loss <= 1 + 1e-6
    assert visible(model) == visible(again)


class Changing(MemorySource):
    """A table to which records are added between two passes."""

    def __init__(self, tables):
        self._tables, self.passes = tables, 0

    def check(self, schema):
        MemorySource(self._tables[0]).check(schema)

    def _now(self):
        self.passes += 1
        return MemorySource(self._tables[min(self.passes, len(self._tables)) - 1])

    def count(self, cells, schema):
        return self._now().count(cells, schema)

    def rows(self, cells, schema):
        return self._now().rows(cells, schema)


def longer(rows):
    return draw_records(rows, 3)


FOLDED = {
    **{
        name: PRIVATE[name]
        for name in ("decision-tree greedy", "decision-tree labelled", "decision-tree random", "decision-tree stump")
    },
    "svm of one reading": partial(LinearSVM, ranges=None),
}


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("at", [2, 3, 4, 5])
def test_a_table_that_changes_while_it_is_read_teaches_nothing(name, at, monkeypatch):
    """All passes of a reading meet one table, or the fit fails: at whichever pass the table has changed."""
    folding(monkeypatch)
    ledger, source = Ledger(1), Changing([longer(600)] * (at - 1) + [longer(610)])
    model = FOLDED[name](public(), epsilon=1, random_state=1)
    resting = Changing([longer(600)])
    FOLDED[name](public(), epsilon=1, random_state=1).fit_from(resting)
    if resting.passes < at:
        return  # the fit takes fewer passes
    with pytest.raises(DataError, match="changed while it was read"):
        model.fit_from(source, ledger=ledger)
    assert ledger.spent > 0


def test_another_door_may_meet_another_table(monkeypatch):
    """A fit of three readings (splits, ranges, weights): each meets a table of its own, as losses add (Source)."""
    source = Changing([longer(600), longer(700), longer(800)])
    model = LinearSVM(public(), epsilon=1, leaves=2, random_state=1).fit_from(source)
    assert source.passes == 3
    assert model.receipt_.epsilon == 1


@dataclass(frozen=True)
class _Forgetful:
    """A mutant of a task: the second block of a table is forgotten."""

    task: object
    seen: list

    @property
    def size(self):
        return self.task.size

    def __call__(self, block):
        self.seen.append(1)
        return self.task(block) * (len(self.seen) != 2)


def test_a_forgotten_block_is_noticed(monkeypatch, tmp_path):
    """A pass that leaves records out has another fingerprint than one that does not."""
    schema, source = public(), sources(tmp_path)["blocks"]
    model = PRIVATE["decision-tree greedy"](schema, epsilon=50, random_state=1)
    folding(monkeypatch)
    original = type(source).fold
    monkeypatch.setattr(
        type(source), "fold", lambda self, cells, given, task: original(self, cells, given, _Forgetful(task, []))
    )
    with pytest.raises(DataError, match="changed while it was read"):
        model.fit_from(source)


def test_tasks_can_be_sent_to_where_the_records_are():
    """A task holds public things alone, and can be pickled."""
    from discreet.queries.trees import Split, complete_tree

    tree = complete_tree([[Split("age", 4, 1)]])
    task = tree_counts.CountsAt(tree, (0, 1), 0, 2, 2, (tree_counts.Grouped(tree.cells[0], 4, None),))
    assert pickle.loads(pickle.dumps(task)) == task
    assert task.size == 2 * 2 * (1 + 4)
    assert isinstance(task.size, int)
    assert np.issubdtype(np.asarray(task.numbers).dtype, np.integer)


LINEAR = ["svm", "svm leaves=2", "svm ranges=0.3", "auto"]


def sampling(monkeypatch, few=50, sums=1 << 12):
    """The search may look at a sample alone."""
    monkeypatch.setattr(problem, "FEW", few)
    monkeypatch.setattr(secants, "SUMS", (sums, 4 * sums))


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", LINEAR)
def test_a_search_in_a_sample_is_the_same_on_every_engine(name, classes, monkeypatch, tmp_path):
    """The sample does not depend on where the records are, nor on their order; nor do the sums over all of them."""
    schema, engines = public(classes), sources(tmp_path)
    exact = PRIVATE[name](schema, epsilon=4, random_state=5).fit_from(engines["memory"])
    sampling(monkeypatch)
    expected = PRIVATE[name](schema, epsilon=4, random_state=5).fit_from(engines["memory"])
    gaps = [
        np.abs(one.values - other.values).max()
        for (_, one), (_, other) in zip(exact.noisy_.tables, expected.noisy_.tables, strict=True)
    ]
    assert max(gaps) <= 1, "another point near the same minimiser, and the same noise"
    folding(monkeypatch)
    order = np.random.default_rng(1).permutation(ROWS)
    shuffled = {name: values[order] for name, values in draw_records(ROWS, 3).items()}
    for engine, source in {**engines, "shuffled": MemorySource(shuffled)}.items():
        assert file_of(PRIVATE[name](schema, epsilon=4, random_state=5).fit_from(source)) == file_of(expected), engine


@pytest.mark.parametrize("sums", [1 << 4, 1 << 8])
def test_a_poor_sample_is_no_obstacle(sums, monkeypatch):
    """A sample of next to nothing: a larger one is taken, then all records, and the search arrives."""
    columns = draw_records(ROWS, 3)
    model = PRIVATE["svm"](public(), epsilon=4, random_state=5)
    expected = model.fit_from(MemorySource(columns)).noisy_.tables[-1][1].values
    sampling(monkeypatch, sums=sums)
    folding(monkeypatch)
    found = model.fit_from(MemorySource(columns)).noisy_.tables[-1][1].values
    assert np.abs(found - expected).max() <= 1


def test_the_certificate_is_of_its_own_pass():
    """The error bound grows with the records of the pass that the gradient is from, not of an earlier one."""
    from discreet.privacy.mechanisms.corner import Corner
    from discreet.privacy.mechanisms.minimiser import ExactGradient, OverAll
    from discreet.privacy.mechanisms.problem import Problem
    from discreet.queries.hyperplanes import feature_of

    feature = feature_of(Numeric("a", 0, 1, grid=4), 3)

    def records(rows):
        return Problem((feature,), (np.arange(rows, dtype=np.uint16) % 5,), np.ones(rows, dtype=np.int8))

    class Growing:
        features = (feature,)
        rows = 10

        def fold(self, sums):
            self.rows *= 10
            return records(self.rows).fold(sums)

    exact = ExactGradient(OverAll(Growing(), Corner.of(0.5), 1.0), [Fraction(0)] * 4, 30)
    for rows in (100, 1000):
        gradient, error = exact([0] * 4)
        again, bound = ExactGradient(OverAll(records(rows), Corner.of(0.5), 1.0), [Fraction(0)] * 4, 30)([0] * 4)
        assert error == bound
        assert np.array_equal(gradient, again)
        assert exact.steepest == 1 + 2 * rows


class Another(MemorySource):
    """A mutant: the passes after the first few read another table."""

    def __init__(self, first, second, at):
        super().__init__(first)
        self._second, self._left = MemorySource(second), at

    def fold(self, cells, schema, task):
        self._left -= 1
        return (super() if self._left >= 0 else self._second).fold(cells, schema, task)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_certificate_from_another_table_is_refused(at, monkeypatch):
    """Same number of records, one of them another: the fit fails, at whichever pass it is."""
    folding(monkeypatch)
    columns = draw_records(ROWS, 3)
    other = {**columns, "dose": np.concatenate([columns["dose"][:-1], [2.5]])}
    sampling(monkeypatch)
    with pytest.raises(DataError, match="changed while it was read"):
        PRIVATE["svm"](public(), epsilon=1, random_state=1).fit_from(Another(columns, other, at))
