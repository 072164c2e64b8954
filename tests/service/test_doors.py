"""Every endpoint of the API × every kind of caller: the table says what each is answered."""

import pytest

from discreet.service.app import ROUTERS
from support.service_world import PASSWORD, SCHEMA, TRAIN, world

CALLERS = ("aud", "bob", "ana", "olga")
"""Auditor, analyst without and with a grant, owner; in this order, so that what succeeds does so last where it can."""
NOBODY = (None, "dis", "expired", "revoked", "forged")
"""Anonymous, disabled, and tokens that are not in force: 401 at every endpoint that is not public."""
NOWHERE = "00000000-0000-0000-0000-000000000000"
LINK = {"link": "x" * 43, "name": "new", "display": "New", "password": PASSWORD}
GRANT = {"project": "study", "person": "ana", "dataset": "patients", "limit": "1"}
DATASET = {"name": "more", "title": "More", "population": "clinic", "limit": "1", "source": "visits", "target": "ill"}
RECORDS = {"records": [{"age": 70, "sex": "M"}]}
ASKED = {"dataset": "patients", "request": TRAIN}
ONLY_OWNER = (403, 403, 403)

PUBLIC = {
    ("POST", "/sessions"): ({"name": "olga", "password": PASSWORD}, 201),
    ("POST", "/links/use"): (LINK, 410),
    ("GET", "/health/live"): (None, 200),
    ("GET", "/health/ready"): (None, 200),
}
"""What nobody in particular may do, and how it ends."""

TABLE = {
    ("DELETE", "/sessions/current"): ("", None, (204, 204, 204, 204)),
    ("GET", "/me"): ("", None, (200, 200, 200, 200)),
    ("GET", "/me/csrf"): ("", None, (200, 200, 200, 200)),
    ("GET", "/tokens"): ("", None, (200, 200, 200, 200)),
    ("POST", "/tokens"): ("", {"name": "t", "scopes": ["read"]}, (201, 201, 201, 201)),
    ("DELETE", "/tokens/{number}"): ("/tokens/9999", None, (404, 404, 404, 404)),
    ("GET", "/people"): ("", None, (*ONLY_OWNER, 200)),
    ("POST", "/invitations"): ("", {"role": "analyst"}, (*ONLY_OWNER, 201)),
    ("POST", "/people/{number}/reset"): ("/people/{bob}/reset", None, (*ONLY_OWNER, 201)),
    ("PATCH", "/people/{number}"): ("/people/{bob}", {"roles": ["analyst"]}, (*ONLY_OWNER, 200)),
    ("GET", "/populations"): ("", None, (200, 403, 403, 200)),
    ("POST", "/populations"): ("", {"name": "p", "limit": "1", "adjacency": "add-remove"}, (*ONLY_OWNER, 201)),
    ("GET", "/sources"): ("", None, (*ONLY_OWNER, 200)),
    ("GET", "/datasets"): ("", None, (403, 200, 200, 200)),
    ("POST", "/datasets"): ("", DATASET, (*ONLY_OWNER, 201)),
    ("GET", "/datasets/{name}"): ("/datasets/drafting", None, (403, 404, 404, 200)),
    ("DELETE", "/datasets/{name}"): ("/datasets/drafting", None, (*ONLY_OWNER, 200)),
    ("GET", "/datasets/{name}/schema"): ("/datasets/patients/schema", None, (403, 200, 200, 200)),
    ("GET", "/datasets/{name}/dummy"): ("/datasets/patients/dummy", None, (403, 200, 200, 200)),
    ("GET", "/datasets/{name}/versions"): ("/datasets/drafting/versions", None, (403, 404, 404, 200)),
    ("POST", "/datasets/{name}/versions"): (
        "/datasets/patients/versions",
        {"source": "visits", "target": "ill"},
        (*ONLY_OWNER, 201),
    ),
    ("GET", "/datasets/{name}/versions/{number}/draft"): (
        "/datasets/patients/versions/1/draft",
        None,
        (*ONLY_OWNER, 200),
    ),
    ("POST", "/datasets/{name}/versions/{number}/confirm"): (
        "/datasets/patients/versions/1/confirm",
        {"schema": SCHEMA.to_dict(), "confirmed": []},
        (*ONLY_OWNER, 409),
    ),
    ("GET", "/projects"): ("", None, (200, 200, 200, 200)),
    ("POST", "/projects"): ("", {"name": "next", "title": "Next"}, (*ONLY_OWNER, 201)),
    ("GET", "/projects/{name}"): ("/projects/study", None, (200, 404, 200, 200)),
    ("PUT", "/projects/{name}/members/{person}"): ("/projects/study/members/bob", None, (*ONLY_OWNER, 200)),
    ("DELETE", "/projects/{name}/members/{person}"): ("/projects/study/members/bob", None, (*ONLY_OWNER, 200)),
    ("PUT", "/projects/{name}/limits/{population}"): (
        "/projects/study/limits/clinic",
        {"limit": "90"},
        (*ONLY_OWNER, 200),
    ),
    ("GET", "/grants"): ("", None, (200, 200, 200, 200)),
    ("POST", "/grants"): ("", GRANT, (*ONLY_OWNER, 409)),
    ("GET", "/grants/{number}"): ("/grants/{grant}", None, (200, 404, 200, 200)),
    ("PATCH", "/grants/{number}"): ("/grants/{grant}", {"limit": "40"}, (*ONLY_OWNER, 200)),
    ("POST", "/quotes"): ("", ASKED, (403, 403, 200, 403)),
    ("POST", "/jobs"): ("", ASKED, (403, 403, 201, 403)),
    ("GET", "/jobs"): ("", None, (403, 200, 200, 200)),
    ("GET", "/jobs/{job_id}"): ("/jobs/{released_job}", None, (403, 404, 200, 200)),
    ("POST", "/jobs/{job_id}/approve"): ("/jobs/{requested_job}/approve", {"note": "ok"}, (*ONLY_OWNER, 200)),
    ("POST", "/jobs/{job_id}/refuse"): ("/jobs/{requested_job}/refuse", {"note": "no"}, (*ONLY_OWNER, 409)),
    ("POST", "/jobs/{job_id}/cancel"): ("/jobs/{reserved_job}/cancel", None, (403, 404, 200, 409)),
    ("GET", "/releases"): ("", None, (403, 200, 200, 200)),
    ("GET", "/releases/{release_id}"): ("/releases/{release}", None, (403, 404, 200, 200)),
    ("GET", "/releases/{release_id}/content"): ("/releases/{release}/content", None, (403, 404, 200, 200)),
    ("POST", "/releases/{release_id}/predict"): ("/releases/{release}/predict", RECORDS, (403, 404, 200, 200)),
    ("POST", "/releases/{release_id}/predict.csv"): (
        "/releases/{release}/predict.csv",
        "age,sex\n70,M\n",
        (403, 404, 200, 200),
    ),
    ("GET", "/accounts"): ("", None, (200, 200, 200, 200)),
    ("GET", "/accounts/{number}"): ("/accounts/{account}", None, (200, 404, 200, 200)),
    ("PATCH", "/accounts/{number}"): ("/accounts/{account}", {"limit": "30"}, (*ONLY_OWNER, 200)),
    ("GET", "/audit/entries"): ("/audit/entries?population=clinic", None, (200, 403, 403, 200)),
    ("GET", "/audit/log"): ("", None, (200, 403, 403, 200)),
    ("GET", "/audit/verify"): ("", None, (200, 403, 403, 200)),
    ("GET", "/metrics"): ("", None, (*ONLY_OWNER, 200)),
    ("DELETE", "/grants/{number}"): ("/grants/{grant}", None, (*ONLY_OWNER, 200)),
}
"""Method and path: the address to call (the path itself if ""), the body, and the status for each of CALLERS."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made


def call(service, who, method, path, body):
    """The answer to one call."""
    headers = {"Idempotency-Key": "door"} if path == "/jobs" else {}
    sent = {"json": body} if body is not None else {}
    if isinstance(body, str):
        sent, headers = {"content": body}, {"Content-Type": "text/csv"}
    with service.client(who) as client:
        return client.request(method, path.format(**service.facts), headers=headers, **sent)


def test_the_table_has_every_route():
    routes = {(method, route.path) for router in ROUTERS for route in router.routes for method in route.methods}
    assert routes == {*TABLE, *PUBLIC}


@pytest.mark.parametrize("door", TABLE, ids=" ".join)
def test_each_caller_is_answered_as_the_table_says(service, door):
    address, body, expected = TABLE[door]
    for who in NOBODY:
        answer = call(service, who, door[0], address or door[1], body)
        assert answer.status_code == 401, (who, answer.text)
        assert answer.json()["type"] == "/problems/not-signed-in"
    narrow = call(service, "narrow", door[0], address or door[1], body)
    assert narrow.status_code == 403, narrow.text
    found = tuple(call(service, who, door[0], address or door[1], body).status_code for who in CALLERS)
    assert found == expected


@pytest.mark.parametrize("door", PUBLIC, ids=" ".join)
def test_what_is_public_is_so_for_everybody(service, door):
    body, expected = PUBLIC[door]
    for who in (None, "forged", "ana"):
        assert call(service, who, *door, body).status_code == expected


@pytest.mark.parametrize("path", ["/jobs/{}", "/releases/{}", "/releases/{}/content"])
def test_what_is_hidden_looks_like_what_is_missing(service, path):
    """Another person's job or release is answered, byte for byte, like one that does not exist."""
    identifier = service.facts["released_job" if "jobs" in path else "release"]
    hidden = call(service, "bob", "GET", path.format(identifier), None)
    missing = call(service, "bob", "GET", path.format(NOWHERE), None)
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content == missing.content
