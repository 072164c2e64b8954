"""What test_attacks.py does not ask of every estimator: naive Bayes to the last bit, black boxes, regressions."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import Ledger, NaiveBayes, Numeric, Schema
from discreet.audit import lower_bound
from discreet.doors.counts import release
from discreet.errors import BudgetError, ParameterError
from discreet.models.naive_bayes import naive_bayes
from discreet.models.naive_bayes import plan as naive_bayes_plan
from discreet.privacy.mechanisms import laplace
from discreet.privacy.randomness import SecureRandomness, as_rng
from discreet.privacy.steps import Step
from discreet.queries.tables import Counts, SoftCounts, SplineCounts, bernstein, splines
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource
from support.neighbours import ADJACENCIES, BASE, ODD, schema
from support.replay import Passage, recorded, replay, visible

NUMERIC = ("histogram", "gaussian", "smooth")


def fitted(table: list[dict], adjacency: str = "add-remove", **parameters: Any) -> NaiveBayes:
    """A model of the table; its own warnings would be outputs, so they are errors."""
    records = parameters.pop("records", 40)
    model = NaiveBayes(schema(adjacency, records), random_state=7, **{"epsilon": 1.0, "select": None, **parameters})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model.fit(table)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("numeric", ["histogram", "gaussian"])
def test_the_bound_is_attained(numeric: str, adjacency: str) -> None:
    """The noise is not larger than it has to be: some neighbours cost the whole epsilon (to the float of the scale)."""
    record = {"near": -1, "far": 100, "open": "a", "closed": "a", "label": "x"}
    flipped = {**record, "label": "y", "near": 1, "far": 101}
    table, other = ([record], []) if adjacency == "add-remove" else ([record], [flipped])
    loss, *_ = replay(lambda rows: fitted(rows, adjacency, numeric=numeric, records=1000), table, other)
    assert 1 - Fraction(1, 10**12) <= loss <= 1


# Mutants: each breaks the guarantee in one way; the replay must notice.


def _half_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    original = laplace.DiscreteLaplace.calibrated.__func__
    halved = classmethod(lambda cls, epsilon, distance: cls(original(cls, epsilon, distance).scale / 2))
    monkeypatch.setattr(laplace.DiscreteLaplace, "calibrated", halved)


def _no_composition(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lambda epsilon, weights: [epsilon] * len(weights)  # noqa: E731
    monkeypatch.setattr(naive_bayes_plan, "split_by_weight", whole)


def _forgotten_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    def unclipped(self: SoftCounts, counts: np.ndarray, given: Schema) -> np.ndarray:
        grid = counts.shape[1] - 1
        high = np.arange(grid + 1) * 3
        low = grid - high
        return counts @ np.stack([low * low, 2 * low * high, high * high], axis=1)

    monkeypatch.setattr(SoftCounts, "fold", unclipped)


def _one_sided_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace-one billed as add-remove: the mistake of four of the five papers."""
    original = naive_bayes_plan.laplace_steps
    careless = lambda q, s, sch: original(q, s, sch.replace(adjacency="add-remove"))  # noqa: E731
    monkeypatch.setattr(naive_bayes_plan, "laplace_steps", careless)


def _scale_from_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise that shrinks with the private number of records, as in Lopuhaä 2021."""
    original = naive_bayes.NaiveBayes._fit

    def peeking(self: Any, source: Any, *rest: Any) -> Any:
        rows = len(source._X)
        with pytest.MonkeyPatch.context() as inner:
            calibrated = laplace.DiscreteLaplace.calibrated.__func__
            inner.setattr(
                laplace.DiscreteLaplace,
                "calibrated",
                classmethod(lambda cls, e, d: cls(calibrated(cls, e, d).scale * (1 + rows))),
            )
            return original(self, source, *rest)

    monkeypatch.setattr(naive_bayes.NaiveBayes, "_fit", peeking)


def _bins_from_data(monkeypatch: pytest.MonkeyPatch) -> None:
    original = naive_bayes.NaiveBayes._fit

    def peeking(self: Any, source: Any, *rest: Any) -> Any:
        self.bins = 4 + len(source._X) % 2
        return original(self, source, *rest)

    monkeypatch.setattr(naive_bayes.NaiveBayes, "_fit", peeking)


def _attribute_with_exact_count(monkeypatch: pytest.MonkeyPatch) -> None:
    original = naive_bayes.NaiveBayes._fit

    def leaking(self: Any, source: Any, *rest: Any) -> Any:
        original(self, source, *rest)
        self.n_samples_seen_ = len(source._X)
        return self

    monkeypatch.setattr(naive_bayes.NaiveBayes, "_fit", leaking)


def _double_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counts, "fold", lambda self, counts, given: 2 * counts)


def _error_on_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Cells.codes

    def refusing(self: Cells, values: np.ndarray, given: Schema) -> np.ndarray:
        if any(value == "stray" for value in values.tolist()):
            raise ValueError("unlisted category")
        return original(self, values, given)

    monkeypatch.setattr(Cells, "codes", refusing)


MUTANTS = {
    _half_noise: ("histogram", "add-remove"),
    _no_composition: ("histogram", "add-remove"),
    _forgotten_clip: ("gaussian", "add-remove"),
    _one_sided_sensitivity: ("histogram", "replace-one"),
    _scale_from_data: ("histogram", "add-remove"),
    _bins_from_data: ("histogram", "add-remove"),
    _attribute_with_exact_count: ("histogram", "add-remove"),
    _double_count: ("histogram", "add-remove"),
    _error_on_stray: ("histogram", "add-remove"),
}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__.strip("_"))
def test_replay_catches_mutant(mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    numeric, adjacency = MUTANTS[mutant]
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    mutant(monkeypatch)
    low = {"near": -1, "far": 100, "open": "a", "closed": "a", "label": "x"}
    high = {"near": 1, "far": 101, "open": "stray", "closed": "b", "label": "y"}
    pairs = {
        "add-remove": [([low, high], [low]), ([low], []), ([high] * 4, [high] * 3)],
        "replace-one": [([low, low], [low, high])],
    }
    caught = 0
    for table, other in pairs[adjacency]:
        try:
            fit = lambda rows: fitted(rows, adjacency, numeric=numeric, records=1000)  # noqa: E731
            loss, model, twin = replay(fit, table, other)
            caught += loss > 1 or visible(model) != visible(twin)
        except (AssertionError, ValueError, BudgetError):
            caught += 1
    assert caught


# Black box: many fits on two neighbours, numbers from each published model.

BLACK_BOX = {
    "add-remove": ([BASE] * 20, [BASE] * 20 + [ODD] * 1),
    "replace-one": ([BASE] * 20, [BASE] * 19 + [{**BASE, "label": "x"}]),
}
STATED = {"histogram": 40, "gaussian": 1000}
"""Number of records in the schema. With 40 no number is published and an audit sees most; with 1000 all columns are."""


def _published(model: NaiveBayes) -> np.ndarray:
    """All cells of the noisy tables, in units of their stated noise."""
    return np.concatenate([each.values.ravel() / (each.variance or 1.0) ** 0.5 for _, each in model.noisy_.tables])


def _scores(adjacency: str, numeric: str, runs: int = 1000) -> list[np.ndarray]:
    """For each neighbour, a row per model with two numbers: the log-likelihood ratio of its noisy tables, up to a
    factor, which no attack on these tables can do better than; and how much the model speaks for class x at the record
    that tells the neighbours apart."""
    probe = [{"near": 1, "far": 101, "open": "b", "closed": "b"}]
    model = NaiveBayes(schema(adjacency, STATED[numeric]), epsilon=1.0, numeric=numeric, select=None)
    with pytest.MonkeyPatch.context() as silent:
        silent.setattr(laplace.DiscreteLaplace, "perturb", lambda self, table, rng: table)
        exact = np.stack([_published(model.fit(table)) for table in BLACK_BOX[adjacency]])
    scores = np.empty((2, runs, 2))
    for place, table in enumerate(BLACK_BOX[adjacency]):
        model.random_state = np.random.default_rng(place)
        for run in range(runs):
            apart = np.abs(_published(model.fit(table)) - exact).sum(axis=1)
            joint = model.predict_joint_log_proba(probe)[0]
            scores[place, run] = apart[1] - apart[0], joint[0] - joint[1]
    return list(scores)


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("numeric", STATED)
def test_black_box_finds_no_more_than_epsilon(numeric: str, adjacency: str) -> None:
    first, second = _scores(adjacency, numeric)
    for number in range(2):
        bound = lower_bound(first[:, number], second[:, number])
        assert bound.epsilon <= 1, bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numeric", "factor"),
    [("histogram", 0.0), ("histogram", 0.1), ("histogram", 0.2), ("histogram", 0.5), ("gaussian", 0.2)],
)
def test_black_box_catches_too_little_noise(numeric: str, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    original = laplace.DiscreteLaplace.calibrated.__func__
    weak = classmethod(lambda cls, e, d: cls(original(cls, e, d).scale * factor))
    monkeypatch.setattr(Step, "check", lambda *_: None)
    monkeypatch.setattr(laplace.DiscreteLaplace, "calibrated", weak)
    first, second = _scores("add-remove", numeric)
    bound = lower_bound(first[:, 0], second[:, 0])
    assert bound.epsilon > 1, bound


# Regressions for attacks that broke others.


def test_diffprivlib_gaussian_event() -> None:
    """Twenty records at the lower bound of [100, 101], one label flipped: it breaks diffprivlib's GaussianNB."""
    column = Schema([Numeric("v", 100, 101)], "c", ["x", "y"], adjacency="replace-one", records=20)
    table = [{"v": 100.0, "c": "x"}] * 10 + [{"v": 100.0, "c": "y"}] * 10
    flipped = [*table[:-1], {"v": 100.0, "c": "x"}]
    for numeric in NUMERIC:
        fit = lambda rows: NaiveBayes(column, epsilon=1.0, numeric=numeric, random_state=3).fit(rows)  # noqa: B023, E731
        loss, model, twin = replay(fit, table, flipped)
        assert loss <= 1 + 1e-6
        assert visible(model) == visible(twin)


def test_published_numbers_are_integers_on_one_lattice() -> None:
    """Mironov 2012 tells neighbours apart by the floats that noise can reach; integers reach all integers alike."""
    for numeric in ("histogram", "gaussian"):
        passages: list[Passage] = []
        with recorded(passages):
            fitted([BASE, ODD], numeric=numeric)
        for passage in passages:
            assert passage.entered.dtype.kind == passage.left.dtype.kind == "i"
            noise = passage.left - passage.entered
            assert np.gcd.reduce(noise.ravel()) == 1, "the noise must reach every integer, not a coarser lattice"


# What small tables of dicts alone would not show.


@pytest.mark.parametrize("numeric", ["histogram", "gaussian"])
def test_large_tables_stay_within_epsilon(numeric: str, caplog: pytest.LogCaptureFixture) -> None:
    """Two million records, so that no branch on large counts goes unseen: exact counts differ by one record only."""
    rows = 2_000_000
    columns = {each.name: 0.5 if isinstance(each, Numeric) else "stray" for each in schema().columns}
    table = {name: np.full(rows, value) for name, value in {**columns, "label": "x"}.items()}
    other = {name: values[:-1] for name, values in table.items()}
    fit = lambda data: NaiveBayes(schema(), epsilon=1.0, numeric=numeric, random_state=7).fit(data)  # noqa: E731
    loss, model, twin = replay(fit, table, other)
    assert loss <= 1
    assert visible(model) == visible(twin)
    assert not caplog.records


@pytest.mark.parametrize("scale", [1e3, 1e6])
def test_secure_noise_reaches_every_integer(scale: float) -> None:
    draws = SecureRandomness().discrete_laplace(scale, (200,))
    assert np.gcd.reduce(draws) == 1
    assert draws.std() > scale / 2


@pytest.mark.parametrize("bins", [2, 8, 9, 16, 17, 31, 32, 33, 64, 127])
def test_every_number_of_bins_has_its_unit(bins: int) -> None:
    """The default uses up to 32 bins: a wrong unit would halve the noise unseen."""
    assert (splines(bins).sum(axis=1) == SplineCounts("near", bins).unit(schema())).all()
    assert SplineCounts("near", bins).distance(schema()) == splines(bins).sum(axis=1).max()


@pytest.mark.parametrize("grid", [2, 2048, 65_000])
def test_every_grid_has_its_unit(grid: int) -> None:
    wide = Schema([Numeric("v", 0, 1, grid=grid)], "c", ["x"])
    assert (bernstein(grid).sum(axis=1) == SoftCounts("v").unit(wide)).all()


def test_an_uncalibrated_step_is_refused() -> None:
    plan = [Step(Counts("open"), laplace.DiscreteLaplace(0.0), Fraction(1, 10**9))]
    ledger = Ledger(1)
    with pytest.raises(ParameterError, match="costs more"):
        release(MemorySource([BASE]), schema(), plan, ledger, as_rng(0))
    assert ledger.spent == 0
