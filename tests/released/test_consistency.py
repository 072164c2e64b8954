"""Consistent answers: unbiased, never worse, the least squares estimate; nothing but published answers is read."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import Categorical, Ledger, Numeric, Schema
from discreet.doors.questions import ask
from discreet.errors import ParameterError
from discreet.privacy.randomness import as_rng
from discreet.queries.crossed import CrossedCounts
from discreet.released.answers import Answer, Answers
from discreet.released.consistency import consistent
from discreet.sources.memory import MemorySource

SCHEMA = Schema([Numeric("age", 0, 80, fill=0), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"])
WOMEN = [{"column": "sex", "equals": "F"}]
MIDDLE = [{"column": "age", "between": [40, 60]}]


def by(*columns, where=()):
    return CrossedCounts.of(list(where), list(columns))


def bins(number, **more):
    return {"column": "age", "bins": number, **more}


REQUESTS = {
    "a table and its margins": [by("sex", "ill"), by("sex"), by("ill"), by()],
    "bins of bins": [by(bins(8)), by(bins(4)), by(bins(2), "sex"), by()],
    "bins that do not fit": [by(bins(6)), by(bins(4)), by(bins(5), "ill")],
    "women": [by("sex", "ill"), by("ill", where=WOMEN), by(where=WOMEN), by("sex", where=WOMEN)],
    "an interval": [by("sex", where=MIDDLE), by(where=MIDDLE), by(bins(4), where=MIDDLE), by("sex")],
    "overlapping": [by("ill", bins(3, overlapping=True)), by("ill"), by(bins(3))],
    "both or one": [by(where=[{"column": "sex", "in": ["F", "M"]}]), by("sex"), by(where=WOMEN)],
    "nothing in common": [by(where=WOMEN), by(where=[{"column": "sex", "equals": "M"}])],
}
SCALES = [1.0, 3.0, 2.0, 0.7]


def people(records=200, seed=1):
    rng = np.random.default_rng(seed)
    ages = np.round(rng.uniform(-10, 90, records), 3)
    edges = np.arange(0, 81, 80 / 24)
    ages[: len(edges)] = edges
    ages[30:34] = [np.nan, np.inf, -np.inf, 40.0]
    return {
        "age": ages,
        "sex": rng.choice(np.array(["F", "M", "?", None], dtype=object), records),
        "ill": rng.choice(np.array(["no", "yes", None], dtype=object), records),
    }


def exact(queries, table=None):
    source = MemorySource(people() if table is None else table)
    return ask(source, SCHEMA, queries, math.inf, Ledger.unlimited(), as_rng(None))


def noisy(queries, values):
    """Answers with given values, as if these had been released with noise of the scales above."""
    truth = exact(queries)
    answers = [
        Answer(each.query, np.asarray(own).reshape(each.values.shape), each.cells, scale, each.unit)
        for each, own, scale in zip(truth.answers, values, SCALES, strict=False)
    ]
    return Answers(tuple(answers), truth.receipt, SCHEMA)


def linear_map(queries):
    """The matrix of `consistent`, which is linear: what becomes of one unit in each cell."""
    sizes = [each.values.size for each in exact(queries).answers]
    columns = []
    for place in range(sum(sizes)):
        unit = np.zeros(sum(sizes))
        unit[place] = 1.0
        given = noisy(queries, np.split(unit, np.cumsum(sizes)[:-1]))
        scaled = Answers(tuple(_scaled(each) for each in given.answers), given.receipt, SCHEMA)
        columns.append(np.concatenate([each.counts.ravel() for each in consistent(scaled)]))
    return np.array(columns).T


def _scaled(answer):
    return Answer(answer.query, answer.values * answer.unit, answer.cells, answer.scale, answer.unit)


@pytest.mark.parametrize("request_", REQUESTS)
def test_the_truth_is_left_as_it_is(request_):
    """So the estimates are unbiased, since they are linear. Edges of bins and strange numbers are among the records."""
    truth = exact(REQUESTS[request_])
    pretended = noisy(REQUESTS[request_], [each.values for each in truth.answers])
    for answer, estimate in zip(truth.answers, consistent(pretended), strict=True):
        np.testing.assert_allclose(estimate.counts, answer.counts, atol=1e-7)


@pytest.mark.parametrize("request_", REQUESTS)
def test_no_cell_and_no_sum_is_worse(request_):
    """Exact covariances: those of the answers minus those of the estimates have no negative eigenvalue."""
    queries = REQUESTS[request_]
    given = noisy(queries, [each.values for each in exact(queries).answers])
    variances = np.concatenate([np.full(each.values.size, each.variance) for each in given.answers])
    matrix = linear_map(queries)
    gain = np.diag(variances) - matrix @ np.diag(variances) @ matrix.T
    assert np.linalg.eigvalsh((gain + gain.T) / 2).min() > -1e-6 * variances.max()
    if request_ != "nothing in common":
        assert np.trace(gain) > 0.05 * variances.sum(), "something is gained"


def test_it_is_the_least_squares_estimate():
    """A table and its margins: all are linear functions of the table, so least squares has a closed form."""
    queries = REQUESTS["a table and its margins"]
    rng = np.random.default_rng(0)
    given = noisy(queries, [each.values + rng.integers(-9, 9, each.values.shape) for each in exact(queries).answers])
    rows, columns = given[0].values.shape
    cells = np.eye(rows * columns).reshape(-1, rows, columns)
    design = np.concatenate(
        [cells.reshape(len(cells), -1), cells.sum(2), cells.sum(1), cells.sum((1, 2))[:, None]], 1
    ).T
    weights = np.concatenate([np.full(each.values.size, 1 / each.variance) for each in given.answers])
    observed = np.concatenate([each.counts.ravel() for each in given.answers])
    best = np.linalg.lstsq(design * np.sqrt(weights)[:, None], observed * np.sqrt(weights), rcond=None)[0]
    found = np.concatenate([each.counts.ravel() for each in consistent(given)])
    np.testing.assert_allclose(found, design @ best, atol=1e-5)


def test_earlier_answers_help_and_agree():
    first = ask(MemorySource(people()), SCHEMA, [by("sex", "ill")], Fraction(1), Ledger(9), as_rng(1))
    second = ask(MemorySource(people()), SCHEMA, [by("sex")], Fraction(1), Ledger(9), as_rng(2))
    (alone,) = consistent(second)
    np.testing.assert_array_equal(alone.counts, second[0].counts)
    (later,), (table,) = consistent(second, [first]), consistent(first, [second])
    np.testing.assert_allclose(later.counts, table.counts.sum(axis=1), atol=1e-6)
    assert table.variance == first[0].variance
    other = Answers(first.answers, first.receipt, SCHEMA.replace(records=7))
    with pytest.raises(ParameterError, match="another schema"):
        consistent(second, [other])


def test_cells_that_no_record_can_be_in_are_zero_and_counts_can_be_plain():
    queries = [by("sex", where=WOMEN)]
    given = noisy(queries, [np.array([5, -3, 2])])
    (estimate,) = consistent(given)
    assert estimate.counts.tolist() == [5, 0, 0]
    given = noisy([by("ill"), by("ill", "sex")], [np.array([-4, 7]), np.array([[1, 2, 0], [0, -9, 3]])])
    for estimate in consistent(given, nonnegative=True, rounded=True):
        assert (estimate.counts >= 0).all()
        assert (estimate.counts == np.round(estimate.counts)).all()


def test_answers_without_noise_decide():
    exactly, roughly = exact([by("sex")]), noisy([by()], [np.array(3)])
    (estimate,) = consistent(Answers(roughly.answers, exactly.receipt, SCHEMA), [exactly])
    assert estimate.counts.item() == exactly[0].counts.sum()
