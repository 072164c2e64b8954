"""Problems: a closed list, with a remedy each; nothing that was sent comes back, nothing unexpected is told."""

import json

import pytest
from sqlalchemy import text

from discreet.service import job_views
from discreet.service.problems import MEDIA_TYPE, Problem, Problems
from discreet.service.web.headers import HEADERS, LARGEST_BODY
from support.service_world import TRAIN, world

CANARY = "canary-7f3a"
DEEP = "[" * 5000 + "]" * 5000


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made


def asked(**changes):
    return {"dataset": "patients", "request": TRAIN} | changes


def test_every_problem_says_what_to_do():
    for each in Problems:
        body = Problem(each).body()
        assert body["type"] == f"/problems/{each.kind.name}"
        assert 400 <= body["status"] < 600
        assert all(isinstance(body[name], str) and body[name] for name in ("title", "detail", "remedy"))
    assert len({each.kind.name for each in Problems}) == len(Problems)


BAD = {
    "not JSON": ("{", 400, "malformed"),
    "another shape": ("[]", 422, "invalid-request"),
    "nested too deeply": (DEEP, (400, 422), None),
    "unknown entry": (asked(extra=CANARY), 422, "invalid-request"),
    "unknown kind": (asked(request={"kind": CANARY}), 422, "invalid-request"),
    "unknown model": (asked(request={**TRAIN, "model": CANARY}), 422, "invalid-request"),
    "unknown parameter": (asked(request={**TRAIN, "parameters": {"seed": 1}}), 422, "invalid-request"),
    "negative epsilon": (asked(request={**TRAIN, "epsilon": "-1"}), 422, "invalid-request"),
    "infinite epsilon": (asked(request={**TRAIN, "epsilon": "inf"}), 422, "invalid-request"),
    "text for epsilon": (asked(request={**TRAIN, "epsilon": CANARY}), 422, "invalid-request"),
    "unknown data set": (asked(dataset="nowhere"), 404, "not-found"),
    "data set that is not ready": (asked(dataset="drafting"), 404, "not-found"),
    "name with a slash": (asked(dataset="../etc"), 422, "invalid-request"),
    "unknown project": (asked(project="other"), 403, "not-allowed"),
    "unknown version": (asked(version=99), 404, "not-found"),
    "release that is not there": (
        asked(request={"kind": "score", "release": "0" * 8 + "-0000-0000-0000-" + "0" * 12, "epsilon": "1"}),
        422,
        "invalid-request",
    ),
    "more than the grant has": (asked(request={**TRAIN, "epsilon": "0.2", "model": "auto"}), 201, None),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_requests_are_refused_by_name_and_rule(service, case):
    body, status, kind = BAD[case]
    sent = body if isinstance(body, str) else json.dumps(body)
    with service.client(
        "ana", **{"Idempotency-Key": "bad-" + case.replace(" ", "-"), "Content-Type": "application/json"}
    ) as client:
        answer = client.post("/jobs", content=sent)
    assert answer.status_code in (status if isinstance(status, tuple) else (status,)), answer.text
    if answer.status_code != 201:
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert CANARY not in answer.text
        assert answer.json()["remedy"]
    if kind is not None:
        assert answer.json()["type"] == f"/problems/{kind}"


def test_a_request_needs_a_key_and_the_key_belongs_to_it(service):
    with service.client("ana") as client:
        assert client.post("/jobs", json=asked()).json()["type"] == "/problems/idempotency-key-needed"
        first = client.post("/jobs", json=asked(), headers={"Idempotency-Key": "mine"})
        again = client.post("/jobs", json=asked(), headers={"Idempotency-Key": "mine"})
        other = client.post(
            "/jobs", json=asked(request={**TRAIN, "epsilon": "0.05"}), headers={"Idempotency-Key": "mine"}
        )
    assert (first.status_code, again.status_code, other.status_code) == (201, 200, 409)
    assert first.json()["id"] == again.json()["id"]
    assert other.json()["type"] == "/problems/key-used"


def test_a_budget_that_is_short_names_the_account_and_no_balance(service):
    with service.client("olga") as client:
        account = client.get(f"/accounts/{service.facts['account']}").json()
        used = float(account["reserved"]) + float(account["spent"])
        assert client.patch(f"/accounts/{account['id']}", json={"limit": f"{used:.9f}"}).status_code == 200
    with service.client("ana", **{"Idempotency-Key": "short"}) as client:
        answer = client.post("/jobs", json=asked())
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/budget-short")
    assert "ana/patients" in answer.json()["detail"]
    with service.client("olga") as client:
        client.patch(f"/accounts/{account['id']}", json={"limit": "50"})


@pytest.mark.parametrize("stated", [True, False])
def test_a_request_that_is_too_large_is_refused(service, stated):
    body = b"x" * (LARGEST_BODY + 1)
    parts = body if stated else iter([body[:1000], body[1000:]])
    with service.client("ana", **{"Content-Type": "application/json"}) as client:
        answer = client.post("/quotes", content=parts)
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-large")


def test_what_is_unexpected_is_told_by_an_identifier_alone(service, monkeypatch):
    def broken(*_args, **_kwargs):
        raise RuntimeError(CANARY)

    monkeypatch.setattr(job_views, "list_jobs", broken)
    before = len(service.log.getvalue())
    with service.client("ana") as client:
        answer = client.get("/jobs")
    body = answer.json()
    assert (answer.status_code, body["type"]) == (500, "/problems/internal")
    lines = [json.loads(line) for line in service.log.getvalue()[before:].splitlines()]
    (failure,) = (line for line in lines if line["event"] == "failure")
    assert failure["id"] in body["detail"]
    assert failure["cause"] == "RuntimeError"
    assert CANARY not in service.log.getvalue() + answer.text


def test_a_lost_database_is_503(tmp_path):
    with world(tmp_path) as service:
        with service.writing() as connection:
            connection.execute(text("DROP TABLE log"))
            connection.execute(text("ALTER TABLE tokens RENAME TO gone"))
        with service.client("ana") as client:
            answer = client.get("/me")
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/unavailable")
            assert "gone" not in answer.text
            assert client.get("/health/live").status_code == 200


def test_every_answer_has_the_security_headers(service):
    with service.client() as client:
        for path in ("/me", "/health/live", "/nowhere", "/openapi.json"):
            headers = client.get(path).headers
            assert {name: headers[name] for name in HEADERS} == HEADERS
            assert headers["cache-control"] == "no-store"
            assert "strict-transport-security" not in headers
    assert "unsafe" not in HEADERS["content-security-policy"]


def test_other_addresses_and_methods_are_problems_too(service):
    with service.client("ana") as client:
        assert client.get("/nowhere").json()["type"] == "/problems/not-found"
        answer = client.put("/jobs")
        assert (answer.status_code, answer.json()["type"]) == (405, "/problems/method-not-allowed")
        assert answer.headers["allow"]
