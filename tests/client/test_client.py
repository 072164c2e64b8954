"""The client against a service with a real worker: the whole way of an analyst; what is repeated, and what is not."""

import itertools
import uuid

import httpx
import pytest

from discreet import Client, NaiveBayes, OneRule
from discreet.client import RefusedError
from discreet.client import jobs as jobs_module
from discreet.client import transport as transport_module
from discreet.client.dataset import model_of
from discreet.client.jobs import RemoteJob
from discreet.client.transport import ATTEMPTS, Transport
from discreet.errors import BudgetError, ParameterError
from support.asked_service import asked_service

TOKEN = "dsc_" + "x" * 43


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with asked_service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def client(service):
    with Client(service.url, token=service.tokens["ana"]) as made:
        yield made


def test_an_analyst_asks_for_everything(client):
    assert [each["name"] for each in client.datasets()] == ["patients", "smokers"]
    table = client.dataset("smokers")
    assert table.schema.target == "ill"
    assert set(table.dummy(5)) == {"age", "sex", "smoker", "ill"}
    quoted = table.quote({"kind": "train", "model": "auto", "epsilon": "2"})
    assert (quoted["price"], quoted["enough"]) == ("2", True)

    answer = client.count("smokers", where=[{"column": "smoker", "equals": "yes"}], by=["ill"], epsilon=1)
    assert abs(answer.total(ill="yes").value - 200) < 30
    seen = []
    job = table.train("one-rule", epsilon=2, wait=False)
    model = model_of(job.wait(180, progress=lambda each: seen.append(each.state)))
    assert seen[-1] == "released"
    assert model.predict([{"age": 30, "sex": "F", "smoker": "yes"}]).tolist() == ["yes"]
    assert client.predict(job.release, [{"age": 30, "sex": "F", "smoker": "no"}])[0]["prediction"] == "no"
    score = client.score("smokers", job, epsilon=1)
    assert score
    spent = next(each for each in client.budget() if each["name"] == "ana/smokers")
    assert spent["spent"] == "4"
    assert [each.state for each in client.jobs(dataset="smokers")] == ["released"] * 3
    assert len(client.releases()) >= 3


@pytest.mark.parametrize("family", [OneRule, NaiveBayes])
def test_a_model_is_learned_by_count_queries_over_http(client, family):
    table = client.dataset("smokers")
    model = family(table.schema, epsilon=2).fit_from(table)
    records = [{"age": 30, "sex": "F", "smoker": answer} for answer in ("yes", "no")]
    assert model.predict(records).tolist() == ["yes", "no"]
    assert float(model.guarantee_.epsilon) == 2


def test_a_budget_that_is_short_is_a_budget_error(service):
    with service.client("olga") as owner:
        assert owner.put("/projects/study/members/bob").is_success
        grant = {"project": "study", "person": "bob", "dataset": "smokers", "limit": "1", "approve_up_to": "5"}
        assert owner.post("/grants", json=grant).status_code == 201
    with Client(service.url, token=service.tokens["bob"]) as client:
        with pytest.raises(BudgetError, match="ask the owner") as caught:
            client.dataset("smokers").submit({"kind": "train", "model": "one-rule", "epsilon": "1.5"})
        assert caught.value.status == 409
        assert list(client.jobs(dataset="smokers")) == []


def test_refusals_have_a_remedy(client, service):
    with pytest.raises(RefusedError, match="There is no such thing") as caught:
        client.dataset("nowhere").facts  # noqa: B018 - reading it is the call
    assert caught.value.problem == "/problems/not-found"
    assert caught.value.remedy
    with pytest.raises(RefusedError, match="do not fit"):
        client.dataset("smokers").submit({"kind": "train", "model": "magic", "epsilon": "1"})
    job = client.dataset("smokers").submit({"kind": "train", "model": "one-rule", "epsilon": "5.5"})
    assert job.state == "requested"
    with pytest.raises(RefusedError, match="requested after"):
        job.wait(0.3)
    with service.client("olga") as owner:
        assert owner.post(f"/jobs/{job.id}/refuse", json={"note": "too much"}).status_code == 200
    with pytest.raises(RefusedError, match=r"refused \(too much\); nothing was spent"):
        job.wait(60)
    with pytest.raises(RefusedError, match="released nothing"):
        job.content()


class Flaky(httpx.BaseTransport):
    """Loses the first answers, after the service has acted on them."""

    def __init__(self, url, lost):
        self.inner, self.lost, self.sent = httpx.HTTPTransport(), lost, []

    def handle_request(self, request):
        self.sent.append((request.method, request.url.path, request.headers.get("Idempotency-Key")))
        answer = self.inner.handle_request(request)
        if len(self.sent) <= self.lost:
            answer.read()
            answer.close()
            raise httpx.ReadTimeout("lost")
        return answer

    def close(self):
        self.inner.close()


def test_asking_again_after_a_lost_answer_asks_once(service, monkeypatch):
    monkeypatch.setattr(transport_module, "FIRST_WAIT", 0.01)
    flaky = Flaky(service.url, 2)
    with Client(service.url, token=service.tokens["ana"], http=flaky) as client:
        job = client.dataset("smokers").submit({"kind": "count", "epsilon": "6", "queries": [{}]})
        keys = {key for _, _, key in flaky.sent}
        assert len(flaky.sent) == 3
        assert len(keys) == 1
        again = client.dataset("smokers").submit({"kind": "count", "epsilon": "6", "queries": [{}]}, key=keys.pop())
        assert again.id == job.id
        job.cancel()


def test_what_changes_something_without_a_key_is_sent_once(monkeypatch):
    monkeypatch.setattr(transport_module, "FIRST_WAIT", 0.001)
    count = itertools.count()

    def broken(request):
        next(count)
        return httpx.Response(503, json={})

    transport = Transport("http://127.0.0.1:1", TOKEN, http=httpx.MockTransport(broken))
    with pytest.raises(RefusedError):
        transport.post(f"/jobs/{uuid.uuid4()}/cancel", {})
    assert next(count) == 1
    with pytest.raises(RefusedError, match="503"):
        transport.get("/me")
    assert next(count) == 1 + 1 + ATTEMPTS
    transport.close()


@pytest.mark.parametrize(
    "wrong",
    [
        "discreet.example.org",
        "ftp://x",
        "https://",
        "https://me:secret@x",
        "https://:secret@x",
        "https://@x",
        "https://x#part",
        "https://x/#",
        "https://x?",
        "https://x:99999",
        "https://x:port",
        "https://[::1",
        "https://[1.2.3.4]",
        "https://x y",
        "https://x\n",
        "https://a..b",
        f"https://{'a' * 64}.org",
        "https://\ud800.org",
        "https://xn--\u00fc.org",
        None,
        b"https://x",
    ],
)
def test_what_is_no_address_of_a_service_is_refused(wrong):
    with pytest.raises(ParameterError, match="address of a service") as refused:
        Client(wrong, TOKEN)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("wrong", ["tök", "a b", "a\nb", "\x00", " ", 5])
def test_what_is_no_token_is_refused_and_not_repeated(wrong):
    with pytest.raises(ParameterError, match="this is no token; need") as refused:
        Client("https://discreet.example.org", wrong)
    assert "dsc_" not in str(refused.value)


def test_a_clock_that_is_ahead_does_not_make_waiting_quick(monkeypatch):
    class Service:
        def get(self, path):
            return facts

    facts = {"id": "x", "kind": "count", "state": "running", "visible_at": "2020-01-01T00:00:00+00:00"}
    slept = []
    monkeypatch.setattr(jobs_module.time, "sleep", slept.append)
    monkeypatch.setattr(jobs_module.time, "monotonic", lambda: sum(slept))
    with pytest.raises(RefusedError, match="after 30 s"):
        RemoteJob(Service(), facts).wait(30)
    assert sum(slept) >= 30
    assert len(slept) < 15


def test_a_token_is_needed_and_not_sent_in_clear(monkeypatch):
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    with pytest.raises(ParameterError, match="DISCREET_TOKEN"):
        Client("https://discreet.example.org")
    with pytest.raises(ParameterError, match="https"):
        Client("http://discreet.example.org", TOKEN)
    monkeypatch.setenv("DISCREET_TOKEN", TOKEN)
    for fine in ("https://discreet.example.org/", "http://localhost:8000", "http://[::1]:8000"):
        with Client(fine) as client:
            assert TOKEN not in repr(client)
    monkeypatch.setattr(transport_module, "FIRST_WAIT", 0.001)
    with Client("http://127.0.0.1:9") as client, pytest.raises(RefusedError, match="does not answer"):
        client.me()
