"""Margins: what noise alone makes lies within them, what the data say lies beyond."""

import math

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, Numeric, Schema

SIZES = (2, 5, 12)
COLUMNS = [Categorical(f"c{size}", [str(code) for code in range(size)], unlisted=False) for size in SIZES]
PUBLIC = Schema(COLUMNS, "y", ["a", "b", "c"], records=6000)


def told(tables, labels, seed, epsilon):
    model = NaiveBayes(PUBLIC, epsilon=epsilon, select=None, random_state=seed).fit(tables, labels)
    return model.evidence()


def test_columns_that_say_nothing_lie_within_the_noise():
    """Each value is equally frequent in each class, exactly; so all that is seen is noise."""
    codes = np.arange(6000)
    labels = np.array(["a", "b", "c"])[codes % 3]
    tables = {f"c{size}": (codes // 3 % size).astype(str) for size in SIZES}
    beyond, bits, columns = [], [], 0
    for seed in range(12):
        evidence, prior = told(tables, labels, seed, 0.1)
        for each in evidence:
            beyond += (~each.within_noise(prior)).ravel().tolist()
            low, high = each.range_of_information(prior)
            bits += (low > 0).tolist()
            columns += 1
            assert (low <= each.information(prior) + 1e-12).all()
            assert (high >= each.information(prior) - 1e-12).all()
    assert columns == 36
    assert np.mean(beyond) <= 0.05
    assert np.mean(bits) <= 0.05


def test_what_the_data_say_lies_beyond_and_the_text_says_which_is_which():
    codes = np.arange(6000)
    labels = np.array(["a", "b", "c"])[codes % 3]
    tables = {f"c{size}": (codes // 3 % size).astype(str) for size in SIZES}
    tables["c5"] = np.where(labels == "a", "0", tables["c5"])
    evidence, prior = told(tables, labels, 1, 0.1)
    by_name = {each.name: each for each in evidence}
    assert not by_name["c5"].within_noise(prior)[0, 0]
    assert not by_name["c5"].is_noise(prior)
    assert by_name["c12"].is_noise(prior)
    model = NaiveBayes(PUBLIC, epsilon=0.1, select=None, random_state=1).fit(tables, labels)
    lines = {line.split()[0]: line for line in model.explain().splitlines() if line.startswith("c")}
    assert "a: 0 (×" in lines["c5"]
    assert "within the noise (a: nothing beyond the noise" in lines["c12"]
    content = {each["name"]: each for each in model.content()["attributes"]}
    assert content["c12"]["within_noise"]
    assert not content["c5"]["within_noise"]
    assert content["c5"]["noise"]["a"]["0"] == pytest.approx(by_name["c5"].margins[0, 0])


@pytest.mark.parametrize("numeric", ["histogram", "gaussian", "smooth"])
def test_noise_that_is_not_known_is_not_invented(numeric):
    public = Schema([Numeric("x", 0, 1)], "y", ["no", "yes"], records=200)
    X, y = [[place / 200] for place in range(200)], ["no"] * 100 + ["yes"] * 100
    evidence, prior = NaiveBayes(public, epsilon=1, numeric=numeric, random_state=0).fit(X, y).evidence()
    assert (evidence[0].margins is not None) == (numeric == "histogram")
    assert not evidence[0].within_noise(prior).all()
    exact, _ = NaiveBayes(public, epsilon=math.inf, numeric=numeric).fit(X, y).evidence()
    assert not exact[0].has_noise


def test_cells_are_grouped_without_losing_any():
    many = Schema([Categorical("c", range(100), unlisted=False), Numeric("x", 0, 1)], "y", ["no", "yes"], records=5000)
    codes = np.arange(5000)
    table = {"c": np.minimum(codes % 137, 99), "x": codes / 5000}
    model = NaiveBayes(many, epsilon=1, bins=60, select=None, random_state=0).fit(
        table, np.where(codes % 3, "no", "yes")
    )
    evidence, prior = model.evidence()
    for each in evidence:
        fewer = each.grouped(prior)
        assert len(fewer.cells) <= 40 < len(each.cells)
        np.testing.assert_allclose(fewer.probabilities.sum(axis=1), 1)
        assert (fewer.margins > 0).all()
    assert evidence[0].grouped(prior).cells[-1] == "(61 others together)"
    assert evidence[1].grouped(prior).cells[0] == "0 to 0.05"
