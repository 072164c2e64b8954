"""Every page × every kind of visitor, forms from elsewhere, and what pages never do: inline scripts, for instance."""

import re
from fractions import Fraction

import httpx
import pytest

from discreet.service.pages import ROUTERS, drawings
from discreet.service.pages.visits import FRONT, safe_path
from discreet.service.people import set_roles
from discreet.service.security import sessions
from support.service_world import PASSWORD, world

NOWHERE = "00000000-0000-0000-0000-000000000000"
VISITORS = ("aud", "bob", "ana", "olga")
"""Auditor, analyst without and with a grant, owner; in this order, so that what succeeds does so last."""
OWNER, ASKS, AUDITS = (403, 403, 403), (403, 200, 200, 200), (200, 403, 403, 200)
RELEASE = (403, 404, 200, 200)
BAD = "<script>alert(1)</script>"
GRANT = {"person": "{bob}", "dataset": "1", "limit": "x", "rule": "0", "kinds": "train"}

TABLE = {
    ("GET", "/"): ("", {}, (303, 303, 303, 303)),
    ("POST", "/leave"): ("", {}, (303, 303, 303, 303)),
    ("GET", "/account"): ("", {}, (200, 200, 200, 200)),
    ("POST", "/account/tokens"): ("", {"name": "t", "scopes": "read", "days": "1"}, (200, 200, 200, 200)),
    ("POST", "/account/tokens/{number}"): ("/account/tokens/9999", {}, (404, 404, 404, 404)),
    ("POST", "/account/password"): ("", {"old": "x"}, (422, 422, 422, 422)),
    ("GET", "/inbox"): ("", {}, (*OWNER, 200)),
    ("POST", "/inbox/{job_id}"): ("/inbox/{requested_job}", {"decision": "approve"}, (*OWNER, 303)),
    ("GET", "/tables"): ("", {}, (*OWNER, 200)),
    ("GET", "/tables/new"): ("", {}, (*OWNER, 200)),
    ("POST", "/tables/new"): ("", {"name": "Not A Name"}, (*OWNER, 422)),
    ("GET", "/tables/{name}"): ("/tables/patients", {}, (*OWNER, 200)),
    ("POST", "/tables/{name}/confirm"): ("/tables/patients/confirm", {}, (*OWNER, 409)),
    ("POST", "/tables/{name}/version"): ("/tables/patients/version", {}, (*OWNER, 303)),
    ("POST", "/tables/{name}/withdraw"): ("/tables/drafting/withdraw", {}, (*OWNER, 303)),
    ("GET", "/people"): ("", {}, (*OWNER, 200)),
    ("POST", "/people"): ("", {"role": "analyst"}, (*OWNER, 200)),
    ("POST", "/people/{number}"): ("/people/{bob}", {"change": "reset"}, (*OWNER, 200)),
    ("GET", "/projects"): ("", {}, (*OWNER, 200)),
    ("POST", "/projects"): ("", {"name": "next"}, (*OWNER, 303)),
    ("GET", "/projects/{name}"): ("/projects/study", {}, (*OWNER, 200)),
    ("POST", "/projects/{name}/members"): ("/projects/study/members", {"person": "{bob}"}, (*OWNER, 303)),
    ("POST", "/projects/{name}/grants"): ("/projects/study/grants", GRANT, (*OWNER, 422)),
    ("POST", "/projects/{name}/grants/{number}"): (
        "/projects/study/grants/{grant}",
        {"limit": "50", "rule": "0.2"},
        (*OWNER, 303),
    ),
    ("GET", "/limits"): ("", {}, (*OWNER, 200)),
    ("POST", "/limits/{account}"): ("/limits/{account}", {"limit": "0.1"}, (*OWNER, 409)),
    ("GET", "/catalogue"): ("", {}, ASKS),
    ("GET", "/catalogue/{name}"): ("/catalogue/patients", {}, ASKS),
    ("GET", "/catalogue/{name}/dummy.csv"): ("/catalogue/patients/dummy.csv", {}, ASKS),
    ("GET", "/catalogue/{name}/schema.json"): ("/catalogue/patients/schema.json", {}, ASKS),
    ("GET", "/budget"): ("", {}, (403, 200, 200, 403)),
    ("GET", "/ask/{name}/{kind}"): ("/ask/patients/count", {}, (403, 200, 200, 403)),
    ("POST", "/ask/{name}/{kind}"): ("/ask/patients/train", {"then": "ask", "key": "k"}, (403, 403, 303, 403)),
    ("GET", "/jobs"): ("", {}, ASKS),
    ("GET", "/jobs/{job_id}"): ("/jobs/{released_job}", {}, (403, 404, 200, 200)),
    ("POST", "/jobs/{job_id}/cancel"): ("/jobs/{reserved_job}/cancel", {}, (403, 404, 303, 409)),
    ("GET", "/releases"): ("", {}, ASKS),
    ("GET", "/releases/{release_id}"): ("/releases/{release}", {}, (403, 404, 200, 200)),
    ("GET", "/releases/{release_id}/file"): ("/releases/{release}/file", {}, (403, 404, 200, 200)),
    ("GET", "/releases/{release_id}/picture.svg"): ("/releases/{release}/picture.svg", {}, (403, 404, 200, 200)),
    ("POST", "/releases/{release_id}/predict"): (
        "/releases/{release}/predict",
        {"column-0": "5"},
        (403, 404, 200, 200),
    ),
    ("POST", "/releases/{release_id}/predict-file"): ("/releases/{release}/predict-file", {}, (403, 404, 422, 422)),
    ("GET", "/ledger"): ("", {}, AUDITS),
    ("POST", "/ledger/verify"): ("", {}, AUDITS),
    ("GET", "/log"): ("", {}, AUDITS),
}
"""Method and path: the address (the path itself if ""), the form, and the status for each of VISITORS."""
FRONT_DOORS = {("GET", "/enter"), ("POST", "/enter"), ("GET", "/links/{secret}"), ("POST", "/links/{secret}")}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with world(tmp_path_factory.mktemp("service")) as made:
        yield made


class Window:
    """A browser without a screen: cookies, forms with the hidden field, no redirects followed."""

    def __init__(self, service, who=None):
        self.service, self.csrf = service, ""
        self.client = httpx.Client(base_url=service.url, headers={"Accept": "text/html"}, timeout=120)
        service.clients.append(self.client)
        if who is not None:
            with service.writing() as connection:
                made = sessions.open_session(connection, service.people[who].id, 1.0)
            self.csrf = made.csrf
            self.client.cookies.set("discreet_session", made.secret)

    def visit(self, method, path, form=None, csrf=None):
        """The answer to one visit."""
        filled = path.format(**self.service.facts)
        if method == "GET":
            return self.client.get(filled)
        fields = {name: value.format(**self.service.facts) for name, value in (form or {}).items()}
        return self.client.post(filled, data={**fields, "csrf": self.csrf if csrf is None else csrf})


def test_the_table_has_every_page():
    pages = {(method, route.path) for router in ROUTERS for route in router.routes for method in route.methods}
    assert pages == {*TABLE, *FRONT_DOORS}


@pytest.mark.parametrize("door", TABLE, ids=" ".join)
def test_each_visitor_is_answered_as_the_table_says(service, door):
    address, form, expected = TABLE[door]
    nobody = Window(service).visit(door[0], address or door[1], form)
    assert nobody.status_code == (303 if door[0] == "GET" else 401)
    assert "/enter" in nobody.headers.get("location", "/enter")
    found = tuple(Window(service, who).visit(door[0], address or door[1], form).status_code for who in VISITORS)
    assert found == expected


@pytest.mark.parametrize("door", [door for door in TABLE if door[0] == "POST"], ids=" ".join)
def test_forms_from_elsewhere_are_refused(service, door):
    address, form, _ = TABLE[door]
    olga = Window(service, "olga")
    for csrf in ("", "x", Window(service, "ana").csrf):
        assert olga.visit("POST", address or door[1], form, csrf).status_code == 403


def test_signing_in_needs_a_page_of_ours(service):
    window = Window(service)
    fields = {"name": "olga", "password": PASSWORD, "next": "/limits"}
    assert window.visit("POST", "/enter", fields, "x" * 43).status_code == 403
    window.client.get("/enter")
    token = window.client.cookies[FRONT]
    assert window.visit("POST", "/enter", {**fields, "password": "wrong"}, token).status_code == 401
    entered = window.visit("POST", "/enter", fields, token)
    assert (entered.status_code, entered.headers["location"]) == (303, "/limits")
    assert window.client.get("/limits").status_code == 200


@pytest.mark.parametrize(
    "path", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "", "/\n"]
)
def test_nobody_is_led_elsewhere_after_signing_in(path):
    assert safe_path(path) == "/"
    assert safe_path("/ask/patients/train") == "/ask/patients/train"


@pytest.mark.parametrize("path", ["/jobs/{}", "/releases/{}"])
def test_what_is_hidden_looks_like_what_is_missing(service, path):
    """Another person's job is answered, byte for byte, like one that does not exist."""
    bob = Window(service, "bob")
    identifier = service.facts["released_job" if "jobs" in path else "release"]
    hidden, missing = bob.visit("GET", path.format(identifier)), bob.visit("GET", path.format(NOWHERE))
    assert hidden.status_code == missing.status_code == 404
    assert hidden.content == missing.content


def test_texts_are_never_markup(service):
    olga = Window(service, "olga")
    assert olga.visit("POST", "/projects", {"name": "marked", "title": BAD}).status_code == 303
    olga.visit("POST", "/projects", {"name": BAD, "title": BAD})
    wrong = olga.visit("POST", "/tables/new", {"name": BAD, "title": BAD, "target": BAD, "description": BAD})
    for page in (olga.visit("GET", "/projects"), olga.visit("GET", "/projects/marked"), wrong):
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;" in page.text


@pytest.mark.parametrize("door", [door for door in TABLE if door[0] == "GET"], ids=" ".join)
def test_no_page_has_inline_scripts_or_styles(service, door):
    """They would not run, since the policy forbids them; so none may be needed."""
    page = Window(service, "olga").visit("GET", TABLE[door][0] or door[1])
    if page.headers.get("content-type", "").startswith("text/html"):
        assert re.search(r"<style|style=|<script(?! src=\"/static/)|\son\w+=|javascript:", page.text) is None
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"


def test_what_a_page_says_cannot_be_put_into_its_address(service):
    page = Window(service, "olga").visit("GET", "/inbox?said=You+are+hacked")
    assert "hacked" not in page.text


def test_a_person_with_two_roles_sees_both(service):
    with service.writing() as connection:
        set_roles(connection, service.people["bob"].id, ("analyst", "auditor"), by=service.people["olga"])
    page = Window(service, "bob").visit("GET", "/catalogue")
    assert 'href="/ledger"' in page.text
    assert 'href="/inbox"' not in page.text
    with service.writing() as connection:
        set_roles(connection, service.people["bob"].id, ("analyst",), by=service.people["olga"])


def test_a_record_that_is_typed_is_not_logged(service):
    canary = "31.41592653"
    page = Window(service, "ana").visit("POST", "/releases/{release}/predict", {"column-0": canary})
    assert "Predicted" in page.text
    assert canary not in service.log.getvalue()


def test_a_small_file_is_classified(service):
    ana = Window(service, "ana")
    sent = {"file": ("records.csv", b"age,sex\n70,M\n20,F\n", "text/csv")}
    path = "/releases/{release}/predict-file".format(**service.facts)
    found = ana.client.post(path, data={"csrf": ana.csrf}, files=sent)
    assert found.headers["content-type"].startswith("text/csv")
    assert len(found.text.splitlines()) == 3


def test_the_same_form_sent_twice_asks_once(service):
    ana = Window(service, "ana")
    form = {"then": "ask", "key": "twice", "epsilon": "0.1", "model": "one-rule"}
    first, second = (ana.visit("POST", "/ask/patients/train", form) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]


def test_a_count_is_asked_by_the_place_of_its_labels(service):
    """The target is the first column of the form, age the second, sex the third."""
    ana = Window(service, "ana")
    form = {"then": "ask", "key": "count", "epsilon": "0.1", "by": "0", "from-1": "40", "in-2": "1"}
    job = ana.visit("POST", "/ask/patients/count", form).headers["location"].split("?")[0]
    page = ana.visit("GET", job)
    assert "Counts by ill where age from 40 to 100 and sex is M" in page.text


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"epsilon": "inf"}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"from-1": "many"}, "from and to are numbers"),
        ({"by": "77"}, "tick columns of the list"),
        ({"in-2": "9"}, "tick values of the list"),
        ({"by": "1", "bins-1": "x"}, "whole number of bins"),
    ],
)
def test_what_is_wrong_with_a_request_is_said_beside_it(service, form, told):
    ana = Window(service, "ana")
    page = ana.visit("POST", "/ask/patients/count", {"then": "quote", **form})
    assert page.status_code == 200
    assert told in page.text
    assert ana.visit("POST", "/ask/patients/count", {"then": "ask", "key": "w", **form}).status_code == 422


def test_a_budget_is_drawn_in_words_too():
    drawn = drawings.budget("the clinic", Fraction(4), Fraction(1), Fraction(2))
    assert 'role="img"' in drawn
    assert "ε 2 of 4 spent, 1 reserved, 1 left." in drawn
    assert "<script>" not in drawings.budget("<script>", Fraction(1), Fraction(0), Fraction(0))


def test_counts_are_drawn_unless_there_are_too_many():
    bars = [drawings.Bar(f"<{number}>", number, number - 3, number + 3) for number in range(-1, 5)]
    drawn = drawings.counts("Counts", bars)
    assert drawn is not None
    assert drawn.count('class="error"') == 18
    assert "<-1>" not in drawn
    assert drawings.counts("Counts", bars * 10) is None


def test_whoever_leaves_a_project_loses_its_grants(service):
    olga = Window(service, "olga")
    olga.visit("POST", "/projects/study/members", {"person": "{bob}"})
    grant = {"person": "{bob}", "dataset": "1", "limit": "1", "rule": "0", "kinds": "count"}
    assert olga.visit("POST", "/projects/study/grants", grant).status_code == 303
    assert "Show the price" in Window(service, "bob").visit("GET", "/ask/patients/count").text
    assert olga.visit("POST", "/projects/study/members", {"person": "{bob}", "change": "remove"}).status_code == 303
    assert "You have no grant for this table" in Window(service, "bob").visit("GET", "/ask/patients/count").text


def test_long_lists_are_shown_in_parts(service):
    olga = Window(service, "olga")
    assert olga.visit("GET", "/limits?from=1000000").status_code == 200
    assert olga.visit("GET", "/limits?from=x").status_code == 200
    assert olga.visit("GET", "/projects/study?from=999999999").status_code == 200
    assert olga.visit("GET", "/ledger?before=1&population=77").status_code == 200
