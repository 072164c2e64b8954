"""Rules: quality and similarity by hand, words, plain data and back."""

import json

import numpy as np
import pytest

from discreet.errors import FileError
from discreet.models.bees.rules import (
    Between,
    Equals,
    Rule,
    encode,
    rules_from_dict,
    rules_to_dict,
    similarity,
    weighted_laplace,
    weighted_support,
)
from discreet.records.tables import Table


@pytest.fixture
def rules():
    return [
        Rule(1, (Between("age", 20, 40), Equals("sex", 1)), 6, 2),
        Rule(0, (Equals("site", 3), Between("dose", -1.5, 0.25)), 3, 0),
    ]


def test_qualities_by_hand():
    """3 of 5 of the class and 1 of 15 others: Laplace 4/6 over 5/20; support 3 / (0.4 * 5 + 0.6 * 1)."""
    assert weighted_laplace(3, 1, 5, 15) == pytest.approx((4 / 6) / (5 / 20))
    assert weighted_support(3, 1, 5, 0.4, 0.6) == pytest.approx(3 / 2.6)
    assert weighted_laplace(0, 0, 5, 15) == pytest.approx(0.5 / 0.25), "a rule that covers nothing is worth a half"
    assert weighted_support(0, 7, 5, 0.4, 0.6) == 0


def test_precision_by_hand(rules):
    assert rules[0].precision(3) == 7 / 11


def test_similarity_by_hand(rules):
    """Intervals that touch have a number in common; categories must be equal; each rule counts for itself."""
    touching = Rule(0, (Between("age", 40, 50), Equals("sex", 0), Equals("site", 3)), 0, 0)
    assert similarity(touching, rules) == 2
    assert similarity(touching, [rules[0], rules[0]]) == 2
    assert similarity(touching, []) == 0
    assert similarity(Rule(0, (Between("age", 40.1, 50), Equals("site", 2)), 0, 0), rules) == 0
    assert similarity(rules[0], rules) == 2


def test_violations(rules, schema):
    records = [
        {"age": 30, "sex": "M", "site": "elsewhere", "dose": 0},
        {"age": 41, "sex": "F", "site": "north", "dose": None},
        {"age": 20, "sex": "F", "site": None, "dose": 9},
    ]
    table = Table(records, schema)
    encoded = encode(table, schema)
    assert rules[0].violations(encoded, 3).tolist() == [0, 2, 1]
    assert rules[1].violations(encoded, 3).tolist() == [0, 1, 2]
    assert Rule(0, (), 0, 0).violations(encoded, 3).tolist() == [0, 0, 0]


def test_encoding_is_total(schema):
    values = [None, "x", float("nan"), float("inf"), -1e300, b"1", [1], "north", True]
    table = Table({name: np.array([*values, ""], dtype=object) for name in schema.names}, schema)
    encoded = encode(table, schema)
    assert np.nanmin(encoded["age"]) >= 0
    assert np.nanmax(encoded["age"]) <= 100
    assert encoded["dose"][0] == 0.25
    assert set(encoded["sex"].tolist()) <= {-1, 0, 1}
    assert encoded["sex"][0] == -1
    assert np.isnan(encoded["age"][0])
    assert encoded["site"][0] == 1


def test_words(rules, schema):
    expected = "IF age between 20 and 40 AND sex = M THEN outcome = unknown   (6 of 8 covered records)"
    assert rules[0].text(schema) == expected
    assert "site = (not listed)" in rules[1].text(schema)


def test_plain_data_and_back(rules, schema):
    content = rules_to_dict(rules, schema)
    assert content[0]["class"] == "unknown"
    assert content[1]["conditions"][0] == {"column": "site", "category": None}
    assert rules_from_dict(json.loads(json.dumps(content)), schema) == rules


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("class",), "none"),
        (("class",), None),
        (("inside",), -1),
        (("outside",), 1.5),
        (("conditions",), 3),
        (("conditions", 0, "column"), "weight"),
        (("conditions", 0, "lower"), 50),
        (("conditions", 0, "lower"), "nan"),
        (("conditions", 0, "lower"), "-inf"),
        (("conditions", 0, "upper"), 10**400),
        (("conditions", 1, "category"), "X"),
        (("conditions", 1, "category"), None),
        (("conditions", 1), "sex"),
    ],
)
def test_damaged_rules_are_refused(rules, schema, where, value):
    content = rules_to_dict(rules, schema)
    place = content[0]
    for key in where[:-1]:
        place = place[key]
    place[where[-1]] = value
    with pytest.raises(FileError, match="do not fit the schema"):
        rules_from_dict(content, schema)


@pytest.mark.parametrize("content", [None, 3, [3], [{}], {"a": 1}])
def test_what_are_no_rules_is_refused(schema, content):
    with pytest.raises(FileError):
        rules_from_dict(content, schema)
