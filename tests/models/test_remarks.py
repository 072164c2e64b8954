"""What noisy answers show of a table that does not fit its schema: said when it is so, and not said otherwise."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from discreet import (
    Auto,
    Categorical,
    DecisionTree,
    LinearSVM,
    NaiveBayes,
    Numeric,
    OneRule,
    RandomForest,
    Schema,
    load,
)
from discreet.cli import app
from discreet.models.auto.look import MOST_SHARE
from discreet.models.remarks import Estimate, labelled, remarks
from discreet.models.saving import card
from discreet.queries.outside import Outside

N = 800
SCHEMA = Schema(
    [
        Numeric("age", 0, 100),
        Numeric("dose", 0, 10),
        Numeric("weight", 30, 150),
        Categorical("sex", ["F", "M"]),
        Categorical("ward", ["A", "B", "C"]),
    ],
    target="finding",
    classes=["benign", "malignant"],
    records=N,
)
MODELS = [Auto, NaiveBayes, DecisionTree, OneRule, RandomForest]


def table(rows=N, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(55, 15, rows)
    y = np.where(age + 10 * rng.normal(size=rows) > 60, "malignant", "benign").astype(object)
    return {
        "age": np.round(age).astype(object),
        "dose": np.round(rng.uniform(0, 10, rows), 2).astype(object),
        "weight": np.round(rng.normal(80, 12, rows)).astype(object),
        "sex": rng.choice(["F", "M"], rows).astype(object),
        "ward": rng.choice(["A", "B", "C"], rows).astype(object),
        "finding": y,
    }


def spoiled(column, spell, share=1.0, rows=N, seed=0):
    """The table with part of a column spelled in another way."""
    content = table(rows, seed)
    hit = np.arange(rows) < share * rows
    content[column] = np.array([spell(v) if h else v for v, h in zip(content[column], hit, strict=True)], dtype=object)
    return content


CLASSES = spoiled("finding", lambda value: "0" if value == "benign" else "1")
SEX = spoiled("sex", lambda value: "female" if value == "F" else "male")
DOSE = spoiled("dose", lambda value: str(value).replace(".", ",") + ("" if "." in str(value) else ",0"))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("records", [N, None])
def test_a_table_that_fits_is_not_remarked_on(model, records):
    for seed in range(5):
        fitted = model(SCHEMA.replace(records=records), epsilon=1, random_state=seed).fit(table(seed=seed))
        assert fitted.remarks_ == []


@pytest.mark.parametrize("model", MODELS)
def test_classes_that_match_nothing_are_named(model):
    (said,) = model(SCHEMA, epsilon=1, random_state=0).fit(CLASSES).remarks_
    assert re.match(r"Only about \d+ of 800 declared records have a listed class; check the names of the cla", said)
    assert "benign, malignant" in said


def test_an_empty_table_is_noticed_without_a_declared_number():
    for model in (Auto, NaiveBayes, DecisionTree):
        empty = {name: values[:0] for name, values in table().items()}
        fitted = model(SCHEMA.replace(records=None), epsilon=1, random_state=4).fit(empty)
        assert any("noise hides whether any record has a listed class" in each for each in fitted.remarks_)


def test_missing_values_are_not_blamed_where_they_are_a_category():
    """Also if that category is 0, which is false in Python."""
    schema = Schema([Categorical("x", [0, 1], missing=0)], "y", ["no", "yes"], records=1000)
    astray = {"x": ["zero"] * 1000, "y": ["no", "yes"] * 500}
    (said,) = NaiveBayes(schema, epsilon=10, select=None, random_state=0).fit(astray).remarks_
    assert "are unlisted; check" in said


@pytest.mark.parametrize("given", [Auto(SCHEMA), NaiveBayes(SCHEMA, select=None)], ids=lambda model: model.kind)
def test_categories_that_match_nothing_are_named(given):
    (said,) = given.set_params(epsilon=1, random_state=0).fit(SEX).remarks_
    assert said.startswith("sex: about ")
    assert "are unlisted or missing; check the spelling of its categories (F, M)" in said


def test_numbers_that_are_none_are_named():
    (said,) = Auto(SCHEMA, epsilon=1, random_state=0).fit(DOSE).remarks_
    assert re.match(
        r"dose: about (9\d|100)% of records are missing, not numbers, or outside the bounds \(0 to 10\)", said
    )


def test_numbers_that_are_none_show_in_fine_tables_too():
    schema = SCHEMA.replace(records=50_000)
    content = spoiled("dose", lambda _: None, 0.99, 50_000)
    (said,) = NaiveBayes(schema, epsilon=1, bins=20, random_state=0).fit(content).remarks_
    assert re.match(r"dose: about (9\d|100)% of records are missing, not numbers, or all near 5, where such val", said)


@pytest.mark.parametrize("model", [Auto, NaiveBayes, DecisionTree])
def test_one_class_alone_is_noticed(model):
    schema, content = SCHEMA.replace(records=20_000), table(20_000)
    content["finding"] = np.full(20_000, "benign", dtype=object)
    said = model(schema, epsilon=1, random_state=0).fit(content).remarks_
    assert any("Nearly all records are of class benign" in each for each in said)


def test_one_class_of_few_records_is_noticed_and_two_are_told_apart():
    content = table()
    content["finding"] = np.full(N, "benign", dtype=object)
    for seed in range(10):
        (said,) = Auto(SCHEMA, epsilon=1, random_state=seed).fit(content).remarks_
        assert re.match(
            r"The noise hides whether any record is of another class than benign \(about \d+ of \d+, g", said
        )


def test_a_rare_class_is_no_missing_class():
    """One record in twenty of 20,000."""
    content = table(20_000)
    content["finding"] = np.where(np.arange(20_000) % 20 == 0, "malignant", "benign").astype(object)
    for seed in range(10):
        assert Auto(SCHEMA.replace(records=20_000), epsilon=1, random_state=seed).fit(content).remarks_ == []


def test_classes_are_counted_where_every_list_is_complete_and_a_linear_model_is_picked():
    columns = [Categorical(f"c{place}", ["a", "b"], unlisted=False) for place in range(5)]
    schema = Schema(columns, "y", ["no", "yes"], records=5000)
    content = {**{column.name: ["a", "b"] * 2500 for column in columns}, "y": ["no"] * 5000}
    model = Auto(schema, epsilon=1, random_state=0).fit(content)
    assert model.picked_.model == "svm"
    assert model.receipt_.epsilon == 1
    assert len(model.remarks_) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("column", "spell"), [("finding", str.upper), ("sex", str.lower), ("dose", lambda _: "1,5")])
def test_nine_tenths_outside_the_schema_are_caught(column, spell):
    """At least 99 of 100 fits, at ε = 1 and 800 records."""
    bad = spoiled(column, spell, 0.9)
    caught = sum(bool(Auto(SCHEMA, epsilon=1, random_state=seed).fit(bad).remarks_) for seed in range(100))
    assert caught >= 99


@pytest.mark.slow
def test_a_table_that_fits_raises_hardly_any_alarm():
    good = table()
    assert sum(bool(Auto(SCHEMA, epsilon=1, random_state=seed).fit(good).remarks_) for seed in range(100)) < 2


def test_a_look_costs_little_and_only_where_it_is_worth_it():
    strong, weak = (Auto(SCHEMA.replace(records=n), epsilon=1, random_state=0).fit(table(n)) for n in (N, N // 2))
    looked = [charge for charge in strong.receipt_.charges if "schema" in charge.query]
    assert 0 < sum(charge.epsilon for charge in looked) <= MOST_SHARE
    (counted,) = [charge for charge in strong.receipt_.charges if "ClassCounts" in charge.query]
    assert 0 < counted.epsilon <= MOST_SHARE
    assert strong.receipt_.epsilon == weak.receipt_.epsilon == 1
    assert not any(isinstance(query, Outside) for query, _ in weak.noisy_.tables)
    infinite = Auto(SCHEMA, epsilon=float("inf")).fit(table())
    assert not any(isinstance(query, Outside) for query, _ in infinite.noisy_.tables)


def test_remarks_are_read_off_published_answers_alone(tmp_path):
    model = Auto(SCHEMA, epsilon=1, random_state=0).fit(SEX)
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert again.remarks_ == model.remarks_ == remarks(again.noisy_, SCHEMA) == card(model)["remarks"]
    assert labelled(again.noisy_, SCHEMA).value == pytest.approx(N, abs=300)


def test_what_no_answer_can_show_is_said():
    """Whatever the table is: the sentence follows from what was asked."""
    said = {}
    for model in (Auto, DecisionTree, RandomForest, LinearSVM):
        for content in (table(), SEX, CLASSES):
            fitted = model(SCHEMA, epsilon=1, random_state=0).fit(content)
            assert said.setdefault(model, fitted.unchecked_) == fitted.unchecked_ == card(fitted)["unchecked"]
    assert said[Auto] == ""
    assert said[LinearSVM].startswith("Nobody looked whether the classes and the columns fit the schema")
    for model in (DecisionTree, RandomForest):
        assert said[model].startswith("Nobody looked whether the columns fit the schema")
    assert "schema check --values" in said[LinearSVM]
    naive = NaiveBayes(SCHEMA, epsilon=1, select=None, random_state=0).fit(table()).unchecked_
    assert naive.startswith("Nobody looked whether the columns age, dose, weight fit the schema")  # others are counted
    poor = Auto(SCHEMA.replace(records=100), epsilon=1, random_state=0).fit(table(100))
    assert poor.unchecked_ != ""


def test_commands_say_what_nobody_looked_at(tmp_path):
    content = table()
    text = "\n".join([",".join(content), *(",".join(map(str, row)) for row in zip(*content.values(), strict=True))])
    (tmp_path / "t.csv").write_text(text)
    SCHEMA.save(tmp_path / "s.json")
    given = ["train", f"{tmp_path}/t.csv", "--schema", f"{tmp_path}/s.json", "--epsilon", "1", "--out"]
    for name, is_said in (("svm", True), ("auto", False)):
        trained = CliRunner().invoke(app, [*given, f"{tmp_path}/{name}.json", "--model", name])
        shown = CliRunner().invoke(app, ["card", f"{tmp_path}/{name}.json"])
        for result in (trained, shown):
            assert result.exit_code == 0, result.output
            assert ("Nobody looked whether" in result.output) is is_said


def test_commands_say_them(tmp_path):
    rows = zip(*CLASSES.values(), strict=True)
    text = "\n".join([",".join(CLASSES), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "t.csv").write_text(text)
    SCHEMA.save(tmp_path / "s.json")
    given = ["train", f"{tmp_path}/t.csv", "--schema", f"{tmp_path}/s.json", "--epsilon", "1", "--seed", "1"]
    trained = CliRunner().invoke(app, [*given, "--out", f"{tmp_path}/m.json"])
    assert trained.exit_code == 0, trained.output
    assert "of 800 declared records have a listed class" in " ".join(trained.output.split())
    shown = CliRunner().invoke(app, ["card", f"{tmp_path}/m.json"])
    assert "of 800 declared records have a listed class" in " ".join(shown.output.split())
    read = CliRunner().invoke(app, ["card", f"{tmp_path}/m.json", "--json"])
    assert len(json.loads(read.output)["remarks"]) == 1


def test_estimates():
    assert (Estimate(5, 4) - Estimate(3, 5)).margin == 9
    assert Estimate(10, 1).is_above(6.9)
    assert not Estimate(10, 1).is_above(7.1)
    assert Estimate(10, 1).is_below(13.1)
    assert Estimate(2, 1).times(3) == Estimate(6, 9)
    assert str(Estimate(-3, 1)) == "0"


def test_a_table_that_is_declared_too_large_is_still_learned():
    """The noise of a look has a largest scale, which 10^30 declared records would exceed."""
    table = {"x": ["a", "b"] * 50, "y": ["no", "yes"] * 50}
    schema = Schema([Categorical("x", ["a", "b"])], "y", ["no", "yes"], records=10**30)
    model = Auto(schema, epsilon=1).fit(table)
    assert model.receipt_.epsilon == 1
    assert any(isinstance(query, Outside) for query, _ in model.noisy_.tables)
