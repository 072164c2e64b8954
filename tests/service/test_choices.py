"""A request that asks which columns are best: what it may name, what it costs, and that models use it from afar."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, Numeric, OneRule, Schema
from discreet.client.dataset import RemoteDataset
from discreet.released.answers import Answers
from discreet.service.child import answer
from discreet.service.errors import RequestError
from discreet.service.fitting import planned_counts
from discreet.service.requests import plain, read_request

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])], "ill", ["no", "yes"], records=600)
BEST = {"candidates": [{"column": "age", "bins": 8}, {"column": "smoker"}], "wanted": 1}


def request(choose: Any = BEST, **more: Any) -> dict[str, Any]:
    return {"kind": "count", "epsilon": "1/2", "choose": choose, **more}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("snapshot") / "t.parquet"
    smokes = ["yes", "no", "no"] * 200
    pq.write_table(pa.table({"age": np.arange(600.0) % 90, "smoker": smokes, "ill": smokes}), path)
    return str(path)


def job(content: dict[str, Any], snapshot: str) -> dict[str, Any]:
    facts = {"kind": "count", "schema": SCHEMA.to_dict(), "request": content, "snapshot": snapshot}
    return answer({**facts, "epsilon": content["epsilon"]})


def test_the_best_column_and_nothing_else_is_released(snapshot: str) -> None:
    found = job(request(), snapshot)
    answers = Answers.from_dict(found["content"])
    assert answers.chosen == ("smoker",)
    assert answers.answers == ()
    assert answers.receipt.epsilon == Fraction(1, 2)
    assert found["card"]["guarantee"]["holds"]


@pytest.mark.parametrize(
    "content",
    [
        request(queries=[{"by": [{"column": "ill"}]}]),
        request(None),
        {"kind": "count", "epsilon": "1"},
        request({**BEST, "wanted": 0}),
        request({**BEST, "wanted": 3}),
        request({"candidates": []}),
        request({"candidates": [{"column": "elsewhere"}]}),
        request({"candidates": [{"column": "age"}]}),
        request({"candidates": [{"column": "smoker", "bins": 3}]}),
        request({"candidates": [{"right": 3, "of": 2}]}),
        request({"candidates": [{"column": "smoker", "weights": [1]}]}),
        request({"candidates": [{"column": "smoker", "text": "x"}]}),
        request({"candidates": [{}]}),
        request({**BEST, "more": 1}),
    ],
)
def test_what_is_no_choice_is_refused(content: Any) -> None:
    with pytest.raises(RequestError):
        planned_counts(read_request(content), SCHEMA)  # type: ignore[arg-type]


def test_a_choice_is_plain_data() -> None:
    read = read_request(request())
    assert read_request(plain(read)) == read
    assert planned_counts(read, SCHEMA) == []  # type: ignore[arg-type]


class Afar(RemoteDataset):
    """A data set whose jobs run here, at once: only the way over the network is left out."""

    def __init__(self, snapshot: str) -> None:
        self._schema, self._snapshot, self.requests = SCHEMA, snapshot, []

    def submit(self, content: dict[str, Any], *, key: str | None = None) -> Any:
        self.requests.append(content)
        found = job(plain(read_request(content)), self._snapshot)
        return type("Job", (), {"wait": lambda own, _: own, "content": lambda _: found["content"]})()


@pytest.mark.parametrize("model", [OneRule(SCHEMA, epsilon=2), NaiveBayes(SCHEMA, epsilon=8, select=1)], ids=repr)
def test_models_ask_for_the_best_column_first(model: Any, snapshot: str) -> None:
    afar = Afar(snapshot)
    model.fit_from(afar)
    assert "choose" in afar.requests[0]
    assert [len(each.get("queries", ())) for each in afar.requests] == [0, 1]
    assert model.guarantee_.holds
    assert model.receipt_.epsilon == model.epsilon
    records = [{"age": 30, "smoker": each} for each in ("yes", "no")]
    assert model.predict(records).tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("candidates", "wanted", "word"),
    [
        ([{"column": "smoker"}] * 4096, 4096, "candidates times wanted"),
        ([{"column": "age", "bins": 2 + place} for place in range(4096)], 1, "fewer bins"),
    ],
)
def test_a_choice_that_would_take_long_is_refused_before_it_is_planned(
    candidates: list[Any], wanted: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.doors.choice.planned_choice", None)
    with pytest.raises(RequestError, match=word):
        planned_counts(read_request(request({"candidates": candidates, "wanted": wanted})), SCHEMA)
