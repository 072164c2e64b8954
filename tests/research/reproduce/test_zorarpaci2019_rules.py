"""The first half of Zorarpacı 2019: typed figures, what is said of given cells, and a small run."""

import math
import os
import pickle
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from discreet import datasets
from discreet.models.bees.bee_rules import BeeRules
from discreet.research.comparison import ResultsFile, compare
from discreet.research.comparison.summary import Cell, cells
from discreet.research.report import Paragraph, Picture, ReportTable
from discreet.research.reproduce.printed import printed
from discreet.research.reproduce.study import Context
from discreet.research.reproduce.zorarpaci2019 import rules_details as details
from discreet.research.reproduce.zorarpaci2019 import rules_iris as noise
from discreet.research.reproduce.zorarpaci2019 import rules_models as models
from discreet.research.reproduce.zorarpaci2019 import rules_pictures as pictures
from discreet.research.reproduce.zorarpaci2019 import rules_sections as sections
from discreet.research.reproduce.zorarpaci2019 import rules_tables as tables
from discreet.research.reproduce.zorarpaci2019.rules import Zorarpaci2019Rules
from discreet.research.reproduce.zorarpaci2019.rules_counterparts import COUNTERPARTS, WellKnown, matrix
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Numeric

STUDY = Zorarpaci2019Rules()
KNOWN = [name for name, each in COUNTERPARTS.items() if each.factory is not None]
MIXED = Schema(
    [Numeric("age", 0, 100), Categorical("pain", ["1", "2", "4"], unlisted=False), Categorical("sex", ["f", "m"])],
    target="ill",
    classes=["no", "yes"],
    adjacency="replace-one",
)


def value(place, data, model, epsilon):
    """One typed figure."""
    return tables.theirs(place)[data, model, epsilon].value


def invented(shift=0.0, runs=10):
    """Cells that are the thesis's figures, moved, as if everything had been run."""
    found = [Cell(*key, runs, score + shift, 0.05, None) for key, score in tables.printed_scores().items()]
    found += [Cell(data, f"{model}{tables.LOCAL}", loss, runs, 0.5, 0.05, None) for data, model, loss in product(
        models.DATA, models.LEARNERS, tables.EPSILONS)]  # fmt: skip
    found += [Cell(data, name, loss, runs, 0.7, 0.05, None) for data, name, loss in product(
        models.DATA, tables.CENTRAL, tables.EPSILONS)]  # fmt: skip
    found += [Cell(data, model, "inf", 20, each.value + shift, 0.05, None) for (data, model, _), each in
              tables.theirs("Table 5.11").items()]  # fmt: skip
    found += [Cell(data, "majority", "inf", runs, 0.4, 0.05, None) for data in models.DATA]
    return found


def described(found, monkeypatch, full=False):
    monkeypatch.setattr(
        details,
        "count_rules",
        lambda data, folds, directory: {("iris", "1"): 30.0, ("iris", "2"): 9.0, ("iris", "3"): 8.0},
    )
    monkeypatch.setattr(noise, "DRAWS", 2)
    return STUDY.sections(Context({"rules-one-rule": found}, "a command", full, None))


def said(parts):
    """All text of some sections."""
    return "\n".join(part.text for section in parts for part in section.parts if isinstance(part, Paragraph))


# the typed figures


@pytest.mark.parametrize(
    ("place", "data", "model", "epsilon", "expected"),
    [
        ("Table 5.1", "breast-w", "J48", "inf", 0.932),
        ("Table 5.1", "sonar", "Seq. cov. wLap ABC", "inf", 0.833),
        ("Table 5.2", "ecoli", "Seq. cov. wLap ABC", "inf", 55.46),
        ("Table 5.3", "iris", "Bayes Net", "1", 0.311),
        ("Table 5.4", "heart-statlog", "RIPPER", "1", 2.52),
        ("Table 5.5", "ecoli", "1-rule ABC", "2", 0.610),
        ("Table 5.6", "breast-w", "Seq. cov. wLap ABC", "2", 25.351),
        ("Table 5.7", "heart-statlog", "Seq. cov. wLap ABC", "3", 0.879),
        ("Table 5.8", "sonar", "PART", "3", 9.2),
        ("Table 5.9", "sonar", "1-rule ABC", "3", 0.2),
        ("Table 5.11", "ecoli", "F=0.6", "inf", 0.758),
        ("Table 5.12", "iris", "Variance", "1", 22.454),
        ("Table 5.15", "iris", "Correlation", "3", 0.586),
        ("Table 5.24", "ecoli", "Talebi and Abadi (2014)", "inf", 0.8339),
    ],
)
def test_typed_figures(place, data, model, epsilon, expected):
    assert value(place, data, model, epsilon) == expected


def test_every_table_is_whole():
    lengths = {place: len(printed(models.PAPER, place)) for place in (*tables.ACCURACIES.values(), "Table 5.11")}
    assert lengths == {"Table 5.1": 70, "Table 5.3": 70, "Table 5.5": 70, "Table 5.7": 70, "Table 5.11": 30}
    assert [len(printed(models.PAPER, place)) for place in tables.NUMBERS.values()] == [20] * 4
    assert [len(printed(models.PAPER, place)) for place in noise.ATTRIBUTES] == [18] * 4
    assert all(0 <= score <= 1 for score in tables.printed_scores().values())
    assert all(each.deviation is not None for each in printed(models.PAPER, "Table 5.5"))


def test_tables_agree_with_one_another():
    """Table 5.24 repeats Table 5.1, deviations are roots of variances, numbers of rules follow from those a class."""
    for (data, model, _), each in tables.theirs("Table 5.24").items():
        if model in models.LEARNERS:
            assert each.value == value("Table 5.1", data, model, "inf")
    for place in noise.ATTRIBUTES:
        for loss in ("inf", "1", "2", "3"):
            assert value(place, "iris", "Std. dev.", loss) ** 2 == pytest.approx(
                value(place, "iris", "Variance", loss), rel=0.01
            )
    classes = {"breast-w": 2, "ecoli": 8, "heart-statlog": 2, "iris": 3, "sonar": 2}
    for each in printed(models.PAPER, "Section 5.2.2, rules of a class"):
        assert value("Table 5.8", each.data, "wLapMS ABC", "3") == each.value * classes[each.data]


def test_the_colony_has_the_settings_of_table_5_10():
    typed = {each.model: each.value for each in printed(models.PAPER, "Table 5.10")}
    ours = BeeRules("from-data").get_params()
    assert typed == {
        "F": ours["F"],
        "Exceed limit": ours["limit"],
        "Threshold of iterations": ours["max_iter"],
        "Swarm size": ours["swarm"],
    }


# the models


def test_settings_are_those_of_the_data_set_the_learner_and_epsilon():
    iris = datasets.load("iris")[2]
    assert models.settings(iris, "wLapMS ABC", 1.0) == (6, 0.3)
    assert models.settings(iris, "1-rule ABC", math.inf) == (6, 0.4)
    sonar = iris.replace(columns=[Numeric(f"s{place}", 0, 1) for place in range(60)])
    assert models.settings(sonar, "wLapMS ABC", math.inf) == (10, 0.05)
    assert models.settings(sonar, "1-rule ABC", 3.0).alpha == 0.2
    assert models.settings(MIXED, "1-rule ABC", 3.0) == (3, 0.4)


def test_numbered_categories_become_numbers_and_others_do_not():
    numbers = models.as_numbers(MIXED)
    assert (numbers["pain"].lower, numbers["pain"].upper) == (1, 4)
    assert numbers["sex"] == MIXED["sex"]
    assert numbers["age"] == MIXED["age"]


def test_published_noise_leaves_labels_and_fits_the_schema_it_returns():
    X = {"age": np.arange(100.0), "pain": np.array(["1", "4"] * 50), "sex": np.array(["f", "m"] * 50)}
    y = np.array(["no", "yes"] * 50)
    schema, noisy, labels = models.published_noise(models.as_numbers(MIXED), X, y, 1.0, 0)
    assert (labels == y).all()
    assert (noisy["sex"] == X["sex"]).all()
    assert np.ptp(noisy["age"]) > 150
    assert len(np.unique(noisy["pain"])) == 100
    for name in ("age", "pain"):
        assert schema[name].lower <= noisy[name].min()
        assert noisy[name].max() <= schema[name].upper
    many = {"age": np.tile([0.0, 100.0], 2000), "pain": np.array(["1"] * 4000), "sex": np.array(["f"] * 4000)}
    drawn = models.published_noise(MIXED, many, np.array(["no"] * 4000), 4.0, 0)[1]["age"] - many["age"]
    assert np.abs(drawn).mean() == pytest.approx(100 / 4, rel=0.06)  # the mean of the absolute noise is its scale
    same, clear, _ = models.published_noise(MIXED, X, y, math.inf, 0)
    assert same is MIXED
    assert clear is X


def test_local_noise_changes_labels():
    X = {"age": np.zeros(1600), "pain": np.array(["1"] * 1600), "sex": np.array(["f"] * 1600)}
    schema, _, labels = models.local_noise(MIXED, X, np.array(["no"] * 1600), 1.0, 0)
    assert schema is MIXED
    assert 650 < (labels == "yes").sum() < 750  # at ε/4 a label flips with probability 0.44


def test_the_matrix_is_scaled_by_public_bounds_and_not_clipped():
    X = {"age": np.array(["50", "?", "300"]), "pain": np.array(["4", "1", "2"]), "sex": np.array(["m", "f", "x"])}
    expected = [[0.5, 0, 0, 1, 0, 1, 0], [0.5, 1, 0, 0, 1, 0, 0], [3, 0, 1, 0, 0, 0, 1]]
    assert matrix(X, MIXED).tolist() == expected


@pytest.mark.parametrize("name", KNOWN)
def test_counterparts_learn_on_clear_records_and_less_on_noise(name):
    X, y, schema = datasets.load("iris")
    train = np.arange(len(y)) % 3 > 0
    scores = {}
    for epsilon in (math.inf, 0.01):
        model = COUNTERPARTS[name].factory(schema, epsilon=epsilon, random_state=1)
        model.fit({key: values[train] for key, values in X.items()}, y[train])
        scores[epsilon] = np.mean(model.predict({key: values[~train] for key, values in X.items()}) == y[~train])
    assert scores[math.inf] > 0.88
    assert scores[0.01] < 0.8


def test_categories_can_stay_clear():
    X = {"age": np.zeros(60), "pain": np.array(["1", "2", "4"] * 20), "sex": np.array(["f"] * 60)}
    y = np.array(["no", "yes", "no"] * 20)
    right = []
    for numbers in (False, True):
        model = WellKnown(MIXED, epsilon=0.01, random_state=0, make=COUNTERPARTS["IBk"].factory.keywords["make"],
                          numbers=numbers).fit(X, y)  # fmt: skip
        right.append(np.mean(model.predict(X) == y))
    assert right[0] == 1.0
    assert right[1] < 0.9


def test_published_rules_are_plain_and_rigorous_ones_are_ours():
    X, y, schema = datasets.load("iris")
    local = schema.replace(adjacency="replace-one")
    plain = models.Rules(schema, epsilon=2, random_state=0, learner="1-rule ABC", F=0.3).fit(X, y).model_
    ours = models.Rules(local, epsilon=2, random_state=0, learner="1-rule ABC", rigorous=True).fit(X, y).model_
    assert ours.schema == local
    assert plain.schema["petal_length"].upper > local["petal_length"].upper
    assert (plain.resolve, plain.default, plain.polish, plain.F) == ("best", "majority", False, 0.3)
    assert (ours.resolve, ours.default, ours.polish, ours.F) == ("vote", "nearest", True, 0.6)
    assert plain.alpha == 0.3
    assert plain.beta == 0.7
    assert len(plain.rules_) == 3


def test_published_rules_see_numbers_where_rigorous_ones_see_categories():
    for rigorous in (False, True):
        schema = models.Rules(MIXED, epsilon=1, random_state=0, learner="1-rule ABC", rigorous=rigorous).schema
        assert isinstance(schema["pain"], Categorical if rigorous else Numeric)


# the experiments


def test_models_cross_to_other_processes_and_names_are_those_of_the_tables():
    for full in (False, True):
        experiments = STUDY.experiments(full)
        assert len({each.name for each in experiments}) == len(experiments)
        for each in experiments:
            pickle.loads(pickle.dumps(dict(each.models)))
            assert list(each.grid.models) == list(each.models)
        names = {model for each in experiments for model in each.models}
        assert {*KNOWN, *models.LEARNERS} <= names
    assert {name for each in STUDY.experiments(False) for name in each.grid.data} == {"iris"}
    moved = next(each.models for each in STUDY.experiments(False) if each.name == "rules-F")
    assert {name: each.keywords["F"] for name, each in moved.items()} == {f"F={n / 10}": n / 10 for n in range(1, 11)}
    full = {each.name: each.grid for each in STUDY.experiments(True)}
    assert full["rules-sequential"].data == models.DATA
    assert full["rules-F"].repeats * full["rules-F"].folds == 20


# what is said


def test_verdicts_count_cells():
    means = tables.by_name({"all": invented()})
    assert tables.verdict(means, "Table 5.3", KNOWN)[:3] == (40, 0, 0)
    above = tables.by_name({"all": invented(0.031)})
    assert tables.verdict(above, "Table 5.3", models.LEARNERS)[:3] == (0, 15, 0)
    near = tables.by_name({"all": invented(-0.03)})
    assert tables.verdict(near, "Table 5.3", models.LEARNERS)[:3] == (15, 0, 0)
    below = tables.verdict(tables.by_name({"all": invented(-0.031)}), "Table 5.1", KNOWN)
    assert below[:3] == (0, 0, 40)
    assert below.difference == pytest.approx(-0.031)
    assert "in 0 of 40 cells, above in 0, below in 40; on average -0.031" in below.sentence("All")
    assert tables.verdict({}, "Table 5.1", KNOWN).sentence("All") == "All: nothing was run."


def test_of_two_cells_the_one_with_more_runs_counts():
    few, many = (Cell("iris", "majority", "inf", runs, runs / 10, 0.0, None) for runs in (2, 5))
    for order in ([few, many], [many, few]):
        assert (
            tables.by_name({str(place): [cell] for place, cell in enumerate(order)})["iris", "majority", "inf"] == many
        )


def test_the_claims_of_the_thesis_are_counted():
    scores = tables.printed_scores()
    assert [lead > 0 for lead in tables.ahead(scores, "1", COUNTERPARTS)] == [True, False, True, True, True]
    assert tables.ahead(scores, "1", COUNTERPARTS)[1] == pytest.approx(0.446 - 0.467)
    assert tables.helped(scores, COUNTERPARTS) == (0, 165)
    assert tables.helped(scores, models.LEARNERS) == (8, 45)
    assert tables.places(scores, "Seq. cov. wLap ABC", "inf", (*COUNTERPARTS, *models.LEARNERS)) == [1, 2, 2, 2, 2]
    assert tables.disagreements()["ecoli"] == (0.703, 0.758)


def test_sections_from_given_cells(monkeypatch):
    shown = described(invented(), monkeypatch)
    assert len(shown) == 8
    text = said(shown)
    assert "Well-known classifiers: within 0.03 of the thesis in 40 of 40 cells" in text
    assert "ours on 4 of 5" in text
    assert "on 1 of 1 data sets" not in text
    assert "up to 0.055 apart" in text
    assert "In 1 of 3 cells ours has more rules" in text
    assert "4 of 4 tables" in text
    assert "gives back 100% of the numbers" in text
    assert "Seq. cov. wLap ABC on sonar (0.00 against 0.08)" in text
    table = shown[1].parts[0]
    assert isinstance(table, ReportTable)
    assert table.rows[0][:3] == ["J48", "0.932 ± 0.02", "0.932 ± 0.05"]
    assert next(row for row in table.rows if row[0] == "KStar")[2] == "0.932 ± 0.05"
    every = [part for each in shown for part in each.parts if isinstance(part, ReportTable)]
    assert all(len(row) == len(part.heads) for part in every for row in part.rows)
    assert all(part.origin == "a command" for each in shown for part in each.parts if not isinstance(part, Paragraph))
    losses = {tuple(row[:2]): row[2:] for row in shown[-1].parts[1].rows}
    assert losses["iris", "2"] == ["∞", "8"]


def test_sections_without_any_cell(monkeypatch):
    shown = described([], monkeypatch)
    text = said(shown)
    assert "nothing was run" in text
    assert "ours was not run" in text
    assert "nan" not in text
    assert all(row[2] == "–" for row in shown[1].parts[0].rows)
    drawn = [part.name for each in shown for part in each.parts if isinstance(part, Picture)]
    assert drawn == ["zorarpaci2019-rules-accuracy", "zorarpaci2019-rules-f"]


def test_sections_with_half_of_the_cells(monkeypatch):
    text = said(described([cell for cell in invented() if cell.data != "sonar"], monkeypatch))
    assert "Well-known classifiers: within 0.03 of the thesis in 32 of 32 cells" in text
    assert "ours on 3 of 4" in text


def test_pictures_have_a_line_for_each_learner():
    means = tables.by_name({"a": invented()})
    first, second = pictures.accuracies(means, "a command"), pictures.moves(means, "a command")
    first.figure.draw_without_rendering()
    panel = first.figure.axes[3]
    lines = {line.get_label(): line.get_ydata() for line in panel.lines}
    assert panel.get_title() == "iris"
    assert len(lines) == 12
    assert list(lines["wLapMS ABC, thesis"]) == [0.744, 0.887, 0.924, 0.986]
    assert len(second.figure.axes) == 3


def test_heart_tells_noise_on_categories_from_none():
    own = [cell for cell in invented() if cell.data == "heart-statlog" and cell.model in KNOWN]
    other = [cell._replace(model=cell.model + ", categories clear", mean=cell.mean + 0.1) for cell in own]
    own = [cell._replace(mean=0.0) if cell.epsilon == "inf" else cell for cell in own]
    assert "0.000 from its figures on average over ε" in sections.heart_sentence(tables.by_name({"a": own + other}))
    assert "and 0.100 if they stay clear" in sections.heart_sentence(tables.by_name({"a": own + other}))
    assert "was not run" in sections.heart_sentence(tables.by_name({"a": own}))


def test_checks_hold_or_do_not():
    found = invented()
    assert all(STUDY.checks(Context({"a": found}, "", True, None)).values())
    high = [cell._replace(mean=0.99) if cell.model.endswith(tables.LOCAL) else cell for cell in found]
    assert list(STUDY.checks(Context({"a": high}, "", True, None)).values()) == [True, False]
    assert len(STUDY.checks(Context({}, "", True, None))) == 1


# runs


def test_rules_are_counted_and_absent_data_left_out(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    monkeypatch.setattr(details, "EPSILONS", ("inf",))
    counted = details.count_rules(("sonar", "iris"), 1, None)
    assert set(counted) == {("iris", "inf")}
    assert 3 <= counted["iris", "inf"] < 15


def test_a_small_run(tmp_path, monkeypatch):
    found = {}
    for experiment in STUDY.experiments(False):
        if experiment.name in ("rules-one-rule", "rules-classifiers", "rules-private"):
            grid = replace(experiment.grid, folds=2, epsilons=["3"])
            results = compare(grid, experiment.models, ResultsFile(tmp_path / experiment.name), version="0")
            assert not results.failures
            found[experiment.name] = cells(results.measured)
    means = tables.by_name(found)
    assert means["iris", "1-rule ABC", "inf"].mean > 0.85
    assert means["iris", "our naive Bayes", "3"].mean > 0.75
    assert means["iris", "1-rule ABC, local", "3"].mean < means["iris", "1-rule ABC, local", "inf"].mean
    monkeypatch.setattr(details, "count_rules", lambda *arguments: {})
    text = said(STUDY.sections(Context(found, "a command", False, None)))
    assert "Well-known classifiers: within 0.03 of the thesis in" in text


@pytest.mark.slow
@pytest.mark.skipif("DISCREET_DATA" not in os.environ, reason="DISCREET_DATA is not set")
def test_heart_is_closer_to_the_thesis_with_noise_on_categories(tmp_path):
    found = {}
    for experiment in STUDY.experiments(True):
        if experiment.name in ("rules-heart", "rules-classifiers"):
            noisy = [each for each in experiment.grid.epsilons if each != "inf"]  # the sentence is on noise alone
            grid = replace(experiment.grid, data=("heart-statlog",), repeats=1, epsilons=noisy)
            found[experiment.name] = cells(
                compare(grid, experiment.models, ResultsFile(tmp_path / experiment.name), version="0").measured
            )
    numbers, categories = map(float, re.findall(r"0\.\d{3}", sections.heart_sentence(tables.by_name(found))))
    assert numbers < categories
