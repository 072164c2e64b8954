"""Sign-in by OpenID Connect against a real provider on loopback: who was invited gets in, who cheats does not."""

import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey
from sqlalchemy import update

from discreet.service.tables import people
from support.oidc_provider import CLIENT, SECRET, provider
from support.service_world import Unlimited, world


@pytest.fixture
def issuer():
    with provider() as made:
        yield made


@pytest.fixture
def service(tmp_path, issuer):
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    settings = {"oidc_issuer": issuer.url, "oidc_client": CLIENT, "oidc_secret_file": secret}
    with world(tmp_path / "service", rates=Unlimited(), **settings) as made:
        yield made


@pytest.fixture
def browser(service):
    with httpx.Client(base_url=service.url, follow_redirects=False, timeout=120) as made:
        yield made


def invited(service):
    with service.client("olga") as client:
        return client.post("/invitations", json={"role": "analyst"}).json()["address"].rpartition("/")[2]


def to_provider(browser, link=None):
    """The address that the provider sends the browser back to."""
    first = browser.get("/oidc/start", params={} if link is None else {"link": link})
    assert first.status_code == 303
    return httpx.get(first.headers["location"]).headers["location"]


def test_an_invited_person_signs_in_and_comes_back(service, browser):
    last = browser.get(to_provider(browser, invited(service)))
    assert (last.status_code, last.headers["location"]) == (303, "/")
    me = browser.get("/api/v1/me").json()
    assert (me["name"], me["display"], me["roles"]) == ("nina-neu", "Nina Neu", ["analyst"])
    browser.cookies.clear()
    assert browser.get(to_provider(browser)).status_code == 303
    assert browser.get("/api/v1/me").json()["id"] == me["id"]


def test_nobody_gets_in_without_an_invitation(service, browser):
    answer = browser.get(to_provider(browser))
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/not-signed-in")
    assert browser.get("/api/v1/me").status_code == 401


def test_a_disabled_person_stays_out(service, browser):
    browser.get(to_provider(browser, invited(service)))
    with service.writing() as connection:
        connection.execute(update(people).where(people.c.name == "nina-neu").values(disabled_at=people.c.created_at))
    browser.cookies.clear()
    assert browser.get(to_provider(browser)).status_code == 401


def test_an_invitation_is_used_up(service, browser, issuer):
    link = invited(service)
    assert browser.get(to_provider(browser, link)).status_code == 303
    browser.cookies.clear()
    issuer.subject, issuer.name = "subject-2", "Else"
    assert browser.get(to_provider(browser, link)).status_code == 410


WRONG = {
    "another issuer": {"iss": "http://elsewhere.example"},
    "another client": {"aud": "other"},
    "several clients": {"aud": [CLIENT, "other"]},
    "another attempt": {"nonce": "old"},
    "no nonce": {"nonce": None},
    "over": {"exp": int(time.time()) - 3600},
    "nobody": {"sub": None},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_token_that_is_not_for_this_sign_in_is_refused(service, browser, issuer, case):
    issuer.changes = WRONG[case]
    assert browser.get(to_provider(browser, invited(service))).status_code == 401


def test_a_token_signed_by_somebody_else_is_refused(service, browser, issuer):
    issuer.signing = RSAKey.generate_key(2048, {"kid": "one"})
    assert browser.get(to_provider(browser, invited(service))).status_code == 401
    issuer.cheat_with_hmac()
    assert browser.get(to_provider(browser, invited(service))).status_code == 401


def test_the_code_of_one_browser_does_not_sign_in_another(service, browser):
    """Sign-in CSRF: an address that an attacker obtained is worthless in a browser that did not ask for it."""
    address = to_provider(browser, invited(service))
    with httpx.Client(base_url=service.url) as other:
        assert other.get(address).status_code == 401
        other.get("/oidc/start")
        assert other.get(address).status_code == 401
    parts = parse_qs(urlsplit(address).query)
    wrong = {"state": "x" * 43, "code": parts["code"][0]}
    assert browser.get("/oidc/finish", params=wrong).status_code == 401
    assert browser.get("/oidc/finish").status_code == 401


def test_the_verifier_is_sent_and_the_secret_is_not_shown(service, browser, issuer):
    browser.get(to_provider(browser, invited(service)))
    assert len(issuer.seen[-1]["code_verifier"]) >= 43
    assert SECRET not in repr(service.app.state.context)
    assert SECRET not in service.log.getvalue()


def test_a_provider_that_does_not_answer_is_503(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    settings = {"oidc_issuer": "http://127.0.0.1:9", "oidc_client": CLIENT, "oidc_secret_file": secret}
    with world(tmp_path / "service", **settings) as service:
        assert httpx.get(service.url + "/oidc/start").status_code == 503


def test_without_a_provider_there_is_no_such_address(tmp_path):
    with world(tmp_path) as service:
        assert httpx.get(service.url + "/oidc/start").status_code == 404
