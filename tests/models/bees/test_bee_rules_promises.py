"""Rules found by bees: what is promised, what is written to a file, and that a damaged file is refused."""

import dataclasses
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import BeeRules, Categorical, Ledger, LocalPerturbation, Numeric, Schema, load
from discreet.errors import BudgetError, FileError, ParameterError
from discreet.models.saving import card
from discreet.privacy.guarantee import LIMITS, UNIT, Guarantee
from discreet.storage.envelope import content_hash
from support.damage import assert_changed_digits_are_found
from support.records import split_target

SCHEMA = Schema([Categorical("c", ["a", "b"], unlisted=False)], "y", ["no", "yes"], adjacency="replace-one")


@pytest.fixture
def clear(schema, records):
    return BeeRules(schema, max_iter=10, random_state=0).fit(*split_target(records))


@pytest.fixture
def perturbation(schema):
    return LocalPerturbation(schema.replace(adjacency="replace-one"), epsilon=6)


@pytest.fixture
def private(perturbation, records):
    X, y = perturbation.fit_resample(*split_target(records))
    model = BeeRules(perturbation.schema, max_iter=10, random_state=0)
    return model.fit(X, y, source_guarantee=perturbation.guarantee_, source_receipt=perturbation.receipt_)


def laws(learn, epsilon):
    """For each record of SCHEMA, the exact probability of every model of a perturbed table that holds it alone."""
    perturbation = LocalPerturbation(SCHEMA, epsilon=epsilon).fit([{"c": "a"}])
    values, labels = ("a", "b"), ("no", "yes")
    given = []
    for record in itertools.product(values, labels):
        law = {}
        for answer in itertools.product(values, labels):
            probability = Fraction(1)
            for name, true, said in zip(("c", "y"), record, answer, strict=True):
                kept = perturbation.mechanisms_[name].probability
                probability *= kept if true == said else 1 - kept
            model = json.dumps(learn(answer, record))
            law[model] = law.get(model, 0) + probability
        given.append(law)
    return given


def worst_ratio(given):
    models = {model for law in given for model in law}
    return max(
        float(one.get(model, 0) / other[model]) if other.get(model) else math.inf * one.get(model, 0)
        for one, other in itertools.permutations(given, 2)
        for model in models
        if one.get(model)
    )


@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_rules_of_perturbed_records_are_post_processing(epsilon):
    """The exact law of the model: no ratio above e^epsilon; a learner that sees the true label is found out."""

    def learn(answer, record):
        model = BeeRules(SCHEMA, max_iter=2, random_state=0)
        held = LocalPerturbation(SCHEMA, epsilon=epsilon)
        held.fit_resample([{"c": "a"}], ["no"])
        return model.fit([{"c": answer[0]}], [answer[1]], source_guarantee=held.guarantee_).learned()

    def leaky(answer, record):
        return BeeRules(SCHEMA, max_iter=2, random_state=0).fit([{"c": answer[0]}], [record[1]]).learned()

    ratio = worst_ratio(laws(learn, epsilon))
    assert math.exp(epsilon / 2) < ratio <= math.exp(epsilon) * (1 + 1e-12)
    assert worst_ratio(laws(leaky, epsilon)) == math.inf


def test_a_model_of_clear_data_survives_its_file_and_promises_nothing(tmp_path, clear, records):
    X, _ = split_target(records)
    clear.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.rules_ == clear.rules_
    np.testing.assert_array_equal(again.predict_proba(X), clear.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), clear.predict(X))
    assert again.explain() == clear.explain()
    assert again.guarantee_ == clear.guarantee_
    assert again.n_iter_ == 10
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    shown = json.loads((tmp_path / "model.json").read_text())["card"]
    assert shown["guarantee"]["holds"] is False
    assert shown["guarantee"]["statement"].startswith("No privacy is guaranteed: the rules were searched on the record")
    assert "do not publish them" in shown["guarantee"]["statement"]
    assert shown["charges"][0]["mechanism"] == "none: read in the clear"
    assert shown["charges"][0]["epsilon"] == "inf"
    assert shown["attributes"] == ["age", "dose", "sex", "site"]
    assert shown["not_asked"] == []


def test_perturbed_data_keep_their_guarantee_in_the_file(tmp_path, private, perturbation):
    private.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    guarantee = again.guarantee_
    assert guarantee == private.guarantee_
    assert guarantee.holds
    assert guarantee.epsilon == 6
    assert guarantee.adjacency.value == "replace-one"
    assert "perturbed one by one" in guarantee.statement()
    assert "post-processing" in guarantee.source
    assert guarantee.statement().startswith("This model is 6-differentially private (delta = 0) for one record: if one")
    assert again.receipt_ == perturbation.receipt_ == private.receipt_
    assert again.receipt_.epsilon == 6
    assert card(again)["charges"] == [charge.to_dict() for charge in perturbation.receipt_.charges]
    assert card(again)["guarantee"]["source"] == guarantee.source


def test_without_a_receipt_one_charge_says_where_the_loss_was_made(perturbation, records):
    X, y = perturbation.fit_resample(*split_target(records))
    ledger = Ledger(1)
    model = BeeRules(perturbation.schema, max_iter=5)
    model.fit(X, y, ledger=ledger, source_guarantee=perturbation.guarantee_)
    assert ledger.spent == 0
    (charge,) = model.receipt_.charges
    assert charge.epsilon == 6
    assert "perturbed before" in charge.query


def test_a_seeded_perturbation_promises_nothing(schema, records):
    seeded = LocalPerturbation(schema.replace(adjacency="replace-one"), epsilon=6, random_state=0)
    X, y = seeded.fit_resample(*split_target(records))
    model = BeeRules(seeded.schema, max_iter=5)
    guarantee = model.fit(X, y, source_guarantee=seeded.guarantee_, source_receipt=seeded.receipt_).guarantee_
    assert not guarantee.holds
    assert guarantee.epsilon == math.inf
    assert model.receipt_.epsilon == math.inf
    with pytest.raises(BudgetError):
        model.fit(X, y, ledger=Ledger(100), source_guarantee=seeded.guarantee_)


def test_perturbed_attributes_with_clear_labels_are_refused(perturbation, records):
    """`transform` perturbs attributes alone: the labels beside them would be read in the clear."""
    X, y = split_target(records)
    perturbed = perturbation.transform(X)
    assert perturbation.guarantee_.unit != UNIT
    with pytest.raises(ParameterError, match="labels included"):
        BeeRules(perturbation.schema).fit(perturbed, y, source_guarantee=perturbation.guarantee_)


def test_a_receipt_of_another_perturbation_is_refused(perturbation, records):
    X, y = perturbation.fit_resample(*split_target(records))
    guarantee, receipt = perturbation.guarantee_, perturbation.receipt_
    for wrong in (
        dataclasses.replace(receipt, charges=receipt.charges[1:]),
        dataclasses.replace(receipt, seeded=True),
        dataclasses.replace(receipt, adjacency="add-remove"),
    ):
        with pytest.raises(ParameterError, match="source_receipt does not belong"):
            BeeRules(perturbation.schema).fit(X, y, source_guarantee=guarantee, source_receipt=wrong)
    with pytest.raises(ParameterError, match="source_receipt=str"):
        BeeRules(perturbation.schema).fit(X, y, source_guarantee=guarantee, source_receipt="paid")


def test_a_schema_read_off_perturbed_data_is_post_processing_too(perturbation, records):
    X, y = perturbation.fit_resample(*split_target(records))
    model = BeeRules("from-data", max_iter=5).fit(X, y, source_guarantee=perturbation.guarantee_)
    assert model.guarantee_.holds


def test_the_seed_of_the_search_is_not_in_the_file(tmp_path, schema, records):
    BeeRules(schema, max_iter=5, random_state=987654321).fit(*split_target(records)).save(tmp_path / "model.json")
    assert "987654321" not in (tmp_path / "model.json").read_text()


def damage(path, change):
    """Change the learned part and make the hash fit again, as a newer version, a bug or a forger would."""
    content = json.loads(path.read_text())
    del content["hash"]
    change(content)
    path.write_text(json.dumps({**content, "hash": content_hash(content)}))


def first(content):
    return content["learned"]["rules"][0]


DAMAGES = {
    "no rules": lambda c: c["learned"].pop("rules"),
    "rules are a number": lambda c: c["learned"].update(rules=3),
    "rules are null": lambda c: c["learned"].update(rules=None),
    "a rule is a text": lambda c: c["learned"].update(rules=["os.system"]),
    "no class": lambda c: first(c).pop("class"),
    "another class": lambda c: first(c).update({"class": "none"}),
    "class is a list": lambda c: first(c).update({"class": [1]}),
    "negative count": lambda c: first(c).update(inside=-1),
    "broken count": lambda c: first(c).update(outside=1.5),
    "conditions missing": lambda c: first(c).pop("conditions"),
    "conditions are null": lambda c: first(c).update(conditions=None),
    "another column": lambda c: first(c).update(conditions=[{"column": "none", "lower": 0, "upper": 1}]),
    "no upper end": lambda c: first(c).update(conditions=[{"column": "age", "lower": 0}]),
    "ends reversed": lambda c: first(c).update(conditions=[{"column": "age", "lower": 2, "upper": 1}]),
    "infinite end": lambda c: first(c).update(conditions=[{"column": "age", "lower": "-inf", "upper": 1}]),
    "huge end": lambda c: first(c).update(conditions=[{"column": "age", "lower": 0, "upper": 10**400}]),
    "end is a text": lambda c: first(c).update(conditions=[{"column": "age", "lower": "__import__", "upper": 1}]),
    "another category": lambda c: first(c).update(conditions=[{"column": "site", "category": "moon"}]),
    "no unlisted ones": lambda c: first(c).update(conditions=[{"column": "sex", "category": None}]),
    "no prior": lambda c: c["learned"].pop("class_prior"),
    "short prior": lambda c: c["learned"].update(class_prior=[1.0]),
    "negative prior": lambda c: c["learned"].update(class_prior=[1.5, -0.5, 0.0]),
    "prior of texts": lambda c: c["learned"].update(class_prior=["a", "b", "c"]),
    "prior does not sum": lambda c: c["learned"].update(class_prior=[0.5, 0.1, 0.1]),
    "ragged prior": lambda c: c["learned"].update(class_prior=[[1], 2, 3]),
    "no guarantee": lambda c: c["learned"].pop("guarantee"),
    "a promise without a reason": lambda c: c["learned"]["guarantee"].update(holds=True),
    "a promise of infinity": lambda c: c["learned"]["guarantee"].update(holds=True, reasons=[]),
    "a promise that the receipt denies": lambda c: c["learned"]["guarantee"].update(
        holds=True, reasons=[], epsilon="1"
    ),
    "holds is a number": lambda c: c["learned"]["guarantee"].update(holds=1),
    "reasons of numbers": lambda c: c["learned"]["guarantee"].update(reasons=[1]),
    "another delta": lambda c: c["learned"]["guarantee"].update(delta=0.1),
    "bad epsilon": lambda c: c["learned"]["guarantee"].update(epsilon="-1"),
    "bad adjacency": lambda c: c["learned"]["guarantee"].update(adjacency="none"),
    "no receipt": lambda c: c["learned"].pop("receipt"),
    "receipt of another": lambda c: c["learned"]["receipt"]["charges"][0].update(epsilon="1"),
    "receipt without charges": lambda c: c["learned"]["receipt"].update(charges=[]),
    "learned is a list": lambda c: c.update(learned=[]),
    "learned is missing": lambda c: c.pop("learned"),
    "statistics instead": lambda c: c.update(statistics=c.pop("learned")),
    "parameter unknown": lambda c: c["parameters"].update(wings=2),
    "parameter wrong": lambda c: c["parameters"].update(resolve="first"),
    "parameters missing": lambda c: c.pop("parameters"),
    "schema parameter": lambda c: c["parameters"].update(schema="from-data"),
    "schema": lambda c: c.update(schema={}),
}


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused(tmp_path, clear, change):
    path = tmp_path / "model.json"
    clear.save(path)
    load(path)
    damage(path, change)
    with pytest.raises(FileError):
        load(path)


def test_what_is_wrong_with_a_schema_is_said(tmp_path, clear):
    path = tmp_path / "model.json"
    clear.save(path)
    damage(path, DAMAGES["schema"])
    with pytest.raises(FileError, match=r"model\.json cannot be used: schema: entry 'target' is missing"):
        load(path)


def test_every_changed_byte_is_found(tmp_path, private):
    path = tmp_path / "model.json"
    private.save(path)
    assert_changed_digits_are_found(path, load)


def test_a_guarantee_survives_plain_data(private, clear):
    for guarantee in (private.guarantee_, clear.guarantee_):
        again = Guarantee.from_dict(json.loads(json.dumps(guarantee.to_dict())))
        assert again == guarantee
        assert again.to_dict()["limits"] == list(LIMITS)


def test_content_and_explanation_agree(clear):
    content = clear.content(top=3)
    assert content["model"] == "bee-rules"
    assert len(content["rules"]) == 3
    assert content["rules_in_all"] == len(clear.rules_)
    assert sum(content["classes"].values()) == pytest.approx(1)
    text = clear.explain(top=3)
    for rule in content["rules"]:
        assert rule["text"] in text
        assert rule["precision"] == (rule["inside"] + 1) / (rule["inside"] + rule["outside"] + 3)
    assert f"... and {len(clear.rules_) - 3} more rules that cover less" in text
    assert "more rules" not in clear.explain()
    assert f"OTHERWISE {content['otherwise']}" in text
    least = min(rule["inside"] for rule in content["rules"])
    assert sum(rule.inside > least for rule in clear.rules_) < 3
    json.dumps(content, allow_nan=False)
    assert clear.content()["rules_in_all"] == len(clear.content()["rules"])


def test_plots(tmp_path, clear, private):
    pytest.importorskip("matplotlib")
    for model in (clear, private):
        for top in (1, 20):
            figure = model.plot(top)
            assert len(figure.axes[0].get_yticks()) == min(top, len(model.rules_))
    assert "no guarantee" in clear.plot().get_suptitle()
    assert "ε = 6, replace-one" in private.plot().get_suptitle()
    private.plot(5).savefig(tmp_path / "rules.png")


@pytest.mark.parametrize("strategy", ["sequential", "wlapms", "one-rule"])
def test_models_without_rules_are_saved_explained_and_drawn(tmp_path, strategy):
    pytest.importorskip("matplotlib")
    schema = Schema([Numeric("x", 0, 1), Categorical("c", ["a"], unlisted=False)], "y", ["no", "yes"])
    for rows in (0, 1):
        X = {"x": [0.5] * rows, "c": ["a"] * rows}
        model = BeeRules(schema, strategy=strategy, n_rules=50, max_iter=2).fit(X, ["no"] * rows)
        model.save(tmp_path / f"{rows}.json")
        again = load(tmp_path / f"{rows}.json")
        assert again.explain(5) == model.explain(5)
        assert again.predict({"x": [0.1], "c": ["a"]}).tolist() == ["no"]
        model.plot()
