"""`discreet audit`: its exit status, what it prints, and what it writes."""

import itertools
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from discreet import Numeric, Schema
from discreet.audit import audit
from discreet.audit.neighbours import Pair
from discreet.audit.tables import Table
from discreet.audit.target import Recipe, Target
from discreet.cli.application import app
from discreet.errors import FileError
from support.audit_path import targets_can_be_imported

__all__ = ["targets_can_be_imported"]


def run(*words):
    return CliRunner().invoke(app, ["audit", *words, "--seed", "0"])


@pytest.fixture(scope="module")
def refuted(tmp_path_factory):
    """A target that reads the classes off the labels, and its report."""
    out = tmp_path_factory.mktemp("audit") / "report"
    done = run("support.audited:classes", "--claim", "1", "--minutes", "0.2", "--out", str(out), "--json")
    return done, out


def test_a_refuted_claim_has_status_1_and_says_so_in_json(refuted):
    done, _ = refuted
    assert done.exit_code == 1, done.output
    report = json.loads(done.stdout)
    assert report["refuted"]
    assert report["epsilon"] > report["claim"]["epsilon"] == 1
    assert report["verdict"].startswith("refuted: ε ≥ ")
    assert "one record added or removed" in report["verdict"]
    assert report["findings"][0]["pair"]["first"]
    assert report["command"].startswith("discreet audit support.audited:classes --claim 1 --delta 0 --adjacency add-re")
    assert "--with" not in report["command"]
    assert [stage["name"] for stage in report["stages"]][:2] == ["structure", "samples"] or report["stages"]


def test_the_folder_has_page_json_and_script(refuted):
    done, out = refuted
    written = {path.name for path in out.iterdir()}
    assert {"report.html", "report.md", "audit.json"} <= written
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Refuted" in page
    assert "never means" in page
    assert json.loads((out / "audit.json").read_text(encoding="utf-8"))["refuted"]
    assert json.loads(done.stdout)["written"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nothing_like_this:C", "--claim", "1"], "cannot import"),
        (["support.audited:Means", "--claim", "1"], "--with"),
        (["support.audited:NoFit", "--claim", "1"], "no fit"),
        (["support.audited:noisy_count"], "--claim"),
        (["support.audited:noisy_count", "--claim", "1", "--with", "epsilon"], "name=value"),
        (["support.audited:refusing", "--claim", "1"], "--schema"),
        (["nowhere.json"], "nowhere.json"),
        (["nothing_like_this:C", "--claim", "1"], "PYTHONPATH"),
        (["support.audited:NoSuchName", "--claim", "1"], "check the name"),
        (["support.misbehaving:framed", "--claim", "1"], "--form frame"),
        (["support.misbehaving:unreachable", "--claim", "1"], "--schema"),
        (["support.misbehaving:asleep", "--claim", "1", "--minutes", "0.1"], "hung: no answer in time"),
    ],
)
def test_misuse_is_one_line_with_status_2(words, told):
    done = run(*words, "--minutes", "1")
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_audit_json_and_the_command_say_all_that_decides_what_an_audit_does(tmp_path):
    schema = tmp_path / "my schema.json"
    Schema([Numeric("a", 0.0, 2.0)], target="label", classes=[0, 1]).save(schema)
    options = ["--claim", "1.0000001", "--delta", "1e-07", "--adjacency", "replace-one", "--schema", str(schema)]
    options += ["--with", "scale=NaN", "--with", "bounds=[(0,1)]", "--minutes", "0.05", "--confidence", "0.9995"]
    options += ["--within", "--strict", "--first", "--processes", "1"]
    done = run("support.audited:scaled", *options, "--out", str(tmp_path / "out"))
    assert done.exit_code == 1, done.output

    def refuse(text):
        raise AssertionError(f"{text} is no JSON")

    report = json.loads((tmp_path / "out" / "audit.json").read_text(encoding="utf-8"), parse_constant=refuse)
    words = shlex.split(report["command"])
    assert words[:3] == ["discreet", "audit", "support.audited:scaled"]
    pairs = list(itertools.pairwise(words))
    for place in range(0, len(options) - 5, 2):
        assert (options[place], options[place + 1]) in pairs
    assert ("--seed", "0") in pairs
    assert {"--within", "--strict", "--first"} < set(words)
    settings = report["settings"]
    assert [each["name"] for each in settings["schema"]["columns"]] == ["a"]
    assert (settings["within"], settings["strict"], settings["first"]) == (True, True, True)
    assert (settings["seed"], settings["minutes"]) == (0, 0.05)
    assert report["parameters"]["scale"] == "nan"
    assert {each["about"] for each in report["findings"]} == {"fit"}
    assert report["command"] in (tmp_path / "out" / "report.md").read_text(encoding="utf-8").replace("\\", "")


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_audit(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.audit.audit", lambda *_, **__: pytest.fail("the audit began"))
    (tmp_path / "audit.json").mkdir()
    done = run("support.audited:classes", "--claim", "1", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "audit.json is a folder" in done.stderr

    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    done = run("support.audited:classes", "--claim", "1", "--out", str(tmp_path / "new"))
    assert done.exit_code == 2
    assert "cannot write to folder" in done.stderr


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_the_verdict_is_shown_even_if_it_cannot_be_written(words, tmp_path, monkeypatch):
    def full(*_, **__):
        raise FileError("cannot write report.html: No space left on device; check the folder")

    monkeypatch.setattr("discreet.research.report.folder.whole_file", full)
    options = ["--claim", "1", "--first", "--minutes", "0.2", "--out", str(tmp_path / "new")]
    done = run("support.audited:classes", *options, *words)
    assert done.exit_code == 2
    assert "efuted: ε" in done.stdout
    assert "No space left" in done.stderr
    if words:
        assert json.loads(done.stdout)["written"] == []


def test_the_report_of_a_service_names_its_address_and_both_data_sets():
    """What is asked is the same; only how a report names it is looked at."""
    first, second = (Table(("data set",), ("categorical",), (((name,), ""),)) for name in ("one", "other"))
    given = (Pair(first, second, "two data sets"),)
    parameters = {"datasets": ["one", "other"], "request": {"kind": "count", "epsilon": "1"}}
    target = Target("support.audited:of_data_set", form="records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.audit.auditing.as_remote", lambda *_: Recipe(target, given=given))
        report = audit("https://service.example", 1.0, parameters=parameters, minutes=0.05, processes=1)
    content = report.to_dict()
    assert content["target"] == "https://service.example"
    assert content["parameters"] == parameters
    assert content["settings"]["schema"] is None


def test_scripts_of_an_earlier_audit_are_removed_and_nothing_else(tmp_path):
    (tmp_path / "repeat-1.py").write_text("# Repeats a finding: of an earlier audit\n", encoding="utf-8")
    (tmp_path / "repeat-2.py").write_text("print('written by somebody else')\n", encoding="utf-8")
    (tmp_path / "repeat-mine.py").write_text("# Repeats a finding: copied\n", encoding="utf-8")
    done = run("support.audited:noisy_count", "--claim", "50", "--minutes", "0.3", "--out", str(tmp_path))
    assert done.exit_code == 0, done.output
    written = {path.name for path in tmp_path.glob("*.py")}
    assert written == {"repeat-2.py", "repeat-mine.py"}


ENDLESS = """
import os, pathlib


def f(X, y):
    child = os.fork()
    if child:
        pathlib.Path({path!r}).write_text(f"{{os.getpid()}} {{child}}")
    while True:
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_an_audit_that_is_ended_leaves_no_process_of_the_target(tmp_path, number):
    """As CI ends what takes too long, as a terminal ends what it started, and as the system ends what takes memory;
    what the target forked goes too."""
    written = tmp_path / "pid"
    (tmp_path / "endless.py").write_text(ENDLESS.format(path=str(written)))
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "discreet.cli", "audit", "endless:f", "--claim", "1", "--minutes", "5"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL)
    while not (written.exists() and written.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    pids = [int(each) for each in written.read_text().split()]
    process.send_signal(number)
    assert process.wait(60) == (-number if number == signal.SIGKILL else 128 + number)
    end = time.monotonic() + 10
    while left := [each for each in pids if _runs(each)]:
        assert time.monotonic() < end, left
        time.sleep(0.05)


def _runs(pid):
    """Whether a process runs; one that ended, and waits to be collected, does not."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    listed = listed.stdout.strip()
    return bool(listed) and not listed.startswith("Z")
