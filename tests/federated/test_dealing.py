"""Dealing questions: every question as often, no party more than its hand, tables that are levelled and not biased."""

import math

import numpy as np
import pytest

from discreet import Categorical, Schema
from discreet.federated.dealing import LEAST_ANSWERS, hand, hand_size, tables
from discreet.models.naive_bayes.plan import LEAST_SIGNAL
from discreet.queries.tables import Counts, SplineCounts


def wide(columns=22, records=8000, adjacency="add-remove"):
    attributes = [Categorical(f"a{column}", list("xyz"), unlisted=False) for column in range(columns)]
    return Schema(attributes, "y", ["no", "yes"], records=records, adjacency=adjacency)


@pytest.mark.parametrize("parties", [60, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 10, 100])
def test_every_question_is_answered_as_often_as_any_other_and_often_enough(parties, epsilon):
    questions, each = hand_size(wide(), epsilon, parties)
    assert 1 <= each <= questions <= 22
    dealt = [hand(number, questions, each) for number in range(parties)]
    assert all(len(set(own)) == each for own in dealt)
    answers = np.bincount(np.concatenate(dealt), minlength=questions)
    assert answers.max() - answers.min() <= 1
    assert answers.min() >= min(parties, LEAST_ANSWERS) - 1


def test_more_noise_leaves_fewer_questions_and_larger_parties_answer_more_of_them():
    few, many = hand_size(wide(), 0.1, 1000), hand_size(wide(), 1, 1000)
    assert few[0] < many[0] == 22
    assert hand_size(wide(records=10**6), 1, 100)[1] > hand_size(wide(), 1, 100)[1]
    assert hand_size(wide(records=10**9), 1, 100) == (22, 22)


def test_what_is_asked_carries_signal():
    """Noise of a cell, scaled up to all parties: √(2 N k m) / ε, under replace-one twice that."""
    for schema, halved in ((wide(), 1), (wide(adjacency="replace-one"), 2)):
        for epsilon in (0.1, 0.3, 1):
            questions, each = hand_size(schema, epsilon, 200)
            assert questions == 1 or 4000 * epsilon / halved / math.sqrt(200 * questions * each) >= LEAST_SIGNAL


def test_sums_of_all_parties_are_left_as_they_are(schema):
    sums = [np.arange(12).reshape(3, 4), np.arange(15).reshape(3, 5)]
    queries = [Counts("site"), SplineCounts("dose", 5)]
    found = tables(schema, queries, sums, [1.0, 2.0], [7, 7], 7)
    for place, (query, table) in enumerate(found):
        assert query == queries[place]
        assert table.values is sums[place]
        assert table.variance == [1.0, 2.0][place]


def test_a_question_without_an_answer_is_left_out(schema):
    sums = [np.full((3, 4), 50), np.zeros((3, 5), dtype=np.int64)]
    found = tables(schema, [Counts("site"), SplineCounts("dose", 5)], sums, [1.0, 2.0], [3, 0], 6)
    assert [query for query, _ in found] == [Counts("site")]
    assert found[0][1].values.tolist() == [[100] * 4] * 3
    assert found[0][1].variance == 4.0


def test_tables_of_a_part_of_the_parties_are_scaled_to_all(schema):
    """Two questions, answered by 2 and by 4 of 8 parties: rows sum to the same class counts, in units of the query."""
    classes = np.array([80, 160, 240])
    first = np.repeat(classes[:, None] // 4, 4, axis=1) // 4
    second = 16 * np.repeat(classes[:, None] // 2, 5, axis=1) // 5
    queries = [Counts("site"), SplineCounts("dose", 5)]
    assert queries[1].unit(schema) == 16
    (_, one), (_, other) = tables(schema, queries, [first, second], [0.5, 0.5 * 256], [2, 4], 8)
    assert np.allclose(one.values.sum(axis=1), classes, rtol=0.02)
    assert np.allclose(other.values.sum(axis=1) / 16, classes, rtol=0.02)
    assert one.variance == pytest.approx(0.5 * 16, rel=0.1)
    assert other.variance / 256 == pytest.approx(0.5 * 4, rel=0.1)
    assert one.values.dtype == other.values.dtype == np.int64


def test_parties_that_have_more_of_a_class_than_others_do_not_count_twice(schema):
    """The first table's parties have twice their part of the records: its rows are brought to what both tables say."""
    classes = np.array([1000, 2000, 3000])
    first, second = (np.repeat(classes[:, None], 4, axis=1) * factor // 4 // 2 for factor in (2, 1))
    (_, one), (_, other) = tables(schema, [Counts("site"), Counts("dose", 4)], [first, second], [9.0, 9.0], [4, 4], 8)
    assert np.allclose(one.values, other.values, rtol=0.01)


def test_rows_that_are_mostly_noise_are_not_stretched(schema):
    noise = np.array([[9, -8, 7, -9], [1, 3, -2, 0], [4, -4, 8, -6]])
    strong = np.full((3, 4), 1000)
    (_, weak), _ = tables(schema, [Counts("site"), Counts("dose", 4)], [noise, strong], [50.0, 50.0], [4, 4], 8)
    assert np.array_equal(weak.values, 2 * noise)
    assert weak.variance == 200
