"""Systems without file locks: a clear error where a lock is needed; everything else works."""

import builtins
import re

import pytest

from discreet import Ledger
from discreet.errors import FileError
from discreet.federated import Aggregator, invite
from discreet.research.comparison import ResultsFile
from discreet.storage.locking import lock_module
from support.clinic import CLINIC


@pytest.fixture
def without_locks(monkeypatch):
    original = builtins.__import__

    def refuse(name, *rest, **options):
        if name == "fcntl":
            raise ImportError(name)
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.mark.usefixtures("without_locks")
def test_what_needs_a_lock_is_a_clear_error(tmp_path):
    path = tmp_path / "file"
    words = re.escape("file locks (fcntl), which this system does not have; use Linux or macOS")
    with pytest.raises(FileError, match=f"ledger .*{words}, or Ledger"):
        Ledger(1, path=path)
    aggregator = Aggregator(invite(CLINIC, 1, ["north", "south"]), path=path)
    with pytest.raises(FileError, match=f"{words}, or an aggregator without a file"), aggregator._alone():
        pass
    with pytest.raises(FileError, match=f"{words}$"), ResultsFile(path).appending():
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("without_locks")
def test_what_needs_none_works():
    assert Ledger(1).remaining == 1


def test_where_there_are_locks_they_are_given():
    assert lock_module("file").LOCK_EX
