"""The log of requests: six fields, none of which anybody can put a value into."""

import json

import pytest

from discreet.service.web.logs import BUCKETS, bucket
from support.service_world import PASSWORD, TRAIN, world

CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made


def test_nothing_that_is_sent_is_logged(service):
    release = service.facts["release"]
    with service.client("ana", **{"User-Agent": CANARY, "Idempotency-Key": CANARY, "X-Other": CANARY}) as client:
        client.get(f"/{CANARY}", params={CANARY: CANARY})
        client.get(f"/datasets/{CANARY}", params={"version": CANARY})
        client.post("/jobs", json={"dataset": CANARY, "request": TRAIN})
        client.post("/jobs", json={"dataset": "patients", "request": {**TRAIN, "model": CANARY}})
        client.post("/sessions", json={"name": CANARY, "password": CANARY})
        client.post(f"/releases/{release}/predict", json={"records": [{"age": 1, "sex": CANARY}]})
        client.post(f"/releases/{release}/predict", json={"records": [{CANARY: CANARY}]})
        client.request("CANARY-7F3A", "/me")
    with service.client("olga") as client:
        assert CANARY not in client.get("/metrics").text.lower()
    text = service.log.getvalue()
    assert CANARY not in text.lower()
    assert PASSWORD not in text
    assert not any(token in text for token in service.tokens.values())


def test_a_line_has_these_fields(service):
    with service.client("ana") as client:
        client.get("/jobs/" + service.facts["released_job"])
    line = json.loads(service.log.getvalue().splitlines()[-1])
    assert line.pop("id")
    assert line.pop("timestamp")
    assert line.pop("duration") in {bucket(each) for each in BUCKETS}
    assert line == {
        "event": "request",
        "level": "info",
        "method": "GET",
        "route": "/api/v1/jobs/{job_id}",
        "status": 200,
        "person": service.people["ana"].id,
    }


def test_durations_are_logged_in_buckets():
    assert [bucket(each) for each in (0.0, 0.01, 0.011, 10.0, 11.0)] == [
        "<=0.01s",
        "<=0.01s",
        "<=0.03s",
        "<=10s",
        ">10s",
    ]
