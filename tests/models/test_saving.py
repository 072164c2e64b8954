"""Model files: what was released and nothing else, whole or refused."""

import json
import math
import os
import re
import stat
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet import Categorical, NaiveBayes, Numeric, Schema, load
from discreet.errors import DiscreetError, FileError
from discreet.models import saving
from discreet.storage.envelope import content_hash
from support.damage import assert_changed_digits_are_found
from support.records import draw_records, split_target


@pytest.fixture
def model(schema, records):
    return NaiveBayes(schema, epsilon=1, random_state=0).fit(*split_target(records))


@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
@pytest.mark.parametrize("epsilon", [1, 0.1, "1/3", math.inf])
def test_a_model_survives_its_file_exactly(tmp_path, schema, records, numeric, epsilon):
    X, y = split_target(records)
    model = NaiveBayes(schema, epsilon=epsilon, numeric=numeric, random_state=1).fit(X, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_log_proba(X), model.predict_log_proba(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.guarantee_ == model.guarantee_
    assert again.receipt_.epsilon == model.receipt_.epsilon
    assert again.schema_ == model.schema_
    assert again.explain() == model.explain()
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


@pytest.mark.parametrize("records", [None, 10**6])
def test_a_model_of_many_attributes_survives_its_file(tmp_path, records):
    """Shares of many different tables are long fractions."""
    columns = [Categorical(f"c{i}", range(3 + i)) for i in range(40)] + [Numeric("x", 0, 1)]
    schema = Schema(columns, "y", ["no", "yes"], records=records)
    blank = dict.fromkeys(schema.names)
    table = [{**blank, "c1": 1, "x": 0.5}, {**blank, "c2": 2}] * 50
    model = NaiveBayes(schema, epsilon=0.37, random_state=0).fit(table, ["no", "yes"] * 50)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.receipt_.charges == model.receipt_.charges
    assert again.receipt_.epsilon == Fraction(37, 100)
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_the_seed_is_not_in_the_file(tmp_path, schema, records):
    model = NaiveBayes(schema, random_state=987654321).fit(*split_target(records))
    model.save(tmp_path / "model.json")
    assert "987654321" not in (tmp_path / "model.json").read_text()
    assert not load(tmp_path / "model.json").guarantee_.holds


def test_the_card_says_what_people_need(tmp_path, model):
    model.save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())
    card = content["card"]
    assert card["target"] == "outcome"
    assert card["attributes"] == ["age", "dose", "sex", "site"]
    assert card["guarantee"]["statement"] == model.guarantee_.statement()
    assert sum(discreet.privacy.ledger.as_epsilon(charge["epsilon"]) for charge in card["charges"]) == 1
    assert content["hash"] == content_hash({key: value for key, value in content.items() if key != "hash"})


def damage(path, **changes):
    """Change entries of a file and make its hash fit again, as a newer version or a bug would."""
    content = json.loads(path.read_text())
    content = {key: value for key, value in {**content, **changes}.items() if value is not ... and key != "hash"}
    path.write_text(json.dumps({**content, "hash": content_hash(content)}))


def test_every_changed_byte_is_found(tmp_path, model):
    path = tmp_path / "model.json"
    model.save(path)
    assert_changed_digits_are_found(path, load)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", '{"format": "discreet/schema"}', '{"format": "discreet/model"}', "NaN"]
)
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(FileError, match=r"model\.json"):
        load(path)
    with pytest.raises(FileError, match="check the path"):
        load(tmp_path / "none.json")


def test_a_torn_file_is_refused(tmp_path, model):
    path = tmp_path / "model.json"
    model.save(path)
    text = path.read_text()
    for length in (1, len(text) // 2, len(text) - 3):
        path.write_text(text[:length])
        with pytest.raises(FileError, match="not JSON"):
            load(path)


def test_numbers_that_are_none_are_refused(tmp_path, model):
    path = tmp_path / "model.json"
    model.save(path)
    path.write_text(re.sub(r'"smoothing": 1.0', '"smoothing": NaN', path.read_text()))
    with pytest.raises(FileError, match="not JSON"):
        load(path)


def test_a_newer_version_is_refused_with_the_remedy(tmp_path, model):
    path = tmp_path / "model.json"
    model.save(path)
    damage(path, version=saving.FILE.version + 1)
    with pytest.raises(FileError, match="upgrade discreet"):
        load(path)
    damage(path, version="1")
    with pytest.raises(FileError, match="upgrade discreet"):
        load(path)


@pytest.mark.parametrize("entry", ["parameters", "schema", "statistics", "model", "version", "format"])
@pytest.mark.parametrize("value", [..., None, 3, [], {}, "text"])
def test_an_entry_that_is_missing_or_wrong_is_an_error_of_ours(tmp_path, model, entry, value):
    path = tmp_path / "model.json"
    model.save(path)
    damage(path, **{entry: value})
    with pytest.raises(DiscreetError):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda statistics: statistics["tables"][0]["query"].update(kind="os.system"),
        lambda statistics: statistics["tables"][0]["query"].update(column="none"),
        lambda statistics: statistics["tables"][0].update(values=[[1, 2]]),
        lambda statistics: statistics["tables"][0].update(values="text"),
        lambda statistics: statistics["tables"][0].pop("variance"),
        lambda statistics: statistics.update(tables=[]),
        lambda statistics: statistics["receipt"].update(adjacency="none"),
        lambda statistics: statistics["receipt"].update(schema_hash="0"),
        lambda statistics: statistics["receipt"]["charges"][0].update(epsilon="-1"),
        lambda statistics: statistics["receipt"]["charges"][0].pop("scale"),
    ],
)
def test_statistics_that_do_not_fit_are_an_error_of_ours(tmp_path, model, change):
    path = tmp_path / "model.json"
    model.save(path)
    statistics = json.loads(path.read_text())["statistics"]
    change(statistics)
    damage(path, statistics=statistics)
    with pytest.raises(DiscreetError):
        load(path)


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, model, monkeypatch):
    path = tmp_path / "model.json"
    model.save(path)
    before = path.read_text()

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(FileError, match="No space left on device; check the folder"):
        model.save(path, overwrite=True)
    assert path.read_text() == before
    assert [each.name for each in tmp_path.iterdir()] == ["model.json"]
    with pytest.raises(FileError, match="check the folder"):
        model.save(tmp_path / "none" / "model.json")


def test_a_file_is_overwritten_only_if_told(tmp_path, model):
    """It may have cost budget."""
    path = tmp_path / "model.json"
    path.write_text("something else")
    with pytest.raises(FileError, match=r"exists; choose another name, or save with overwrite=True"):
        model.save(path)
    assert path.read_text() == "something else"
    model.save(path, overwrite=True)
    assert load(path).classes_.tolist() == model.classes_.tolist()


def test_files_have_the_rights_that_others_have(tmp_path, model):
    mask = os.umask(0o027)
    try:
        model.save(tmp_path / "model.json")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "model.json").stat().st_mode) == 0o640


def test_what_is_not_in_the_schema_is_not_in_the_file(tmp_path):
    """A category and a class that one record holds leave no trace."""
    schema = Schema([Categorical("c", ["a", "b"])], "y", ["no", "yes"], records=100)
    columns = {"c": ["a", "b"] * 50 + ["rare-disease-xyz"], "y": ["no", "yes"] * 50 + ["secret-class-xyz"]}
    model = NaiveBayes(schema).fit({"c": columns["c"]}, columns["y"])
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert "xyz" not in text
    assert "xyz" not in repr(model)
    assert "xyz" not in model.explain()
    assert not any("xyz" in repr(value) for value in vars(model).values())


def test_the_number_of_records_is_not_in_the_file_under_add_remove(tmp_path, schema):
    """With noise so large that no table sums to it by chance (the seed is fixed)."""
    rows = 7919
    columns = draw_records(rows, seed=1)
    columns["outcome"][2] = "well"  # now every record has a class
    for changes in ({"records": None}, {"records": 5000}):
        model = NaiveBayes(schema.replace(**changes), epsilon=0.01, random_state=3).fit(*split_target(columns))
        model.save(tmp_path / "model.json", overwrite=True)
        text = (tmp_path / "model.json").read_text()
        shown = [text, *map(repr, vars(model).values())]
        assert not any(re.search(r"(?<![0-9.])7919(?![0-9])", each) for each in shown)
        for _, table in model.noisy_.tables:
            assert table.values.sum() != rows
