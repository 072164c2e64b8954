"""Systems that lack what a part needs: one line that says what to do, and nothing made or charged."""

import sys
from types import SimpleNamespace

import pytest

from discreet import Ledger
from discreet.audit import workers
from discreet.cli import serving
from discreet.errors import FileError, ParameterError


def test_the_service_is_refused_where_processes_have_no_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "os", SimpleNamespace(name="nt"))
    with pytest.raises(FileError, match="run it on Linux or macOS"):
        serving.settings_of(tmp_path / "service", None)
    assert not list(tmp_path.iterdir())


def test_an_audit_is_refused_where_processes_have_no_groups(monkeypatch):
    monkeypatch.setattr(workers, "os", SimpleNamespace(name="nt"))
    with pytest.raises(ParameterError, match="audit it on Linux or macOS"):
        workers.ProcessWorker(None, None)


def test_a_ledger_file_is_refused_where_files_have_no_locks(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(FileError, match=r"needs file locks .* use Linux or macOS, or "):
        Ledger(1, tmp_path / "budget.json")
    assert not list(tmp_path.iterdir())
