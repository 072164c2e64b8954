"""Predictions by a released model: like the model's own, and without a trace."""

import sqlite3

import pytest

from discreet.models.loading import from_dict
from support.service_world import world

CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made


def path(service, end="predict"):
    return f"/releases/{service.facts['release']}/{end}"


def test_the_service_predicts_what_the_model_predicts(service):
    records = [{"age": 70, "sex": "M"}, {"age": 20, "sex": "F"}, {"age": None, "sex": "other"}, {"sex": "M"}]
    with service.client("ana") as client:
        model = from_dict(client.get(path(service, "content")).json())
        found = client.post(path(service), json={"records": records}).json()
    columns = {"age": [70, 20, float("nan"), float("nan")], "sex": ["M", "F", "other", "M"]}
    assert [each["prediction"] for each in found] == model.predict(columns).tolist()
    for each, row in zip(found, model.predict_proba(columns).tolist(), strict=True):
        assert list(each["probabilities"].values()) == pytest.approx(row, rel=1e-5)


def test_a_file_is_answered_in_its_order(service):
    body = "age,sex\r\n70,M\r\n20,F\r\n,\r\n"
    with service.client("ana", **{"Content-Type": "text/csv"}) as client:
        answer = client.post(path(service, "predict.csv"), content=body)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    header, *lines = answer.text.splitlines()
    assert header == "prediction,p(no),p(yes)"
    assert len(lines) == 3


@pytest.mark.parametrize(
    "body",
    ["", "age,sex\n", "age,age\n1,2\n", "age,sex\n1\n", f'age,sex\n"{CANARY}', f"{CANARY}\n1\n", b"\xff\xfe\x00"],
)
def test_a_file_that_is_none_is_refused_without_quoting_it(service, body):
    with service.client("ana", **{"Content-Type": "text/csv"}) as client:
        answer = client.post(path(service, "predict.csv"), content=body)
    assert answer.status_code == 422
    assert CANARY not in answer.text


def test_only_csv_is_read_as_csv(service):
    with service.client("ana") as client:
        assert client.post(path(service, "predict.csv"), json={}).status_code == 415


def test_records_leave_no_trace(service):
    """Not in the answer to a refusal, the log, nor any byte of the database."""
    records = [{"age": 31.4159, "sex": CANARY}]
    with service.client("ana", **{"X-Note": "x"}) as client:
        assert client.post(path(service), json={"records": records}).status_code == 200
        refused = client.post(path(service), json={"records": [{"age": 1, CANARY: CANARY}]})
        assert client.post(path(service, "predict.csv"), content=f"age,sex\n1,{CANARY}\n").status_code == 415
    assert refused.status_code == 422
    assert CANARY not in refused.text + service.log.getvalue()
    with sqlite3.connect(service.settings.folder / "discreet.db") as database:
        dump = "\n".join(database.iterdump())
    database.close()
    assert CANARY not in dump
    for file in service.settings.folder.rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes(), file
