"""DecisionTree: the tree, the guarantee of the whole fit, and the contract of an estimator."""

import copy
import json
import math
import pickle
import re
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from discreet import Categorical, Ledger, Numeric, Schema, load
from discreet.doors.labelled_plan import Labelled
from discreet.doors.tree_plans import Fixed, Greedy
from discreet.errors import BudgetError, DataError, FileError, ParameterError
from discreet.models import MODELS
from discreet.models.loading import from_dict
from discreet.models.remarks import remarks
from discreet.models.saving import to_dict
from discreet.models.trees import plan as tree_plan
from discreet.models.trees import text as tree_text
from discreet.models.trees.decision_tree import DecisionTree
from discreet.models.trees.leaves import GrownTree
from discreet.privacy.randomness import as_rng
from discreet.queries.tables import Total
from discreet.queries.trees import Split, Tree
from discreet.released.intervals import DEVIATIONS
from discreet.sources.file import open_file
from discreet.storage.envelope import content_hash
from support.neighbours import ADJACENCIES, BASE, EDGES, neighbours, schema
from support.people import ILLNESS, patients
from support.replay import replay, visible

STRUCTURES = ("greedy", "stump", "random", "published")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(MODELS, "decision-tree", DecisionTree)


@parametrize_with_checks([DecisionTree("from-data")])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        DecisionTree("from-data", epsilon=math.inf),
        DecisionTree("from-data", epsilon=0.01),
        DecisionTree("from-data", epsilon=0.1),
        DecisionTree("from-data", epsilon=5, structure="published", max_depth=2),
    ]
)
def test_scikit_learns_checks_of_other_settings(estimator, check):
    check(estimator)


# The tree.


def test_it_finds_what_two_questions_tell():
    records, labels = patients()
    model = DecisionTree(ILLNESS, epsilon=2, max_depth=2, structure="greedy", random_state=1).fit(records, labels)
    scores = [
        DecisionTree(ILLNESS, epsilon=2, max_depth=2, structure="greedy", random_state=seed)
        .fit(records, labels)
        .score(records, labels)
        for seed in range(6)
    ]
    assert max(scores) == 1.0
    assert model.receipt_.epsilon == 2
    assert model.tree_.depth == 2


def test_without_noise_it_is_a_good_tree():
    content = load_iris()
    bounds = [Numeric(f"x{i}", float(column.min()), float(column.max())) for i, column in enumerate(content.data.T)]
    public = Schema(bounds, "species", [0, 1, 2])
    model = DecisionTree(public, epsilon=math.inf).fit(content.data, content.target)
    assert model.score(content.data, content.target) > 0.97
    assert not model.guarantee_.holds


def test_explain_content_and_picture(tmp_path):
    records, labels = patients()
    model = DecisionTree(ILLNESS, epsilon=math.inf, max_depth=2).fit([*records, records[0]], [*labels, "no"])
    first = model.content()
    assert model.explain().splitlines()[0] == f"IF {first['if']}"
    assert {first["column"], first["left"]["column"]} == {"smoker", "age"}
    age = first if first["column"] == "age" else first["left"]
    assert 20 < age["threshold"] <= 60
    leaf = first["left"]["left"]
    assert leaf["class"] in ("no", "yes")
    assert leaf["shares"][leaf["class"]] > 0.99
    assert leaf["records"] == pytest.approx(300, abs=1)
    assert json.loads(json.dumps(first)) == first
    assert "THEN ill = " in model.explain()
    assert model.explain(0).startswith("… 3 more questions below for 100% of the records, mostly ill = ")
    assert model.explain(1).count("… 1 more question below for ") == 2
    assert model.explain(None) == model.explain()  # it is not deep
    model.plot().savefig(tmp_path / "tree.png")
    model.plot(1).savefig(tmp_path / "cut.png")
    assert (tmp_path / "tree.png").stat().st_size > 1000


def test_a_deep_tree_is_cut_in_the_picture():
    rng = np.random.default_rng(0)
    data = {"a": rng.random(3000), "b": rng.random(3000)}
    public = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], "y", [0, 1], records=3000)
    labels = (np.floor(data["a"] * 8) + np.floor(data["b"] * 8)) % 2
    model = DecisionTree(public, epsilon=math.inf, max_depth=8, prune=0).fit(data, labels.astype(int))
    assert model.tree_.depth == 8
    assert "folded" in model.plot().axes[0].get_title()
    assert "folded" not in model.plot(None).axes[0].get_title()


def test_a_deep_tree_shows_its_top_and_folds_the_rest():
    """Every question is either shown or counted, and the folded shares and those of the leaves make up the whole."""
    rng = np.random.default_rng(0)
    data = {"a": rng.random(4000), "b": rng.random(4000)}
    public = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], "y", [0, 1], records=4000)
    labels = ((np.floor(data["a"] * 8) + np.floor(data["b"] * 8)) % 2).astype(int)
    model = DecisionTree(public, epsilon=math.inf, max_depth=9).fit(data, labels)
    whole, shown = model.explain(None), model.explain()
    folded = [int(text) for text in re.findall(r"… (\d+) more question", shown)]
    assert folded
    assert shown.count("IF ") + sum(folded) == whole.count("IF ") > 40
    assert "…" not in whole
    assert max(line.count("    ") for line in shown.splitlines()) == 3
    assert all(part["cut"] - 1 in folded for part in leaves_of(model.content()) if part["cut"])
    for top in (0, 2, 4, None):
        assert sum(part["records"] for part in leaves_of(model.content(top))) == pytest.approx(4000)


def leaves_of(branch):
    """The leaves of a tree as plain data."""
    if "left" not in branch:
        return [branch]
    return leaves_of(branch["left"]) + leaves_of(branch["right"])


def test_unlisted_categories_and_missing_numbers_have_their_branch():
    public = Schema([Categorical("c", ["a", "b"]), Numeric("n", 0, 10, fill=9)], "y", [0, 1], records=2000)
    rows = [{"c": "stray", "n": None}] * 500 + [{"c": "a", "n": 1}] * 500 + [{"c": "b", "n": 1}] * 500
    model = DecisionTree(public, epsilon=5, random_state=0).fit(rows, [1] * 500 + [0] * 1000)
    assert model.predict([{"c": "other", "n": None}, {"c": "a", "n": 2}]).tolist() == [1, 0]
    public = public.replace(columns=public.columns[:1])
    alone = DecisionTree(public, epsilon=5, random_state=0).fit(
        [{"c": row["c"]} for row in rows], [1] * 500 + [0] * 1000
    )
    assert "(unlisted)" in alone.explain()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_save_and_load(structure, tmp_path):
    records, labels = patients(10)
    model = DecisionTree(ILLNESS, epsilon=1, structure=structure, max_depth=2).fit(records, labels)
    model.save(tmp_path / "m.json")
    again = load(tmp_path / "m.json")
    assert np.array_equal(again.predict_proba(records), model.predict_proba(records))
    assert again.explain() == model.explain()
    assert again.guarantee_ == model.guarantee_
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(twin.predict_proba(records), model.predict_proba(records))


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [None, None],
        [["age", 16, 3], None],
        [["age", 16, 3]] * 1000,
        [["age", 16, 99], None, None],
        [["other", 16, 3], None, None],
        [["age", None, 3], None, None],
        [["age", "16", 3], None, None],
        "nodes",
        7,
        [[["age"], 16, 3], None, None],
    ],
)
def test_a_damaged_file_is_one_clear_error(nodes):
    records, labels = patients(10)
    content = to_dict(DecisionTree(ILLNESS, epsilon=1, max_depth=1, structure="greedy").fit(records, labels))
    content.pop("hash")
    content["statistics"]["tables"][0]["query"]["nodes"] = nodes
    with pytest.raises(FileError):
        from_dict({**content, "hash": content_hash(content)})


@pytest.mark.parametrize("values", [[[1, 1], [1, 0]], [[0, 0], [0, 0]], [[2, 0], [-1, 1]]])
def test_labels_that_are_none_are_refused(values):
    records, labels = patients(10)
    content = to_dict(DecisionTree(ILLNESS, epsilon=1, max_depth=1, structure="random").fit(records, labels))
    content.pop("hash")
    table = content["statistics"]["tables"][0]
    table["query"] = {"kind": "LeafLabels", "nodes": [["age", 16, 3], None, None]}
    table["values"] = values
    with pytest.raises(FileError):
        from_dict({**content, "hash": content_hash(content)})


def test_probabilities_are_probabilities():
    records, labels = patients(10)
    for structure in STRUCTURES:
        model = DecisionTree(ILLNESS, epsilon=0.5, structure=structure).fit(records, labels)
        chances = model.predict_proba(records)
        assert np.allclose(chances.sum(axis=1), 1)
        assert (chances > 0).all()
        assert (model.classes_[chances.argmax(axis=1)] == model.predict(records)).all()
    assert model.predict_proba(records[:0]).shape == (0, 2)


def test_pruning_merges_what_noise_alone_tells():
    """Labels that follow no attribute leave a single leaf most of the time; with prune=0 hardly ever."""
    rng = np.random.default_rng(1)
    data = {
        "smoker": rng.choice(["no", "yes"], 1000),
        "age": rng.random(1000) * 80,
        "town": rng.choice(["A", "B"], 1000),
    }
    labels = rng.choice(["yes", "no"], 1000, p=[0.7, 0.3])
    options = {"epsilon": 0.5, "structure": "greedy", "max_depth": 4}
    whole = [DecisionTree(ILLNESS, **options, random_state=i, prune=0).fit(data, labels) for i in range(10)]
    assert sum("IF" not in model.explain() for model in whole) <= 2
    for prune in ("auto", 1.0):
        merged = [DecisionTree(ILLNESS, **options, random_state=i, prune=prune).fit(data, labels) for i in range(10)]
        assert sum("IF" not in model.explain() for model in merged) >= 7


# The rule.


@pytest.mark.parametrize(
    ("epsilon", "records", "classes", "expected", "depth"),
    [
        (0.01, 150, 3, Fixed, 2),
        (0.01, 435, 2, Fixed, 2),
        (0.01, 699, 2, Labelled, 0),
        (0.1, 150, 3, Labelled, 0),
        (0.5, 199, 2, Labelled, 0),
        (0.5, 201, 2, Labelled, 1),
        (1, 150, 3, Labelled, 1),
        (0.01, 5620, 10, Fixed, 6),
        (0.03, 5620, 10, Fixed, 7),
        (0.1, 5620, 10, Labelled, 3),
        (0.5, 5620, 10, Labelled, 5),
        (0.01, 11664, 5, Labelled, 1),
        (0.1, 2310, 7, Labelled, 2),
        (0.03, 2310, 7, Labelled, 1),
        (0.01, 48842, 2, Labelled, 2),
        (0.5, 798, 2, Labelled, 1),
        (0.5, 802, 2, Labelled, 2),
        (0.1, 48842, 2, Greedy, 6),
        (1, 48842, 2, Greedy, 9),
        (1, 10**9, 2, Greedy, 12),
    ],
)
def test_the_rule_is_public_and_stable(epsilon, records, classes, expected, depth):
    public = Schema([Numeric(f"x{i}", 0, 1) for i in range(8)], "y", list(range(classes)), records=records)
    share = Fraction(str(epsilon))
    plan = DecisionTree(public, epsilon=epsilon)._plan(public, share, records, as_rng(0))
    assert isinstance(plan, expected)
    if isinstance(plan, Fixed):
        assert plan.labels == (2 * epsilon * records / classes < tree_plan.FAIR)
        assert plan.tree.depth == depth
    if isinstance(plan, Greedy):
        assert len(plan.levels) == depth
        assert plan.score == ("gini" if records > 10_000 else "max")
    if isinstance(plan, Labelled):
        assert len(plan.levels) == depth
        assert (plan.leaves is None) == (depth == 0)
        assert plan.above is None or plan.above.score == "max"
    assert sum(step.epsilon for step in plan.steps(public)) == share


def numbers(columns, records):
    return Schema([Numeric(f"x{i}", 0, 1) for i in range(columns)], "y", [0, 1], records=records)


@pytest.mark.parametrize(
    ("columns", "splits", "depth"), [(8, 261, 12), (1000, 261, 6), (1001, 15, 10), (10_000, 15, 7)]
)
def test_very_wide_tables_are_not_grown_deep(columns, splits, depth):
    wide = numbers(columns, 10**6)
    plan = DecisionTree(wide)._plan(wide, Fraction(1), 10**6, as_rng(0))
    assert (len(plan.splits), len(plan.levels)) == (splits * columns, depth)
    assert 2**depth * len(plan.splits) <= tree_plan.MOST_CHOICES + len(plan.splits)


def test_what_would_take_hours_is_refused_before_it_costs():
    wide = numbers(2000, None)
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="smaller max_depth"):
        DecisionTree(wide, max_depth=12, thresholds=127).fit(np.zeros((3, 2000)), [0, 1, 0], ledger=ledger)
    assert ledger.spent == 0


def test_too_many_classes_for_a_stump_cost_nothing():
    many = Schema([Numeric("x", 0, 1)], "y", list(range(600)), records=100)
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="classes"):
        DecisionTree(many, structure="stump").fit([[0.5]], [1], ledger=ledger)
    assert ledger.spent == 0


def test_the_published_tree_has_a_depth_that_can_be_grown():
    wide = Schema([Categorical("c", list(range(900)))], "y", [0, 1], records=100)
    plan = DecisionTree(wide, structure="published")._plan(wide, Fraction(1), 100, as_rng(0))
    assert len(plan.levels) == tree_plan.MOST_DEPTH
    assert sum(step.epsilon for step in plan.steps(wide)) == 1


def test_a_leaf_without_records_says_so():
    records, labels = patients(10)
    model = DecisionTree(ILLNESS, epsilon=math.inf, max_depth=1).fit(records, labels)
    tree = Tree((Split("age", 16, 0), None, None))
    leaves = GrownTree(tree, np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([0.0, 1234.0]))
    lines = tree_text.describe(leaves, ILLNESS, model.classes_.tolist()).splitlines()
    assert lines == [
        "IF age < 5 THEN ill = no  (hardly any records)",
        "ELSE (age >= 5) THEN ill = no  (90% of about 1,234 records)",
    ]


def test_what_the_noise_may_have_decided_is_said():
    """Of four leaves: clear, close, without records, and merged of two, whose noise is larger."""
    tree = Tree((Split("age", 16, 0), Split("smoker", None, 0), None, None, Split("smoker", None, 0), None, None))
    counts = np.array([[900.0, 100.0], [130.0, 120.0], [5.0, -3.0], [700.0, 50.0]])
    shares = np.array([[0.9, 0.1], [0.52, 0.48], [0.6, 0.4], [0.93, 0.07]])
    leaves = GrownTree(tree, shares, np.maximum(counts.sum(axis=1), 0), counts, 200.0 * np.array([1, 1, 1, 2]))
    made = leaves_of(tree_text.content(leaves, ILLNESS, ["no", "yes"]))
    assert [leaf["within_noise"] for leaf in made] == [False, True, True, False]
    assert [leaf["empty"] for leaf in made] == [False, False, True, False]
    assert made[3]["noise"] == pytest.approx(DEVIATIONS * math.sqrt(800) + 0.5, abs=1e-3)
    text = tree_text.describe(leaves, ILLNESS, ["no", "yes"])
    assert "52% of about 250 records, give or take 43; within the noise" in text
    assert "(no more records than noise)" in text
    swapped = leaves.in_order([1, 0])
    assert swapped.counts[0].tolist() == [100.0, 900.0]
    whole = tree_text.content(leaves, ILLNESS, ["no", "yes"], 0)
    assert whole["noise"] == pytest.approx(DEVIATIONS * math.sqrt(2 * 200 * 5) + 0.5, abs=1e-3)


def test_questions_that_are_answered_already_are_not_shown():
    """age < 5 below age < 2.5 is always so, and smoker = yes after smoker = yes too; such leaves have no records."""
    again = Split("age", 16, 1)
    tree = Tree(
        (Split("age", 16, 0), again, None, None, Split("smoker", None, 1), Split("smoker", None, 1), None, None, None)
    )
    leaves = GrownTree(tree, np.full((5, 2), [0.7, 0.3]), np.array([10.0, 99.0, 20.0, 98.0, 30.0]))
    shown = tree_text.content(leaves, ILLNESS, ["no", "yes"])
    assert "left" not in shown["left"]
    assert [leaf["records"] for leaf in leaves_of(shown)] == [10.0, 20.0, 30.0]
    assert shown["right"]["column"] == "smoker"
    assert [leaf["cut"] for leaf in leaves_of(tree_text.content(leaves, ILLNESS, ["no", "yes"], 1))] == [0, 2]


def test_classes_that_were_chosen_without_counts_show_no_share():
    records, labels = patients(100)
    model = DecisionTree(ILLNESS, epsilon=1, structure="stump", random_state=0).fit(
        records, ["yes"] * 600 + labels[600:]
    )
    assert "%" not in model.explain()
    assert "THEN ill = " in model.explain()
    assert model.content()["column"]
    assert model.plot() is not None


def test_counts_without_a_variance_are_refused():
    records, labels = patients(10)
    content = to_dict(DecisionTree(ILLNESS, epsilon=1, max_depth=1, structure="greedy").fit(records, labels))
    content.pop("hash")
    for variance in (None, -1.0):
        content["statistics"]["tables"][0]["variance"] = variance
        with pytest.raises(FileError):
            from_dict({**content, "hash": content_hash(content)})


def test_where_no_number_is_declared_a_noisy_one_is_bought():
    records, labels = patients()
    ledger = Ledger(2)
    model = DecisionTree(ILLNESS.replace(records=None), epsilon=2, random_state=0).fit(records, labels, ledger=ledger)
    assert ledger.spent == model.receipt_.epsilon == 2
    assert model.receipt_.charges[0].epsilon == Fraction(1, 10)
    assert abs(model.noisy_[Total()].values.item() - 1200) < 400
    assert model.score(records, labels) > 0.4
    fixed = DecisionTree(ILLNESS.replace(records=None), epsilon=2, structure="stump").fit(records, labels)
    assert len(fixed.receipt_.charges) == 1


@pytest.mark.parametrize("records", [1200, None])
@pytest.mark.parametrize("structure", ["auto", *STRUCTURES])
def test_charges_sum_to_epsilon_and_are_one_account(structure, records):
    data, labels = patients(10)
    ledger = Ledger(Fraction(1, 3))
    model = DecisionTree(ILLNESS.replace(records=records), epsilon="1/3", structure=structure)
    model.fit(data, labels, ledger=ledger)
    assert model.receipt_.epsilon == ledger.spent == Fraction(1, 3)
    with pytest.raises(BudgetError):
        model.fit(data, labels, ledger=ledger)
    assert ledger.spent == Fraction(1, 3)


@pytest.mark.parametrize("records", [1200, None])
def test_what_cannot_be_done_costs_nothing(records):
    data, labels = patients(2)
    ledger = Ledger(1)
    public = ILLNESS.replace(records=records)
    with pytest.raises(BudgetError):
        DecisionTree(public, epsilon=2).fit(data, labels, ledger=ledger)
    with pytest.raises(DataError, match="'town'"):
        DecisionTree(public).fit(pd.DataFrame(data).drop(columns="town"), labels, ledger=ledger)
    with pytest.raises(DataError, match="lengths"):
        DecisionTree(public).fit(data, labels[1:], ledger=ledger)
    with pytest.raises(ParameterError, match="too small"):
        DecisionTree(public, epsilon=Fraction(1, 10**30)).fit(data, labels, ledger=ledger)
    assert ledger.spent == 0


# Neighbours.


@pytest.mark.parametrize(
    ("structure", "records"),
    [("auto", 4), ("auto", 40), ("auto", 4000), ("auto", None), ("random", 4000), ("published", None)],
)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(structure, adjacency, records, data):
    """A random tree, a stump, a greedy one, one whose signal is bought; small, so that exact laws are quickly had."""

    def fit(rows):
        options = {"structure": structure, "thresholds": 2 if records != 4000 else "auto", "max_depth": 2}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return DecisionTree(schema(adjacency, records), epsilon=1.0, random_state=3, **options).fit(rows)

    loss, model, twin = replay(fit, *data.draw(neighbours(adjacency)))
    assert loss <= 1 + 1e-9
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


# What is not as it should be.


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", EDGES)
def test_edges_work_without_a_warning(name, structure):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DecisionTree(schema(), epsilon=1, structure=structure, random_state=0).fit(EDGES[name])
        assert np.allclose(model.predict_proba(EDGES["far out"]).sum(axis=1), 1)
        assert model.explain()
        infinite = DecisionTree(schema(), epsilon=math.inf, structure=structure).fit(EDGES[name])
        assert infinite.predict([BASE]).shape == (1,)


@pytest.mark.parametrize("structure", ["auto", *STRUCTURES])
def test_columns_with_one_value_and_schemas_with_one_class(structure):
    lone = Schema([Categorical("one", ["a"], unlisted=False)], "y", ["only"], records=10)
    model = DecisionTree(lone, epsilon=1, structure=structure).fit([{"one": "a"}] * 5, ["only"] * 5)
    assert model.predict([{"one": "b"}]).tolist() == ["only"]
    wide = Schema([Categorical("zip", list(range(5000)))], "y", ["0", "1"], records=10**6)
    model = DecisionTree(wide, epsilon=1, structure=structure).fit([{"zip": 7}] * 5, ["0"] * 5)
    assert model.tree_.leaves == 1
    still = Schema([Numeric("n", 0, 1)], "y", ["0", "1"], records=100)
    model = DecisionTree(still, epsilon=1, structure=structure).fit({"n": np.full(100, 0.5)}, ["0"] * 100)
    assert np.allclose(model.predict_proba({"n": [0.1, math.nan, math.inf]}).sum(axis=1), 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": 10**6},
        {"structure": "best"},
        {"max_depth": -1},
        {"max_depth": 13},
        {"max_depth": 2.5},
        {"max_depth": True},
        {"thresholds": 0},
        {"thresholds": 2048},
        {"thresholds": "many"},
        {"criterion": "entropy"},
        {"prune": -1},
        {"prune": math.nan},
        {"prune": "much"},
        {"schema": None},
        {"random_state": -1},
    ],
)
def test_wrong_parameters(wrong):
    with pytest.raises(ParameterError):
        DecisionTree(**{"schema": ILLNESS, **wrong}).fit(*patients(1))


def test_conventions():
    model = DecisionTree(ILLNESS, epsilon=2, max_depth=np.int64(3), prune=np.float64(2))
    assert clone(model).get_params() == model.get_params()
    for method in (model.explain, model.content, model.plot):
        with pytest.raises(NotFittedError):
            method()
    model.fit(*patients(5))
    assert model.tree_.depth == 3
    with pytest.raises(ParameterError, match="leaves"):
        model.fit_noisy(type(model.noisy_)([], model.receipt_))
    assert tree_plan.STRUCTURES[0] == DecisionTree(ILLNESS).structure


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_it_learns_from_files(kind, tmp_path):
    records, labels = patients(50)
    frame = pd.DataFrame(records).assign(ill=labels)
    path = tmp_path / f"t.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    model = DecisionTree(ILLNESS, epsilon=math.inf, max_depth=2).fit_from(open_file(path))
    assert model.score(records, labels) == 1.0


def test_many_classes_make_a_default_tree_shallower():
    """The counts of all classes are compared at every node: at this many, twelve levels would take minutes."""
    assert tree_plan.greedy_depth(1e9, 2000, 2) == tree_plan.greedy_depth(1e9, 2000, 16) == 12
    assert tree_plan.greedy_depth(1e9, 2000, 500) == 8
    assert tree_plan.greedy_depth(1e9, 10**6, 500) >= 1


# Labelled trees: the classes of leaves are chosen, and the counts only tell how sure they are.


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [0, 3, 20])
def test_what_is_predicted_is_the_class_that_was_chosen_for_the_leaf(classes, rows):
    """Also where the counts of a leaf are equal, or all are below zero."""
    names = list("abc")[:classes]
    public = Schema([Numeric("x", 0, 1)], "y", names, records=1000)
    points = [{"x": (place + 0.5) / 256} for place in range(256)]
    for seed in range(25):
        model = DecisionTree(public, epsilon=1, structure="labelled", random_state=seed)
        model.fit([{"x": 0.1}] * rows or [{"x": 0.1}], ["a"] * rows or ["?"])
        labels, counts = (table for _, table in model.noisy_.tables)
        codes = {cells: cells.codes(np.array([each["x"] for each in points]), public) for cells in model.tree_.cells}
        leaves = model.tree_.leaf_of(codes, len(points))
        assert model.predict(points).tolist() == [names[place] for place in labels.values.argmax(axis=0)[leaves]]
        assert counts.values.shape == labels.values.shape
        sides = re.findall(r"y = (\w)", model.explain())
        assert len(sides) == 1 or len(set(sides)) > 1


def test_a_labelled_tree_tells_probabilities_from_its_counts():
    rng = np.random.default_rng(3)
    public = Schema([Numeric("x", 0, 1), Categorical("c", ["u", "v", "w"])], "y", ["no", "yes"], records=3000)
    X = {"x": rng.random(3000), "c": rng.choice(["u", "v", "w"], 3000)}
    y = np.where(rng.random(3000) < np.where(X["x"] < 0.5, 0.1, 0.7), "yes", "no")
    model = DecisionTree(public, epsilon="1/5", structure="labelled", random_state=0).fit(X, y)
    low, high = model.predict_proba({"x": [0.1, 0.9], "c": ["u", "u"]})[:, 1]
    assert abs(low - 0.1) < 0.15
    assert abs(high - 0.7) < 0.15
    assert model.guarantee_.epsilon == Fraction(1, 5)


def test_what_labelled_trees_compare_is_bounded():
    """However deep a tree is asked for: it gets fewer questions, and the service can tell how long it may take."""
    for columns, classes, depth in ((20, 40, 12), (1000, 2, 12), (1, 150, 12), (3, 2, 12), (5, 8, 3)):
        public = Schema([Numeric(f"x{i}", 0, 1) for i in range(columns)], "y", list(range(classes)), records=10**5)
        plan = tree_plan.plan(public, Fraction(1), 1e5, "labelled", depth, 1, "auto", as_rng(0))
        compared = sum(family.number(classes) for family in plan.families)
        assert compared <= tree_plan.MOST_LABELLED
        assert compared * 2 ** len(plan.levels) <= tree_plan.most_compared(public, depth) <= tree_plan.MOST_CHOICES
        assert len(plan.levels) <= depth
        assert plan.leaves is not None or not plan.levels


@pytest.mark.parametrize("records", [100, 200, 400, 700])
@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_a_labelled_tree_shows_that_no_record_has_a_listed_class(records, kind):
    given = [Numeric(f"c{i}", 0, 1) if kind == "numbers" else Categorical(f"c{i}", range(9)) for i in range(5)]
    public = Schema(given, "y", ["no", "yes"], records=records)
    X = {f"c{i}": np.random.default_rng(i).integers(2, size=records) for i in range(5)}
    told = [
        bool(remarks(DecisionTree(public, epsilon=1, random_state=seed).fit(X, ["?"] * records).noisy_, public))
        for seed in range(20)
    ]
    assert sum(told) >= 13
