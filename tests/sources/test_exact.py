"""Exact answers stay on the private side: they show no value, and no copy of them can leave the process."""

import copy
import pickle

import numpy as np
import pytest

from discreet.records.encoding import Cells
from discreet.sources.blocks import BlockSource
from discreet.sources.csv import CsvSource
from discreet.sources.duckdb import DuckDBSource
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.memory import MemorySource


def counts():
    """Exact counts, made anew for each test: another test looks for any that outlive a fit."""
    return ExactStatistics({Cells("a"): np.array([[4711, 1]])})


def rows():
    return ExactRows({Cells("a"): np.array([4711], dtype=np.uint16)}, np.array([4711], dtype=np.uint16))


SOURCES = [
    MemorySource({"a": [4711]}, [4711]),
    CsvSource("4711.csv"),
    DuckDBSource("4711.csv"),
    DuckDBSource("4711.parquet"),
    BlockSource(lambda schema: iter([4711])),
]


@pytest.mark.parametrize("make", [counts, rows, *(lambda each=each: each for each in SOURCES)])
def test_nothing_private_is_shown(make):
    private = make()
    assert "hidden" in repr(private)
    assert "4711" not in f"{private} {private!r}"


@pytest.mark.parametrize("make", [counts, rows])
@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_exact_answers_cannot_be_copied_out(make, leave):
    with pytest.raises(TypeError, match="private and cannot be pickled"):
        leave(make())


def test_counts_of_different_cells_are_not_added():
    assert (counts() + counts()).counts[Cells("a")].tolist() == [[9422, 2]]
    with pytest.raises(ValueError, match="different cells"):
        counts() + ExactStatistics({Cells("b"): np.array([[1, 1]])})
