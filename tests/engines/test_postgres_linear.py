"""Linear models are found inside PostgreSQL: only sums come back, and the model is that of any engine by sums."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from discreet import Auto, Ledger, LinearSVM, Numeric, Schema
from discreet.errors import FileError, ParameterError
from discreet.models.saving import to_dict
from discreet.privacy.mechanisms import curvature
from discreet.privacy.mechanisms.corner import Corner
from discreet.privacy.mechanisms.curvature import Curvature
from discreet.privacy.mechanisms.minimiser import ExactGradient, OverAll
from discreet.privacy.mechanisms.multiclass_minimiser import ExactMulticlassGradient
from discreet.privacy.mechanisms.multiclass_minimiser import OverAll as OverClasses
from discreet.queries.hyperplanes import Hyperplanes
from discreet.queries.margins import Margins
from discreet.queries.trees import Split, complete_tree
from discreet.records.encoding import Cells
from discreet.sources import postgres_linear, postgres_scores
from discreet.sources.feature_sums import OverFeatures
from discreet.sources.postgres import PostgresSource
from discreet.sources.postgres_session import LOST
from support.agreement import fill_table
from support.replay import Seen, replay, visible
from support.sums_only import SumsOnly
from support.untidy import in_arrays, in_memory, mixed_schema, types, untidy

pytestmark = pytest.mark.engines
pytest.importorskip("psycopg")

CLASSES = {"two": ["a", 1], "three": ["a", 1, "it's"], "five": ["a", 1, "it's", 0, 2.5]}
TREE = complete_tree([[Split("double", 5, 2)], [Split("text", None, 1), None]])
CORNER = Corner.of(0.5, [Fraction(3, 4), Fraction(9, 10)])
"""Three pieces, each bent half as much as the one before."""
PLANS = {
    "lines": Hyperplanes(1, 20),
    "knots": Hyperplanes(4, 20),
    "edges": Hyperplanes(3, 20, edges=True),
    "leaves": Hyperplanes(2, 20, columns=("text", "large"), nodes=TREE.nodes),
    "nothing": Hyperplanes(1, 20, columns=()),
}


class Recorded:
    """What a gradient or a bend asks for, kept instead of being answered."""

    sums_only = True

    def __init__(self, features):
        self.features, self.asked = features, []

    def fold(self, sums):
        self.asked.append(sums)
        return np.zeros(sums.size, dtype=np.int64)


def tasks(plan, schema, bits, seed, some=None):
    """The task of a gradient and that of a bend, of all records or of one of `some`."""
    features, classes = plan.features(schema), len(schema.classes)
    records, rng = Recorded(features), np.random.default_rng(seed)
    problems = 1 if classes == 2 else classes
    w = rng.normal(0, 1, problems * (sum(each.size for each in features) + 1))
    b = [Fraction(0)] * len(w)
    if classes == 2:
        exact = ExactGradient(OverAll(records, CORNER, 1.0), b, bits)
    else:
        exact = ExactMulticlassGradient(OverClasses(records, classes, 1.0, 1.0), b, bits)
    point = exact.point(w)
    exact(point)
    bent = Curvature(features, problems, 1.0, 1.0)
    bend = exact.bend(
        point, bent.vectors((some or 1) * 64 * len(w), some is None), *([] if classes == 2 else [bent.pairs])
    )
    cells = [cells for each in features for cells in each.read]
    return cells, [OverFeatures(each, features, classes) for each in (*records.asked, bend)]


def assert_sums(source, columns, schema, bits=(40,), plans=tuple(PLANS), **options):
    memory = in_memory(columns, schema)
    for name in plans:
        for seed, each in enumerate(bits):
            cells, asked = tasks(PLANS[name], schema, each, seed, **options)
            for task in asked:
                got = source.fold(cells, schema, task)
                expected = memory.fold(cells or [Cells(schema.names[0])], schema, task)
                words = f"{name} {each} {type(task.sums).__name__}"
                np.testing.assert_array_equal(got, expected, err_msg=words)
                assert name == "nothing" or len(columns["label"]) < 2 or expected.any(), words


@pytest.fixture(scope="module")
def table(postgres):
    import psycopg

    columns = untidy(600)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA linear; SET search_path = linear")
        fill_table(connection, "t", types(), columns)
        with PostgresSource(postgres, table="linear.t") as source:
            yield source, columns
        connection.execute("DROP SCHEMA linear CASCADE")


@pytest.mark.parametrize("bounds", [{}, {"PACKED": 1, "TOGETHER": 2, "SUMS": 3}], ids=["packed", "apart"])
@pytest.mark.parametrize("classes", CLASSES)
def test_slopes_and_bends_agree(table, classes, bounds, monkeypatch):
    source, columns = table
    for name, value in bounds.items():
        monkeypatch.setattr(postgres_linear, name, value)
    assert_sums(source, columns, mixed_schema(CLASSES[classes]), bits=(30, 50))


@pytest.mark.parametrize("classes", CLASSES)
def test_integers_of_any_size_agree(table, classes):
    source, columns = table
    assert_sums(source, columns, mixed_schema(CLASSES[classes]), bits=(60, 200), plans=("lines", "leaves"))


@pytest.mark.parametrize("bounds", [{"SPOTS": 1, "BRANCHES": 3}, {"SPOTS": 10**6}], ids=["apart", "together"])
@pytest.mark.parametrize("classes", ["two", "three"])
def test_products_agree_however_they_are_grouped(table, classes, bounds, monkeypatch):
    source, columns = table
    for name, value in bounds.items():
        monkeypatch.setattr(postgres_linear, name, value)
    assert_sums(source, columns, mixed_schema(CLASSES[classes]), plans=("lines", "knots", "leaves", "nothing"))


@pytest.mark.parametrize("bounds", [{"MOST": 3000}, {"MOST": 1}], ids=["within classes", "squares"])
@pytest.mark.parametrize("classes", ["two", "five"])
def test_parts_of_bends_agree(table, classes, bounds, monkeypatch):
    source, columns = table
    for name, value in bounds.items():
        monkeypatch.setattr(curvature, name, value)
    assert_sums(source, columns, mixed_schema(CLASSES[classes]), plans=("knots", "leaves", "nothing"))


@pytest.mark.parametrize("classes", CLASSES)
def test_bends_of_some_records_agree(table, classes, monkeypatch):
    source, columns = table
    monkeypatch.setattr(curvature, "QUICK", 1)
    assert_sums(source, columns, mixed_schema(CLASSES[classes]), plans=("lines", "leaves"), some=4)


def test_scores_that_are_sorted_agree(table, monkeypatch):
    source, columns = table
    monkeypatch.setattr(postgres_scores, "UNROLLED", 2)
    assert_sums(source, columns, mixed_schema(CLASSES["five"]), bits=(40, 200), plans=("lines", "knots"))


@pytest.mark.parametrize("rows", [0, 1])
def test_sums_of_few_rows_agree(database, postgres, rows):
    columns = untidy(rows)
    fill_table(database, "t", types(), columns)
    with PostgresSource(postgres, table="clinic.t") as source:
        for classes in CLASSES.values():
            assert_sums(source, columns, mixed_schema(classes))


MODELS = {
    "svm": LinearSVM,
    "svm select": partial(LinearSVM, select=3),
    "svm leaves": partial(LinearSVM, leaves=2),
    "auto": Auto,
}


@pytest.mark.parametrize("classes", ["two", "three"])
@pytest.mark.parametrize("name", MODELS)
def test_models_are_those_of_sums_in_memory(table, name, classes):
    """The same file to the last bit, and the weights of a search in memory or the next lattice points."""
    source, columns = table
    schema = mixed_schema(CLASSES[classes], records=10_000)
    model, expected, memory = (
        MODELS[name](schema, epsilon=4, random_state=5).fit_from(each)
        for each in (source, SumsOnly(in_arrays(columns, schema)), in_memory(columns, schema))
    )
    assert to_dict(model) == to_dict(expected)
    assert any(isinstance(query, Hyperplanes) for query, _ in model.noisy_.tables)
    for (_, one), (_, other) in zip(model.noisy_.tables, memory.noisy_.tables, strict=True):
        assert np.abs(one.values - other.values).max() <= 1


@pytest.mark.parametrize("options", [{}, {"leaves": 2}])
def test_weighted_models_are_those_of_sums_in_memory(table, options):
    """Records are counted by score where they are: the same file to the last bit."""
    source, columns = table
    schema = mixed_schema(CLASSES["two"], records=10_000)
    model, expected = (
        LinearSVM(schema, epsilon=4, class_weight="balanced", random_state=5, **options).fit_from(each)
        for each in (source, SumsOnly(in_arrays(columns, schema)))
    )
    assert to_dict(model) == to_dict(expected)
    assert any(isinstance(query, Margins) for query, _ in model.noisy_.tables)


class Watched(PostgresSource):
    """Shows the records to what looks at all that enters a mechanism."""

    def fold(self, cells, schema, task):
        if isinstance(getattr(task, "sums", None), Seen):
            return PostgresSource(self._given, table=self._table, stream=True).fold(cells, schema, task)
        return super().fold(cells, schema, task)


@pytest.mark.parametrize("classes", ["two", "three"])
def test_record_and_replay_on_neighbours(database, postgres, classes):
    base, schema = untidy(40, 5), mixed_schema(CLASSES[classes])
    for seed in range(2):
        extra = untidy(1, 100 + seed)
        more = {column: [*base[column], *extra[column]] for column in base}
        for name, columns in (("t", base), ("neighbour", more)):
            fill_table(database, name, types(), columns)

        def fit(name, seed=seed):
            source = Watched(postgres, table=f"clinic.{name}")
            return LinearSVM(schema, epsilon=1, random_state=seed).fit_from(source)

        loss, model, twin = replay(fit, "t", "neighbour")
        assert loss <= 1 + 1e-6
        assert visible(model) == visible(twin)


def test_a_table_of_equal_records_and_one_class(database, postgres):
    columns = {"x": [1.0] * 300, "z": [0.5] * 300, "y": ["a"] * 300}
    fill_table(database, "t", {"x": "float8", "z": "float8", "y": "text"}, columns)
    schema = Schema([Numeric("x", 0, 2), Numeric("z", 0, 2)], "y", ["a", "b"])
    model, expected = (
        LinearSVM(schema, epsilon=1, random_state=1).fit_from(each)
        for each in (PostgresSource(postgres, table="clinic.t"), SumsOnly(columns))
    )
    assert to_dict(model) == to_dict(expected)


def test_what_is_not_steady_is_refused_before_the_charge(database, postgres):
    fill_table(database, "t", types(), untidy(20))
    database.execute("CREATE VIEW seen AS SELECT * FROM t WHERE random() < 2")
    ledger = Ledger(1)
    for kind in (LinearSVM, Auto):
        with pytest.raises(ParameterError, match="may give other records each time"):
            kind(mixed_schema(), epsilon=1).fit_from(PostgresSource(postgres, table="clinic.seen"), ledger=ledger)
    assert ledger.spent == 0


def test_more_columns_and_classes_than_sql_can_score_are_refused_before_the_charge(database, postgres, monkeypatch):
    fill_table(database, "t", types(), untidy(20))
    monkeypatch.setattr(postgres_linear, "SCORES", 12)
    ledger = Ledger(1)
    for kind in (LinearSVM, Auto):
        with pytest.raises(ParameterError, match="up to 12 columns and classes"):
            kind(mixed_schema(), epsilon=1).fit_from(PostgresSource(postgres, table="clinic.t"), ledger=ledger)
    assert ledger.spent == 0
    LinearSVM(mixed_schema(["a", 1]), epsilon=1).fit_from(PostgresSource(postgres, table="clinic.t"), ledger=ledger)


def test_a_pass_that_fails_says_nothing_of_its_cause(database, postgres):
    """A view that divides by zero for some record, once its sums are asked for."""
    fill_table(database, "t", types(), untidy(50))
    others = ", ".join(name for name in types() if name != "large")
    database.execute(f"CREATE VIEW seen AS SELECT {others}, 1 / (large - 3) AS large FROM t")
    ledger = Ledger(1)
    with pytest.raises(FileError) as caught:
        LinearSVM(mixed_schema(), epsilon=1).fit_from(PostgresSource(postgres, table="clinic.seen"), ledger=ledger)
    assert str(caught.value) == LOST
    assert ledger.spent == 1
