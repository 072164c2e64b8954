"""Schemas: what they accept, what they say when they refuse, and that files keep every entry."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError, FileError, SchemaError
from discreet.schema import Adjacency
from discreet.schema.columns import MAX_CELLS, Categorical, Numeric, spells_no_usable_number, text_of
from discreet.schema.schema import FILE, Schema
from discreet.storage.envelope import content_hash

names = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable())
labels = st.one_of(
    st.text(min_size=1, max_size=6).filter(
        lambda text: text.strip(" ") and text.isprintable() and not spells_no_usable_number(text)
    ),
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6, allow_nan=False),
    st.booleans(),
)
label_lists = st.lists(labels, min_size=1, max_size=5, unique_by=text_of)


@st.composite
def numeric_columns(draw, name):
    lower = draw(st.floats(-1e9, 1e9))
    upper = lower + draw(st.floats(1e-3, 1e9))
    fill = draw(st.none() | st.floats(lower, upper))
    return Numeric(name, lower, upper, fill, draw(st.integers(2, MAX_CELLS)))


@st.composite
def categorical_columns(draw, name):
    categories = draw(label_lists)
    return Categorical(name, categories, draw(st.booleans()), draw(st.none() | st.sampled_from(categories)))


@st.composite
def schemas(draw):
    column_names = draw(st.lists(names, min_size=3, max_size=6, unique=True))
    target, ignored, *rest = column_names
    columns = [draw(numeric_columns(name) | categorical_columns(name)) for name in rest]
    return Schema(
        columns,
        target,
        draw(label_lists),
        draw(st.sampled_from(list(Adjacency))).value,
        draw(st.none() | st.integers(1, 10**9)),
        draw(st.sampled_from([(), (ignored,)])),
        draw(st.sampled_from([(), ("classes",)])),
    )


@given(schemas())
def test_a_schema_survives_json(schema):
    again = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema
    assert again.hash == schema.hash
    assert hash(again) == hash(schema)


def test_a_file_keeps_a_schema_and_is_readable(tmp_path, schema):
    path = tmp_path / "schéma.json"
    schema.save(path)
    assert Schema.load(path) == schema
    assert Schema.load(path).hash == schema.hash
    assert len(path.read_text(encoding="utf-8").splitlines()) > 10


@given(schemas(), schemas())
def test_schemas_with_one_hash_say_the_same(one, other):
    assert (one.hash == other.hash) == (json.dumps(one.to_dict()) == json.dumps(other.to_dict()))


def test_the_hash_is_that_of_the_canonical_text(schema):
    shuffled = dict(reversed(schema.to_dict().items()))
    assert content_hash(shuffled) == schema.hash
    assert len(schema.hash) == 64


def test_replace_changes_one_entry_and_checks_it(schema):
    other = schema.replace(adjacency="replace-one")
    assert other.adjacency is Adjacency.REPLACE_ONE
    assert other.replace(adjacency="add-remove") == schema
    assert other.hash != schema.hash
    with pytest.raises(SchemaError, match="adjacency='both'"):
        schema.replace(adjacency="both")


def test_entries_from_data_make_a_schema_not_public(schema):
    assert schema.is_public
    assert not schema.replace(from_data=["age.lower"]).is_public


def test_columns_are_found_by_name(schema):
    assert schema["sex"].size == 2
    assert schema["site"].size == 4
    assert schema["site"].missing_code == 1
    assert schema["sex"].missing_code == schema["sex"].stray_code == 0
    assert schema["age"].missing_value == 50
    assert schema["dose"].missing_value == 0.25
    with pytest.raises(KeyError):
        schema["income"]


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, "1"), (1.0, "1"), (" a ", "a"), (True, "true"), (-0.0, "0"), (2.5, "2.5"), (False, "false")],
)
def test_labels_are_one_category_if_their_text_is(one, other):
    assert text_of(one) == text_of(other)
    with pytest.raises(SchemaError, match=r"listed twice.*once"):
        Categorical("c", [one, other])


def test_numpy_labels_become_plain():
    column = Categorical("c", np.array([3, 1, 2]))
    assert column.categories == (3, 1, 2)
    assert all(type(label) is int for label in column.categories)


BAD_COLUMNS = {
    "bounds reversed": (lambda: Numeric("age", 5, 1), r"'age'.*lower=5, upper=1; need lower < upper"),
    "bounds equal": (lambda: Numeric("age", 5, 5), r"'age'.*need lower < upper"),
    "bound NaN": (lambda: Numeric("age", float("nan"), 1), r"'age'.*need a finite number"),
    "bound infinite": (lambda: Numeric("age", 0, float("inf")), r"'age'.*need a finite number"),
    "bound text": (lambda: Numeric("age", "0", 1), r"'age'.*need a finite number"),
    "bound bool": (lambda: Numeric("age", False, 1), r"'age'.*need a finite number"),
    "bound None": (lambda: Numeric("age", None, 1), r"'age'.*need a finite number"),
    "bound beyond float": (lambda: Numeric("age", 0, 10**400), r"'age'"),
    "width overflows": (lambda: Numeric("age", -1e308, 1e308), r"'age'.*need lower < upper"),
    "bounds equal as floats": (lambda: Numeric("age", 10**20, 10**20 + 1), r"'age'.*need lower < upper"),
    "width without cells": (lambda: Numeric("age", 0, 5e-324), r"'age'"),
    "fill outside": (lambda: Numeric("age", 0, 1, fill=2), r"'age'.*fill=2; need a number within the bounds"),
    "fill NaN": (lambda: Numeric("age", 0, 1, fill=float("nan")), r"'age'.*fill=nan"),
    "grid one": (lambda: Numeric("age", 0, 1, grid=1), r"'age'.*grid=1; need an integer from 2"),
    "grid fraction": (lambda: Numeric("age", 0, 1, grid=2.5), r"'age'.*grid=2.5"),
    "grid huge": (lambda: Numeric("age", 0, 1, grid=MAX_CELLS + 1), r"'age'.*to 65000"),
    "categories text": (lambda: Categorical("sex", "FM"), r"'sex'.*got str; need a list"),
    "categories none": (lambda: Categorical("sex", None), r"'sex'.*need a list"),
    "categories empty": (lambda: Categorical("sex", []), r"'sex'.*0 entries; need from 1"),
    "categories many": (lambda: Categorical("sex", range(MAX_CELLS + 1)), r"'sex'.*65001 entries"),
    "category None": (lambda: Categorical("sex", ["F", None]), r"'sex'.*need text or a"),
    "category NaN": (lambda: Categorical("sex", [float("nan")]), r"'sex'.*need text or a"),
    "category infinite": (lambda: Categorical("sex", [float("inf")]), r"'sex'.*need text or a"),
    "category list": (lambda: Categorical("sex", [["F"]]), r"'sex'.*need text or a"),
    "category empty": (lambda: Categorical("sex", ["F", "  "]), r"'sex'.*empty values count as missing"),
    "category twice": (lambda: Categorical("sex", ["F", "F"]), r"'sex'.*'F' is listed twice"),
    "category beyond 2**53": (lambda: Categorical("sex", ["F", 2**53]), r"'sex'.*number below 2\*\*53"),
    "category endless": (lambda: Categorical("sex", [10**5000]), r"'sex'.*number below 2\*\*53"),
    "missing not listed": (lambda: Categorical("sex", ["F"], missing="M"), r"'sex'.*missing='M'.*add it"),
    "unlisted not bool": (lambda: Categorical("sex", ["F"], unlisted="no"), r"'sex'.*unlisted"),
}


@pytest.mark.parametrize("make, message", BAD_COLUMNS.values(), ids=BAD_COLUMNS.keys())  # noqa: PT006
def test_a_bad_column_names_itself_and_the_remedy(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


GOOD = {
    "format": "discreet/schema",
    "version": 1,
    "target": "ill",
    "classes": ["no", "yes"],
    "columns": [
        {"name": "age", "kind": "numeric", "lower": 0, "upper": 100},
        {"name": "sex", "kind": "categorical", "categories": ["F", "M"]},
    ],
}

BAD_CONTENTS = {
    "no target": ({"target": ...}, "'target' is missing; add it"),
    "no classes": ({"classes": ...}, "'classes' is missing; add it"),
    "no columns": ({"columns": ...}, "'columns' is missing; add it"),
    "columns empty": ({"columns": []}, "at least one column"),
    "columns a number": ({"columns": 5}, "columns"),
    "column a number": ({"columns": [5]}, "column has no name"),
    "column without name": ({"columns": [{"kind": "numeric", "lower": 0, "upper": 1}]}, "column has no name"),
    "column without kind": ({"columns": [{"name": "age"}]}, r"'age'.*need 'numeric' or 'categorical'"),
    "column of other kind": ({"columns": [{"name": "age", "kind": "date"}]}, r"'age'.*kind='date'"),
    "column without upper": ({"columns": [{"name": "age", "kind": "numeric", "lower": 0}]}, r"'age'.*'upper'.*add it"),
    "column without categories": ({"columns": [{"name": "sex", "kind": "categorical"}]}, r"'sex'.*'categories'"),
    "column with a stray entry": (
        {"columns": [{"name": "age", "kind": "numeric", "lower": 0, "upper": 1, "max": 2}]},
        r"'age'.*'max' is not known; need one of",
    ),
    "name not text": ({"columns": [{"name": 3, "kind": "numeric", "lower": 0, "upper": 1}]}, "need a non-empty text"),
    "target empty": ({"target": ""}, "need a non-empty text"),
    "target among columns": ({"target": "age"}, "'age' is named twice"),
    "ignored among columns": ({"ignore": ["age"]}, "'age' is named twice"),
    "ignore a text": ({"ignore": "abc"}, "ignore"),
    "ignore a number": ({"ignore": 5}, "ignore"),
    "from_data a number": ({"from_data": 3}, "from_data"),
    "adjacency unknown": ({"adjacency": "bounded"}, "need 'add-remove' or 'replace-one'"),
    "adjacency a list": ({"adjacency": []}, "need 'add-remove' or 'replace-one'"),
    "records zero": ({"records": 0}, "records=0; need a positive integer"),
    "records a fraction": ({"records": 1.5}, "records=1.5"),
    "records a bool": ({"records": True}, "records=True"),
    "classes a text": ({"classes": "yes"}, r"classes.*need a list"),
    "classes twice": ({"classes": ["yes", "yes "]}, r"classes.*listed twice"),
    "stray entry": ({"bounds": []}, "'bounds' is not known"),
}


@pytest.mark.parametrize("changes, message", BAD_CONTENTS.values(), ids=BAD_CONTENTS.keys())  # noqa: PT006
def test_bad_content_is_a_schema_error_with_the_remedy(tmp_path, changes, message):
    content = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    with pytest.raises(SchemaError, match=message):
        Schema.from_dict(content)
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(content))
    with pytest.raises(SchemaError, match=message):
        Schema.load(path)


@pytest.mark.parametrize("version", [FILE.version + 1, 99, "1", None, 1.5])
def test_another_version_is_refused(version):
    with pytest.raises(FileError, match=r"version.*upgrade discreet"):
        Schema.from_dict({**GOOD, "version": version})


def test_another_format_is_refused():
    with pytest.raises(FileError, match="discreet/schema"):
        Schema.from_dict({**GOOD, "format": "discreet/model"})


@pytest.mark.parametrize("text", ["", "{", "[1]", "3", '"text"', "\x00"])
def test_a_file_that_is_no_json_object_is_refused(tmp_path, text):
    path = tmp_path / "schema.json"
    path.write_text(text)
    with pytest.raises(FileError, match=r"schema\.json"):
        Schema.load(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(FileError, match="check the path"):
        Schema.load(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"target": "\xe9"}')
    with pytest.raises(FileError, match=r"latin\.json"):
        Schema.load(tmp_path / "latin.json")


COLLECTION = {
    "adult": {
        "target": "income",
        "rows": 48842,
        "split_column": "split",
        "columns": [
            {"name": "age", "kind": "numeric", "lower": 17, "upper": 90},
            {"name": "workclass", "kind": "categorical", "categories": ["?", "Private"]},
            {"name": "income", "kind": "categorical", "categories": ["<=50K", ">50K"]},
            {"name": "split", "kind": "categorical", "categories": ["train", "test"]},
        ],
    },
    "tiny": {
        "target": "class",
        "columns": [
            {"name": "x", "kind": "numeric", "lower": -1.5, "upper": 2},
            {"name": "class", "kind": "categorical", "categories": [0, 1]},
        ],
    },
}


def test_a_collection_of_schemas_is_read_by_name(tmp_path):
    path = tmp_path / "schemas.json"
    path.write_text(json.dumps(COLLECTION))
    adult = Schema.load(path, "adult")
    assert adult.names == ["age", "workclass"]
    assert (adult.target, adult.classes, adult.records) == ("income", ("<=50K", ">50K"), 48842)
    assert adult.ignore == ("split",)
    assert adult.is_public
    assert not adult["workclass"].unlisted
    assert Schema.load(f"{path}#tiny") == Schema.load(path, "tiny") == Schema.load(path, name="tiny")
    assert Schema.load(path, "tiny").records is None
    with pytest.raises(SchemaError, match="choose one of: adult, tiny"):
        Schema.load(path)
    with pytest.raises(SchemaError, match="name='iris'"):
        Schema.load(path, "iris")


@pytest.mark.parametrize(
    "entry",
    [
        {"target": "class", "columns": [{"name": "x", "kind": "numeric", "lower": 0, "upper": 1}]},
        {"target": "class"},
        {"target": "class", "columns": [{"kind": "numeric"}]},
        {"target": "class", "columns": [3]},
        {"target": "class", "columns": [{"name": "class", "kind": "numeric", "lower": 0, "upper": 1}]},
        3,
    ],
)
def test_a_bad_entry_of_a_collection_is_a_discreet_error(tmp_path, entry):
    path = tmp_path / "schemas.json"
    path.write_text(json.dumps({"bad": entry}))
    with pytest.raises(DiscreetError):
        Schema.load(path, "bad")


def test_the_documented_collection_is_read_whole():
    folder = os.environ.get("DISCREET_DATA")
    path = Path(folder or ".") / "schemas.json"
    if not folder or not path.is_file():
        pytest.skip("looked for schemas.json in the folder that the variable DISCREET_DATA names")
    for name in json.loads(path.read_text(encoding="utf-8")):
        schema = Schema.load(path, name)
        assert schema.is_public, name
        assert Schema.from_dict(schema.to_dict()) == schema, name


@pytest.mark.parametrize("label", ["inf", "-Infinity", "1e999", "9007199254740993", " 1e16 "])
def test_labels_that_numbers_and_texts_would_read_differently_are_refused(label):
    """One record that turns a column of numbers into text would otherwise move every record of that label."""
    with pytest.raises(SchemaError, match="spells"):
        Categorical("c", ["a", label])
    with pytest.raises(SchemaError, match="spells"):
        Schema([Numeric("n", 0, 1)], "y", ["a", label])


def test_a_file_from_windows(tmp_path):
    schema = Schema([Numeric("größe", 0, 1)], "t", ["a", "b"])
    text = json.dumps(schema.to_dict(), ensure_ascii=False)
    (tmp_path / "s.json").write_text(text, encoding="utf-8-sig")
    assert Schema.load(tmp_path / "s.json") == schema


def test_a_loss_is_counted_under_another_adjacency():
    add_remove, replace_one = Adjacency
    assert (add_remove.distance, replace_one.distance) == (1, 2)
    for adjacency in Adjacency:
        assert adjacency.counted(Fraction(1, 3), adjacency) == Fraction(1, 3)
    assert replace_one.counted(Fraction(1, 3), add_remove) == Fraction(2, 3)
    assert add_remove.counted(Fraction(1, 3), replace_one) == math.inf
    assert replace_one.counted(math.inf, add_remove) == math.inf


@pytest.mark.parametrize(
    "make",
    [
        lambda text: Schema([Numeric(text, 0, 1)], "y", ["a"]),
        lambda text: Schema([Numeric("n", 0, 1)], text, ["a"]),
        lambda text: Schema([Numeric("n", 0, 1)], "y", ["a"], ignore=[text]),
        lambda text: Schema([Numeric("n", 0, 1)], "y", [text]),
        lambda text: Schema([Categorical("c", ["a", text])], "y", ["a"]),
    ],
)
def test_half_of_a_surrogate_pair_is_refused(make):
    """No file could hold it: a model would be paid for and could not be saved."""
    assert make("\U0001f600").hash
    with pytest.raises(SchemaError, match="valid Unicode"):
        make("a\ud83d")
