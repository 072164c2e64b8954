"""Cells are sorted by the numbers they begin with."""

import math

import pytest

from discreet.research.report.sorting import is_missing, is_plain, key

NUMBERS = {
    "0.951 ± 0.004 (98%)": 0.951,
    "0.951±0.004": 0.951,
    "-0.5": -0.5,
    "−0.5": -0.5,
    "–0.5": -0.5,
    "− 0.5": -0.5,
    "+3": 3.0,
    ".083": 0.083,
    "-.083": -0.083,
    "1e-11": 1e-11,
    "1E−11": 1e-11,
    "2.5e+3": 2500.0,
    "∞": math.inf,
    "−∞": -math.inf,
    "inf": math.inf,
    "1/3": 1 / 3,
    "-1/4": -0.25,
    "12 of 18": 12.0,
    "12,500": 12500.0,
    "1,234,567.5": 1234567.5,
    "1\u202f000": 1000.0,
    "98%": 98.0,
    "98 %": 98.0,
    "< 0.001": 0.001,
    "≥ 2": 2.0,
    "  7  ": 7.0,
    "10 s": 10.0,
    "0.95 / 0.93": 0.95,
    "0.9–0.95": 0.9,
    "0.9-0.95": 0.9,
    "3 (all)": 3.0,
    "1e999": math.inf,
}

WORDS = ["1R", "5-NN", "2nd", "3ε", "x 1", "naive Bayes", "infer", "1.2.3", "12,34", "1/0", "e5", "(3)", "²"]
NOTHING = ["", " ", "–", "—", "-", "−", "…", "?", "nan", "NaN", "nan ± nan", "n/a", "– (not run)"]


@pytest.mark.parametrize("cell", NUMBERS)
def test_a_number_at_the_beginning_counts(cell):
    assert key(cell) == NUMBERS[cell]
    assert not is_missing(cell)


def test_thousands_of_digits_are_no_error():
    assert key("9" * 5000) == math.inf
    assert key("1/" + "9" * 5000) == 0


@pytest.mark.parametrize("cell", WORDS)
def test_words_are_no_numbers(cell):
    assert key(cell) is None
    assert not is_missing(cell)


@pytest.mark.parametrize("cell", NOTHING)
def test_cells_that_say_nothing_are_missing(cell):
    assert key(cell) is None
    assert is_missing(cell)


def test_a_column_of_single_numbers_is_plain():
    assert is_plain(["1", "−2.5", "–", "98%", "∞", "1e-11", "1/3"])
    assert not is_plain(["1", "0.9 ± 0.1"])
    assert not is_plain(["1", "one"])
    assert not is_plain(["–", ""])
    assert not is_plain([])
