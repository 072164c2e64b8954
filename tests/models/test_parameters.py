"""Constructor values: what is refused, and what the message says."""

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.models.parameter_checks import check_integer, check_one_of


@pytest.mark.parametrize("value", [1, 3, np.int64(2)])
def test_integers_within_bounds_pass(value):
    check_integer("bins", value, 1, 3)


@pytest.mark.parametrize("value", [0, 4, True, 2.0, "2", None, np.bool_(True)])
def test_everything_else_is_refused(value):
    with pytest.raises(ParameterError, match=r"bins=.*; need 'auto' or an integer from 1 to 3"):
        check_integer("bins", value, 1, 3, or_="'auto'")


def test_without_an_upper_bound_only_the_lower_one_is_named():
    check_integer("k", 10**30, 1)
    with pytest.raises(ParameterError, match="k=0; need an integer >= 1"):
        check_integer("k", 0, 1)


def test_words_are_listed():
    check_one_of("split", "equal", ("weighted", "equal"))
    with pytest.raises(ParameterError, match="split='half'; need one of: weighted, equal"):
        check_one_of("split", "half", ("weighted", "equal"))
