"""Vaidya et al. 2013: the typed numbers, the statements computed from cells, and a small run."""

import math
import pickle

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, Numeric, Schema
from discreet.research.comparison import Grid, ResultsFile, compare, summary
from discreet.research.comparison.summary import Cell
from discreet.research.papers import Vaidya2013NaiveBayes
from discreet.research.report import Paragraph, Picture, ReportTable
from discreet.research.reproduce.accuracies import INDEPENDENT, Accuracies, loss_text
from discreet.research.reproduce.data_sets import facts
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.vaidya2013 import findings, sections
from discreet.research.reproduce.vaidya2013.study import SIZES, OnRows, Vaidya2013

pytest.importorskip("matplotlib")

N = {n: f"published, n = {n:,}" for n in (1000, 1_000_000)}


@pytest.fixture(autouse=True)
def _no_folder(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    facts.cache_clear()
    yield
    facts.cache_clear()


def cell(data, model, epsilon, mean, deviation=0.01, runs=10):
    return Cell(data, model, epsilon, runs, mean, deviation, None)


def made(curves):
    """Cells from {(data, model): {epsilon: mean}}."""
    return [cell(*key, epsilon, mean) for key, means in curves.items() for epsilon, mean in means.items()]


def context(found, full=False):
    return Context(found, "the command, seed 0", full, None)


def texts(parts):
    return " ".join(part.text for part in parts if isinstance(part, Paragraph))


def test_typed_numbers_are_those_of_the_paper():
    rows = printed("vaidya2013")
    assert [row.value for row in rows if row.model == "n"] == [1000, 5000, 10_000, 100_000, 1_000_000]
    assert [row.value for row in rows if row.model == "epsilon"] == [1.0, 0.1, 0.05, 0.01, 0.005, 0.001]
    assert all(float(row.epsilon) == row.value for row in rows if row.epsilon)
    by_key = {(row.data, row.model): row.value for row in rows}
    assert by_key["mushroom", "attributes"] == 22
    assert by_key["nursery", "classes"] == 5
    assert by_key["optdigits", "records"] == 5600
    assert (by_key["", "iterations"], by_key["", "folds"]) == (5, 10)
    assert len([row for row in rows if row.place.startswith("Figure 3")]) == 15


def test_full_grid_is_that_of_the_paper():
    found = {each.name: each for each in Vaidya2013().experiments(full=True)}
    first, second = found["figure 3 a-b"], found["figure 3 c-e"]
    assert {*first.grid.data, *second.grid.data} == {"mushroom", "nursery", "adult", "skin", "optdigits"}
    assert second.grid.epsilons == ("1", "1/10", "1/20", "1/100", "1/200", "1/1000")
    assert (first.grid.folds, first.grid.repeats) == (10, 5)
    assert (second.grid.folds, second.grid.repeats) == (10, 3)
    assert len(second.models) == 6
    assert [family.keywords["n"] for name, family in second.models.items() if name != "rigorous"] == [
        1000,
        5000,
        10_000,
        100_000,
        1_000_000,
    ]
    assert {data for each, _ in SIZES.values() for data in each} == {*first.grid.data, *second.grid.data}
    for each in found.values():
        each.grid.check(each.models)
        assert pickle.loads(pickle.dumps(dict(each.models))).keys() == each.models.keys()


def test_quick_mode_needs_no_folder():
    for each in Vaidya2013().experiments(full=False):
        assert set(each.grid.data) <= {"iris", "digits", "breast-cancer", "wine"}


class Recording:
    """Remembers what it was trained on."""

    def __init__(self, schema, *, epsilon, random_state):
        self.schema, self.epsilon, self.random_state = schema, epsilon, random_state

    def fit(self, columns, labels):
        self.columns, self.labels = columns, labels
        return self

    def predict(self, columns):
        return columns["x"]


def test_on_rows_takes_the_first_of_one_shuffle_and_declares_their_number():
    schema = Schema([Numeric("x", 0, 100)], "y", [0, 1], records=100)
    x, y = np.arange(100.0), np.arange(100) % 2
    kept = {}
    for rows in (10, 40, 100, 500):
        model = OnRows(schema, family=Recording, rows=rows, epsilon=2, random_state=rows).fit({"x": x}, y).model_
        assert (model.epsilon, model.random_state) == (2, rows)
        assert model.schema.records == min(rows, 100)
        np.testing.assert_array_equal(model.columns["x"] % 2, model.labels)
        kept[rows] = model.columns["x"].tolist()
    assert len(set(kept[40])) == 40
    assert kept[40][:10] == kept[10] != sorted(kept[10])
    assert kept[100] == kept[500] == x.tolist()


def test_whole_fold_keeps_the_declared_number():
    schema = Schema([Numeric("x", 0, 100)], "y", [0, 1], records=123)
    model = OnRows(schema, family=Recording, rows=50, epsilon=1, random_state=0)
    assert model.fit({"x": np.arange(50.0)}, np.zeros(50)).model_.schema.records == 123


def test_falling_curves():
    cells = made({("a", N[1000]): {"1": 0.9, "1/10": 0.5}, ("b", N[1000]): {"1": 0.5, "1/10": 0.9}})
    found = findings.falls(Accuracies(cells))
    assert found.agrees is False
    assert found.measured == "1 of 2 curves are no higher at ε = 0.1 than at 1, 1 are no more than 0.02 higher"
    near = made({("a", N[1000]): {"1": 0.9, "1/10": 0.91}, ("b", N[1000]): {"1": 0.9, "1/10": 0.5}})
    slack = findings.falls(Accuracies(near))
    assert slack.agrees is True
    assert slack.measured == "1 of 2 curves are no higher at ε = 0.1 than at 1, 2 are no more than 0.02 higher"
    assert findings.falls(Accuracies(cells[:2])).agrees is True
    assert findings.falls(Accuracies([])).agrees is None


def test_steep_part_names_the_epsilon_above_the_largest_drop():
    curves = {
        ("a", N[1000]): {"1": 0.9, "1/10": 0.88, "1/100": 0.4},
        ("b", N[1000]): {"1": 0.9, "1/10": 0.5, "1/100": 0.48},
        ("c", N[1000]): {"1": 0.9, "1/10": 0.9, "1/100": 0.895},
    }
    found = findings.steep_part(Accuracies(made(curves)))
    assert found.agrees is True
    assert "a loses 0.480 just below 0.1" in found.measured
    assert "b loses 0.400 just below 1;" in found.measured
    assert "c has no steep part" in found.measured
    del curves["b", N[1000]]
    assert findings.steep_part(Accuracies(made(curves))).agrees is False


def test_small_loss_looks_at_the_epsilons_that_the_paper_names():
    means = {"inf": 0.95, "1": 0.95, "1/200": 0.92, "1/1000": 0.5}
    assert findings.small_loss(Accuracies(made({("mushroom", N[1000]): means})), "mushroom").agrees is True
    means["1/200"] = 0.89
    found = findings.small_loss(Accuracies(made({("mushroom", N[1000]): means})), "mushroom")
    assert found.agrees is False
    assert "at most 0.060 of 0.950" in found.measured
    assert findings.small_loss(Accuracies([]), "mushroom").row[-1] == "not measured"


def test_effect_of_n_compares_the_named_data_sets_with_the_others():
    curves = {}
    for data, gap in (("adult", 0.2), ("skin", 0.1), ("mushroom", 0.01)):
        curves[data, N[1000]] = {"1": 0.7, "1/10": 0.5}
        curves[data, N[1_000_000]] = {"1": 0.7 + gap, "1/10": 0.5 + gap}
    scores = Accuracies(made(curves))
    assert findings.spread_over_n(scores, "adult") == pytest.approx(0.2)
    assert findings.effect_of_n(scores).agrees is True
    curves["mushroom", N[1_000_000]] = {"1": 0.85, "1/10": 0.65}  # more than skin, less than adult
    assert findings.effect_of_n(Accuracies(made(curves))).agrees is False
    del curves["skin", N[1000]], curves["skin", N[1_000_000]]
    assert findings.effect_of_n(Accuracies(made(curves))).agrees is None


def test_honest_contest_leaves_out_points_that_lose_more():
    cells = made({("a", "rigorous"): {"1": 0.8}, ("a", N[1000]): {"1": 0.9, "1/10": 0.7}})

    def loss(data, model, epsilon):
        return {"1": 30.0, "1/10": 1.5}[epsilon]

    (within,) = findings.at_honest_epsilon(Accuracies(cells), loss, 2)
    assert (within.theirs, within.epsilon, within.loss) == (0.7, "1/10", 1.5)
    (every,) = findings.at_honest_epsilon(Accuracies(cells), loss, math.inf)
    assert (every.ours, every.theirs, every.loss) == (0.8, 0.9, 30.0)
    assert findings.at_honest_epsilon(Accuracies(cells), lambda *_: None, math.inf) == []
    assert findings.at_equal_epsilon(Accuracies(cells)).won == 0


@pytest.mark.parametrize("full", [False, True])
def test_folds_are_those_of_the_grids(full):
    assert {each.grid.folds for each in Vaidya2013().experiments(full)} == {sections.folds(full)}


def test_loss_is_that_of_the_model_with_the_n_of_its_name_on_a_training_fold():
    known = facts("iris", None)
    assert known.smallest_class == 50
    model = Vaidya2013NaiveBayes(known.schema, epsilon=0.1, n=1_000_000)
    for folds, records in ((3, 33), (10, 45), (None, 0)):
        lost = sections.loss_if_known("iris", N[1_000_000], "1/10", None, folds)
        assert lost == pytest.approx(model.honest_epsilon(records))
        assert lost > model.honest_epsilon(50) > 1000
    assert sections.loss_if_known("nowhere", N[1000], "1", None, 3) is None


def test_a_loss_that_needs_class_sizes_says_so_and_gives_that_of_any_table():
    cells = made({("iris", "rigorous"): {"1": 0.9}, ("iris", N[1000]): {"1/100": 0.6}})
    model = Vaidya2013NaiveBayes(facts("iris", None).schema, epsilon=0.01, n=1000)
    text = texts(sections.figure_three(Accuracies(cells), context({})))
    assert "points that would lose at most 10 if every class were known to have at least as many records as" in text
    assert "nobody may know that" in text
    known, unknown = (loss_text(model.honest_epsilon(records)) for records in (33, 0))
    assert known != unknown
    assert text.count(f"{known} if that were known, else {unknown})") == 2  # among those within 10, and among all
    assert "which loses 2" not in text


def test_table_of_losses_is_of_a_training_fold_and_of_any_table():
    for full, least in ((False, "at least 33"), (True, "at least 45")):
        rows = sections._loss_rows("iris", None, sections.folds(full))
        assert [row[2] for row in rows] == [least, "any"] * 2
    known = facts("iris", None)
    assert rows[0][3] == loss_text(Vaidya2013NaiveBayes(known.schema, epsilon=1, n=1000).honest_epsilon(45))


def test_check_names_the_condition_on_class_sizes():
    cells = made({("iris", "rigorous"): {"1": 0.9}, ("iris", N[1000]): {"1/1000": 0.6}})
    (sentence,) = Vaidya2013().checks(context({"figure 3": cells}))
    assert sentence.endswith("would lose at most 2 if class sizes were known")


def test_class_counts_cost_more_than_one_where_a_class_can_be_empty():
    """The number in the text is the loss where all other queries cost next to nothing."""
    schema = Schema([Categorical("u", ["p", "q"])], "y", [0, 1])
    empty = Vaidya2013NaiveBayes(schema, epsilon=1e-9).honest_epsilon(0)
    text = texts(sections.losses(context({})))
    assert f"cost at least 1, and {empty:.2f} if a class can be empty" in text
    assert empty > 1.4


def test_standard_errors_and_thresholds_are_qualified():
    parts = [part for section in Vaidya2013().sections(context({})) for part in section.parts]
    bands = [part for part in parts if isinstance(part, Picture)]
    assert len(bands) == 2
    assert all(INDEPENDENT in part.caption for part in bands)
    assert all("which share records" in p.caption for p in parts if isinstance(p, ReportTable) and "±" in p.caption)
    assert f"{findings.STEEP} to chance; the latter was set after a first look" in texts(parts)


def test_noise_that_helps_is_told():
    cells = made({("a", N[1000]): {"inf": 0.6, "1": 0.9}, ("b", N[1000]): {"inf": 0.9, "1": 0.9}})
    assert findings.helped_by_noise(Accuracies(cells)) == {"a": (0.9, 0.6)}
    text = texts(sections.figure_three(Accuracies(cells), context({})))
    assert "a: the published algorithm is better with noise (0.900) than without (0.600)" in text
    assert "not tested, may be" in text


@pytest.mark.parametrize("full", [False, True])
def test_sections_of_an_interrupted_run_show_that_nothing_is_there(full):
    found = Vaidya2013().sections(context({"figure 3": []}, full))
    assert [section.title for section in found][-1] == "What is really lost"
    for section in found:
        for part in section.parts:
            if isinstance(part, ReportTable):
                assert all(len(row) == len(part.heads) for row in part.rows), part.caption
    assert Vaidya2013().checks(context({})) == {}


def test_a_small_run_from_end_to_end(tmp_path):
    found = {}
    for each in Vaidya2013().experiments(full=False):
        grid = Grid(["iris"], each.grid.models, [1, "1/10"], folds=2)
        done = compare(grid, each.models, ResultsFile(tmp_path / f"{each.name}.csv"), version="test")
        assert not done.failures
        found[each.name] = summary.cells(done.measured)
    parts = [part for section in Vaidya2013().sections(context(found)) for part in section.parts]
    pictures = [part for part in parts if isinstance(part, Picture)]
    assert [picture.name for picture in pictures] == ["vaidya2013-figure-3", "vaidya2013-records"]
    styles = {line.get_label(): line.get_linestyle() for line in pictures[0].figure.axes[0].get_lines()}
    assert (styles[N[1000]], styles[N[1_000_000]], styles["rigorous"]) == ("--", "--", "-")
    assert "largest class" in styles
    assert all(part.origin for part in parts if isinstance(part, ReportTable | Picture))
    assert "Ours at ε = 1, which loses at most 1 for any table," in texts(parts)
    assert "deviation is 0.316 of an attribute's range" in texts(parts)
    records = {line.get_label(): line.get_linestyle() for line in pictures[1].figure.axes[0].get_lines()}
    assert (records["published, 100 records"], records["rigorous, 100 records"]) == ("--", "-")
    assert "at the same stated ε" in texts(parts).lower()


def test_published_and_rigorous_are_what_their_names_say():
    models = next(iter(Vaidya2013().experiments(full=False))).models
    schema = Schema([Categorical("u", ["p", "q"])], "y", ["a", "b"], records=10)
    assert (models["rigorous"].func, models["rigorous"].keywords) == (NaiveBayes, {"select": None})
    model = models[N[1_000_000]](schema, epsilon=0.5, random_state=0)
    assert (model.n, model.epsilon) == (1_000_000, 0.5)
    sized = Vaidya2013().experiments(full=False)[1].models
    assert sized["published, 100 records"].keywords["family"].keywords == {"n": 100}
    rigorous = sized["rigorous, 100 records"].keywords
    assert (rigorous["family"].func, rigorous["family"].keywords) == (NaiveBayes, {"select": None})
    assert rigorous["rows"] == 100
