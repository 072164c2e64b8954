"""`discreet audit`: its exit status, what it prints, and what it writes."""

import json

import pytest
from typer.testing import CliRunner

from discreet.cli.application import app
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
    ],
)
def test_misuse_is_one_line_with_status_2(words, told):
    done = run(*words, "--minutes", "1")
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
