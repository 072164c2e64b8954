"""One-time links: once, in time, for what they were made."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from discreet.service.clock import now
from discreet.service.people import all_people
from discreet.service.problems import Problem
from discreet.service.security import links
from discreet.service.security.secrets import digest
from discreet.service.tables import links as link_rows
from support.service_world import PASSWORD, world


@pytest.fixture
def service(tmp_path):
    with world(tmp_path) as made:
        yield made


def use(service, secret, name="new", password=PASSWORD):
    with service.client() as client:
        body = {"link": secret, "name": name, "display": "New", "password": password}
        return client.post("/links/use", json=body)


def invited(service, role="analyst"):
    with service.client("olga") as client:
        address = client.post("/invitations", json={"role": role}).json()["address"]
    assert address.startswith(service.url + links.PATH)
    return address.rpartition("/")[2]


def test_an_invitation_makes_an_account_once(service):
    secret = invited(service, "auditor")
    first, second = use(service, secret), use(service, secret, "newer")
    assert (first.status_code, second.status_code) == (201, 410)
    with service.client("olga") as client:
        (person,) = (each for each in client.get("/people").json() if each["name"] == "new")
    assert person["roles"] == ["auditor"]
    with service.writing() as connection:
        stored = connection.execute(select(link_rows)).all()
    assert secret not in str(stored)
    assert digest(secret) in str(stored)


def test_of_many_at_once_one_uses_a_link(service):
    secret = invited(service)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: use(service, secret, f"new{n}").status_code, range(8)))
    assert sorted(found) == [201] + [410] * 7


def test_a_link_whose_use_fails_can_be_used_again(service):
    secret = invited(service)
    assert use(service, secret, "ana").json()["type"] == "/problems/taken"
    assert use(service, secret, password="short").status_code == 422
    assert use(service, secret).status_code == 201


def test_a_link_ends(service):
    secret = invited(service)
    with service.writing() as connection:
        connection.execute(update(link_rows).values(expires_at=now() - timedelta(seconds=1)))
    assert use(service, secret).status_code == 410


def test_the_first_owner_comes_by_a_link(service):
    with service.writing() as connection:
        secret = links.make_owner_link(connection, 1)
        assert links.look_at(connection, secret).role == "owner"
    answer = use(service, secret)
    with service.client(Cookie=f"discreet_session={answer.cookies['discreet_session']}") as client:
        assert client.get("/me").json()["roles"] == ["owner"]


@pytest.mark.parametrize("by_oidc", [False, True])
def test_a_used_owner_link_ends_the_others(service, by_oidc):
    """Each start of a service without an owner prints one; a second of them lay in a log, and made another owner."""
    with service.writing() as connection:
        first, second, third = (links.make_owner_link(connection, 1) for _ in range(3))
        invitation = links.make_invitation(connection, "owner", 1, by=service.people["olga"])
    if by_oidc:
        with service.writing() as connection:
            links.accept_with_subject(connection, first, "new", "New", "subject")
    else:
        assert use(service, first).status_code == 201
    assert [use(service, each, "thief").status_code for each in (second, third)] == [410, 410]
    assert use(service, invitation, "invited").status_code == 201
    with service.writing() as connection:
        later = links.make_owner_link(connection, 1)
    assert use(service, later, "later").status_code == 201


def test_of_many_owner_links_at_once_one_is_used(clinic):
    secrets = [clinic.write(links.make_owner_link, 1) for _ in range(6)]

    def accept(number):
        try:
            return clinic.write(links.accept, secrets[number], f"new{number}", "New", "hash").name
        except Problem:
            return None

    with ThreadPoolExecutor(6) as pool:
        assert sum(each is not None for each in pool.map(accept, range(6))) == 1


def test_a_reset_signs_out_everywhere(service):
    with service.client("olga") as client:
        address = client.post(f"/people/{service.facts['ana']}/reset").json()["address"]
    secret = address.rpartition("/")[2]
    with service.client("ana") as ana:
        assert ana.get("/me").status_code == 200
        assert use(service, secret, "whatever", "another long password").status_code == 201
        assert ana.get("/me").status_code == 401
        signed = ana.post("/sessions", json={"name": "ana", "password": "another long password"})
        assert signed.status_code == 201


def test_a_link_of_somebody_disabled_lets_nobody_in(service):
    with service.client("olga") as client:
        address = client.post(f"/people/{service.facts['ana']}/reset").json()["address"]
        client.patch(f"/people/{service.facts['ana']}", json={"disabled": True})
    assert use(service, address.rpartition("/")[2]).status_code == 410


@pytest.mark.parametrize("ended", [{"disabled": True}, {"roles": ["analyst"]}])
def test_a_link_ends_with_the_rights_of_its_maker(service, ended):
    with service.writing() as connection:
        first = links.make_owner_link(connection, 1)
    assert use(service, first, "otto").status_code == 201
    with service.writing() as connection:
        (otto,) = (each for each in all_people(connection) if each.name == "otto")
        invitation = links.make_invitation(connection, "owner", 1, by=otto)
        reset = links.make_reset(connection, service.facts["ana"], 1, by=otto)
    with service.client("olga") as client:
        assert client.patch(f"/people/{otto.id}", json=ended).status_code == 200
    for secret in (invitation, reset):
        with service.writing() as connection, pytest.raises(Problem):
            links.look_at(connection, secret)
        assert use(service, secret).status_code == 410
    with service.client("ana") as ana:
        assert ana.get("/me").status_code == 200  # nothing was reset


def test_a_used_reset_ends_the_others_of_the_person(service):
    with service.client("olga") as client:
        ana, boris = (service.facts[name] for name in ("ana", "bob"))
        secrets = [
            client.post(f"/people/{number}/reset").json()["address"].rpartition("/")[2] for number in (ana, ana, boris)
        ]
    assert [use(service, each, "x", "another long password").status_code for each in secrets] == [201, 410, 201]


def test_a_name_with_a_control_character_is_no_name(service):
    with service.client() as client:
        assert client.post("/sessions", json={"name": "an\x00a", "password": PASSWORD}).status_code == 422
