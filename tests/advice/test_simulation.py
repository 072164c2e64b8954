"""Simulation: real models with real noise, on tables that come from the schema alone."""

import numpy as np
import pytest

from discreet import Categorical, Numeric, Schema
from discreet.advice import Facts, simulation
from discreet.advice.cases import ADVISED
from discreet.advice.worlds import WORLDS

SCHEMA = Schema([Numeric("x", 0, 1), Categorical("c", ["a", "b"])], "y", ["no", "yes"], records=100)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(simulation, "TABLES", 1)
    monkeypatch.setattr(simulation, "SIGNALS", (1.0, 50.0))


def test_a_case_for_each_world_the_same_each_time():
    facts, told = Facts.of(SCHEMA), []
    first = simulation.simulate(SCHEMA, facts, lambda done, of: told.append((done, of)))
    again = simulation.simulate(SCHEMA, facts)
    assert [case.name for case in first] == [world.__name__ for world in WORLDS]
    assert told == [(done, len(WORLDS)) for done in range(len(WORLDS) + 1)]
    for case, other in zip(first, again, strict=True):
        assert case.accuracies.shape == (len(ADVISED), 3)
        assert np.array_equal(case.accuracies, other.accuracies)
        assert np.array_equal(case.noiseless, other.noiseless)
        assert np.isfinite(case.accuracies).all()


def test_the_epsilon_is_scaled_with_the_rows_and_noise_with_the_adjacency(monkeypatch):
    seen = []

    def accuracy(schema, table, rows, model, epsilon, noise):
        seen.append((schema.records, schema.adjacency.value, rows, epsilon))
        return 0.5

    monkeypatch.setattr(simulation, "_accuracy", accuracy)
    simulation.simulate(SCHEMA, Facts.of(SCHEMA))
    assert set(seen) == {(100, "add-remove", 100, each) for each in (0.01, 0.5, float("inf"))}
    seen.clear()
    replaced = SCHEMA.replace(adjacency="replace-one", records=10**6)
    simulation.simulate(replaced, Facts.of(replaced))
    rows = simulation.ROWS
    expected = {(rows, "replace-one", rows, each) for each in (2 / rows, 100 / rows, float("inf"))}
    assert set(seen) == expected


def test_wide_schemas_are_thinned_evenly():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(3000)], "y", ["no", "yes"])
    names = simulation.spread(wide, 2)
    assert len(names) == simulation.COLUMNS
    places = [int(name[1:]) for name in names]
    assert np.ptp(np.diff(places)) <= 1
    assert len(simulation.spread(wide, 10)) == simulation.CELLS // 10
    assert simulation.spread(SCHEMA, 2) == ["x", "c"]


def test_too_many_classes_or_one_record_are_not_simulated():
    many = SCHEMA.replace(classes=range(simulation.MOST_CLASSES + 1))
    assert simulation.simulate(many, Facts.of(many)) == []
    assert simulation.simulate(SCHEMA, Facts.of(SCHEMA, 1)) == []


def test_columns_with_very_many_categories_are_not_simulated(monkeypatch):
    most = simulation.MOST_CATEGORIES
    columns = [Categorical(name, range(size)) for name, size in (("all", most), ("more", most + 1), ("vast", 20_000))]
    schema = Schema([*columns, Numeric("x", 0, 1)], "y", ["no", "yes"], records=100)
    assert simulation.spread(schema, 2) == ["all", "x"]
    assert simulation.hindrance(schema, Facts.of(schema)) == ""
    monkeypatch.setattr(simulation, "drawn", None)
    none = schema.replace(columns=columns[1:])
    assert simulation.simulate(none, Facts.of(none)) == []
    assert "too many categories" in simulation.hindrance(none, Facts.of(none))


def test_categories_of_all_columns_together_are_bounded():
    columns = [Categorical(f"c{i}", range(150 + i)) for i in range(15)]
    schema = Schema([*columns, Numeric("x", 0, 1)], "y", ["no", "yes"], records=100)
    for classes in (2, 3, 30):
        names = simulation.spread(schema, classes)
        assert sum(len(schema[name].categories) for name in names if name != "x") * classes <= simulation.LEVELS
    assert simulation.spread(schema, 2) == ["c0", "c1", "c2", "c3", "c4", "c5", "x"]


def test_two_records_are_enough_to_simulate():
    assert len(simulation.simulate(SCHEMA, Facts.of(SCHEMA, 2))) == len(WORLDS)


def test_every_model_is_made_as_its_name_says():
    made = simulation.families()
    assert tuple(made) == ADVISED
    assert made["naive-bayes(select=auto)"](SCHEMA).select == "auto"
    assert made["naive-bayes"](SCHEMA).select == "auto"
