"""What hostile reviews found, once each, so that it stays found."""

import json
import os
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.exceptions import NotFittedError

from discreet import (
    BeeFeatureSelector,
    BeeRules,
    Categorical,
    DecisionTree,
    Ledger,
    LinearSVM,
    LocalPerturbation,
    NaiveBayes,
    Numeric,
    RandomForest,
    Schema,
    load,
)
from discreet.errors import FileError, ParameterError
from discreet.perturbation.perturbed_table import save_receipt
from discreet.queries.tables import Counts
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.memory import MemorySource
from discreet.storage.envelope import content_hash
from support.neighbours import BASE, ODD, schema


def test_text_that_is_no_utf8_is_read_as_neither_number_nor_text():
    """It raised, after the charge, an error that held the value."""
    data, ends = b"uv\xff\xfe", np.array([0, 1, 2, 4], dtype=np.int32)
    broken = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(data)])
    table = pa.table({"b": broken, "y": ["n", "p", "n"]})
    public = Schema([Categorical("b", ["u", "v"])], "y", ["n", "p"], records=3)
    cells = Counts("b").cells(public)
    assert MemorySource(table).count([cells], public).counts[cells].tolist() == [[1, 0, 1], [0, 1, 0]]
    assert NaiveBayes(public, epsilon=1).fit(table).classes_.tolist() == ["n", "p"]


def test_nan_has_two_signs(tmp_path):
    """0/0 gives the negative one, which DuckDB spells otherwise."""
    negative = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000000))[0]
    pq.write_table(pa.table({"x": np.array([1.0, negative, 3.0]), "y": ["a", "a", "a"]}), tmp_path / "t.parquet")
    public = Schema([Numeric("x", 0, 10, fill=0.5)], "y", ["a", "b"])
    cells = Counts("x", 10).cells(public)
    for source in (DuckDBSource(tmp_path / "t.parquet"), MemorySource(pd.read_parquet(tmp_path / "t.parquet"))):
        counted = source.count([cells], public).counts[cells]
        assert counted[0].tolist() == [1, 1, 0, 1, 0, 0, 0, 0, 0, 0]
        (rows,) = source.rows([cells], public)
        assert sorted(rows.codes[cells].tolist()) == [0, 1, 3]


def test_trees_of_a_forest_may_draw_columns_without_questions():
    """They had another number of charges, though they cost the same: a crash after the number of records was paid."""
    public = Schema(
        [Categorical("a", ["x"], unlisted=False), Categorical("b", ["u", "v"]), Numeric("c", 0, 1)], "y", ["n", "p"]
    )
    records, labels = [{"a": "x", "b": "u", "c": 0.5}] * 2000, ["n", "p"] * 1000
    for seed in range(6):
        ledger = Ledger(1)
        forest = RandomForest(public, epsilon=1, n_trees=4, max_columns=0.3, structure="greedy", random_state=seed)
        assert forest.fit(records, labels, ledger=ledger).receipt_.epsilon == 1 == ledger.spent


def test_a_rule_that_meets_too_many_stumps_takes_another_tree():
    public = Schema([Numeric(f"n{i}", 0, 1) for i in range(3200)], "y", list("abcdefgh"))
    ledger = Ledger(1)
    DecisionTree(public, epsilon=1).fit(np.zeros((60, 3200)), list("abcdefgh") * 7 + list("abcd"), ledger=ledger)
    assert ledger.spent == 1


@pytest.mark.parametrize("epsilon", ["1e-399", "1e-320", "1e-13"])
def test_the_smallest_losses_are_refused_unspent(epsilon):
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="too small"):
        LinearSVM(schema(), epsilon=epsilon).fit([BASE], ledger=ledger)
    assert ledger.spent == 0


def forged(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    body = {key: value for key, value in content.items() if key != "hash"}
    path.write_text(json.dumps({**body, "hash": content_hash(body)}), encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["statistics"]["receipt"].update(charges=[]),
        lambda content: content["statistics"]["receipt"].update(adjacency="replace-one"),
        lambda content: content["statistics"]["tables"][0]["query"].update(knots=10**9),
        lambda content: content["statistics"]["tables"][0]["query"].update(bits=10**9),
    ],
)
def test_files_that_claim_what_was_not_paid_are_refused(change, tmp_path):
    LinearSVM(schema(), epsilon=1).fit([BASE, ODD]).save(tmp_path / "m.json")
    forged(tmp_path / "m.json", change)
    with pytest.raises((FileError, ParameterError)):
        load(tmp_path / "m.json")


def test_a_file_without_a_hash_is_refused(tmp_path):
    """Content that has no hash, since it holds NaN, passed with the hash null."""
    NaiveBayes(schema(), epsilon=1).fit([BASE, ODD]).save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    content["statistics"]["tables"][0]["values"][0][0], content["hash"] = float("nan"), None
    (tmp_path / "m.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(FileError):
        load(tmp_path / "m.json")


CLINIC = Schema(
    [Numeric("age", 0, 100, grid=10), Categorical("smoker", ["no", "yes"], unlisted=False)],
    "ill",
    ["no", "yes"],
    adjacency="replace-one",
)
PEOPLE = [{"age": age, "smoker": "yes"} for age in range(100)]
ILL = ["yes", "no"] * 50


def test_clear_labels_get_no_receipt(tmp_path):
    """`transform` perturbs attributes alone."""
    perturbation = LocalPerturbation(CLINIC, epsilon=3)
    perturbation.transform(PEOPLE)
    (tmp_path / "t.csv").write_text("age,smoker,ill\n1,yes,no\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="labels were not perturbed"):
        save_receipt(perturbation, tmp_path / "t.csv")


def test_rules_take_no_guarantee_that_is_not_of_their_records():
    """Not a model's, not one under another schema, and not with a draft of the clear data."""
    model = NaiveBayes(CLINIC, epsilon=1).fit(PEOPLE, ILL)
    with pytest.raises(ParameterError, match="LocalPerturbation"):
        BeeRules(CLINIC).fit(PEOPLE, ILL, source_guarantee=model.guarantee_, source_receipt=model.receipt_)
    perturbation = LocalPerturbation(CLINIC, epsilon=3)
    X, y = perturbation.fit_resample(PEOPLE, ILL)
    given = {"source_guarantee": perturbation.guarantee_, "source_receipt": perturbation.receipt_}
    with pytest.raises(ParameterError, match="another schema"):
        BeeRules(CLINIC.replace(classes=["yes", "no"]), max_iter=2).fit(X, y, **given)
    with pytest.raises(ParameterError, match="read off data"):
        BeeRules(CLINIC.replace(from_data=["age.upper"]), max_iter=2).fit(X, y, **given)
    assert BeeRules(CLINIC, max_iter=2).fit(X, y, **given).guarantee_.holds


@pytest.mark.parametrize(
    ("epsilon", "words"), [("1.0000004", "1.00001-diff"), (1000, "e^1000"), ("1/3", "0.333334-diff")]
)
def test_statements_never_understate(epsilon, words):
    assert words in NaiveBayes(schema(), epsilon=epsilon).fit([BASE]).guarantee_.statement()


def test_rules_learn_nothing_from_blanks():
    """Values that were not released are no evidence; they used to count as the first category or the middle."""
    public = Schema([Categorical("a", ["x", "y"], unlisted=False), Numeric("n", 0, 10)], "c", ["p", "q"])
    records = [{"a": None, "n": None}] * 50 + [{"a": "x", "n": 1}] * 10 + [{"a": "y", "n": 9}] * 10
    labels = ["p"] * 50 + ["q"] * 10 + ["p"] * 10
    model = BeeRules(public, strategy="one-rule", max_iter=50, random_state=0).fit(records, labels)
    assert model.predict([{"a": "x", "n": 1}, {"a": "y", "n": 9}]).tolist() == ["q", "p"]
    assert all(rule.inside + rule.outside <= 20 for rule in model.rules_)


def test_scalars_are_no_records():
    model = NaiveBayes(schema(), epsilon=1).fit([BASE])
    with pytest.raises(ValueError, match="neither a dict nor a row"):
        model.predict([1, 2, 3, 4])


@pytest.mark.parametrize("size", [255, 256, 257, 300])
def test_trees_tell_apart_as_many_categories_as_there_are(size):
    """Codes are kept in as few bytes as they need, and no fewer."""
    names = [f"v{place:03d}" for place in range(size)]
    public = Schema([Categorical("a", names, unlisted=False)], "c", ["p", "q"], records=4000)
    records = [{"a": name} for name in names for _ in range(4)] + [{"a": names[-1]}] * 2000
    labels = ["p"] * (4 * size) + ["q"] * 2000
    tree = DecisionTree(public, epsilon=100, structure="greedy", max_depth=1, random_state=0).fit(records, labels)
    assert tree.predict([{"a": names[-1]}, {"a": names[0]}, {"a": names[1]}]).tolist() == ["q", "p", "p"]


def test_an_interrupted_refit_keeps_no_choice_of_clear_records(monkeypatch):
    perturbation = LocalPerturbation(CLINIC, epsilon=3)
    X, y = perturbation.fit_resample(PEOPLE, ILL)
    selector = BeeFeatureSelector(CLINIC, random_state=0, max_iter=1).fit(PEOPLE, ILL)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.models.bees.fitness.TreeAccuracy.__call__", interrupt)
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y, source_guarantee=perturbation.guarantee_, source_receipt=perturbation.receipt_)
    with pytest.raises(NotFittedError):
        selector.transform(PEOPLE)


def test_what_was_paid_for_is_what_is_perturbed():
    """Blocks are perturbed when they are asked for; parameters that are set meanwhile change nothing."""
    perturbation = LocalPerturbation(CLINIC, epsilon="1/1000", random_state=0)
    blocks = perturbation.resample_blocks([{**{k: [r[k] for r in PEOPLE] for k in PEOPLE[0]}, "ill": ILL}])
    perturbation.set_params(epsilon=1000)
    ((_, labels),) = blocks
    assert 20 < (labels == "yes").sum() < 80
    assert sorted(labels.tolist()) != sorted(ILL)


@pytest.mark.skipif("DISCREET_DATA" not in os.environ, reason="DISCREET_DATA is not set")
def test_the_svm_does_not_go_on_where_floats_gain_nothing(monkeypatch):
    """A thousand of Newton's steps that changed nothing made some fits a hundred times longer than others."""
    from discreet.models import LinearSVM
    from discreet.privacy.mechanisms.multiclass_problem import MulticlassObjective
    from discreet.research.comparison.engine import measure
    from discreet.research.comparison.grid import Run

    steps, original = [], MulticlassObjective.newton

    def counted(self, *arguments):
        steps.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(MulticlassObjective, "newton", counted)
    measure(Run("nursery", "svm", "1/100", "add-remove", 10, 0, 0, 1), LinearSVM, None)
    assert 0 < len(steps) < 100  # five classes at once
