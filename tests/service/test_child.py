"""The process of one job: it uses what was paid, and answers an error by the name of its class alone."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from discreet import NaiveBayes, OneRule
from discreet.errors import BudgetError, UntestedVersion
from discreet.privacy import opendp_sampler
from discreet.privacy.ledger import Ledger
from discreet.service import child, drafts
from discreet.sources.file import open_file
from support.hospital import write_patients


@pytest.fixture
def job(tmp_path):
    """A job on a table of patients, as the worker tells it."""
    path = write_patients(tmp_path / "table.csv")
    schema, _ = drafts.draft(open_file(path), "ill", [])
    public = schema.replace(from_data=[], records=400)
    request = {"kind": "train", "model": "one-rule", "epsilon": "1"}
    told = {"kind": "train", "request": request, "epsilon": "1", "schema": public.to_dict()}
    return {**told, "snapshot": str(path), "seconds": 60}


class Untouched:
    """A source that must not be read."""

    def check(self, schema):
        pass

    def __getattr__(self, name):
        if name.startswith("_") or name in (
            "sums_only",
            "check_rows",
            "check_sums",
            "try_task",
            "state",
            "finish",
        ):
            raise AttributeError(name)
        return lambda *_, **__: pytest.fail(f"the source was read: {name}")


def test_every_model_can_be_trained(job):
    for model in ("auto", "naive-bayes", "one-rule", "decision-tree", "random-forest", "svm"):
        made = child.answer({**job, "request": {**job["request"], "model": model}})
        assert made["card"]["guarantee"]["holds"]
        assert Fraction(made["card"]["guarantee"]["epsilon"]) == 1
        assert made["content"]["model"] == model
        json.dumps(made, allow_nan=False)


def test_an_untested_opendp_is_refused_before_it_reads(job, monkeypatch):
    """Had the package been exchanged under a worker that runs."""
    opendp_sampler.check_opendp.cache_clear()
    monkeypatch.setattr(opendp_sampler, "_version", lambda: "0.17.0")
    monkeypatch.setattr(child, "open_file", lambda _: Untouched())
    with pytest.raises(UntestedVersion):
        child.answer(job)


def test_a_model_that_costs_more_is_refused_before_it_reads(job, monkeypatch):
    """A mutant: the estimator asks for more than the request says; the ledger of the job has no more than was paid."""
    monkeypatch.setattr(child, "open_file", lambda _: Untouched())
    schema = child.Schema.from_dict(job["schema"])
    for greedy in (NaiveBayes(schema, epsilon="1.000000001"), OneRule(schema, epsilon=2)):
        monkeypatch.setattr(child, "estimator_for", lambda *_, model=greedy: model)
        with pytest.raises(BudgetError):
            child.answer(job)


@pytest.mark.parametrize("change", [{"epsilon": "1/2"}, {"epsilon": "2"}])
def test_a_request_that_is_not_what_was_paid_is_refused(job, monkeypatch, change):
    monkeypatch.setattr(child, "open_file", lambda _: pytest.fail("the source was opened"))
    with pytest.raises(BudgetError):
        child.answer({**job, **change})


def test_a_draft_schema_is_refused(job, monkeypatch):
    monkeypatch.setattr(child, "open_file", lambda _: pytest.fail("the source was opened"))
    draft = {**job["schema"], "from_data": ["age.lower"]}
    with pytest.raises(BudgetError):
        child.answer({**job, "schema": draft})


def test_what_was_used_is_compared_with_what_was_paid():
    ledger = Ledger(1, adjacency="add-remove")
    good = {"guarantee": {"holds": True, "epsilon": "1"}}
    with pytest.raises(BudgetError):  # nothing was charged: then nothing can have been released
        child.check_paid(ledger, good, Fraction(1))


def started(message):
    done = subprocess.run(
        [sys.executable, "-m", "discreet.service.child"],
        input=message,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == b""
    assert done.stdout[:1] == child.READY
    return done.stdout[1:]


def test_an_error_is_answered_by_its_class_alone(job):
    broken = {**job, "snapshot": "/nowhere/CANARY.csv"}
    assert json.loads(started(json.dumps(broken).encode())) == {"failed": "FileError"}
    assert started(b"") == b""


def test_a_job_has_no_more_memory_than_it_may_take(job):
    assert "content" in json.loads(started(json.dumps({**job, "memory": 2}).encode()))
    told = started(json.dumps({**job, "memory": 0.0001}).encode())
    assert not told or list(json.loads(told)) == ["failed"]  # an engine may end the process, which the worker notices


def test_the_process_of_a_job_has_no_packages_of_databases_of_the_service():
    loads = (
        "import importlib, sys; from discreet.service import child; [*map(importlib.import_module, child.PREPARED)]; "
    )
    shows = "print([each for each in ('sqlalchemy', 'alembic', 'fastapi', 'uvicorn') if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loads + shows], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
