"""Answers to a draft: each takes its entry out of `from_data`, or is refused and changes nothing."""

import pytest

from discreet import Categorical, Numeric, Schema
from discreet.errors import SchemaError
from discreet.schema.confirming import answered, choices, entry_of, value_of
from discreet.schema.dialect import Dialect

DRAFT = Schema(
    [Numeric("age", 17, 89), Categorical("sex", ["F", "M"])],
    "ill",
    ["no", "yes"],
    records=812,
    ignore=["id"],
    from_data=["age.lower", "age.upper", "sex.categories", "id.ignore", "records", "classes", "dialect.decimal"],
    dialect=Dialect(decimal=","),
)


@pytest.mark.parametrize("mark", DRAFT.from_data)
def test_every_entry_can_be_confirmed(mark):
    after = answered(DRAFT, mark, " Y\n")
    assert set(DRAFT.from_data) - set(after.from_data) == {mark}
    assert after.replace(from_data=DRAFT.from_data) == DRAFT
    assert choices(DRAFT, mark).startswith("y: ")
    assert value_of(DRAFT, mark)


@pytest.mark.parametrize(
    ("mark", "answer", "found"),
    [
        ("age.lower", "0", lambda schema: schema["age"].lower == 0),
        ("age.upper", "1.2e2", lambda schema: schema["age"].upper == 120),
        ("sex.categories", "+ X; Y", lambda schema: schema["sex"].categories == ("F", "M", "X", "Y")),
        ("sex.categories", "- M", lambda schema: schema["sex"].categories == ("F",)),
        ("sex.categories", "= a, b; c", lambda schema: schema["sex"].categories == ("a, b", "c")),
        ("id.ignore", "n 0 9", lambda schema: schema["id"] == Numeric("id", 0, 9) and not schema.ignore),
        ("id.ignore", "c a; b", lambda schema: schema["id"].categories == ("a", "b")),
        ("records", "n", lambda schema: schema.records is None),
        ("records", "800", lambda schema: schema.records == 800),
        ("classes", "+ unknown", lambda schema: schema.classes == ("no", "yes", "unknown")),
        ("dialect.decimal", ".", lambda schema: schema.dialect == Dialect()),
    ],
)
def test_entries_can_be_changed(mark, answer, found):
    after = answered(DRAFT, mark, answer)
    assert found(after)
    assert set(DRAFT.from_data) - set(after.from_data) == {mark}


@pytest.mark.parametrize("mark", ["age.lower", "age.upper", "sex.categories"])
def test_a_column_can_be_left_out(mark):
    after = answered(DRAFT, mark, "i")
    name = mark.partition(".")[0]
    assert name in after.ignore
    assert name not in after.names
    assert not [each for each in after.from_data if each.startswith(f"{name}.")]


@pytest.mark.parametrize(
    ("mark", "answer"),
    [
        ("age.lower", "old"), ("age.lower", "90"), ("age.lower", "inf"), ("age.lower", "1,5"), ("age.upper", ""),
        ("sex.categories", "F"), ("sex.categories", "+"), ("sex.categories", "- X"), ("sex.categories", "- F; M"),
        ("sex.categories", "= a; a"), ("id.ignore", "n 1"), ("id.ignore", "n 2 1"), ("id.ignore", "i"),
        ("records", "0"), ("records", "1.5"), ("classes", "no"), ("classes", "i"), ("dialect.decimal", ";"),
    ],
)  # fmt: skip
def test_other_answers_are_refused(mark, answer):
    with pytest.raises(SchemaError):
        answered(DRAFT, mark, answer)


def test_the_last_column_cannot_be_left_out():
    with pytest.raises(SchemaError, match="at least one column"):
        answered(answered(DRAFT, "age.lower", "i"), "sex.categories", "i")


def test_names_with_dots_and_marks_by_hand():
    schema = Schema([Numeric("a.lower", 0, 1)], "y", ["n"], from_data=["a.lower.lower", "strange"])
    assert entry_of(schema, "a.lower.lower") == ("a.lower", "lower")
    assert answered(schema, "strange", "y").from_data == ("a.lower.lower",)
    with pytest.raises(SchemaError, match="need y"):
        answered(schema, "strange", "3")
