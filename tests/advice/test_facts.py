"""Public facts: what is taken from a schema, and what is refused."""

import math

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import Facts
from discreet.errors import ParameterError, SchemaError

COLUMNS = [Numeric("age", 0, 100), Categorical("sex", ["f", "m"], unlisted=False), Categorical("job", ["a", "b", "c"])]


def schema(**changes):
    return Schema(**{"columns": COLUMNS, "target": "ill", "classes": ["no", "yes"], "records": 500, **changes})


def test_facts_are_those_of_the_schema():
    assert Facts.of(schema()) == Facts(500, 2, 1, 2, 6, 1)
    assert Facts.of(schema(), 70) == Facts(70, 2, 1, 2, 6, 1)
    assert Facts.of(schema()).columns == 3


def test_replacing_a_record_takes_twice_the_noise():
    replaced = Facts.of(schema(adjacency="replace-one"))
    assert replaced.signal(0.2) == pytest.approx(Facts.of(schema()).signal(0.1)) == pytest.approx(50)


def test_the_signal_of_no_noise_is_infinite():
    assert Facts.of(schema()).signal(math.inf) == math.inf


def test_without_a_number_of_records_there_is_nothing_to_say():
    with pytest.raises(ParameterError, match="--records"):
        Facts.of(schema(records=None))
    assert Facts.of(schema(records=None), 12).records == 12


@pytest.mark.parametrize("records", [0, -5, 1.5, True, 10**13, "many"])
def test_strange_numbers_of_records_are_refused(records):
    with pytest.raises(ParameterError, match="records="):
        Facts.of(schema(), records)


def test_one_class_and_no_columns_are_refused():
    with pytest.raises(ParameterError, match="one class"):
        Facts.of(schema(classes=["yes"]))
    with pytest.raises(SchemaError, match="no columns"):
        schema(columns=[])


def test_coordinates_are_those_of_classes_and_columns():
    here = Facts.of(schema()).coordinates()
    for change in ({"classes": ["a", "b", "c"]}, {"columns": COLUMNS[:1]}, {"columns": [*COLUMNS, Numeric("b", 0, 1)]}):
        assert not np.array_equal(Facts.of(schema(**change)).coordinates(), here), change
    for change in ({"records": 5000}, {"adjacency": "replace-one"}):  # they are in the signal
        assert np.array_equal(Facts.of(schema(**change)).coordinates(), here), change


def test_the_signal_of_a_class_is_that_of_two_classes_shared_by_all():
    assert Facts.of(schema()).signal_per_class(0.1) == pytest.approx(50)
    assert Facts.of(schema(classes=range(10))).signal_per_class(0.1) == pytest.approx(10)
    assert Facts.of(schema()).signal_per_class(math.inf) == math.inf
