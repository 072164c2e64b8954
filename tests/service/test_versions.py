"""A worker whose OpenDP or DuckDB was never tested takes no job: each would be spent and then fail."""

import pytest

from discreet.privacy import opendp_sampler
from discreet.service import worker
from support.command import run


@pytest.fixture(autouse=True)
def afresh(monkeypatch):
    """As in a process that has charged nothing yet; a worker that starts is an error."""
    opendp_sampler.check_opendp.cache_clear()
    monkeypatch.setattr(worker.Worker, "run", lambda _: pytest.fail("the worker has started"))
    yield
    opendp_sampler.check_opendp.cache_clear()


def test_a_worker_with_an_untested_opendp_does_not_start(tmp_path, monkeypatch):
    monkeypatch.setattr(opendp_sampler, "_version", lambda: "0.17.0")
    result = run("worker", "run", "--folder", tmp_path / "service", status=2)
    assert result.stderr.startswith("error: opendp 0.17.0 was not tested")
    assert result.stderr.count("\n") == 1


def test_a_worker_with_an_untested_duckdb_does_not_start(tmp_path, monkeypatch):
    import duckdb

    monkeypatch.setattr(duckdb, "__version__", "3.0.0")
    result = run("worker", "run", "--folder", tmp_path / "service", status=2)
    assert result.stderr.startswith("error: duckdb 3.0.0 was not tested")
