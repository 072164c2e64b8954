"""Candidates as plain data: what a request may name, and what is refused."""

import pytest

from discreet.errors import ParameterError
from discreet.queries.candidates import candidate_from_plain, candidate_to_plain
from discreet.queries.tables import MOST_WEIGHT, FractionScore, MajorityScore
from support.neighbours import schema


@pytest.mark.parametrize(
    "candidate",
    [MajorityScore("open"), MajorityScore("near", 4), MajorityScore("near", 4, (1, 5, 2)), FractionScore(24, 25)],
    ids=repr,
)
def test_a_candidate_is_plain_data(candidate):
    assert candidate_from_plain(candidate_to_plain(candidate), schema()) == candidate


def test_cuts_are_not_lost_in_a_request_but_refused():
    with pytest.raises(ParameterError, match="cuts"):
        candidate_to_plain(MajorityScore("near", 4, None, ((1,),)))


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {},
        {"column": "elsewhere"},
        {"column": ["open"]},
        {"column": "label"},
        {"column": "near"},
        {"column": "near", "bins": 1},
        {"column": "near", "bins": True},
        {"column": "near", "bins": 2.0},
        {"column": "near", "bins": 10**9},
        {"column": "open", "bins": 3},
        {"column": "open", "more": 1},
        {"column": "open", "weights": [1, 2]},
        {"column": "open", "weights": [1, 2, 0]},
        {"column": "open", "weights": [1, 2, MOST_WEIGHT + 1]},
        {"column": "open", "weights": "abc"},
        {"right": 3, "of": 2},
        {"right": 0, "of": 0},
        {"right": 0.5, "of": 1},
        {"right": 1, "of": 2, "column": "open"},
    ],
)
def test_what_is_no_candidate_is_refused(content):
    with pytest.raises(ParameterError, match="need"):
        candidate_from_plain(content, schema())
