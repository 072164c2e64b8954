"""Addresses and forms that no page of ours makes: refused as problems, never as failures, on both databases."""

import httpx
import pytest

from discreet.service.security import sessions
from support.account_databases import new_address
from support.service_world import Unlimited, world

HUGE = "9" * 23
ODD = {
    "GET": [
        "/jobs/%00",
        "/jobs?before=%00",
        "/releases/%00",
        "/releases/%00/picture.svg",
        "/catalogue/%00",
        "/tables/%00",
        "/ledger?before=%C2%B2",
        f"/ledger?before={HUGE}&population={HUGE}",
        "/log?before=%C2%B2",
        "/limits?from=%C2%B2",
        "/api/v1/jobs?cursor=%00",
        "/api/v1/releases/%00",
    ],
    "POST": [
        "/jobs/%00/cancel",
        "/inbox/%00",
        "/tables/%00/withdraw",
        f"/account/tokens/{HUGE}",
        f"/people/{HUGE}",
        f"/limits/{HUGE}",
        f"/projects/study/grants/{HUGE}",
    ],
}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    running = request.getfixturevalue("postgres") if request.param == "postgresql" else None
    with world(folder, new_address(request.param, folder, running), rates=Unlimited()) as made:
        yield made


@pytest.mark.parametrize(("method", "path"), [(method, path) for method, paths in ODD.items() for path in paths])
def test_an_odd_address_is_no_failure(service, method, path):
    with service.writing() as connection:
        made = sessions.open_session(connection, service.people["olga"].id, 1)
    cookie, form = {"discreet_session": made.secret}, {"csrf": made.csrf, "change": "roles", "limit": "1"}
    with httpx.Client(base_url=service.url, cookies=cookie, headers={"Accept": "text/html"}) as client:
        answer = client.request(method, path, **({"data": form} if method == "POST" else {}))
    assert answer.status_code in (200, 400, 404, 422), answer.text
    assert "failure" not in service.log.getvalue()


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_utc_does_not_have_is_refused(service, moment):
    answer = service.client("olga").patch(f"/grants/{service.facts['grant']}", json={"expires_at": moment})
    assert answer.status_code == 422
    assert answer.json()["type"] == "/problems/invalid-request"


def test_an_integer_that_no_float_can_hold_is_refused(service):
    content = {"kind": "train", "model": "svm", "epsilon": "1", "parameters": {"regularisation": 10**400}}
    answer = service.client("ana").post("/quotes", json={"dataset": "patients", "request": content})
    assert answer.status_code == 422
