"""Auto: what it picks follows from public things, and it is then the model that it picked."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from discreet import Auto, Categorical, DecisionTree, Ledger, LinearSVM, NaiveBayes, Numeric, Schema, load
from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.models.auto.look import MOST_SHARES
from discreet.models.auto.pick import ENOUGH, FEW_COLUMNS, MANY_RECORDS, Pick, all_picks, pick, recognised
from discreet.models.loading import from_dict
from discreet.models.saving import FILE, to_dict
from discreet.queries.tables import Total

COLUMNS = [Numeric("a", 0, 1), Numeric("b", 0, 1), Numeric("c", 0, 1), Categorical("d", ["x", "y"], unlisted=False)]
WEAK = Schema(COLUMNS, "label", ["no", "yes"], records=60)
STRONG = WEAK.replace(records=2000)
EDGE = ENOUGH * 2**2 * math.sqrt(5)


def table(rows, seed=0):
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(size=(rows, 3))
    y = np.where(numbers.sum(axis=1) + 0.05 * rng.normal(size=rows) > 1.5, "yes", "no")
    return {"a": numbers[:, 0], "b": numbers[:, 1], "c": numbers[:, 2], "d": rng.choice(["x", "y"], rows)}, y


@pytest.mark.parametrize(("schema", "picked"), [(WEAK, "decision-tree"), (STRONG, "svm")])
def test_it_is_the_model_that_it_picked(schema, picked, tmp_path):
    X, y = table(schema.records)
    model = Auto(schema, epsilon=1, random_state=3).fit(X, y)
    assert model.picked_.model == model.model_.kind == picked
    assert (model.predict(X) == model.model_.predict(X)).all()
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.explain() == f"{model.picked_.statement()}\n\n{model.model_.explain()}"
    assert model.content() == {"picked": model.picked_.to_dict(), **model.model_.content()}
    assert model.explain(1) != ""
    assert model.plot() is not None
    model.save(tmp_path / "m.json")
    for again in (load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        assert isinstance(again, Auto)
        assert again.picked_ == model.picked_
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert again.explain() == model.explain()
        assert again.receipt_ == model.receipt_


def test_the_pick_is_worth_it():
    """The two models differ, and each is picked where it is better: sums over columns need a strong signal."""
    X, y = table(2000)
    strong = Auto(STRONG, epsilon=1, random_state=0).fit(X, y)
    assert strong.score(X, y) > DecisionTree(STRONG, epsilon=1, random_state=0).fit(X, y).score(X, y) + 0.02


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_pick_follows_from_public_things(adjacency):
    schema = WEAK.replace(adjacency=adjacency)
    edge = math.ceil(EDGE * schema.adjacency.distance)

    def many_more(times):
        return math.ceil(times * EDGE * schema.adjacency.distance)

    assert pick(schema, Fraction(1), edge).model == "svm"
    assert pick(schema, Fraction(1), edge - 1).model == "decision-tree"
    assert pick(schema, Fraction(1, 2), 2 * edge).model == "svm"
    assert pick(schema, math.inf, 1).model == pick(schema, Fraction(1), MANY_RECORDS).model == "svm"
    assert pick(schema, Fraction(1), MANY_RECORDS + 1).model == "decision-tree", "a linear model takes too long"
    few = Schema(COLUMNS[:FEW_COLUMNS], "label", ["no", "yes"], adjacency)
    assert pick(few, Fraction(1), 10**6).model == "decision-tree"
    several = schema.replace(classes=list(range(8)))
    assert pick(several, Fraction(1), many_more(16)).model == "svm"
    assert pick(several, Fraction(1), many_more(16) - 1).model == "decision-tree", (
        "as many times more as classes, squared"
    )
    listed = Categorical("d", list(range(95)))
    wide = Schema([*COLUMNS[:3], listed], "label", ["no", "yes"], adjacency)
    assert pick(wide, Fraction(1), many_more(math.sqrt(99 / 5))).model == "svm", "as the root of the number of weights"
    assert pick(wide, Fraction(1), many_more(math.sqrt(99 / 5)) - 1).model == "decision-tree"
    many = schema.replace(classes=list(range(10)))
    assert pick(many, Fraction(1), many_more(25)).model == "svm"
    assert pick(many, Fraction(1), many_more(25) - 1).model == "naive-bayes"
    counted = 5 * 10 * 5 * schema.adjacency.distance
    assert pick(many, Fraction(1, 2), 2 * counted).model == "naive-bayes"
    assert pick(many, Fraction(1, 2), 2 * counted - 1).model == "decision-tree"
    assert {each.model for each in all_picks(many, Fraction(1, 100))} == {"decision-tree", "naive-bayes", "svm"}
    assert {each.model for each in all_picks(schema, Fraction(1))} == {"decision-tree", "svm"}
    assert [each.model for each in all_picks(few, Fraction(1))] == ["decision-tree"]


@pytest.mark.parametrize(("classes", "columns", "epsilon"), [(30, 10, "15/22"), (9, 9, "1/49"), (20, 7, "1/3")])
def test_what_may_be_picked_is_known_beforehand_at_the_very_edge(classes, columns, epsilon):
    """Each number of records around the one from which naive Bayes is picked: none is missed by rounding."""
    numbers = [Numeric(f"n{place}", 0, 1) for place in range(columns)]
    schema, epsilon = Schema(numbers, "label", list(range(classes))), Fraction(epsilon)
    edge = math.ceil(5 * classes * (columns + 1) / epsilon)
    foreseen = {each.model for each in all_picks(schema, epsilon)}
    found = {pick(schema, epsilon, records).model for records in range(edge - 2, edge + 3)}
    assert "naive-bayes" in found
    assert found <= foreseen


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_many_classes_are_told_apart_by_counts(adjacency, tmp_path):
    """Ten classes, records of medium number: naive Bayes, as itself."""
    names = list("abcdefghij")
    rng = np.random.default_rng(4)
    schema = Schema([Numeric(f"n{i}", 0, 1) for i in range(4)], "label", names, adjacency, records=4000)
    y = rng.choice(names, 4000)
    X = {f"n{i}": rng.beta(1 + 9 * ((np.char.find("abcdefghij", y) + 3 * i) % 10) / 9, 3) for i in range(4)}
    ledger = Ledger(1)
    model = Auto(schema, epsilon="1/4", random_state=1).fit(X, y, ledger=ledger)
    assert model.picked_.model == model.model_.kind == "naive-bayes"
    assert "counts tell 10 classes apart best" in model.explain()
    assert ledger.spent == model.receipt_.epsilon == Fraction(1, 4)
    assert model.score(X, y) > 0.2
    model.save(tmp_path / "m.json")
    assert (load(tmp_path / "m.json").predict_proba(X) == model.predict_proba(X)).all()
    assert Auto(schema, epsilon="1/4", class_weight="balanced", random_state=1).fit(X, y).model_.kind == "naive-bayes"


def test_the_statement_says_what_and_why():
    assert pick(WEAK, Fraction(1), 60).statement() == (
        "Picked a decision tree: about 60 records times ε is 60, and below 107.3 a tree loses least to noise."
    )
    halved = pick(WEAK.replace(adjacency="replace-one"), Fraction(1), 400).statement()
    assert halved == (
        "Picked a linear model: about 400 records times ε over 2 is 200, and from 107.3 on sums over columns tell more."
    )
    assert Pick("svm", "so it is", {"knots": 4}).statement() == "Picked a linear model (knots=4): so it is."


@pytest.mark.parametrize("rows", [60, 2000])
def test_the_number_of_records_is_bought_once(rows):
    X, y = table(rows)
    ledger = Ledger(1)
    model = Auto(WEAK.replace(records=None), epsilon=1, random_state=1).fit(X, y, ledger=ledger)
    bought = [charge for charge in model.receipt_.charges if charge.query == repr(Total())]
    assert len(bought) == 1
    assert model.receipt_.epsilon == ledger.spent == 1
    assert sum(charge.epsilon for charge in model.receipt_.charges) == 1
    names = [name for name, _ in ledger.entries]
    before = 1 if rows < 640 else 2  # the number of records, and a look
    assert set(names[:before]) == {"auto for label"}
    assert set(names[before:]) == {f"auto ({model.picked_.model}) for label"}


def test_a_second_fit_forgets_the_first():
    """The number that one fit bought is not used by another."""
    X, y = table(2000)
    model = Auto(STRONG.replace(records=None), epsilon=1, random_state=1).fit(X, y)
    assert model.picked_.model == "svm"
    few, labels = table(20)
    model.fit(few, labels)
    assert model.picked_.model == "decision-tree"
    assert [charge.query for charge in model.receipt_.charges].count(repr(Total())) == 1
    assert clone(model).get_params() == model.get_params()


def test_an_epsilon_that_is_too_small_costs_nothing():
    X, y = table(60)
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="too small"):
        Auto(WEAK.replace(records=None), epsilon=1e-14).fit(X, y, ledger=ledger)
    assert ledger.spent == 0


def test_without_noise():
    X, y = table(500)
    model = Auto(WEAK.replace(records=None), epsilon=math.inf).fit(X, y)
    assert model.score(X, y) > 0.9
    assert not model.guarantee_.holds


def test_statistics_tell_which_model_they_belong_to(tmp_path):
    X, y = table(300)
    for family, kind in ((DecisionTree, "decision-tree"), (LinearSVM, "svm"), (NaiveBayes, "naive-bayes")):
        fitted = family(STRONG, epsilon=1, random_state=0).fit(X, y)
        assert recognised(fitted.noisy_).model == kind
        again = Auto(STRONG, epsilon=1).fit_noisy(fitted.noisy_)
        assert (again.predict(X) == fitted.predict(X)).all()


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = table(2000)
    model = Auto(STRONG, epsilon=1, random_state=0).fit(X, y)
    before = model.explain()
    with pytest.raises(DiscreetError, match="column"):
        model.set_params(schema=WEAK).fit({"a": [1.0]}, ["no"])
    assert model.explain() == before


def test_an_unknown_pick_is_refused():
    with pytest.raises(ParameterError, match="cannot be picked"):
        Pick("bee-rules", "why not")


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_next_to_no_records(rows):
    X, y = table(rows)
    model = Auto(WEAK.replace(records=None), epsilon=1, random_state=0).fit(X, y)
    assert len(model.predict(table(7)[0])) == 7


def test_a_tree_is_picked_where_a_linear_model_would_have_too_many_weights():
    """500 classes: whether the number of records is declared, bought or not needed, and nothing takes minutes."""
    columns = [*COLUMNS, *(Numeric(f"n{place}", 0, 1) for place in range(20))]
    schema = Schema(columns, "label", list(range(500)))
    X = {name: [0.5] * 30 for name in schema.names}
    for records, epsilon in ((10**9, 1), (None, 1), (None, math.inf)):
        model = Auto(schema.replace(records=records), epsilon=epsilon).fit(X, list(range(30)))
        assert model.picked_.model == "decision-tree"
        assert model.receipt_.epsilon == epsilon
    assert "too many weights" in pick(schema, Fraction(1), 10**9).statement()


def test_what_may_be_picked_is_planned_before_anything_is_paid(monkeypatch):
    """At the least that is left once number of records and look are bought: each family, and nothing is fitted."""
    planned = []
    for family in (DecisionTree, LinearSVM):
        monkeypatch.setattr(family, "_rehearse", lambda self, schema, epsilon: planned.append((self.kind, epsilon)))
    X, y = table(60)
    ledger = Ledger(Fraction(1, 2))  # too little: the fit ends before it pays
    with pytest.raises(DiscreetError):
        Auto(WEAK.replace(records=None), epsilon=1).fit(X, y, ledger=ledger)
    assert not planned
    Auto(WEAK.replace(records=None), epsilon=1).fit(X, y)
    least = Fraction(19, 20) * (1 - MOST_SHARES)
    assert {("decision-tree", least), ("svm", least)} <= set(planned)


@pytest.mark.parametrize(
    "damage",
    [
        {"parameters": {"smoothing": -1}},
        {"parameters": {"temperature": 0}},
        {"parameters": {"random_state": -4}},
        {"parameters": {"epsilon": 3}},
        {"parameters": {"no_such": 1}},
        {"parameters": None},
        {"model": "svm"},
        {"model": "auto"},
        {"why": "red \x1b[31m"},
    ],
)
def test_a_file_with_a_damaged_pick_is_refused(damage):
    """Parameters of the picked model are checked as those of any model, although they stand elsewhere in the file."""
    X, y = table(60)
    content = to_dict(Auto(WEAK).fit_noisy(NaiveBayes(WEAK).fit(X, y).noisy_))
    content = {name: value for name, value in content.items() if name not in (*FILE.head, FILE.seal)}
    assert from_dict(FILE.wrap(content)).picked_.model == "naive-bayes"
    content["picked"] = {**content["picked"], **damage}
    with pytest.raises(FileError):
        from_dict(FILE.wrap(content))
