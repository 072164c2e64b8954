"""Attacks on whole fits, the same for every private estimator; mutants of each that the attacks must catch."""

from __future__ import annotations

import gc
import json
import math
import re
import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Ledger, Numeric, load
from discreet.errors import BudgetError, DataError
from discreet.models.classifier import PrivateClassifier
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.mechanisms.smooth import SmoothCauchy
from discreet.privacy.steps import Step
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.file import open_file
from support.estimators import DEALT, PRIVATE
from support.neighbours import ADJACENCIES, BASE, EDGES, ODD, neighbours, schema
from support.replay import replay, visible

every_estimator = pytest.mark.parametrize("name", PRIVATE)


def made(name: str, adjacency: str = "add-remove", records: int | None = 40, **parameters: Any) -> Any:
    return PRIVATE[name](schema(adjacency, records), **{"epsilon": 1.0, "random_state": 7, **parameters})


def fitted(name: str, table: Any, *arguments: Any, **parameters: Any) -> Any:
    """A model of the table; its own warnings would be outputs, so they are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return made(name, *arguments, **parameters).fit(table)


@every_estimator
@pytest.mark.parametrize("records", [40, None])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whole_fit_stays_within_epsilon_and_leaks_nothing(
    name: str, adjacency: str, records: int | None, data: st.DataObject
) -> None:
    table, other = data.draw(neighbours(adjacency, reordered=name not in DEALT))
    loss, model, twin = replay(lambda rows: fitted(name, rows, adjacency, records), table, other)
    # Laplace losses are exact fractions; others are computed in floats
    assert loss <= 1 if isinstance(loss, Fraction) else loss <= 1 + 1e-6
    assert model.receipt_.epsilon == 1
    assert visible(model) == visible(twin)


@every_estimator
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, math.inf])
def test_edges_give_a_model_without_a_warning(name: str, edge: str, epsilon: float) -> None:
    model = fitted(name, EDGES[edge], epsilon=epsilon)
    known = set(schema().classes)
    assert set(model.predict(EDGES["far out"])) <= known
    assert set(model.predict([{**BASE, "open": value} for value in (None, math.nan, math.inf, "new", 3)])) <= known
    if model.probabilistic:
        assert np.allclose(model.predict_proba(EDGES["far out"]).sum(axis=1), 1)
    assert len(model.predict([])) == 0
    assert model.explain()


def _kinds(records: list[dict]) -> dict[str, Any]:
    columns = {name: [record[name] for record in records] for name in (*schema().names, "label")}
    return {
        "pandas": lambda: pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()}),
        "arrays": lambda: {name: np.array(values, dtype=object) for name, values in columns.items()},
        "rows": lambda: [[record[name] for name in schema().names] for record in records],
    }


@every_estimator
@pytest.mark.parametrize("kind", ["pandas", "arrays", "rows", "parquet", "csv"])
@pytest.mark.parametrize("records", [40, None])
def test_every_kind_of_table_stays_within_epsilon(
    name: str, kind: str, records: int | None, tmp_path: Any, capfd: Any
) -> None:
    """Replay on tables and files; and nothing is printed or logged."""
    odd = {"near": None, "far": 1e9, "open": "stray", "closed": None, "label": "z"}
    tables = ([BASE] * 30, [BASE] * 30 + [odd])

    def fit(rows: list[dict]) -> Any:
        model = made(name, records=records)
        if kind in ("parquet", "csv"):
            path = tmp_path / f"{len(rows)}.{kind}"
            frame = pd.DataFrame(rows).astype({"far": float, "near": float})
            frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
            return model.fit_from(open_file(path))
        if kind == "rows":
            return model.fit(_kinds(rows)[kind](), [record["label"] for record in rows])
        return model.fit(_kinds(rows)[kind]())

    loss, model, twin = replay(fit, *tables)
    assert loss <= 1 + 1e-6
    assert visible(model) == visible(twin)
    assert capfd.readouterr() == ("", "")


@every_estimator
def test_files_and_memory_give_one_model(name: str, tmp_path: Any) -> None:
    """With the same noise, wherever the records are."""
    records = [BASE] * 20 + [ODD] * 15 + EDGES["one record"] * 3
    pd.DataFrame(records).to_parquet(tmp_path / "t.parquet")
    here, there = made(name).fit(records), made(name).fit_from(open_file(tmp_path / "t.parquet"))
    assert visible(here) == visible(there)


@every_estimator
def test_large_tables_stay_within_epsilon(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """Many records, so that no branch on large counts goes unseen."""
    rows = 200_000
    columns = {each.name: 0.5 if isinstance(each, Numeric) else "stray" for each in schema().columns}
    table = {name: np.full(rows, value) for name, value in {**columns, "label": "x"}.items()}
    other = {name: values[:-1] for name, values in table.items()}
    loss, model, twin = replay(lambda data: made(name).fit(data), table, other)
    assert loss <= 1 + 1e-6
    assert visible(model) == visible(twin)
    assert not caplog.records


@every_estimator
def test_a_class_or_category_of_one_record_appears_nowhere(name: str) -> None:
    canary = "canary-7731"
    assert canary not in visible(fitted(name, [BASE] * 5 + [{**BASE, "open": canary, "label": canary}]))


@every_estimator
def test_the_exact_number_of_records_appears_nowhere(name: str) -> None:
    seen = visible(fitted(name, [BASE] * 7331, epsilon=0.01, records=None))
    assert not re.search(r"(?<![0-9.])7331(?![0-9.])", seen)


@every_estimator
def test_nothing_exact_outlives_a_fit(name: str) -> None:
    model = fitted(name, [BASE, ODD])
    gc.collect()
    exact = (ExactStatistics, ExactRows)
    assert not [thing for thing in gc.get_objects() if issubclass(type(thing), exact)]  # others may be dead proxies
    assert model.predict([BASE]).shape == (1,)


@every_estimator
def test_refitting_costs_again_and_a_refused_fit_costs_nothing(name: str) -> None:
    ledger = Ledger(1)
    model = made(name, epsilon=0.5)
    model.fit([BASE], ledger=ledger).fit([BASE], ledger=ledger)
    with pytest.raises(BudgetError, match="0 of 1 left"):
        model.fit([BASE], ledger=ledger)
    assert ledger.spent == 1


@every_estimator
@pytest.mark.parametrize("records", [40, None])
def test_a_ledger_that_cannot_pay_all_pays_nothing(name: str, records: int | None) -> None:
    ledger = Ledger(Fraction(999, 1000))
    with pytest.raises(BudgetError):
        made(name, records=records).fit([BASE], ledger=ledger)
    assert ledger.spent == 0


@every_estimator
@pytest.mark.parametrize("records", [40, None])
def test_a_missing_column_is_named_and_costs_nothing(name: str, records: int | None) -> None:
    ledger = Ledger(1)
    table = pd.DataFrame([BASE, ODD]).drop(columns="closed")
    with pytest.raises(DataError, match="closed"):
        made(name, records=records).fit(table, ledger=ledger)
    assert ledger.spent == 0


@every_estimator
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", ["1/3", 1e-3, 0.7, 25, math.inf])
def test_the_receipt_sums_to_epsilon_exactly(name: str, adjacency: str, epsilon: Any) -> None:
    for records in (40, None):
        ledger = Ledger(math.inf)
        model = made(name, adjacency, records, epsilon=epsilon).fit([BASE, ODD], ledger=ledger)
        expected = math.inf if epsilon == math.inf else Fraction(str(epsilon))
        assert model.receipt_.epsilon == ledger.spent == expected


@every_estimator
def test_a_model_survives_its_file(name: str, tmp_path: Any) -> None:
    model = made(name, random_state=None).fit([BASE] * 20 + [ODD] * 10)
    model.save(tmp_path / "m.json")
    twin = load(tmp_path / "m.json")
    probes = [BASE, ODD, *EDGES["far out"]]
    assert twin.predict(probes).tolist() == model.predict(probes).tolist()
    assert twin.explain() == model.explain()
    assert twin.guarantee_ == model.guarantee_
    assert repr(twin.receipt_) == repr(model.receipt_), "a scale may be NaN, which is not equal to itself"
    assert model.guarantee_.holds
    card = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["card"]
    assert sorted(card["attributes"] + card["not_asked"]) == sorted(schema().names)


@every_estimator
def test_an_attribute_with_one_category_or_a_schema_of_one_class(name: str) -> None:
    narrow = Schema([Categorical(each, ["a"], unlisted=False) for each in ("only", "also")], "label", ["x"], records=10)
    model = PRIVATE[name](narrow, epsilon=1.0).fit([{"only": "a", "also": "a", "label": "x"}] * 10)
    assert model.predict([{"only": "a", "also": "b"}]).tolist() == ["x"]


# Mutants: each breaks the guarantee in one way; the replay must notice.


def _weak_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the scale, in every mechanism: some of these neighbours cost a seventh of what others cost."""
    for kind in (DiscreteLaplace, PermuteAndFlip):
        original = kind.calibrated.__func__

        def weakened(cls: Any, *arguments: Any, _original: Any = original, **keywords: Any) -> Any:
            return cls(_original(cls, *arguments, **keywords).scale / 8)

        monkeypatch.setattr(kind, "calibrated", classmethod(weakened))
    for objective in (ObjectivePerturbation, MulticlassPerturbation):

        def weaker(cls: Any, *arguments: Any, _original: Any = objective.calibrated.__func__) -> Any:
            strong = _original(cls, *arguments)
            return replace(strong, scales=tuple(scale / 8 for scale in strong.scales))

        monkeypatch.setattr(objective, "calibrated", classmethod(weaker))
    made = SmoothCauchy.__init__
    monkeypatch.setattr(SmoothCauchy, "__init__", lambda self, epsilon: made(self, 4 * epsilon))


def _attribute_with_exact_count(monkeypatch: pytest.MonkeyPatch) -> None:
    original = PrivateClassifier._fit

    def leaking(self: Any, source: Any, *rest: Any) -> Any:
        original(self, source, *rest)
        self.n_samples_seen_ = len(source._X)
        return self

    monkeypatch.setattr(PrivateClassifier, "_fit", leaking)


def _epsilon_from_data(monkeypatch: pytest.MonkeyPatch) -> None:
    original = PrivateClassifier._fit

    def peeking(self: Any, source: Any, *rest: Any) -> Any:
        self.epsilon = 0.5 + 0.5 * (len(source._X) % 2)
        return original(self, source, *rest)

    monkeypatch.setattr(PrivateClassifier, "_fit", peeking)


def _error_on_stray(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Cells.codes

    def refusing(self: Cells, values: np.ndarray, given: Schema) -> np.ndarray:
        if any(value == "stray" for value in values.tolist()):
            raise ValueError("unlisted category")
        return original(self, values, given)

    monkeypatch.setattr(Cells, "codes", refusing)


def _exact_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes that are named after what the data hold."""
    original = PrivateClassifier._fit

    def naming(self: Any, source: Any, *rest: Any) -> Any:
        original(self, source, *rest)
        self.classes_seen_ = sorted({record["label"] for record in source._X})
        return self

    monkeypatch.setattr(PrivateClassifier, "_fit", naming)


MUTANTS = [_weak_noise, _attribute_with_exact_count, _epsilon_from_data, _error_on_stray, _exact_labels]


@pytest.mark.slow
@every_estimator
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__.strip("_"))
def test_replay_catches_mutant(name: str, mutant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Step, "check", lambda *_: None)  # the replay has to notice by itself
    mutant(monkeypatch)
    low = {"near": -1, "far": 100, "open": "a", "closed": "a", "label": "x"}
    high = {"near": 1, "far": 101, "open": "stray", "closed": "b", "label": "y"}
    caught = 0
    for table, other in [([low, high], [low]), ([low], []), ([high] * 4, [high] * 3)]:
        try:
            loss, model, twin = replay(lambda rows: fitted(name, rows, records=1000), table, other)
            caught += loss > 1 + 1e-6 or visible(model) != visible(twin)
        except Exception:  # any difference between neighbours that can be seen
            caught += 1
    assert caught
