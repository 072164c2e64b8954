"""Local perturbation: the exact law of whole records, attacks on samples, mutants, and values of every kind."""

import itertools
import math
import pickle
from dataclasses import replace
from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.audit import lower_bound
from discreet.datasets import built_in
from discreet.doors import rows
from discreet.doors.rows import NOT_RELEASED
from discreet.errors import BudgetError, DataError, ParameterError
from discreet.perturbation import local_perturbation
from discreet.perturbation.decoding import UNLISTED, as_texts, decoded
from discreet.perturbation.local_perturbation import LocalPerturbation
from discreet.perturbation.shuffling import RandomOrder
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.response import RandomizedResponse
from discreet.privacy.randomness import as_rng
from discreet.privacy.steps import Step
from discreet.records.encoding import Cells, class_codes
from discreet.sources.file import open_file
from discreet.sources.memory import MemorySource


@pytest.fixture
def public(schema):
    """The common schema under replace-one, where a table may show its number of rows."""
    return schema.replace(adjacency="replace-one")


def tiny(grid=2):
    """Eighteen possible records: three numbers, three categories (one of them unlisted), two classes."""
    return Schema(
        [Numeric("v", -1, 1, grid=grid), Categorical("c", ["a", "b"])], "y", ["no", "yes"], adjacency="replace-one"
    )


LOW = {"v": -1, "c": "a", "y": "no"}
HIGH = {"v": 1, "c": "b", "y": "yes"}


def codes_of(X, y, schema):
    """Codes of a perturbed table, one column per component."""
    columns = [Cells(name).codes(X[name], schema) for name in schema.names]
    return np.stack([*columns, class_codes(y, schema)], axis=1)


def perturbed(record, rows, seed, make=LocalPerturbation, schema=None, **parameters):
    """Codes of many independent perturbations of one record."""
    schema = tiny() if schema is None else schema
    X, y = make(schema, random_state=seed, **parameters).fit_resample([record] * rows)
    return codes_of(X, y, schema)


# The exact law


def component_law(mechanism, size):
    """P[answer | code] to fifty digits: rows are codes, columns answers; numbers clamped."""
    if isinstance(mechanism, RandomizedResponse):
        p = Decimal(mechanism.kept) / 2**62
        return [[p if answer == code else (1 - p) / (size - 1) for answer in range(size)] for code in range(size)]
    q = (-1 / Decimal(mechanism.scale)).exp()
    table = []
    for code in range(size):
        inside = [(1 - q) / (1 + q) * q ** abs(answer - code) for answer in range(size)]
        inside[0], inside[-1] = q**code / (1 + q), q ** (size - 1 - code) / (1 + q)
        table.append(inside)
    return table


def record_law(perturbation):
    """P[published record | record], by codes, for every record and every published record of a small schema."""
    schema = perturbation.schema
    sizes = [*(Cells(name).size(schema) for name in schema.names), len(schema.classes)]
    mechanisms = perturbation.fit([]).mechanisms_.values()
    laws = [component_law(mechanism, size) for mechanism, size in zip(mechanisms, sizes, strict=True)]
    everything = list(itertools.product(*map(range, sizes)))
    return {
        record: {
            answer: math.prod(law[code][out] for law, code, out in zip(laws, record, answer, strict=True))
            for answer in everything
        }
        for record in everything
    }


@pytest.mark.parametrize("weights", [None, {"v": 3, "y": 0.5}], ids=["equal", "weighted"])
@pytest.mark.parametrize("epsilon", ["1/10", "1", "7/2", "20"])
def test_whole_records_stay_within_epsilon_and_attain_it(epsilon, weights):
    """Exhaustive: all pairs of records, all published records."""
    with localcontext() as context:
        context.prec = 50
        law = record_law(LocalPerturbation(tiny(), epsilon=epsilon, weights=weights))
        assert len(law) == 18
        assert all(abs(sum(row.values()) - 1) < Decimal("1e-40") for row in law.values())
        worst = max(one[o] / two[o] for one in law.values() for two in law.values() for o in one)
        claimed = (Decimal(Fraction(epsilon).numerator) / Fraction(epsilon).denominator).exp()
        assert worst <= claimed
        assert worst >= claimed * (1 - Decimal("1e-9"))
    assert getcontext().prec == 28


def test_chosen_components_cost_epsilon_together():
    """Given the draw, which does not depend on the record, s components at ε / s each."""
    perturbation = LocalPerturbation(tiny(), epsilon=1, components=2)
    with localcontext() as context:
        context.prec = 50
        laws = [component_law(m, s) for m, s in zip(perturbation.fit([]).mechanisms_.values(), (3, 3, 2), strict=True)]
        worst = [max(a[o] / b[o] for a in law for b in law for o in range(len(a))) for law in laws]
        for chosen in (0, 1):
            assert Decimal(1).exp() * (1 - Decimal("1e-9")) <= worst[chosen] * worst[2] <= Decimal(1).exp()


@pytest.mark.parametrize(
    ("random_state", "rows", "threshold"),
    [
        (5, 20_000, 1e-3),
        (None, 5_000, 1e-6),
        pytest.param(5, 1_000_000, 1e-3, marks=pytest.mark.slow),
        pytest.param(None, 50_000, 1e-6, marks=pytest.mark.slow),
    ],
    ids=["seeded", "secure", "seeded-many", "secure-many"],
)
@pytest.mark.parametrize("record", [LOW, HIGH, {"v": 0, "c": "elsewhere", "y": "yes"}], ids=["low", "high", "stray"])
def test_what_is_published_fits_the_exact_law(record, random_state, rows, threshold):
    with localcontext() as context:
        context.prec = 50
        law = record_law(LocalPerturbation(tiny(), epsilon=3))
    exact = tuple(codes_of({n: np.array([record[n]], dtype=object) for n in "vc"}, np.array([record["y"]]), tiny())[0])
    answers = perturbed(record, rows, random_state, epsilon=3)
    counts = np.bincount(np.ravel_multi_index(answers.T, (3, 3, 2)), minlength=18)
    expected = [float(p) * rows for p in law[exact].values()]
    assert stats.chisquare(counts, expected).pvalue > threshold


# Attacks on samples, and mutants that they must catch


def wide(columns=2):
    """Numbers with a fine grid, a category and the label."""
    numbers = [Numeric(f"v{i}", -1, 1, grid=64) for i in range(columns)]
    return Schema([*numbers, Categorical("c", ["a", "b"])], "y", ["no", "yes"], adjacency="replace-one")


ONE = {"v0": -1, "v1": -1, "c": "a", "y": "no"}
OTHER = {"v0": 1, "v1": 1, "c": "b", "y": "yes"}
LABEL = {**ONE, "y": "yes"}


def scores(codes):
    """How similar a published record is to the first: few events, each about several components at once."""
    low = np.where(codes[:, :2] == 0, 1, np.where(codes[:, :2] == 64, -1, 0)).sum(axis=1)
    return low + np.where(codes[:, 2] == 0, 1, -1) + np.where(codes[:, 3] == 0, 1, -1)


def bound(make=LocalPerturbation, rows=60_000, other=OTHER, **parameters):
    parameters = {"epsilon": 1, **parameters}
    samples = [perturbed(r, rows, seed, make, wide(), **parameters) for seed, r in enumerate((ONE, other), 11)]
    return lower_bound(*map(scores, samples)).epsilon


@pytest.mark.parametrize("parameters", [{}, {"weights": {"v0": 5}}, {"components": 2}, {"components": 4}], ids=str)
@pytest.mark.parametrize("other", [OTHER, LABEL], ids=["all", "label"])
def test_an_attack_finds_no_more_than_epsilon(parameters, other):
    assert bound(other=other, **parameters) <= 1


def test_the_attack_comes_close_to_epsilon():
    assert bound() > 0.75


def test_an_attack_on_secure_noise_finds_no_more_than_epsilon():
    samples = [perturbed(r, 3000, None, schema=wide(), epsilon=1) for r in (ONE, OTHER)]
    assert lower_bound(*map(scores, samples)).epsilon <= 1


class LabelLeftClear(LocalPerturbation):
    """As in Mivule et al. 2012 and Zorarpacı 2019."""

    def _steps(self):
        *columns, label = super()._steps()
        return [*columns, replace(label, mechanism=RandomizedResponse.calibrated(math.inf, 2))]


class EpsilonNotSplit(LocalPerturbation):
    def _shares(self):
        return [Fraction(self.epsilon)] * (len(self.schema.columns) + 1)


class HalfTheNoise(LocalPerturbation):
    def _steps(self):
        return [
            replace(step, mechanism=DiscreteLaplace(step.mechanism.scale / 2))
            if isinstance(step.mechanism, DiscreteLaplace)
            else step
            for step in super()._steps()
        ]


class ResponseOfTwiceTheLoss(LocalPerturbation):
    def _steps(self):
        return [
            step
            if isinstance(step.mechanism, DiscreteLaplace)
            else replace(step, mechanism=RandomizedResponse.calibrated(3 * step.epsilon, step.query.cells))
            for step in super()._steps()
        ]


def _same_noise_for_all_numbers(monkeypatch):
    """One draw per record instead of one per component: the noise of components is not independent."""
    original, shifts = rows._perturbed, []

    def careless(exact, step, chosen, rng):
        noisy = original(exact, step, chosen, rng)
        if step.query.column == "v0":
            shifts[:] = [noisy.astype(int) - exact]
        if step.query.column == "v1":
            return np.clip(exact + shifts[0], 0, 64).astype(np.uint16)
        return noisy

    monkeypatch.setattr(rows, "_perturbed", careless)


MUTANTS = [LabelLeftClear, EpsilonNotSplit, HalfTheNoise, ResponseOfTwiceTheLoss]


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_attack_catches_mutant(mutant, monkeypatch):
    """Without the check of the passage and without the limit of the fit's own ledger."""
    monkeypatch.setattr(Step, "check", lambda *_: None)
    monkeypatch.setattr(local_perturbation, "as_ledger", lambda *_: Ledger.unlimited())
    assert bound(mutant) > 1


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_passage_refuses_mutant(mutant):
    ledger = Ledger(1)
    with pytest.raises((ParameterError, BudgetError)):
        mutant(wide(), epsilon=1).fit_resample([ONE] * 3, ledger=ledger)
    assert ledger.spent == 0


def test_the_attack_catches_noise_that_is_used_twice(monkeypatch):
    """If both numbers get the same draw, records that differ in opposite directions are told apart at once."""
    apart = {**ONE, "v1": 1}
    for mutant, caught in ((None, False), (_same_noise_for_all_numbers, True)):
        if mutant is not None:
            mutant(monkeypatch)
        samples = [perturbed(r, 5000, 3, LocalPerturbation, wide(), epsilon=1) for r in (ONE, apart)]
        differences = [codes[:, 0] - codes[:, 1] for codes in samples]
        assert (lower_bound(*differences).epsilon > 1) == caught


def test_the_attack_catches_bounds_from_the_data():
    """The range of the data instead of public bounds: one record changes what all others look like."""

    def published(X, from_data):
        bounds = (min(X), max(X)) if from_data else (-1, 1)
        schema = Schema([Numeric("v", *bounds, grid=64)], "y", ["no"], adjacency="replace-one")
        made = (LocalPerturbation(schema, epsilon=1, random_state=seed) for seed in range(400))
        return [float(np.abs(each.fit_resample({"v": X}, ["no"] * len(X))[0]["v"]).max()) for each in made]

    tables = [np.array([0.0, 0.1, 0.2]), np.array([0.0, 0.1, 0.9])]
    assert lower_bound(*(published(X, from_data=True) for X in tables)).epsilon > 1
    assert lower_bound(*(published(X, from_data=False) for X in tables)).epsilon <= 1


def test_the_order_of_the_rows_tells_nothing():
    """A table sorted by a private column: with epsilon=inf nothing but the random order hides it."""
    schema = tiny()
    places = []
    for seed in range(400):
        X, _ = LocalPerturbation(schema, epsilon=math.inf, random_state=seed).fit_resample([LOW] * 9 + [HIGH])
        places.append(int(np.flatnonzero(X["v"] == 1)[0]))
    assert stats.chisquare(np.bincount(places, minlength=10)).pvalue > 1e-3
    order = RandomOrder(1, as_rng(None))
    order.add([np.arange(1000, dtype=np.uint16)])
    ((order,),) = order.blocks()
    assert sorted(order.tolist()) == list(range(1000))
    assert order.tolist() != list(range(1000))


def test_rows_stay_together():
    """All columns have the same order: the values of a record stay together."""
    rows = 200
    X = {"v": np.where(np.arange(rows) % 2, 1.0, -1.0), "c": np.where(np.arange(rows) % 2, "b", "a")}
    y = np.where(np.arange(rows) % 2, "yes", "no")
    codes = codes_of(*LocalPerturbation(tiny(), epsilon=math.inf, random_state=0).fit_resample(X, y), tiny())
    assert {tuple(row) for row in codes.tolist()} == {(0, 0, 0), (2, 1, 1)}
    assert codes[:, 0].sum() == rows


# Values


ANYTHING = st.one_of(
    st.none(),
    st.floats(),
    st.text(max_size=3),
    st.integers(),
    st.booleans(),
    st.binary(max_size=2),
    st.sampled_from([math.inf, -math.inf, 10**400, "F", "north", "ill", pd.NA, pd.NaT, object()]),
    st.just([1]),
    st.just({}),
)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys(["age", "dose", "sex", "site", "outcome"], ANYTHING)), max_size=6))
def test_any_value_gives_a_valid_one(records):
    schema = Schema(
        [
            Numeric("age", 0, 100, grid=8),
            Numeric("dose", -1.5, 2.5, fill=0.25, grid=64),
            Categorical("sex", ["F", "M"], unlisted=False),
            Categorical("site", ["north", "south", 3], missing="south"),
        ],
        target="outcome",
        classes=["well", "ill"],
        adjacency="replace-one",
    )
    X, y = LocalPerturbation(schema, epsilon=5, random_state=1).fit_resample(records)
    assert list(X) == schema.names
    assert {len(values) for values in X.values()} == {len(y)} == {len(records)}
    assert set(X["age"].tolist()) <= {0, 12.5, 25, 37.5, 50, 62.5, 75, 87.5, 100}
    assert ((X["dose"] >= -1.5) & (X["dose"] <= 2.5)).all()
    assert set(X["sex"].tolist()) <= {"F", "M"}
    assert set(X["site"].tolist()) <= {"north", "south", 3, UNLISTED}
    assert set(y.tolist()) <= {"well", "ill"}


def test_what_is_exact_is_encoded_as_the_schema_says(public):
    """With epsilon=inf only the encoding is left; a label that is not a class counts as the first class."""
    records = [
        {"age": -5, "dose": None, "sex": None, "site": None, "outcome": "nowhere"},
        {"age": 1e9, "dose": "2.5", "sex": "M", "site": "west", "outcome": "ill"},
        {"age": math.nan, "dose": -math.inf, "sex": "?", "site": 3.0, "outcome": None},
    ]
    X, y = LocalPerturbation(public, epsilon=math.inf, random_state=0).fit_resample(records)
    rows = sorted(zip(*(X[name].tolist() for name in X), y.tolist(), strict=True))
    assert rows == [
        (0.0, 0.25, "F", "south", "ill"),
        (50.0, -1.5, "F", 3, "ill"),
        (100.0, 2.5, "M", UNLISTED, "ill"),
    ]


@pytest.mark.parametrize(
    "column", [Numeric("v", 0.1, 0.7, grid=65_000), Numeric("v", -1e300, 1e300), Numeric("v", 3, 4)]
)
def test_published_numbers_are_on_the_grid(column):
    """Reading them again gives the same codes, also from a CSV file; the bounds are attained, not exceeded."""
    schema = Schema([column], "y", [0, 1])
    codes = np.arange(column.grid + 1, dtype=np.uint16)
    values = decoded(codes, column)
    assert (values[0], values[-1]) == (column.lower, column.upper)
    np.testing.assert_array_equal(Cells("v").codes(values, schema), codes)
    np.testing.assert_array_equal(Cells("v").codes(np.array(as_texts(values), dtype=object), schema), codes)


def test_texts_are_read_as_the_same_cells():
    column = Categorical("c", [True, False, 1.5, 3, " a ", "b,\n"])
    schema = Schema([column], "y", [0, 1])
    codes = np.array([*range(column.size), NOT_RELEASED], dtype=np.uint16)
    texts = as_texts(decoded(codes, column))
    assert texts[-1] == ""
    assert Cells("c").codes(np.array(texts, dtype=object), schema).tolist() == [*range(column.size), column.size - 1]


@pytest.mark.parametrize("random_state", [1, None], ids=["seeded", "secure"])
@pytest.mark.parametrize("rows", [0, 1])
def test_one_record_and_none(public, random_state, rows):
    perturbation = LocalPerturbation(public, random_state=random_state)
    X, y = perturbation.fit_resample([{"age": 3, "outcome": "ill"}] * rows)
    assert [len(values) for values in X.values()] == [rows] * 4
    assert len(y) == rows
    assert perturbation.guarantee_.holds is (random_state is None)


def test_columns_with_a_single_cell_stay():
    schema = Schema([Categorical("c", ["only"], unlisted=False)], "y", ["one"], adjacency="replace-one")
    X, y = LocalPerturbation(schema, epsilon=0.1).fit_resample([{"c": "x", "y": "x"}] * 3)
    assert X["c"].tolist() == ["only"] * 3
    assert y.tolist() == ["one"] * 3


def test_kinds_of_tables_give_the_same(public, records):
    X = {name: values for name, values in records.items() if name != "outcome"}
    made = [
        LocalPerturbation(public, epsilon=9, random_state=2).fit_resample(*table)
        for table in ((records,), (X, records["outcome"]), (pd.DataFrame(records), None))
    ]
    for other in made[1:]:
        assert str(made[0]) == str(other)


def test_labels_keep_their_type():
    for classes, kind in (([0, 1], "i"), (["a", "b"], "U"), ([0.5, 1.5], "f"), ([True, False], "b"), ([0, "b"], "O")):
        schema = Schema([Numeric("v", 0, 1)], "y", classes, adjacency="replace-one")
        _, y = LocalPerturbation(schema, random_state=0).fit_resample([{"v": 1, "y": classes[1]}] * 20)
        assert y.dtype.kind == kind
        assert set(y.tolist()) == set(classes)


def test_chosen_components(public, records):
    """The label and s - 1 columns of each record, all columns equally often; the others are missing."""
    perturbation = LocalPerturbation(public, epsilon=2, components=2, random_state=0)
    X, y = perturbation.fit_resample({name: np.tile(values, 10) for name, values in records.items()})
    absent = np.stack([pd.isna(X[name]) for name in public.names], axis=1)
    assert (absent.sum(axis=1) == 3).all()
    assert stats.chisquare((~absent).sum(axis=0)).pvalue > 1e-3
    assert len(y) == 4000
    assert set(y.tolist()) == set(public.classes)
    first, label = perturbation.receipt_.charges
    assert (first.epsilon, label.epsilon) == (1, 1)
    assert "1 of 4 attributes" in first.query
    whole = LocalPerturbation(public, epsilon=2, components=5, random_state=0)
    assert not any(pd.isna(values).any() for values in whole.fit_resample(records)[0].values())
    assert whole.mechanisms_ == LocalPerturbation(public, epsilon=2).fit(records).mechanisms_
    assert whole.receipt_.epsilon == 2


# Budget


def test_shares_sum_to_epsilon_exactly(public, records):
    for weights in (None, {"age": 0.1, "outcome": 3}):
        perturbation = LocalPerturbation(public, epsilon=0.7, weights=weights)
        perturbation.fit_resample(records)
        charges = perturbation.receipt_.charges
        assert sum(charge.epsilon for charge in charges) == Fraction(7, 10)
        assert [charge.sensitivity for charge in charges] == [2048, 64, 1, 1, 1]
        for charge, mechanism in zip(charges, perturbation.mechanisms_.values(), strict=True):
            if isinstance(mechanism, DiscreteLaplace):
                assert mechanism.loss(charge.sensitivity) <= charge.epsilon
            else:
                assert charge.sensitivity / charge.scale == pytest.approx(float(charge.epsilon), rel=1e-9)
        assert perturbation.mechanisms_["site"].cells == 4


def test_weights_give_more_to_some(public):
    label = [LocalPerturbation(public, weights=weights)._steps()[-1].epsilon for weights in (None, {"outcome": 6})]
    assert label == [Fraction(1, 5), Fraction(6, 10)]


def test_the_ledger_is_charged_before_a_value_is_read(public, records, monkeypatch):
    ledger = Ledger(3)
    spent = []
    original = Cells.codes
    monkeypatch.setattr(Cells, "codes", lambda *args: [spent.append(ledger.spent), original(*args)][1])
    perturbation = LocalPerturbation(public, epsilon=2)
    perturbation.fit(records)
    assert spent == []
    perturbation.fit_resample(records, ledger=ledger)
    assert set(spent) == {2}
    spent.clear()
    with pytest.raises(BudgetError, match="costs epsilon=2, the ledger has 1 of 3 left"):
        perturbation.fit_resample(records, ledger=ledger)
    assert (spent, ledger.spent) == ([], 2)


def test_reading_that_fails_has_been_paid_and_wrong_columns_have_not(public, records, monkeypatch):
    ledger = Ledger(10)
    with pytest.raises(DataError, match=r"of the schema .* missing"):
        LocalPerturbation(public).fit_resample({"dose": [1], "outcome": ["ill"]}, ledger=ledger)
    with pytest.raises(DataError, match="different lengths"):
        LocalPerturbation(public).fit_resample(records, ["ill"], ledger=ledger)
    assert ledger.spent == 0
    monkeypatch.setattr(Cells, "codes", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LocalPerturbation(public).fit_resample(records, ledger=ledger)
    assert ledger.spent == 1


def test_blocks_are_paid_once_and_before_the_first_is_read(public, records):
    ledger = Ledger(2)

    def blocks():
        for start in range(0, 400, 150):
            assert ledger.spent == 2
            yield {name: values[start : start + 150] for name, values in records.items()}

    perturbation = LocalPerturbation(public, epsilon=2, random_state=3)
    published = perturbation.resample_blocks(blocks(), ledger=ledger)
    assert ledger.spent == 2
    ((X, y),) = published
    assert len(y) == len(X["age"]) == 400
    with pytest.raises(BudgetError):
        perturbation.resample_blocks(blocks(), ledger=ledger)
    ((X, y),) = perturbation.resample_blocks([])
    assert len(y) == len(X["site"]) == 0


def test_large_tables_come_in_blocks(monkeypatch):
    monkeypatch.setattr("discreet.perturbation.local_perturbation.ROWS", 7)
    blocks = [{"v": np.full(10, 0.5), "c": ["a"] * 10, "y": ["no"] * 10}] * 2
    published = list(LocalPerturbation(tiny(), epsilon=math.inf).resample_blocks(blocks))
    assert [len(y) for _, y in published] == [7, 7, 6]


def test_attributes_alone_cost_their_shares(public, records):
    ledger = Ledger(1)
    perturbation = LocalPerturbation(public, random_state=4)
    X = perturbation.transform({name: values for name, values in records.items() if name != "outcome"}, ledger=ledger)
    assert list(X) == public.names
    assert ledger.spent == perturbation.guarantee_.epsilon == Fraction(4, 5)
    assert "label" in perturbation.guarantee_.unit
    part = LocalPerturbation(public, components=3)
    part.transform(records)
    assert part.receipt_.epsilon == Fraction(2, 3)
    exact = LocalPerturbation(public, epsilon=math.inf).transform(records)["dose"]
    np.testing.assert_allclose(exact, np.clip(records["dose"], -1.5, 2.5), atol=4 / 64 / 2 + 1e-9)


def test_labels_in_the_clear_are_refused(public, records):
    X = pd.DataFrame({name: values for name, values in records.items() if name != "outcome"})
    assert list(LocalPerturbation(public).fit_transform(X)) == public.names
    pipeline = make_pipeline(LocalPerturbation(public), NaiveBayes(public, epsilon=math.inf))
    with pytest.raises(ParameterError, match="would pass the labels on as they are; use X, y = fit_resample"):
        pipeline.fit(X, records["outcome"])


# Guarantee and parameters


def test_the_guarantee_names_unit_adjacency_and_what_voids_it(public, records):
    def guarantee(schema=public, **parameters):
        perturbation = LocalPerturbation(schema, **parameters)
        perturbation.fit_resample(records)
        return perturbation.guarantee_

    sound = guarantee(epsilon=2)
    assert sound.holds
    assert not sound.experimental
    assert "number of records" in " ".join(sound.public)
    for words in ("2-locally differentially private", "one record is replaced by any other", "at most 7.390"):
        assert words in sound.statement()
    assert sound.to_dict()["statement"] == sound.statement()
    for broken, reason in (
        (guarantee(random_state=1), "random_state"),
        (guarantee(epsilon=math.inf), "infinite"),
        (guarantee(public.replace(from_data=["age.lower"])), "read off the data"),
    ):
        assert not broken.holds
        assert reason in broken.statement()


def test_add_remove_is_refused_and_the_remedy_works(schema, records):
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="number of rows") as caught:
        LocalPerturbation(schema).fit_resample(records, ledger=ledger)
    assert 'schema.replace(adjacency="replace-one")' in str(caught.value)
    assert ledger.spent == 0
    for call in (LocalPerturbation(schema).fit, LocalPerturbation(schema).transform):
        with pytest.raises(ParameterError, match="replace-one"):
            call(records)
    LocalPerturbation(schema.replace(adjacency="replace-one")).fit_resample(records)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0}, "need a number > 0"),
        ({"epsilon": 10_001}, "above 10000"),
        ({"epsilon": "1e-30"}, "too small"),
        ({"components": 1}, "from 2 to 5"),
        ({"components": 6}, "from 2 to 5"),
        ({"components": True}, "from 2 to 5"),
        ({"components": 2.0}, "from 2 to 5"),
        ({"components": 2, "weights": {"age": 1}}, "cannot be combined"),
        ({"weights": [1, 2]}, "need a mapping"),
        ({"weights": {"height": 1}}, "'height' is not a column"),
        ({"weights": {"age": 0}}, "need a number from"),
        ({"weights": {"age": math.nan}}, "need a number from"),
        ({"weights": {"age": "1"}}, "need a number from"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_other_parameters_are_refused_and_cost_nothing(public, records, parameters, message):
    ledger = Ledger(100_000)
    with pytest.raises(ParameterError, match=message):
        LocalPerturbation(public, **parameters).fit_resample(records, ledger=ledger)
    assert ledger.spent == 0


def test_a_schema_is_needed(records):
    with pytest.raises(ParameterError, match="need a Schema"):
        LocalPerturbation("from-data").fit(records)


def test_it_is_an_estimator(public, records):
    perturbation = LocalPerturbation(public, epsilon=np.float64(0.5), components=np.int64(2), random_state=3)
    twin = clone(perturbation)
    assert twin.get_params() == perturbation.get_params()
    assert str(perturbation.fit_resample(records)) == str(twin.fit_resample(records))
    assert "epsilon=0.5" in repr(LocalPerturbation(public, epsilon=0.5))
    assert perturbation.n_features_in_ == 4
    assert perturbation.feature_names_in_.tolist() == public.names
    assert perturbation.fit(records) is perturbation
    again = pickle.loads(pickle.dumps(perturbation))
    assert again.guarantee_ == perturbation.guarantee_
    assert not {name for name in vars(clone(perturbation)) if name.endswith("_")}


def test_nothing_of_the_data_is_kept():
    canary = "canary-7731"
    perturbation = LocalPerturbation(tiny(), epsilon=1)
    X, y = perturbation.fit_resample([{"v": 0.7731, "c": canary, "y": canary}] * 3)
    seen = repr((vars(perturbation), X, y, perturbation.guarantee_.to_dict()))
    assert canary not in seen
    assert "0.7731" not in seen


# Use


def scores_on_breast_cancer(runs, **parameters):
    """Accuracy of models of perturbed halves on the other halves, and the fraction of the majority class there."""
    X, y, schema = built_in("breast-cancer")
    schema = schema.replace(adjacency="replace-one")
    half = np.arange(len(y)) % 2 == 0
    train, test = ({name: values[rows] for name, values in X.items()} for rows in (half, ~half))
    scores = []
    for seed in range(runs):
        perturbation = LocalPerturbation(schema, epsilon=20, random_state=seed, **parameters)
        model = NaiveBayes(schema, epsilon=math.inf).fit(*perturbation.fit_resample(train, y[half]))
        scores.append(model.score(test, y[~half]))
    return np.array(scores), max(np.mean(y[~half] == label) for label in np.unique(y))


def test_a_model_learned_from_a_perturbed_table_beats_the_majority():
    """Thirty columns at ε = 20: a few of each record are released. All of them, at 20 / 31 each, would be noise."""
    scores, majority = scores_on_breast_cancer(10, components=4)
    assert scores.mean() > majority + 0.1
    assert (scores > majority).mean() >= 0.8
    assert scores_on_breast_cancer(10)[0].mean() < scores.mean() - 0.1


@pytest.mark.slow
def test_large_tables_are_perturbed_in_seconds():
    """Fifty thousand records of fifteen categories, secure noise."""
    import time

    columns = [Categorical(f"c{i}", list("abcdefgh")) for i in range(15)]
    schema = Schema(columns, "y", ["no", "yes"], adjacency="replace-one")
    table = {column.name: np.array(list("abcdefgh") * 6250) for column in columns}
    start = time.perf_counter()
    LocalPerturbation(schema, epsilon=10).fit_resample(table, np.array(["no", "yes"] * 25_000))
    assert time.perf_counter() - start < 10


def test_every_source_gives_the_same_table_for_a_seed(public, records, tmp_path, monkeypatch):
    """However records are cut into blocks, and whether they wait in memory or in a file."""
    monkeypatch.setattr("discreet.doors.rows.CHUNK", 64)
    frame = pd.DataFrame(records)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=90)

    def perturbed(blocks):
        X, y = zip(*blocks, strict=True)
        return [np.concatenate([each[name] for each in X]).tolist() for name in X[0]], np.concatenate(y).tolist()

    def made(components=None):
        return LocalPerturbation(public, epsilon=9, components=components, random_state=5)

    for components in (None, 3):
        expected = perturbed([made(components).fit_resample(records)])
        cuts = ({name: values[start : start + 37] for name, values in records.items()} for start in range(0, 400, 37))
        assert repr(perturbed(made(components).resample_blocks(cuts))) == repr(expected)
        for held in (2**23, 500):
            monkeypatch.setattr(local_perturbation, "HELD", held)
            for name in ("t.csv", "t.parquet"):
                again = made(components)
                assert repr(perturbed(again.resample_from(open_file(tmp_path / name)))) == repr(expected)
                assert again.table_digest_ is not None


def test_no_digest_before_the_last_block(public, records, monkeypatch):
    monkeypatch.setattr("discreet.perturbation.local_perturbation.ROWS", 50)
    perturbation = LocalPerturbation(public, random_state=5)
    blocks = perturbation.resample_from(MemorySource(records))
    next(blocks)
    assert perturbation.table_digest_ is None
    other = perturbation.resample_from(MemorySource(records))
    list(blocks)
    assert perturbation.table_digest_ is None  # the receipt is that of the second table
    list(other)
    assert perturbation.table_digest_ is not None


def test_a_source_that_gives_counts_only_is_refused_before_the_charge(public, records):
    class Strict(MemorySource):
        def check_rows(self):
            raise ParameterError("only counts leave")

    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="only counts leave"):
        LocalPerturbation(public).resample_from(Strict(records), ledger=ledger)
    assert ledger.spent == 0
