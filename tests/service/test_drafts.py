"""Drafts: a suggestion for owners that holds nothing rare."""

from discreet.service.drafts import RARE, draft
from discreet.sources.file import open_file
from support.hospital import write_patients


def drafted(path, target="ill", ignore=()):
    return draft(open_file(path), target, ignore)


def test_a_draft_has_round_bounds_and_common_categories(tmp_path):
    schema, found = drafted(write_patients(tmp_path / "t.csv"))
    assert (schema["age"].lower, schema["age"].upper) == (20, 90)
    assert schema["smoker"].categories == ("no", "unknown", "yes")
    assert schema.classes == ("no", "yes")
    assert schema.records is None
    assert not schema.is_public
    assert found == {"left_out": [], "records": 400, "complete": True}


def test_no_rare_value_is_in_a_draft(tmp_path):
    few = ["987654.5,CANARYSEX,CANARYSMOKER,-77777.25,CANARYCLASS"] * (RARE - 1)
    schema, _ = drafted(write_patients(tmp_path / "t.csv", extra=few))
    text = str(schema.to_dict())
    assert "CANARY" not in text
    assert "7777" not in text
    assert "98765" not in text
    often = ["50,D,no,70.0,no"] * RARE
    schema, _ = drafted(write_patients(tmp_path / "u.csv", extra=often))
    assert schema["sex"].categories == ("D", "F", "M")


def test_identifiers_and_empty_columns_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"person-{number},,{number % 2},{'a' if number % 3 else 'b'}" for number in range(2000)]
    path.write_text("\n".join(["id,empty,flag,ill", *rows]) + "\n")
    schema, found = drafted(path)
    assert schema.names == ["flag"]
    assert found["left_out"] == ["id", "empty"]
    assert set(schema.ignore) == {"id", "empty"}


def test_what_cannot_be_drafted_is_a_finding_without_values(tmp_path):
    path = write_patients(tmp_path / "t.csv")
    assert drafted(path, target="absent") == (None, {"problem": "no-such-column", "columns": ["absent"]})
    assert drafted(path, ignore=["nothing"])[1]["columns"] == ["nothing"]
    everything = ["age", "sex", "smoker", "weight"]
    assert drafted(path, ignore=everything)[1]["problem"] == "no-usable-column"
    one = tmp_path / "one.csv"
    one.write_text("a,ill\n1,x\n2,y\n")
    assert drafted(one)[1] == {"problem": "no-common-class", "columns": ["ill"]}
