"""`discreet remote` against a service with a real worker: everything that an analyst does, and what is refused."""

import json
import os
import stat
import uuid
from pathlib import Path

import pytest

from discreet import Schema, load
from discreet.client import transport as transport_module
from discreet.client.credentials import connection, credentials_file, keep
from discreet.errors import FileError, ParameterError
from support.asked_service import asked_service
from support.command import refused, run, write_csv
from support.service_world import PASSWORD

TOKEN = "dsc_" + "x" * 43


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with asked_service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with settings of its own, in which nobody has signed in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    for name in ("DISCREET_TOKEN", "DISCREET_URL", "DISCREET_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def ana(here, service, monkeypatch):
    """The environment of an analyst."""
    monkeypatch.setenv("DISCREET_URL", service.url)
    monkeypatch.setenv("DISCREET_TOKEN", service.tokens["ana"])
    return here


def remote(*arguments, status=0, text=None):
    """A command of the group."""
    return run("remote", *arguments, status=status, input=text)


def as_json(*arguments):
    """What a command prints for scripts."""
    return json.loads(remote(*arguments, "--json").stdout)


def test_an_analyst_asks_for_everything(ana):
    assert [each["name"] for each in as_json("datasets")] == ["patients", "smokers"]
    assert "Smokers" in remote("datasets").stdout
    remote("schema", "smokers", "--out", "s.json")
    assert json.loads(remote("schema", "smokers").stdout)["target"] == "ill"
    assert remote("dummy", "smokers", "--rows", "3").stdout.count("\n") == 4
    quoted = remote("train", "smokers", "--epsilon", "2", "--quote").stdout
    assert "Price: ε = 2. There is enough." in quoted
    assert "Expected accuracy" in quoted
    assert as_json("jobs", "--dataset", "smokers") == []

    said = remote("train", "smokers", "--model", "one-rule", "--epsilon", "2", "--out", "m.json").stdout
    assert "2-differentially private" in said
    write_csv(Path("new.csv"), [["smoker", "age", "sex"], ["yes", "50", "F"], ["no", "", "M"]])
    local = run("predict", "m.json", "new.csv").stdout
    assert local.splitlines() == ["prediction", "yes", "no"]
    assert load("m.json").schema_ == Schema.load("s.json")
    release = as_json("releases")[0]["id"]
    assert remote("predict", release, "new.csv").stdout == local
    assert as_json("predict", release, "new.csv", "--out", "p.csv") == {"out": "p.csv", "rows": 2}
    assert Path("p.csv").read_text() == local

    scored = as_json("score", "smokers", release, "--epsilon", "1")
    assert 0.8 < scored["score"]["accuracy"] <= 1
    counted = remote("count", "smokers", "--where", "smoker = yes", "--by", "ill", "--epsilon", "1", "--out", "c.json")
    assert "Records with smoker" in counted.stdout
    assert "1-differentially private" in counted.stdout
    spent = next(each for each in as_json("budget") if each["name"] == "ana/smokers")
    assert spent["spent"] == "4"
    assert "ana/smokers" in remote("budget").stdout
    assert [each["state"] for each in as_json("jobs", "--dataset", "smokers")] == ["released"] * 3
    remote("fetch", release, "--out", "again.json")
    assert Path("again.json").read_bytes() == Path("m.json").read_bytes()


def test_a_job_can_be_left_and_waited_for_and_is_paid_once(ana):
    given = ["count", "smokers", "--epsilon", "1/10", "--key", f"mine-{uuid.uuid4()}", "--no-wait"]
    job = as_json(*given)
    assert as_json(*given)["id"] == job["id"]
    assert job["id"] in remote("jobs").stdout
    ended = as_json("wait", job["id"], "--out", "c.json")
    assert (ended["state"], ended["out"]) == ("released", "c.json")
    assert json.loads(Path("c.json").read_text())["answers"]
    waiting = as_json("count", "smokers", "--epsilon", "6", "--no-wait")
    assert waiting["state"] == "requested"
    refused(remote, "wait", waiting["id"], "--timeout", "0.2", words=["requested after", "look again later"])
    assert "nothing was spent" in remote("cancel", waiting["id"]).stdout
    refused(remote, "wait", waiting["id"], words=["cancelled", "nothing was spent"])


def test_signing_in_by_password_and_by_token(here, service):
    refused(remote, "datasets", words=["discreet remote login"])
    said = remote("login", service.url, "--name", "olga", text=PASSWORD + "\n")
    assert "Signed in" in said.stdout
    kept = credentials_file()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert PASSWORD not in kept.read_text() + said.stdout + said.stderr
    token = json.loads(kept.read_text())["tokens"][service.url]
    assert token not in said.stdout + said.stderr
    assert "smokers" in remote("datasets").stdout
    assert "forgotten" in remote("logout").stdout
    refused(remote, "datasets", words=["discreet remote login"])
    remote("login", service.url, text=token + "\n")
    assert "smokers" in remote("datasets", "--url", service.url).stdout


def test_what_is_wrong_is_one_line_and_keeps_no_token(here, service):
    for given, text, words in (
        ([service.url], TOKEN, ["sign in"]),
        ([service.url, "--name", "ana"], "wrong password", ["name or password"]),
        ([service.url], "\n", ["no token was given"]),
        (["http://example.org"], TOKEN, ["https"]),
        (["example.org"], TOKEN, ["address of a service"]),
    ):
        result = remote("login", *given, text=text, status=2)
        assert result.stderr.count("error: ") == 1, result.stderr
        assert any(word in result.stderr.lower() for word in words), result.stderr
        assert text.strip() == "" or text not in result.stderr
    assert not credentials_file().exists() or json.loads(credentials_file().read_text())["tokens"] == {}


def test_wrong_requests_are_one_line_and_cost_nothing(ana):
    release = str(uuid.uuid4())
    before = as_json("budget")
    for given, words in (
        (["train", "smokers", "--epsilon", "-1"], ["epsilon"]),
        (["train", "smokers", "--epsilon", "inf"], ["epsilon"]),
        (["train", "smokers", "--epsilon", "1", "--model", "magic"], ["--model", "naive-bayes"]),
        (["train", "smokers", "--epsilon", "1", "--model", "one-rule", "--with", "x=1"], ["--with", "bins"]),
        (["train", "nowhere", "--epsilon", "1"], ["no such thing"]),
        (["train", "../people", "--epsilon", "1"], ["data set '../people'"]),
        (["train", "smokers", "--epsilon", "1", "--out", "absent/m.json"], ["absent"]),
        (["count", "smokers", "--epsilon", "1", "--where", "shoe = 3"], ["--where", "columns"]),
        (["count", "smokers", "--epsilon", "1", "--by", "shoe"], ["shoe"]),
        (["score", "smokers", release, "--epsilon", "1"], ["release"]),
        (["score", "smokers", "x/y", "--epsilon", "1"], ["release 'x/y'"]),
        (["fetch", release, "--out", "m.json"], ["no such thing"]),
        (["wait", "no-job"], ["job"]),
        (["quote", "smokers", "absent.json"], ["absent.json"]),
        (["datasets", "--url", "http://127.0.0.1:9/x?y"], ["address of a service"]),
    ):
        result = remote(*given, status=2)
        assert result.stderr.count("error: ") == 1
        assert result.stderr.count("\n") == 1, result.stderr
        assert all(word in result.stderr.lower() for word in words), result.stderr
    assert as_json("budget") == before


def test_a_lost_answer_is_asked_again_by_its_key(ana, monkeypatch):
    monkeypatch.setattr(transport_module, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("DISCREET_URL", "http://127.0.0.1:9")
    result = remote("train", "smokers", "--epsilon", "1", "--model", "one-rule", status=2)
    assert "does not answer" in result.stderr
    assert "--key " in result.stderr


def test_a_token_goes_to_its_own_address_only(here):
    keep("https://one.example.org", TOKEN)
    assert connection(None) == ("https://one.example.org", TOKEN)
    with pytest.raises(ParameterError, match=r"no token for https://two\.example\.org"):
        connection("https://two.example.org")
    keep("https://two.example.org", TOKEN + "2")
    assert connection(None) == ("https://two.example.org", TOKEN + "2")
    assert connection("https://one.example.org/") == ("https://one.example.org", TOKEN)


def test_a_file_of_tokens_that_others_can_read_is_refused(here):
    path = keep("https://one.example.org", TOKEN)
    os.chmod(path, 0o644)
    with pytest.raises(FileError, match="revoke them") as caught:
        connection(None)
    assert TOKEN not in str(caught.value)
    os.chmod(path, 0o600)
    for content in ("", "[]", '{"last": 3, "tokens": {}}', '{"last": null, "tokens": {"a": 1}}', '{"tokens": []}'):
        path.write_text(content)
        with pytest.raises(FileError, match="does not hold tokens"):
            connection(None)
