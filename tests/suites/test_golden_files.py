"""Files of earlier versions are read for ever: each gives the model, schema, account or round that was written."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet import Adjacency, Guarantee, Ledger, Schema, load
from discreet.errors import FileError
from discreet.federated import Aggregator, Invitation, KeyPair, Message
from discreet.perturbation.perturbed_table import read_perturbed
from discreet.schema import Paid
from support.clinic import ill
from support.records import draw_records, split_target

GOLDEN = Path(__file__).parents[1] / "golden" / "0.1"
NEIGHBOURS = {
    Adjacency.ADD_REMOVE: "one record is added or removed",
    Adjacency.REPLACE_ONE: "one record is replaced by any other",
}
"""The words of 0.1 for each adjacency; ours may change, what they mean may not."""
EXPECTED = json.loads((GOLDEN / "expected.json").read_text(encoding="utf-8"))
MODELS = sorted(GOLDEN.glob("model-*.json"))
CHOSEN = "model-on-chosen-columns.json"
PARTIES = ("north", "south")


def table_for(name):
    """The records that the expected predictions are about."""
    if "federated" in name:
        return {column: values for column, values in ill(60, 9).items() if column != "ill"}
    return split_target(draw_records(400, seed=7))[0]


def test_every_model_has_an_expectation():
    assert {path.name for path in MODELS} == set(EXPECTED)
    kinds = {json.loads(path.read_text(encoding="utf-8"))["model"] for path in MODELS}
    assert kinds == {"naive-bayes", "one-rule", "decision-tree", "random-forest", "svm", "bee-rules"}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_predicts_and_promises_as_it_did(path, tmp_path):
    model, expected = load(path), EXPECTED[path.name]
    model.save(tmp_path / "again.json")
    for each in (model, load(tmp_path / "again.json")):
        predicted = [str(label) for label in each.predict(table_for(path.name))]
        assert predicted[: len(expected["predictions"])] == expected["predictions"]
        if "probabilities" in expected:
            chances = each.predict_proba(table_for(path.name))[:20]
            np.testing.assert_allclose(chances, expected["probabilities"], rtol=1e-12)
        assert isinstance(each.guarantee_, Guarantee)
        if path.name != CHOSEN:
            assert (each.guarantee_.epsilon, each.guarantee_.holds) == (Fraction(expected["epsilon"]), True)
            assert f"if {NEIGHBOURS[each.guarantee_.adjacency]}" in expected["statement"]


def test_a_choice_of_unknown_adjacency_promises_nothing():
    """0.1 did not note under which adjacency a choice was paid for, so that its price is not known any more."""
    model = load(GOLDEN / CHOSEN)
    assert not model.guarantee_.holds
    assert "choice of the columns" in model.guarantee_.statement()


@pytest.mark.parametrize("name", ["schema", "schema-replace-one", "schema-chosen", "clinic"])
def test_a_schema_says_what_it_said(name, tmp_path):
    schema = Schema.load(GOLDEN / f"{name}.json")
    schema.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (GOLDEN / f"{name}.json").read_bytes()
    if name == "schema-chosen":
        assert schema.chosen == Paid(Fraction(1, 2), None)
    if name == "schema":
        assert load(GOLDEN / "model-svm.json").schema_.hash == schema.hash


def test_a_ledger_is_taken_over_with_all_it_has_spent(tmp_path):
    path = shutil.copy(GOLDEN / "ledger.jsonl", tmp_path / "ledger.jsonl")
    with pytest.raises(FileError, match="adopt"):
        Ledger.open(path)
    ledger = Ledger.adopt(path, "add-remove")
    assert (ledger.limit, ledger.spent) == (3, Fraction(4, 3))
    assert [name for name, _ in ledger.entries] == ["naive-bayes for outcome", *["one-rule for outcome"] * 2]


@pytest.mark.parametrize("kind", ["", "-sum"])
def test_a_round_gives_the_model_that_it_gave(kind):
    invitation = Invitation.load(GOLDEN / f"invitation{kind}.json")
    aggregator = Aggregator(invitation)
    for name in PARTIES:
        aggregator.add(Message.load(GOLDEN / f"answer{kind}-{name}.msg", invitation))
    made, kept = aggregator.model(), load(GOLDEN / f"model-federated{kind}.json")
    for (query, own), (other, theirs) in zip(made.noisy_.tables, kept.noisy_.tables, strict=True):
        assert query == other
        np.testing.assert_array_equal(own.values, theirs.values)
    assert made.guarantee_ == kept.guarantee_


def test_a_round_goes_on_where_it_stopped(tmp_path):
    path = shutil.copy(GOLDEN / "aggregator.json", tmp_path / "aggregator.json")
    invitation = Invitation.load(GOLDEN / "invitation.json")
    aggregator = Aggregator(invitation, path=path)
    assert aggregator.missing == ["south"]
    aggregator.add(Message.load(GOLDEN / "answer-south.msg", invitation))
    made, kept = aggregator.model(), load(GOLDEN / "model-federated.json")
    assert [table.values.tolist() for _, table in made.noisy_.tables] == [
        table.values.tolist() for _, table in kept.noisy_.tables
    ]


def test_a_key_fits_the_invitation_that_names_it(tmp_path):
    invitation = Invitation.load(GOLDEN / "invitation-sum.json")
    invited = {each.name: each.key for each in invitation.parties}
    for name in PARTIES:
        path = Path(shutil.copy(GOLDEN / f"{name}.key", tmp_path))
        path.chmod(0o600)
        assert KeyPair.from_file(path).public == invited[name]


def test_a_perturbed_table_keeps_its_promise():
    table = read_perturbed(GOLDEN / "perturbed.csv")
    assert len(table.y) == 120
    assert table.guarantee.holds
    assert table.receipt.epsilon == 6
    assert "6-locally differentially private" in table.guarantee.statement()


NEWER = {
    "model-naive-bayes.json": load,
    "schema.json": Schema.load,
    "invitation.json": Invitation.load,
    "aggregator.json": lambda path: Aggregator(Invitation.load(GOLDEN / "invitation.json"), path=path),
    "answer-north.msg": lambda path: Message.load(path, Invitation.load(GOLDEN / "invitation.json")),
    "perturbed.csv.receipt.json": lambda path: read_perturbed(path.with_name("perturbed.csv")),
    "ledger.jsonl": Ledger.open,
}


@pytest.mark.parametrize("name", NEWER)
def test_a_file_of_a_newer_format_says_so(name, tmp_path):
    for each in GOLDEN.iterdir():
        shutil.copy(each, tmp_path)
    first, *rest = (GOLDEN / name).read_text(encoding="utf-8").partition('version": 1')[::2]
    (tmp_path / name).write_text(first + 'version": 99' + "".join(rest), encoding="utf-8")
    with pytest.raises(FileError, match=r"99.*upgrade discreet"):
        NEWER[name](tmp_path / name)
