"""Texts in pictures: whole, in lines that fit, and never formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.pictures.labels import LONGEST, fitting, plain, width_of, wrapped


@given(st.text(max_size=LONGEST), st.integers(4, 40))
def test_nothing_is_cut(text, letters):
    lines = wrapped(text, letters).split("\n")
    assert all(len(line) <= letters for line in lines)
    assert "".join("".join(lines).split()) == "".join(plain(text).split())


def test_lines_end_where_words_do():
    assert wrapped("Married-civ-spouse", 12) == "Married-civ-\nspouse"
    assert wrapped("petal_width < 1.75781", 16) == "petal_width <\n1.75781"  # not within a number
    assert wrapped("", 5) == ""
    assert wrapped("abcdefgh", 3) == "abc\ndef\ngh"


def test_long_texts_keep_their_ends_and_dollars_are_no_formula():
    shown = plain("a" * 500 + "z")
    assert shown.startswith("aaa")
    assert shown.endswith("z")
    assert len(shown) < LONGEST + 10
    assert plain("$x$\ty\n") == r"\$x\$ y "


def test_fitting_texts_fit():
    pytest.importorskip("matplotlib")
    text = "a title of many words that is much wider than the picture that it belongs to"
    assert width_of(text, 10) > 3
    assert width_of(fitting(text, 3, 10), 10) <= 3
