"""Naive Bayes: without noise it is scikit-learn's, with noise it is made from the noisy tables alone."""

import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.models.loading import from_dict
from discreet.models.naive_bayes import plan as planning
from discreet.models.naive_bayes.tables import class_totals, log_table
from discreet.models.saving import FILE, to_dict
from discreet.queries.tables import MOST_BINS, Total
from discreet.records.encoding import Cells, class_codes
from discreet.schema.columns import text_of
from discreet.sources.memory import MemorySource
from support.records import draw_records, split_target

BINS = 9


def encoded(columns, schema, bins=BINS):
    """Codes by column, and the class codes, of the records that have a class."""
    y = class_codes(columns[schema.target], schema)
    kept = y < len(schema.classes)
    codes = {}
    for column in schema.columns:
        cells = Cells(column.name, bins if isinstance(column, Numeric) else None)
        codes[column.name] = cells.codes(np.asarray(columns[column.name]), schema)[kept]
    return codes, y[kept]


def attributes(columns, schema):
    """The records that have a class, without the target."""
    kept = class_codes(columns[schema.target], schema) < len(schema.classes)
    return {name: np.asarray(values)[kept] for name, values in split_target(columns)[0].items()}


@pytest.mark.parametrize("seed", range(3))
def test_without_noise_tables_are_those_of_categorical_nb(schema, seed):
    columns = draw_records(500, seed)
    codes, y = encoded(columns, schema)
    sizes = [BINS if isinstance(column, Numeric) else column.size for column in schema.columns]
    reference = CategoricalNB(alpha=1, min_categories=sizes).fit(np.stack(list(codes.values()), axis=1), y)
    model = NaiveBayes(schema, epsilon=math.inf, bins=BINS).fit(*split_target(columns))
    np.testing.assert_allclose(model.class_log_prior_, reference.class_log_prior_, atol=1e-9)
    for ours, theirs in zip(model.feature_log_prob_, reference.feature_log_prob_, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)
    expected = reference.predict_log_proba(np.stack(list(codes.values()), axis=1))
    np.testing.assert_allclose(model.predict_log_proba(attributes(columns, schema)), expected, atol=1e-9)


@pytest.mark.parametrize("numeric", ["gaussian", "smooth"])
@pytest.mark.parametrize("seed", range(3))
def test_without_noise_normal_laws_are_those_of_gaussian_nb(schema, numeric, seed):
    """On the values of the public grid; categories add as in CategoricalNB, the prior is counted once."""
    columns = draw_records(500, seed)
    codes, y = encoded(columns, schema, bins=None)
    numbers = [column for column in schema.columns if isinstance(column, Numeric)]
    words = [column for column in schema.columns if isinstance(column, Categorical)]
    z = np.stack([codes[column.name] / column.grid * 2 - 1 for column in numbers], axis=1)
    tables = np.stack([codes[column.name] for column in words], axis=1)
    gaussian = GaussianNB().fit(z, y)
    categorical = CategoricalNB(alpha=1, min_categories=[column.size for column in words]).fit(tables, y)
    joint = gaussian.predict_joint_log_proba(z) + categorical.predict_joint_log_proba(tables)
    joint -= categorical.class_log_prior_
    expected = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    model = NaiveBayes(schema, epsilon=math.inf, numeric=numeric).fit(*split_target(columns))
    np.testing.assert_allclose(model.predict_log_proba(attributes(columns, schema)), expected, atol=1e-9)

    only = Schema(numbers, "outcome", schema.classes)
    model = NaiveBayes(only, epsilon=math.inf, numeric=numeric)
    some = {name: values for name, values in attributes(columns, schema).items() if name in only.names}
    model.fit(some, np.array(schema.classes)[y])
    np.testing.assert_allclose(model.predict_log_proba(some), gaussian.predict_log_proba(z), atol=1e-9)


def test_much_budget_comes_close_to_no_noise(schema):
    columns = draw_records(3000, 1)
    X, y = split_target(columns)
    exact = NaiveBayes(schema, epsilon=math.inf, bins=5).fit(X, y)
    rich = NaiveBayes(schema, epsilon=5000, bins=5, random_state=0).fit(X, y)
    np.testing.assert_allclose(np.exp(rich.class_log_prior_), np.exp(exact.class_log_prior_), atol=1e-3)
    assert (rich.predict(X) == exact.predict(X)).mean() > 0.9


def test_a_private_model_learns():
    schema = Schema([Categorical("c", ["a", "b"]), Numeric("x", 0, 1)], "y", ["no", "yes"], records=2000)
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.5
    X = {"c": np.where(y ^ (rng.random(2000) < 0.1), "a", "b"), "x": np.clip(rng.normal(0.3 + 0.4 * y, 0.15), 0, 1)}
    labels = np.where(y, "yes", "no")
    for numeric in ("histogram", "gaussian", "smooth"):
        assert NaiveBayes(schema, epsilon=1, numeric=numeric, random_state=0).fit(X, labels).score(X, labels) > 0.9


@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
@pytest.mark.parametrize("epsilon", [0.001, 1, 100, math.inf])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_probabilities_sum_to_one(schema, records, numeric, epsilon, adjacency):
    X, y = split_target(records)
    for declared in (schema, schema.replace(records=None)):
        model = NaiveBayes(declared.replace(adjacency=adjacency), epsilon=epsilon, numeric=numeric, random_state=2)
        probabilities = model.fit(X, y).predict_proba(X)
        assert probabilities.shape == (400, 3)
        assert (probabilities >= 0).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), np.array(schema.classes)[probabilities.argmax(axis=1)])
        assert np.isfinite(model.predict_log_proba(X)).all()


AWKWARD = {
    "no record": (0, {}),
    "one record": (1, {}),
    "one class only": (40, {"outcome": "ill"}),
    "no record of a class": (40, {"outcome": "elsewhere"}),
    "constant column": (40, {"age": 50.0, "sex": "F"}),
    "column at its bound": (40, {"age": 0.0, "dose": 2.5}),
    "all missing": (40, {"age": math.nan, "dose": None, "sex": None, "site": None}),
    "all unlisted": (40, {"sex": "X", "site": "Y"}),
}


@pytest.mark.parametrize("rows, constants", AWKWARD.values(), ids=AWKWARD.keys())  # noqa: PT006
@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
@pytest.mark.parametrize("epsilon", [0.1, 10, math.inf])
def test_awkward_data_give_a_model_without_a_warning(schema, rows, constants, numeric, epsilon):
    columns = draw_records(max(rows, 3), 0)
    columns = {name: values[:rows] for name, values in columns.items()}
    for name, value in constants.items():
        columns[name] = np.array([value] * rows, dtype=object)
    for declared in (schema, schema.replace(records=None), schema.replace(classes=["ill"])):
        X, y = split_target(columns)
        model = NaiveBayes(declared, epsilon=epsilon, numeric=numeric, random_state=0).fit(X, y)
        many = split_target(draw_records(50, 1))[0]
        np.testing.assert_allclose(model.predict_proba(many).sum(axis=1), 1)
        assert model.predict(X).shape == (rows,)
        assert model.predict_proba(X).shape == (rows, len(declared.classes))
        assert "nan" not in model.explain()


def test_the_noise_does_not_depend_on_the_data(schema):
    """One seed, two tables: what differs between the releases is what differs between the tables, exactly."""
    one, other = draw_records(300, 1), draw_records(300, 2)
    plain = partial(NaiveBayes, schema, epsilon=0.5, select=None)
    models = [plain(random_state=9).fit(*split_target(each)) for each in (one, other)]
    secure = plain().fit(*split_target(one)).noisy_.tables
    for (query, table), (_, table_other) in zip(models[0].noisy_.tables, models[1].noisy_.tables, strict=True):
        counts = [
            MemorySource(*split_target(each)).count([query.cells(schema)], schema).answer(query, schema)
            for each in (one, other)
        ]
        np.testing.assert_array_equal(table.values - table_other.values, counts[0] - counts[1])
    assert [query for query, _ in secure] == [query for query, _ in models[0].noisy_.tables]


def test_replace_one_has_twice_the_noise(schema, records):
    X, y = split_target(records)
    added = NaiveBayes(schema, epsilon=1, bins=4, numeric="histogram", select=None).fit(X, y)
    replaced = NaiveBayes(schema.replace(adjacency="replace-one"), epsilon=1, bins=4, select=None).fit(X, y)
    assert [c.query for c in added.receipt_.charges] == [c.query for c in replaced.receipt_.charges]
    for once, twice in zip(added.receipt_.charges, replaced.receipt_.charges, strict=True):
        assert twice.sensitivity == 2 * once.sensitivity
        assert twice.scale == pytest.approx(2 * once.scale, rel=1e-12)


@settings(max_examples=30)
@given(
    st.fractions(Fraction(1, 50), 20).filter(lambda e: e > 0), st.none() | st.integers(1, 10**5),
    st.sampled_from(["histogram", "gaussian", "smooth"]), st.sampled_from(["add-remove", "replace-one"]),
    st.sampled_from(["weighted", "equal"]),
)  # fmt: skip
def test_the_receipt_sums_to_epsilon_exactly(epsilon, declared, numeric, adjacency, split):
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a", "b"])], "y", ["no", "yes"], adjacency, declared)
    ledger = Ledger(epsilon)
    model = NaiveBayes(schema, epsilon=epsilon, numeric=numeric, split=split, random_state=0)
    model.fit({"x": [0.1, 0.9], "c": ["a", "b"]}, ["no", "yes"], ledger=ledger)
    assert model.receipt_.epsilon == ledger.spent == epsilon
    assert model.guarantee_.epsilon == epsilon
    if declared is None:
        assert model.receipt_.charges[0].query == "Total()"
        assert model.receipt_.charges[0].epsilon == epsilon / 10
    else:
        assert all(charge.query != "Total()" for charge in model.receipt_.charges)


def test_the_plan_depends_on_the_noisy_total_alone(schema, records):
    """The number of records that a plan is made for is the one that was paid for and published."""
    X, y = split_target(records)
    model = NaiveBayes(schema.replace(records=None), epsilon=0.3, select=None, random_state=4).fit(X, y)
    total = max(1, int(model.noisy_[Total()].values.item()))
    assert total != 399
    rest = Fraction(3, 10) * Fraction(9, 10)
    steps = planning.steps(schema.replace(records=None), rest, total, "histogram", "auto", "weighted")
    assert [repr(step.query) for step in steps] == [charge.query for charge in model.receipt_.charges[1:]]


def test_a_model_is_made_from_noisy_statistics_alone(schema, records):
    X, y = split_target(records)
    model = NaiveBayes(schema, epsilon=1, random_state=0).fit(X, y)
    again = NaiveBayes(schema, epsilon=1).fit_noisy(model.noisy_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.guarantee_ == model.guarantee_


def test_statistics_of_another_schema_are_refused(schema, records):
    """Else a model made from a schema that was read off the data could state a guarantee."""
    X, y = split_target(records)
    read = NaiveBayes(schema.replace(from_data=["age.lower"]), random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="another schema"):
        NaiveBayes(schema).fit_noisy(read.noisy_)


def test_a_fitted_model_keeps_no_exact_count(schema):
    """Every array of the model is a function of the noisy tables: equal noisy tables, equal models."""
    columns = draw_records(200, 5)
    X, y = split_target(columns)
    model = NaiveBayes(schema, epsilon=0.5).fit(X, y)
    rebuilt = NaiveBayes(schema, epsilon=0.5).fit_noisy(model.noisy_)
    assert vars(model).keys() == vars(rebuilt).keys()
    assert pickle.dumps(rebuilt._model) == pickle.dumps(model._model)


@pytest.mark.parametrize(
    ("changes", "holds", "reason"),
    [
        ({}, True, None),
        ({"random_state": 1}, False, "random_state"),
        ({"random_state": np.random.default_rng(0)}, False, "random_state"),
        ({"epsilon": math.inf}, False, "infinite"),
        ({"schema": "from-data"}, False, "read off the data"),
        ({"numeric": "smooth"}, True, None),
    ],
)
def test_when_the_guarantee_holds(schema, records, changes, holds, reason):
    X, y = split_target(records)
    model = NaiveBayes(**{"schema": schema, **changes}).fit(X, y)
    assert model.guarantee_.holds is holds
    assert model.guarantee_.experimental is (changes.get("numeric") == "smooth")
    if reason:
        assert any(reason in each for each in model.guarantee_.reasons)


def test_secure_noise_differs_from_fit_to_fit(schema, records):
    X, y = split_target(records)
    one, other = (NaiveBayes(schema, epsilon=0.1).fit(X, y).noisy_.to_dict()["tables"] for _ in range(2))
    assert one != other
    one, other = (NaiveBayes(schema, random_state=3).fit(X, y).noisy_.to_dict() for _ in range(2))
    assert one == other


def test_a_ledger_limits_fits(schema, records):
    X, y = split_target(records)
    ledger = Ledger(1)
    for _ in range(2):
        NaiveBayes(schema, epsilon=0.5).fit(X, y, ledger=ledger)
    with pytest.raises(BudgetError):
        NaiveBayes(schema, epsilon=0.001).fit(X, y, ledger=ledger)
    assert ledger.spent == 1


@pytest.mark.parametrize("records_declared", [None, 400])
def test_a_refused_fit_spends_nothing_and_leaves_no_model(schema, records, records_declared):
    X, y = split_target(records)
    ledger = Ledger(Fraction(1, 2))
    model = NaiveBayes(schema.replace(records=records_declared), epsilon=1)
    with pytest.raises(BudgetError):
        model.fit(X, y, ledger=ledger)
    assert ledger.spent == 0
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    "X, error",  # noqa: PT006
    [
        ({"age": [1.0]}, DataError),
        (np.zeros((1, 3)), DataError),
        (np.zeros(4), DataError),
    ],
)
def test_a_wrong_table_costs_nothing(schema, X, error):
    ledger = Ledger(1)
    with pytest.raises(error):
        NaiveBayes(schema.replace(records=None)).fit(X, ["well"], ledger=ledger)
    assert ledger.spent == 0
    with pytest.raises(DataError, match="different lengths"):
        NaiveBayes(schema).fit(np.zeros((3, 4)), ["well"] * 2, ledger=ledger)
    assert ledger.spent == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon=0; need a number > 0"),
        ({"epsilon": -1}, "epsilon=-1"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"epsilon": "one"}, "epsilon='one'"),
        ({"epsilon": 20_000}, r"use float\('inf'\)"),
        ({"epsilon": 1e-30}, "epsilon.*too small"),
        ({"numeric": "kde"}, "numeric='kde'; need one of: histogram, gaussian, smooth"),
        ({"split": "best"}, "split='best'; need one of: weighted, equal"),
        ({"bins": 1}, f"bins=1; need 'auto' or an integer from 2 to {MOST_BINS}"),
        ({"bins": MOST_BINS + 1}, f"bins={MOST_BINS + 1}"),
        ({"bins": 2.5}, "bins=2.5"),
        ({"bins": "many"}, "bins='many'"),
        ({"temperature": 0}, "temperature=0; need 'auto' or a number from 1e-06 to 1e"),
        ({"temperature": math.nan}, "temperature=nan"),
        ({"temperature": True}, "temperature=True"),
        ({"temperature": "hot"}, "temperature='hot'"),
        ({"smoothing": 0}, "smoothing=0; need a number > 0"),
        ({"smoothing": math.inf}, "smoothing=inf"),
        ({"smoothing": "1"}, "smoothing='1'"),
        ({"schema": "adult"}, "need a Schema, or 'from-data'"),
        ({"schema": None}, "schema=NoneType"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_paid(schema, records, changes, message):
    ledger = Ledger(10**6)
    model = NaiveBayes(**{"schema": schema.replace(records=None), **changes})
    with pytest.raises(ParameterError, match=message):
        model.fit(*split_target(records), ledger=ledger)
    assert ledger.spent == 0


def test_the_constructor_only_stores():
    stored = {
        "epsilon": -1,
        "numeric": 3,
        "bins": None,
        "split": [],
        "smoothing": "x",
        "select": 0,
        "temperature": "z",
        "class_weight": 7,
        "random_state": "y",
    }
    assert NaiveBayes("nonsense", **stored).get_params() == {"schema": "nonsense", **stored}


def test_parameters_clone_and_refit(schema, records):
    X, y = split_target(records)
    model = NaiveBayes(schema, epsilon=2, random_state=1).fit(X, y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "noisy_")
    twin.set_params(epsilon=0.5).fit(X, y)
    assert twin.receipt_.epsilon == Fraction(1, 2)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), before)
    other = schema.replace(classes=["well", "ill"])
    refitted = model.set_params(schema=other).fit(X, y)
    assert refitted.classes_.tolist() == ["ill", "well"]
    assert "epsilon=2" in repr(model)


def test_an_unfitted_model_says_so(schema, tmp_path):
    model = NaiveBayes(schema)
    for use in (model.predict, model.predict_proba, model.predict_log_proba, model.predict_joint_log_proba):
        with pytest.raises(NotFittedError):
            use(np.zeros((1, 4)))
    for use in (
        model.explain,
        model.plot,
        lambda: model.save(tmp_path / "m"),
        lambda: model.score(np.zeros((1, 4)), [1]),
    ):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    "classes", [[0, 1], ["0", "1"], [0.0, 1.0], [False, True], [1, "x"], [1.0, "x"], [True, "x"], [2.5, 1]]
)
def test_labels_match_whatever_their_type(classes):
    schema = Schema([Categorical("c", ["a", "b"])], "y", classes)
    X = {"c": ["a", "b"] * 20}
    y = np.array([*classes] * 20, dtype=object)
    model = NaiveBayes(schema, epsilon=math.inf).fit(X, y)
    assert model.score(X, y) == 1
    assert model.predict({"c": ["a", "b"]}).tolist() == classes
    texts = [text_of(label) for label in y]
    assert model.score(X, texts) == 1
    assert model.score(X, texts, sample_weight=np.arange(40)) == 1
    if not any(isinstance(label, bool | str) for label in classes):
        assert model.score(X, np.array(y, dtype=float)) == 1


def test_scores_count_weights_and_strays(schema, records):
    X, y = split_target(records)
    model = NaiveBayes(schema, epsilon=math.inf).fit(X, y)
    hits = (model.predict(X) == y).astype(float)
    weights = np.linspace(0, 1, 400)
    assert model.score(X, y) == pytest.approx(hits.mean())
    assert model.score(X, y, sample_weight=weights) == pytest.approx(np.average(hits, weights=weights))
    assert model.score(X, ["elsewhere"] * 400) == 0


def test_prediction_never_fails_on_a_value(schema, records):
    model = NaiveBayes(schema, random_state=0).fit(*split_target(records))
    odd = [None, math.nan, math.inf, "", "?", 10**400, b"x", [1], {}, pd.NA, True, "1e999"]
    table = [{"age": a, "dose": b, "sex": a, "site": b} for a in odd for b in odd]
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)
    assert model.predict([]).shape == (0,)
    assert model.predict_proba([]).shape == (0, 3)


def test_blocks_of_rows_do_not_matter(monkeypatch, schema, records):
    X, y = split_target(records)
    model = NaiveBayes(schema, random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    monkeypatch.setattr("discreet.models.tabular.BLOCK", 7)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_labels_may_be_in_the_table(schema, records):
    X, y = split_target(records)
    one = NaiveBayes(schema, random_state=0).fit(pd.DataFrame(records))
    other = NaiveBayes(schema, random_state=0).fit(X, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.predict_proba(records), other.predict_proba(X))


def test_schema_from_data_reads_memory_only(records):
    with pytest.raises(ParameterError, match="reads data in memory only; use fit, or draft a schema first"):
        NaiveBayes("from-data").fit_from(MemorySource(records))


tables = st.integers(2, 5).flatmap(
    lambda cells: st.lists(st.lists(st.integers(-50, 200), min_size=cells, max_size=cells), min_size=1, max_size=4)
)


@given(tables, st.floats(1e-3, 1e6), st.floats(1e-3, 10))
def test_any_noisy_table_gives_probabilities(table, variance, smoothing):
    noisy = np.array(table, dtype=float)
    totals = class_totals([noisy], [variance])
    assert (totals.counts > 0).all()
    assert totals.proportions.sum() == pytest.approx(1)
    logs = log_table(noisy, variance, totals, smoothing)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)
    assert np.isfinite(logs).all()


@given(st.lists(st.lists(st.integers(0, 100), min_size=3, max_size=3), min_size=2, max_size=4))
def test_exact_class_counts_are_kept(table):
    exact = np.array(table, dtype=float)
    totals = class_totals([exact, exact + 7.3], [0.0, 1.0])
    if exact.sum() > 0:
        np.testing.assert_allclose(totals.counts, exact.sum(axis=1), atol=1e-9)


def test_the_better_of_two_tables_weighs_more():
    good, bad = np.array([[90.0, 10.0], [40.0, 60.0]]), np.array([[0.0, 0.0], [300.0, 300.0]])
    totals = class_totals([good, bad], [0.01, 1e6])
    np.testing.assert_allclose(totals.counts, [100, 100], rtol=0.01)


# Temperature: probabilities are less sure of themselves, and predictions stay.


def test_the_temperature_is_the_fourth_root_of_the_columns_asked(schema):
    X, y = split_target(draw_records(400, seed=3))
    cold, warm = (
        NaiveBayes(schema, epsilon=2, select=None, temperature=temperature, random_state=5).fit(X, y)
        for temperature in (1, "auto")
    )
    assert len(warm.columns_) > 1
    assert (cold.temperature_, warm.temperature_) == (1, len(warm.columns_) ** 0.25)
    np.testing.assert_array_equal(cold.predict(X), warm.predict(X))
    np.testing.assert_allclose(cold.predict_joint_log_proba(X), warm.predict_joint_log_proba(X), rtol=1e-12)
    powers = cold.predict_proba(X) ** (1 / warm.temperature_)
    np.testing.assert_allclose(warm.predict_proba(X), powers / powers.sum(axis=1, keepdims=True), atol=1e-12)
    assert (warm.predict_proba(X).max(axis=1) <= cold.predict_proba(X).max(axis=1) + 1e-12).all()


def test_without_noise_or_with_one_column_the_temperature_is_one(schema):
    X, y = split_target(draw_records(400, seed=3))
    assert NaiveBayes(schema, epsilon=math.inf, select=None).fit(X, y).temperature_ == 1
    assert NaiveBayes(schema, epsilon=1, select=1, random_state=0).fit(X, y).temperature_ == 1


def test_columns_that_say_the_same_are_less_overrated():
    """Nine copies of one column that is right on 70 % of the records."""
    copies = Schema([Categorical(f"c{i}", ["no", "yes"]) for i in range(9)], "y", ["no", "yes"], records=10_000)
    y = np.array(["no", "yes"])[np.arange(10_000) % 2]
    same = np.where(np.arange(10_000) % 10 < 7, y, np.where(y == "no", "yes", "no"))
    X = dict.fromkeys(copies.names, same)
    sure = [
        NaiveBayes(copies, epsilon=5, select=None, temperature=each, random_state=0).fit(X, y).predict_proba(X)
        for each in (1, "auto")
    ]
    right = [chances[np.arange(10_000), (y == "yes").astype(int)] for chances in sure]
    before, after = (-np.log(each).mean() for each in right)
    assert before > 2
    assert after < before / 1.5


def test_a_file_without_a_temperature_means_one(schema):
    X, y = split_target(draw_records(400, seed=3))
    made = NaiveBayes(schema, epsilon=2, select=None, temperature=1, random_state=5).fit(X, y)
    content = {name: value for name, value in to_dict(made).items() if name not in ("format", "version", "hash")}
    del content["parameters"]["temperature"]
    again = from_dict(FILE.wrap(content))
    assert again.temperature == again.temperature_ == 1
    np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X))


@pytest.mark.parametrize("epsilon", [1400, 1480, 1583, 3000, 10_000])
def test_noise_too_small_for_its_inverse_counts_as_none(epsilon):
    """At a very large epsilon the variance is a number whose inverse is too large for a float."""
    schema = Schema([Categorical("a", ["x", "y"])], "label", ["no", "yes"], adjacency="replace-one", records=50)
    model = NaiveBayes(schema, epsilon=epsilon).fit([{"a": "x"}] * 30 + [{"a": "y"}] * 20, ["no"] * 30 + ["yes"] * 20)
    assert np.isfinite(model.predict_proba([{"a": "x"}])).all()
    assert model.predict([{"a": "x"}, {"a": "y"}]).tolist() == ["no", "yes"]
