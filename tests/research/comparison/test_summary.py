"""Means, ratios, ranks and tests, by hand and against scipy; the tables; the picture."""

import math
import sys

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from discreet.errors import MissingExtra
from discreet.research.comparison import Measured, Run, difference_picture, picture
from discreet.research.comparison.summary import (
    average_ranks,
    cells,
    critical_difference,
    differences,
    signed_rank_p_value,
)


def runs(scores):
    """Runs from accuracies by (data, model, epsilon)."""
    return {
        Run(data, model, epsilon, "add-remove", len(each), 0, 0, fold): Measured(score, 0.1, 0.1)
        for (data, model, epsilon), each in scores.items()
        for fold, score in enumerate(each)
    }


SCORES = {
    ("iris", "majority", "inf"): [0.3, 0.4],
    ("iris", "a", "inf"): [0.9, 0.7],
    ("iris", "a", "1/10"): [0.3, 0.5],
    ("iris", "a", "1"): [0.8, 0.8],
    ("iris", "b", "inf"): [0.0, 0.0],
    ("iris", "b", "1/10"): [0.5, 0.7],
    ("iris", "b", "1"): [0.7, 0.9],
}


def test_means_deviations_and_ratios():
    found = {cell[:3]: cell for cell in cells(runs(SCORES))}
    assert list(found) == list(SCORES)
    each = found["iris", "a", "1/10"]
    assert each.runs == 2
    assert each.mean == pytest.approx(0.4)
    assert each.deviation == pytest.approx(math.sqrt(0.02))
    assert each.ratio == pytest.approx(0.5)
    assert found["iris", "a", "inf"].ratio == 1
    assert found["iris", "b", "1"].ratio is None
    assert [cell.deviation for cell in cells(runs({("iris", "a", "1"): [0.5]}))] == [0]
    assert cells({}) == []


def test_ranks_share_equal_places():
    assert average_ranks(cells(runs(SCORES))) == {"b": (1 + 1.5) / 2, "a": (2 + 1.5) / 2}
    assert average_ranks([]) == {}


def test_ranks_need_what_all_have():
    partly = {**SCORES, ("wine", "a", "1"): [0.9, 0.9]}
    assert average_ranks(cells(runs(partly))) == average_ranks(cells(runs(SCORES)))
    assert average_ranks(cells(runs({("iris", "a", "1"): [1.0], ("wine", "b", "1"): [1.0]}))) == {}


def test_pairs_are_data_sets_and_epsilons_without_the_noiseless():
    (found,) = differences(cells(runs(SCORES)))
    assert found[:5] == ("a", "b", 2, 0, 1)
    assert found.p_value == signed_rank_p_value(np.array([-0.2, 0.0]))


def test_without_noise_alone_the_noiseless_are_compared():
    noiseless = {key: each for key, each in SCORES.items() if key[2] == "inf"}
    (found,) = differences(cells(runs(noiseless)))
    assert found[:5] == ("a", "b", 1, 1, 0)


@pytest.mark.parametrize("gaps", [[0.1, -0.2, 0.0, 0.3, 0.1, 0.5], [0.1] * 7, [0.0, 0.0, 0.2], [-0.3, 0.1, 0.2, 0.4]])
def test_the_test_is_that_of_the_paper_with_the_variance_mended(gaps):
    gaps = np.array(gaps)
    ranks, n = rankdata(np.abs(gaps)), len(gaps)
    halves = ranks[gaps == 0].sum() / 2
    least = min(ranks[gaps > 0].sum() + halves, ranks[gaps < 0].sum() + halves)
    _, ties = np.unique(ranks, return_counts=True)
    variance = n * (n + 1) * (2 * n + 1) / 24 - (ties**3 - ties).sum() / 48
    expected = 2 * norm.cdf((least - n * (n + 1) / 4) / math.sqrt(variance))
    assert signed_rank_p_value(gaps) == pytest.approx(min(1.0, expected))
    assert signed_rank_p_value(-gaps) == pytest.approx(signed_rank_p_value(gaps))


def test_no_difference_is_no_evidence():
    assert signed_rank_p_value(np.zeros(4)) == 1


def test_the_picture_has_a_panel_a_line_and_a_band_for_each():
    figure = picture.draw(cells(runs({**SCORES, **{("wine", *key[1:]): each for key, each in SCORES.items()}})))
    assert [panel.get_title() for panel in figure.axes] == ["iris", "wine"]
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert lines["a"].get_xdata() == pytest.approx([0.1, 1])
    assert lines["a"].get_ydata() == pytest.approx([0.4, 0.8])
    assert lines["largest class"].get_ydata() == pytest.approx([0.35, 0.35])
    assert lines["a"].get_color() != lines["b"].get_color()
    assert lines["a"].get_marker() != lines["b"].get_marker()
    assert len(figure.axes[0].collections) == 2
    assert figure.axes[0].get_xscale() == "log"
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["0.1", "1"]


def test_many_models_and_one_panel_can_be_told_apart():
    scores = {("iris", f"m{place}", "1"): [0.5, 0.6] for place in range(9)}
    figure = picture.draw(cells(runs(scores)))
    lines = [line for line in figure.axes[0].get_lines() if line.get_label().startswith("m")]
    assert len({(line.get_color(), line.get_linestyle()) for line in lines}) == 9


@pytest.mark.parametrize(("models", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_has_the_published_quantiles(models, quantile):
    """Demšar 2006, table 5a."""
    expected = quantile * math.sqrt(models * (models + 1) / (6 * 14))
    assert critical_difference(models, 14) == pytest.approx(expected, rel=1e-3)


def test_the_picture_of_ranks_has_bars_as_long_as_the_critical_difference():
    (panel,) = difference_picture.draw_ranks(cells(runs(SCORES))).axes
    first, point = panel.get_lines()[:2]
    assert point.get_xdata() == pytest.approx([1.25])
    assert np.ptp(first.get_xdata()) == pytest.approx(critical_difference(2, 2))
    assert [label.get_text() for label in panel.get_yticklabels()] == ["b", "a"]


def test_the_heat_map_is_symmetric():
    scores = {**SCORES, ("iris", "c", "1/10"): [0.1, 0.1], ("iris", "c", "1"): [0.2, 0.2]}
    found = cells(runs(scores))
    matrix = np.ma.filled(difference_picture.draw_p_values(found).axes[0].get_images()[0].get_array(), np.nan)
    assert np.isnan(np.diag(matrix)).all()
    assert np.array_equal(matrix, matrix.T, equal_nan=True)
    assert matrix[0, 2] == pytest.approx(next(each.p_value for each in differences(found) if each[:2] == ("a", "c")))


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draw in (picture.draw, difference_picture.draw_ranks, difference_picture.draw_p_values):
        with pytest.raises(MissingExtra, match="plot"):
            draw(cells(runs(SCORES)))
