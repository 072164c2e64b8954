"""What the noise of Zorarpacı 2019 does to Iris: what the printed tables say of it, and what ours does."""

import numpy as np
import pytest

from discreet.research.reproduce.zorarpaci2019 import rules_iris as noise
from discreet.research.reproduce.zorarpaci2019 import rules_tables as tables


def test_the_printed_noise_is_one_draw_divided_by_epsilon(monkeypatch):
    assert all(map(noise.is_one_draw, noise.ATTRIBUTES))
    real = tables.theirs("Table 5.14")
    moved = {**real, ("iris", "Mean", "3"): real["iris", "Mean", "3"]._replace(value=4.16)}
    monkeypatch.setattr(noise, "theirs", lambda place: moved)
    assert not noise.is_one_draw("Table 5.14")


def test_the_printed_noise_has_a_scale_of_the_range_and_not_a_deviation():
    ratios = noise.variance_ratios(None)
    assert all(1.4 < ratio < 2.5 for ratio in ratios)
    assert np.mean(ratios) == pytest.approx(1.9, abs=0.15)


def test_two_tables_with_one_draw_give_the_records_away():
    assert noise.recovered(None) == 1.0


def test_ours_and_local_privacy_stand_in_their_columns():
    low, high = ({loss: dict.fromkeys(noise.PROPERTIES, value) for loss in noise.EPSILONS} for value in (1.0, 2.0))
    clear = {"inf": dict.fromkeys(noise.PROPERTIES, 3.0)}
    found = {"sepal_width": {"original": clear, "published": low, "rigorous": high}}
    table = noise.column_table("Table 5.13", found, "a command")
    assert table.rows[0][:6] == ["Mean", "3.041", "3.000", "3.192", "1.000", "2.000"]
    assert table.heads[3:6] == ["ε = 1: thesis", "ε = 1: ours", "ε = 1: local privacy"]


def test_the_properties_are_those_of_the_noise():
    found = noise.averages(None, draws=40)["petal_length"]
    original, published = found["original"]["inf"], found["published"]["2"]
    assert original["Correlation"] == pytest.approx(1)
    assert original["Mean"] == pytest.approx(3.758, abs=0.05)
    noise_variance = 2 * (5.9 / 2) ** 2
    assert published["Variance"] == pytest.approx(original["Variance"] + noise_variance, rel=0.08)
    assert published["Covariance"] == pytest.approx(original["Variance"], rel=0.15)
    assert 0 < found["rigorous"]["2"]["Correlation"] < published["Correlation"]
