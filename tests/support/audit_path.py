"""Lets the processes of an audit import targets from the folder of tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def targets_can_be_imported() -> Iterator[None]:
    """Put the folder of tests on the path of processes that are started."""
    here, given = str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([here, given] if given else [here]))
        yield
