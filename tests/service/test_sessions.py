"""Sessions, CSRF, tokens, rates: who is recognised, and who is not."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from discreet.service.app import create_app
from discreet.service.clock import now
from discreet.service.security.secrets import digest, hash_password, password_fits
from discreet.service.settings import Settings
from discreet.service.tables import people, sessions, tokens
from discreet.service.web.rates import MOST_KEYS, SIGN_IN, Rate, Rates
from support.service_world import PASSWORD, free_port, served, world


@pytest.fixture
def service(tmp_path):
    with world(tmp_path) as made:
        yield made


def signed_in(service):
    client = service.client()
    answer = client.post("/sessions", json={"name": "olga", "password": PASSWORD})
    assert answer.status_code == 201
    return client, answer


def test_a_session_is_a_cookie_that_scripts_cannot_read(service):
    client, answer = signed_in(service)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie  # http on loopback
    assert client.get("/me").json()["name"] == "olga"
    with service.writing() as connection:
        stored = connection.execute(select(sessions)).one()
    assert stored.hash == digest(client.cookies["discreet_session"])
    assert client.cookies["discreet_session"] not in str(stored)


def test_with_https_the_cookie_is_secure_and_the_browser_is_told_to_stay(service, tmp_path):
    settings = Settings.of(service.settings.folder, public_url="https://discreet.example.org")
    port = free_port()
    app = create_app(settings, log=service.app.state.context.log)
    with served(app, port), service.client() as client:
        client.base_url = f"http://127.0.0.1:{port}/api/v1"
        answer = client.post("/sessions", json={"name": "olga", "password": PASSWORD})
    app.state.context.engine.dispose()
    assert answer.headers["set-cookie"].startswith("__Host-discreet=")
    assert "Secure" in answer.headers["set-cookie"]
    assert answer.headers["strict-transport-security"].startswith("max-age=")


def test_a_call_by_cookie_that_changes_something_needs_the_csrf_token(service):
    client, answer = signed_in(service)
    body = {"name": "p", "title": "P"}
    for wrong in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": "x" * 43}):
        refused = client.post("/projects", json=body, headers=wrong)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/csrf")
    right = {"X-CSRF-Token": answer.json()["csrf"]}
    assert client.get("/me/csrf").json() == {"csrf": answer.json()["csrf"]}
    assert client.post("/projects", json=body, headers=right).status_code == 201
    assert client.delete("/sessions/current", headers=right).status_code == 204
    assert client.get("/me").status_code == 401


def test_a_session_ends(service):
    client, _ = signed_in(service)
    with service.writing() as connection:
        connection.execute(update(sessions).values(expires_at=now() - timedelta(seconds=1)))
    assert client.get("/me").status_code == 401


def test_a_wrong_token_is_nobody_whatever_cookie_comes_with_it(service):
    client, _ = signed_in(service)
    assert client.get("/me", headers={"Authorization": "Bearer dsc_x"}).status_code == 401
    assert client.get("/me", headers={"Authorization": "Basic b2xnYTp4"}).status_code == 401


def test_an_unknown_name_is_answered_like_a_wrong_password(service):
    with service.client() as client:
        answers = [
            client.post("/sessions", json={"name": name, "password": "wrong"}) for name in ("olga", "nobody", "dis")
        ]
    assert len({(each.status_code, each.content) for each in answers}) == 1
    assert answers[0].status_code == 401


def test_guessing_is_slowed_down_for_known_and_unknown_names_alike(service):
    with service.client() as client:
        for name in ("olga", "nobody"):
            found = [
                client.post("/sessions", json={"name": name, "password": "wrong"}).status_code
                for _ in range(SIGN_IN.burst + 1)
            ]
            assert found == [401] * SIGN_IN.burst + [429]
        last = client.post("/sessions", json={"name": "olga", "password": PASSWORD})
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) >= 1


def test_tokens_are_shown_once_and_stored_hashed(service):
    with service.client("ana") as client:
        made = client.post("/tokens", json={"name": "script", "scopes": ["read"], "days": 7}).json()
        listed = client.get("/tokens").json()
        assert made["secret"] not in str(listed)
        with service.client() as script:
            script.headers["Authorization"] = f"Bearer {made['secret']}"
            assert script.get("/me").json()["scopes"] == ["read"]
            assert script.post("/tokens", json={"name": "more", "scopes": ["read"]}).status_code == 403
            assert client.delete(f"/tokens/{made['id']}").status_code == 204
            assert script.get("/me").status_code == 401
    with service.writing() as connection:
        row = connection.execute(select(tokens).where(tokens.c.id == made["id"])).one()
    assert row.hash == digest(made["secret"])
    assert made["secret"] not in str(row)


def test_a_token_makes_none_that_may_do_more(service):
    with service.client("olga") as client:
        secret = client.post("/tokens", json={"name": "m", "scopes": ["read", "manage"]}).json()["secret"]
    with service.client() as script:
        script.headers["Authorization"] = f"Bearer {secret}"
        refused = script.post("/tokens", json={"name": "n", "scopes": ["ask"]})
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/scope-missing")


def test_nobody_revokes_the_token_of_another(service):
    with service.client("ana") as client, service.client("olga") as owner:
        number = client.get("/tokens").json()[0]["id"]
        assert owner.delete(f"/tokens/{number}").status_code == 404
        assert client.get("/me").status_code == 200


def test_disabling_ends_sessions_and_tokens(service):
    with service.client("olga") as owner, service.client("ana") as ana:
        number = service.people["ana"].id
        assert owner.patch(f"/people/{number}", json={"disabled": True}).status_code == 200
        assert ana.get("/me").status_code == 401
        assert owner.patch(f"/people/{number}", json={"disabled": False}).status_code == 200
        assert ana.get("/me").status_code == 401  # the token was revoked, not suspended
        last = owner.patch(f"/people/{service.people['olga'].id}", json={"disabled": True})
        assert last.status_code == 422


def test_passwords_are_argon2id_and_bounded(service):
    hashed = hash_password(PASSWORD)
    assert hashed.startswith("$argon2id$")
    assert password_fits(hashed, PASSWORD)
    assert not password_fits(hashed, PASSWORD + "x")
    assert not password_fits(None, PASSWORD)
    assert not password_fits("damaged", PASSWORD)
    with pytest.raises(ValueError, match="12 to 256"):
        hash_password("short")
    with service.writing() as connection:
        assert PASSWORD not in str(connection.execute(select(people)).all())


def test_a_bucket_refills_and_forgets_no_limit():
    clock = [0.0]
    rates = Rates(lambda: clock[0])
    rate = Rate(burst=2, per_second=0.5)
    assert [rates.wait("x", "ana", rate) for _ in range(3)] == [0, 0, 2]
    assert rates.wait("x", "bob", rate) == 0
    clock[0] += 2
    assert [rates.wait("x", "ana", rate) for _ in range(2)] == [0, 2]
    clock[0] -= 100  # a clock that is set back gives nothing
    assert rates.wait("x", "ana", rate) > 0
    for number in range(MOST_KEYS + 5):
        rates.wait("y", str(number), rate)
    assert len(rates._buckets) == MOST_KEYS
