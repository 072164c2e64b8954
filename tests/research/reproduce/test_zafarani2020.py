"""Zafarani and Clifton 2020: the typed numbers, the divisions of epsilon, the generated table and the statements."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, Numeric, Schema, datasets
from discreet.errors import ParameterError
from discreet.research.comparison import Grid, ResultsFile, compare, summary
from discreet.research.comparison.summary import Cell
from discreet.research.papers import Zafarani2020NaiveBayes
from discreet.research.papers.published import ExactRecords
from discreet.research.report import Paragraph, Picture, ReportTable
from discreet.research.reproduce.accuracies import INDEPENDENT, Accuracies
from discreet.research.reproduce.data_sets import Facts, facts
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zafarani2020 import findings, generated, models, scale, sections
from discreet.research.reproduce.zafarani2020.generated import TimedFit
from discreet.research.reproduce.zafarani2020.models import (
    GLOBAL,
    RIGOROUS,
    SMOOTH,
    AllocatedNaiveBayes,
    AllocatedSmooth,
)
from discreet.research.reproduce.zafarani2020.study import Zafarani2020

pytest.importorskip("matplotlib")

MIXED = Schema(
    [Numeric("x", 0, 4), Numeric("z", 0, 1), Categorical("u", ["p", "q"]), Categorical("v", ["r", "s", "t"])],
    "y",
    ["a", "b"],
    records=60,
)


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    facts.cache_clear()
    yield
    facts.cache_clear()


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    columns = {
        "x": rng.uniform(0, 4, 60),
        "z": rng.uniform(0, 1, 60),
        "u": rng.choice(["p", "q"], 60),
        "v": rng.choice(["r", "s", "t"], 60),
    }
    return columns, np.where(columns["x"] > 2, "a", "b")


def made(curves, deviation=0.01, runs=10):
    """Cells from {(data, model): {epsilon: mean}}."""
    return [
        Cell(*key, epsilon, runs, mean, deviation, None)
        for key, means in curves.items()
        for epsilon, mean in means.items()
    ]


def context(found, full=False):
    return Context(found, "the command, seed 0", full, None)


def test_typed_numbers_are_those_of_the_paper():
    rows = {(row.data, row.model): row.value for row in printed("zafarani2020", "Table 1")}
    assert len(rows) == 24
    assert rows["washington", "records"] == 1_700_000
    assert rows["nevada", "records"] == 110_000
    assert all(rows[state, "attributes"] == 13 and rows[state, "classes"] == 2 for state in generated.STATES)
    others = {(row.data, row.model): row.value for row in printed("zafarani2020")}
    assert others["seeds", "records of each class"] * rows["seeds", "classes"] == rows["seeds", "records"]
    ratios = {
        (others["adult", f"numeric share, {each}"], others["adult", f"categorical share, {each}"])
        for each in ("1:2", "2:1")
    }
    assert ratios == {(1, 2), (2, 1)} <= set(models.RATIOS)


def test_full_grid():
    found = {each.name: each for each in Zafarani2020().experiments(full=True)}
    data = {name for each in found.values() for name in each.grid.data}
    assert data == {"adult", "mushroom", "seeds", "skin"}
    assert (found["figures 4-7"].grid.folds, found["figures 4-7"].grid.repeats) == (10, 5)
    assert len(found["figure 10"].models) == 11
    for each in found.values():
        each.grid.check(each.models)
        assert pickle.loads(pickle.dumps(dict(each.models))).keys() == each.models.keys()


def test_global_sensitivity_has_its_part_of_epsilon():
    model = models.global_sensitivity(MIXED, epsilon=7, random_state=3)
    assert model.epsilon == pytest.approx(1.0)
    assert (model.n, model.random_state) == (30, 3)


def test_allocation_two_to_one_is_the_published_algorithm(mixed):
    records = ExactRecords.read(*mixed, MIXED)
    ours, theirs = (family(MIXED, epsilon=2).scales(records) for family in (AllocatedSmooth, Zafarani2020NaiveBayes))
    np.testing.assert_allclose(ours.classes, theirs.classes)
    for kind in ("tables", "means", "deviations"):
        for name, expected in getattr(theirs, kind).items():
            np.testing.assert_allclose(getattr(ours, kind)[name], expected)


def test_allocation_divides_epsilon_by_its_weights(mixed):
    records = ExactRecords.read(*mixed, MIXED)
    model = AllocatedSmooth(MIXED, epsilon=9, numeric_weight=1, categorical_weight=3)
    assert model.query_epsilon == pytest.approx(1.0)
    assert model.numeric_share == pytest.approx(2 / 9)
    scales = model.scales(records)
    np.testing.assert_allclose(scales.tables["v"], 1 / 3)
    np.testing.assert_allclose(scales.classes, math.sqrt(2))
    alone = Zafarani2020NaiveBayes(MIXED, epsilon=0.5 * 7)
    assert alone.query_epsilon == pytest.approx(0.5)
    np.testing.assert_allclose(scales.means["x"], alone.scales(records).means["x"])


def test_allocation_needs_both_kinds():
    schema = Schema([Numeric("x", 0, 1)], "y", ["a", "b"])
    with pytest.raises(ParameterError, match="numeric and categorical"):
        AllocatedSmooth(schema).fit({"x": np.zeros(2)}, ["a", "b"])


@pytest.mark.parametrize("epsilon", [0.5, 7])
def test_allocated_shares_sum_to_epsilon(mixed, epsilon):
    model = AllocatedNaiveBayes(MIXED, epsilon=epsilon, numeric_weight=1, categorical_weight=4).fit(*mixed)
    charges = model.receipt_.charges
    assert sum(Fraction(charge.epsilon) for charge in charges) == Fraction(str(epsilon))
    assert model.guarantee_.holds
    if epsilon == 7:
        shares = {str(charge.query): float(charge.epsilon) for charge in charges}
        numeric = [share for query, share in shares.items() if "'x'" in query or "'z'" in query]
        categorical = [share for query, share in shares.items() if "'u'" in query or "'v'" in query]
        assert numeric == pytest.approx([0.7, 0.7])
        assert categorical == pytest.approx([2.8, 2.8])


def test_allocated_without_noise_is_naive_bayes(mixed):
    columns, labels = mixed
    ours = AllocatedNaiveBayes(MIXED, epsilon=math.inf, categorical_weight=9).fit(columns, labels)
    theirs = NaiveBayes(MIXED, epsilon=math.inf).fit(columns, labels)
    np.testing.assert_array_equal(ours.predict_proba(columns), theirs.predict_proba(columns))


def test_default_share_is_that_of_the_receipt(mixed):
    receipt = NaiveBayes(MIXED, epsilon=7, select=None, random_state=0).fit(*mixed).receipt_
    numeric = sum(float(each.epsilon) for each in receipt.charges if "'x'" in each.query or "'z'" in each.query)
    assert models.default_numeric_share(MIXED, Fraction(7)) == pytest.approx(numeric / 7)


def test_generated_table_has_the_shape_of_the_census():
    columns, labels = generated.generated(3000, seed=0)
    schema = generated.schema(3000)
    assert list(columns) == schema.names
    assert len(columns) == 13
    assert schema.records == 3000
    assert 0.35 < labels.mean() < 0.45
    for column in schema.columns:
        values = columns[column.name]
        if isinstance(column, Categorical):
            assert set(values.tolist()) == set(range(len(column.categories)))
        else:
            assert 0 <= values.min() <= values.max() <= 100
        assert abs(values[labels == 1].mean() - values[labels == 0].mean()) > 0.05 * values.std(), column.name
    again, _ = generated.generated(3000, seed=0)
    other, _ = generated.generated(3000, seed=1)
    np.testing.assert_array_equal(columns["number_0"], again["number_0"])
    assert not np.array_equal(columns["number_0"], other["number_0"])


def test_generated_classes_can_be_told():
    (alone,) = {
        each.accuracy
        for each in generated.measure([4000], [], {RIGOROUS: NaiveBayes})
        if each.epsilon == math.inf and each.model == RIGOROUS
    }
    assert alone > generated.majority() + 0.05
    assert 0.55 < generated.majority() < 0.65


def test_records_that_are_tested_are_not_those_trained_on():
    seen = {}

    class Recording:
        def __init__(self, schema, *, epsilon, random_state):
            pass

        def fit(self, columns, labels):
            seen["fit"] = columns["number_0"]

        def predict(self, columns):
            seen["predict"] = columns["number_0"]
            return np.zeros(len(columns["number_0"]))

    generated.measure([generated.TESTED], [], {"a": Recording})
    inside = seen["predict"][(seen["predict"] > 0) & (seen["predict"] < 100)]
    assert not np.isin(inside, seen["fit"]).any()


def test_sizes_are_those_of_the_states():
    assert generated.sizes(True) == [20_000, 110_000, 250_000, 1_000_000, 1_700_000]
    assert max(generated.sizes(False)) == 20_000


def test_exponent_of_time():
    assert generated.exponent({10: 1.0, 1000: 5.0, 2000: 20.0}) == pytest.approx(2)
    assert generated.exponent({10: 1.0}) is None
    found = [TimedFit(10, "a", 0.1, 0.5, 3.0), TimedFit(10, "a", 1.0, 0.5, 9.0), TimedFit(10, "b", 0.1, 0.5, 1.0)]
    assert generated.seconds(found, "a") == {10: 3.0}


def test_scale_counts_who_is_better():
    scores = {(SMOOTH, 0.1): 0.6, (GLOBAL, 0.1): 0.5, (RIGOROUS, 0.1): 0.55, (SMOOTH, 1.0): 0.6, (GLOBAL, 1.0): 0.6}
    scores |= {(RIGOROUS, 1.0): 0.7, (SMOOTH, math.inf): 0.9, (GLOBAL, math.inf): 0.1, (RIGOROUS, math.inf): 0.9}
    found = [TimedFit(100, model, epsilon, value, 0.1) for (model, epsilon), value in scores.items()]
    parts = scale.parts(found, "here")
    text = " ".join(part.text for part in parts if isinstance(part, Paragraph))
    assert "Of 2 pairs of n and ε, smooth sensitivity is more accurate than global in 1" in text
    assert "at least as accurate as both in 1." in text
    assert all("generated records" in part.origin for part in parts if isinstance(part, ReportTable | Picture))
    assert scale.parts([], "here")


def test_clear_differences_are_larger_than_chance_and_errors():
    curves = {("a", SMOOTH): {"1": 0.8, "1/10": 0.61}, ("a", GLOBAL): {"1": 0.7, "1/10": 0.6}}
    found = findings.gaps(Accuracies(made(curves)), "a")
    assert [(round(gap.value, 2), gap.is_clear) for gap in found] == [(0.01, False), (0.1, True)]
    assert findings.clearly(found) == (1, 0)
    noisy = findings.gaps(Accuracies(made(curves, deviation=0.3)), "a")
    assert findings.clearly(noisy) == (0, 0)
    assert findings.improvement(Accuracies(made(curves)), "a").agrees is True
    swapped = {(data, {SMOOTH: GLOBAL, GLOBAL: SMOOTH}[model]): means for (data, model), means in curves.items()}
    assert findings.improvement(Accuracies(made(swapped)), "a").agrees is False
    assert findings.improvement(Accuracies([]), "a").agrees is None


def test_useful_from_counts_only_what_stays_above():
    means = {"1/100": 0.9, "1/10": 0.4, "1": 0.8, "10": 0.9}
    cells = made({("a", SMOOTH): means, ("a", "majority"): {"inf": 0.5}})
    assert findings.useful_from(Accuracies(cells), "a", SMOOTH) == "1"
    assert findings.useful_from(Accuracies(made({("a", SMOOTH): means})), "a", SMOOTH) == "–"
    low = made({("a", SMOOTH): {"1": 0.5}, ("a", "majority"): {"inf": 0.5}})
    assert findings.useful_from(Accuracies(low), "a", SMOOTH) == "above 1"
    high = made({("a", SMOOTH): {"1": 0.9, "10": 0.9}, ("a", "majority"): {"inf": 0.5}})
    assert findings.useful_from(Accuracies(high), "a", SMOOTH) == "1"


def test_useful_table_has_both_the_margin_and_none():
    cells = made({("a", SMOOTH): {"1": 0.51, "10": 0.9}, ("a", "majority"): {"inf": 0.5}})
    parts = sections.figures(Accuracies(cells), context({}))
    (table,) = [part for part in parts if isinstance(part, ReportTable) and part.caption.startswith("ε from which on")]
    assert table.caption.endswith("by more than 0.02 / at all")
    assert table.rows == [["a", "10 / 1", "–", "–", "–"]]


def test_standard_errors_and_thresholds_are_qualified():
    parts = sections.figures(Accuracies(made({("a", SMOOTH): {"1": 0.5}})), context({}))
    (picture,) = [part for part in parts if isinstance(part, Picture)]
    assert INDEPENDENT in picture.caption
    (text,) = [part.text for part in parts if isinstance(part, Paragraph) and "is called clear" in part.text]
    assert INDEPENDENT in text
    assert "set after a first look" in text
    assert all("which share records" in p.caption for p in parts if isinstance(p, ReportTable) and "±" in p.caption)


def test_noise_of_means_gains_nothing_and_that_of_deviations_does():
    """Smooth sensitivity of a mean is at least half the global one, so the ratio is at least √2 / (2 ln 2)."""
    found = findings.noise("breast-cancer", None)
    assert found.means[0] >= math.sqrt(2) / (2 * math.log(2))
    assert found.means[1] > 1
    assert found.deviations[1] < 0.5
    assert findings.noise("nowhere", None) is None


def test_the_gain_of_deviations_is_told_with_what_was_measured():
    _, middle, most = findings.noise("iris", None).deviations
    (why, _) = sections._noise(["iris", "nowhere"], context({}))
    assert f"iris {middle:.3g} in the median, {most:.3g} at most" in why.text
    assert most > 1 > middle  # the gain is not everywhere
    (bare, _) = sections._noise(["nowhere"], context({}))
    assert "error relative to global" not in bare.text


def test_noise_ratios_of_means_by_hand():
    """S = max(highest - lower, upper - lowest, e^-β width) / n, against width / (n + 1)."""
    X, y, schema = datasets.load("iris")
    ratios = []
    for column in schema.columns:
        low, high = float(column.lower), float(column.upper)
        for label in schema.classes:
            values = np.clip(X[column.name][y == label], low, high)
            smooth = max(values.max() - low, high - values.min(), math.exp(-1 / 9) * (high - low)) / 50
            ratios.append(math.sqrt(2) * smooth / (math.log(2) * (high - low) / 51))
    found = findings.noise("iris", None)
    assert found.means == pytest.approx((min(ratios), np.median(ratios), max(ratios)))


def test_allocation_statements():
    curves = {("adult", f"{SMOOTH}, {a}:{b}"): {"1": 0.8, "1/10": 0.6} for a, b in models.RATIOS}
    first, second = findings.allocation(Accuracies(made(curves)), "adult")
    assert (first.agrees, second.agrees) == (False, True)
    curves["adult", f"{SMOOTH}, 1:2"] = {"1": 0.5, "1/10": 0.4}
    curves["adult", f"{SMOOTH}, 4:1"] = {"1": 0.9, "1/10": 0.6}
    first, second = findings.allocation(Accuracies(made(curves)), "adult")
    assert (first.agrees, second.agrees) == (True, False)
    assert "1:2 0.450" in first.measured
    del curves["adult", f"{SMOOTH}, 1:1"]
    assert all(each.agrees is None for each in findings.allocation(Accuracies(made(curves)), "adult"))


def test_losses_are_infinite_with_numbers_and_finite_without():
    rows = sections._loss_rows("iris", ["1"], context({}))
    assert [row[1:] for row in rows[:2]] == [[SMOOTH, "add-remove", "any", "∞"], [SMOOTH, "replace-one", "any", "∞"]]
    assert float(rows[2][4]) > 2
    assert sections._loss_rows("mushroom", ["1"], context({})) == [["mushroom", "–", "–", "–", "–"]]


@pytest.mark.parametrize(("full", "records"), [(False, 33), (True, 45)])
def test_losses_by_global_sensitivity_are_of_a_training_fold_and_of_any_table(full, records):
    assert {each.grid.folds for each in Zafarani2020().experiments(full)} == {sections.folds(full)}
    rows = sections._loss_rows("iris", ["10"], context({}, full))[2:]
    model = models.global_sensitivity(facts("iris", None).schema, epsilon=10)
    assert [row[1:4] for row in rows] == [
        [GLOBAL, "add-remove", f"at least {records}"],
        [GLOBAL, "add-remove", "any"],
    ]
    assert [float(row[4]) for row in rows] == pytest.approx(
        [model.honest_epsilon(records), model.honest_epsilon(0)], rel=0.01
    )


def test_losses_follow_the_adjacency(monkeypatch):
    known = Facts(Schema([Categorical("u", ["p", "q"])], "y", ["a", "b"], records=9), {"a": 4, "b": 5})
    monkeypatch.setattr(sections, "facts", lambda data, directory: known)
    rows = sections._loss_rows("mushroom", ["1"], context({}))
    assert [(row[2], row[4]) for row in rows[:2]] == [("add-remove", "0.852"), ("replace-one", "1.7")]


def test_division_draws_the_share_of_numbers(monkeypatch):
    """Figure 10 from made-up cells, with a schema in place of adult's."""

    class Known:
        schema, counts, smallest_class = MIXED, [30, 30], 30

    monkeypatch.setattr(sections, "facts", lambda data, directory: Known)
    curves = {("adult", f"{name}, {a}:{b}"): {"7": 0.8} for name in (SMOOTH, RIGOROUS) for a, b in models.RATIOS}
    curves["adult", RIGOROUS] = {"7": 0.9}
    parts = sections.division(Accuracies(made(curves)), context({}, full=True))
    (picture,) = [part for part in parts if isinstance(part, Picture)]
    lines = {line.get_label(): line.get_xdata() for line in picture.figure.axes[0].get_lines()}
    assert lines[SMOOTH] == pytest.approx([2 / 11, 2 / 7, 2 / 5, 4 / 7, 8 / 11])
    assert lines[RIGOROUS] == pytest.approx([1 / 5, 1 / 3, 1 / 2, 2 / 3, 4 / 5])
    assert lines[f"{RIGOROUS}, its own division"] == pytest.approx([models.default_numeric_share(MIXED, Fraction(7))])
    text = " ".join(part.text for part in parts if isinstance(part, Paragraph))
    assert "its own division 0.900" in text


def test_a_small_run_from_end_to_end(tmp_path, monkeypatch):
    few = tuple(generated.measure([500], [1.0], {SMOOTH: Zafarani2020NaiveBayes, RIGOROUS: NaiveBayes}))
    monkeypatch.setattr("discreet.research.reproduce.zafarani2020.study.measured", lambda full: few)
    (experiment,) = Zafarani2020().experiments(full=False)
    grid = Grid(["iris"], experiment.grid.models, [1, 10], folds=2)
    done = compare(grid, experiment.models, ResultsFile(tmp_path / "runs.csv"), version="test")
    assert not done.failures
    here = context({experiment.name: summary.cells(done.measured)})
    found = Zafarani2020().sections(here)
    parts = [part for section in found for part in section.parts]
    assert [part.name for part in parts if isinstance(part, Picture)] == [
        "zafarani2020-figures-4-7",
        "zafarani2020-records",
        "zafarani2020-time",
    ]
    for part in parts:
        if isinstance(part, ReportTable):
            assert part.origin
            assert all(len(row) == len(part.heads) for row in part.rows), part.caption
    held = Zafarani2020().checks(here)
    assert held
    assert all(isinstance(value, bool) for value in held.values())


@pytest.mark.parametrize("full", [False, True])
def test_sections_of_an_interrupted_run(full, monkeypatch):
    monkeypatch.setattr("discreet.research.reproduce.zafarani2020.study.measured", lambda full: ())
    found = Zafarani2020().sections(context({}, full))
    assert len(found) == 5
    assert Zafarani2020().checks(context({}, full)) == {}
