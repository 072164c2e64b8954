"""The guarantee of a model: it names unit and adjacency, and says so if nothing is guaranteed."""

import json
import math
from fractions import Fraction

import pytest

from discreet import Categorical, Schema
from discreet.errors import ParameterError
from discreet.privacy.guarantee import LIMITS, Guarantee
from discreet.privacy.receipt import Charge, Receipt

SCHEMA = Schema([Categorical("c", ["a"])], "y", ["no"])


def guarantee(schema=SCHEMA, epsilon=Fraction(1, 2), seeded=False, experimental=False):
    charge = Charge("q", "discrete Laplace", epsilon, 1, 2.0, experimental)
    return Guarantee.of(Receipt(schema.adjacency, (charge,), seeded, schema.hash), schema)


def test_a_guarantee_names_epsilon_unit_and_adjacency():
    text = guarantee().statement()
    assert "0.5-differentially private (delta = 0) for one record" in text
    assert "added or removed (the number of records is private)" in text
    assert f"{math.exp(0.5):.4g}" in text
    replaced = guarantee(SCHEMA.replace(adjacency="replace-one"))
    assert "replaced by any other (the number of records is public)" in replaced.statement()
    assert "the number of records" in replaced.public
    assert "the number of records" not in guarantee().public


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"epsilon": math.inf}, "epsilon is infinite"),
        ({"seeded": True}, "random_state was set"),
        ({"schema": SCHEMA.replace(from_data=["classes"])}, "read off the data"),
    ],
)
def test_nothing_is_promised_where_nothing_holds(changes, reason):
    none = guarantee(**changes)
    assert not none.holds
    assert len(none.reasons) == 1
    assert reason in none.reasons[0]
    assert none.statement().startswith("No privacy is guaranteed: ")
    assert "differentially private" not in none.statement()


def test_all_reasons_are_given():
    none = guarantee(SCHEMA.replace(from_data=["c.categories"]), math.inf, seeded=True)
    assert len(none.reasons) == 3


def test_a_guarantee_that_holds_has_no_reasons():
    assert guarantee().holds
    assert guarantee().reasons == ()
    assert not guarantee().experimental


def test_continuous_noise_is_called_experimental():
    experimental = guarantee(experimental=True)
    assert experimental.experimental
    assert experimental.holds
    assert "Experimental: some noise is continuous" in experimental.statement()


def test_a_declared_number_of_records_is_named_as_public():
    assert any("1234" in line for line in guarantee(SCHEMA.replace(records=1234)).public)


def test_a_card_is_plain_data_with_the_limits():
    for each in (guarantee(), guarantee(epsilon=math.inf), guarantee(epsilon=Fraction(10_000))):
        card = json.loads(json.dumps(each.to_dict(), allow_nan=False))
        assert card["statement"] == each.statement()
        assert card["limits"] == list(LIMITS)
        assert (card["unit"], card["delta"]) == ("one record", 0.0)
    assert guarantee(epsilon=Fraction(1, 3)).to_dict()["epsilon"] == "1/3"


def test_what_is_experimental_is_a_field_that_old_files_say_in_words():
    charge = Charge("q", "any name", Fraction(1), 1, 2.0, experimental=True)
    assert Charge.from_dict(charge.to_dict()) == charge
    assert "experimental" not in Charge("q", "any name", Fraction(1), 1, 2.0).to_dict()
    old = {"query": "q", "mechanism": "Cauchy at smooth sensitivity (experimental)", "epsilon": "1", "sensitivity": 1}
    assert Charge.from_dict({**old, "scale": "nan"}).experimental
    with pytest.raises(TypeError):
        Charge.from_dict({**old, "scale": "1", "experimental": "no"})


def test_a_receipt_of_another_schema_states_nothing():
    receipt = Receipt(SCHEMA.adjacency, (Charge("q", "discrete Laplace", Fraction(1), 1, 1.0),), False, SCHEMA.hash)
    for other in (SCHEMA.replace(records=7), SCHEMA.replace(adjacency="replace-one")):
        with pytest.raises(ParameterError, match="another schema"):
            Guarantee.of(receipt, other)


@pytest.mark.parametrize(
    ("paid", "stated", "whole"),
    [
        ("add-remove", "add-remove", Fraction(3, 2)),
        ("add-remove", "replace-one", Fraction(5, 2)),
        ("replace-one", "replace-one", Fraction(3, 2)),
        ("replace-one", "add-remove", math.inf),
        (None, "replace-one", Fraction(5, 2)),
        (None, "add-remove", math.inf),
    ],
)
def test_a_choice_is_counted_under_the_stated_adjacency(paid, stated, whole):
    """Files of discreet 0.1 do not say the adjacency: the largest possible loss counts."""
    chosen = "1" if paid is None else {"epsilon": "1", "adjacency": paid}
    schema = SCHEMA.replace(adjacency=stated, chosen=chosen)
    found = guarantee(schema)
    assert found.epsilon == whole
    assert found.holds == (whole != math.inf)
    assert ("choose the columns again" in found.statement()) == (whole == math.inf)
    assert Schema.from_dict(schema.to_dict()) == schema
    assert schema.to_dict()["chosen"] == chosen
