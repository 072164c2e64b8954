"""The owner's report: exact, by the same reading as training."""

import numpy as np

from discreet import Categorical, Numeric, Schema
from discreet.records.encoding import Cells, class_codes
from discreet.records.value_report import EXAMPLES, nearest, report_values

SCHEMA = Schema(
    [Numeric("dose", 0, 10), Categorical("sex", ["F", "M"]), Categorical("town", ["Ulm", "?"], missing="?")],
    "ill",
    ["benign", "malignant"],
)


def block(**columns):
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


BLOCKS = [
    block(dose=["1", "11", "1,5"], sex=["F", "male", None], town=["ULM", "", "Bonn"], ill=["benign", "0", "1"]),
    block(dose=["", "-1", "x"], sex=["female", "male", "m"], town=["Ulm", "?", None], ill=["1", " Benign ", None]),
]


def test_every_record_is_accounted_for():
    report = report_values(BLOCKS, SCHEMA)
    dose, sex, town = report.columns
    assert report.records == 6
    assert (dose.missing, dose.clipped, dose.unlisted) == (3, 2, 0)
    assert (sex.missing, sex.unlisted) == (1, 4)
    assert (town.missing, town.unlisted) == (0, 2)
    assert (report.target.missing, report.target.unlisted) == (1, 4)
    assert report.classes == {"benign": 1, "malignant": 0}
    assert [(each.text, each.records, each.near) for each in sex.examples] == [
        ("male", 2, None),
        ("female", 1, None),
        ("m", 1, "M"),
    ]
    assert {each.text: each.near for each in town.examples} == {"ULM": "Ulm", "Bonn": None}
    assert {each.text for each in dose.examples} == {"1,5", "x"}
    assert {each.text: each.near for each in report.target.examples}["Benign"] == "benign"


def test_shares_are_those_of_training():
    report = report_values(BLOCKS, SCHEMA)
    columns = {name: np.concatenate([each[name] for each in BLOCKS]) for name in SCHEMA.all_names}
    assert (Cells("sex").codes(columns["sex"], SCHEMA) == 2).sum() == report.columns[1].missing + report.columns[
        1
    ].unlisted
    assert (class_codes(columns["ill"], SCHEMA) == 2).sum() == report.target.missing + report.target.unlisted


def test_verdicts():
    assert "fewer than two classes occur" in report_values(BLOCKS, SCHEMA).verdict
    assert report_values([block(dose=[], sex=[], town=[], ill=[])], SCHEMA).problems == ["there is no record"]
    good = block(dose=["1"] * 20, sex=["F", "M"] * 10, town=["Ulm"] * 20, ill=["benign", "malignant"] * 10)
    assert report_values([good], SCHEMA).verdict.startswith("Nothing speaks against")
    swapped = {**good, "ill": np.array(["0", "1"] * 10, dtype=object)}
    assert "no class of the schema" in report_values([swapped], SCHEMA).verdict
    other = {**good, "sex": np.array(["male", "female"] * 10, dtype=object)}
    found = report_values([other], SCHEMA)
    assert not found.problems
    assert "'sex' is useless" in found.verdict
    far = {**good, "dose": np.array(["99"] * 20, dtype=object)}
    assert "'dose' is clipped" in report_values([far], SCHEMA).verdict
    nothing = {**other, "town": np.array(["x"] * 20, dtype=object), "dose": np.array([""] * 20, dtype=object)}
    assert "every column" in report_values([nothing], SCHEMA).verdict
    single = SCHEMA.replace(classes=["benign"])
    assert "single class" in report_values([good], single).verdict


def test_many_spellings_and_odd_values_do_no_harm():
    odd = [b"", ["list"], float("nan"), None, object(), "x" * 10_000, *map(str, range(20_000))]
    values = block(dose=[1] * len(odd), sex=odd, town=odd, ill=odd)
    report = report_values([values], SCHEMA)
    assert len(report.columns[1].examples) == EXAMPLES


def test_near_values():
    assert nearest("MÜNCHEN ", ["Munchen"]) == "Munchen"
    assert nearest("very  ill", ["Very ill", "well"]) == "Very ill"
    assert nearest("malignent", ["benign", "malignant"]) == "malignant"
    assert nearest("0", ["benign", "malignant"]) is None
