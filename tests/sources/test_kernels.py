"""The compiled loops count what numpy counts: on edges, around them, and on numbers that are hardly any."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.records.encoding import Cells
from discreet.sources import kernels
from discreet.sources.arrow_blocks import BatchCounter

pytest.importorskip("numba", reason="needs numba: pip install 'discreet[fast]'")

HARD = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, 1.7976931348623157e308, math.inf, -math.inf,
    math.nan, -math.nan, 2.0**31, 2.0**31 - 1, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 1e16, 0.1 + 0.2,
]  # fmt: skip


def both(table, schema, cells, monkeypatch):
    """The counts by numpy, and by the compiled loops from the first batch on."""
    counted = []
    for loops in (None, kernels._compiled()):
        monkeypatch.setattr(kernels, "kernels", lambda batches, loops=loops: loops)
        counter = BatchCounter(cells, schema)
        for batch in table.to_batches(max_chunksize=5000):
            counter.add(batch)
        counted.append([counter.counted().counts[each].tolist() for each in cells])
    return counted


def near(column, cells):
    """Each edge of the cells, the floats beside it, and hard numbers."""
    size = column.grid + 1 if cells.bins is None else cells.bins
    scale, offset = cells.scale_and_offset(column)
    edges = [float(column.lower) + (edge - offset) / scale for edge in range(size + 1)]
    around = [f(edge) for edge in edges for f in (lambda x: x, lambda x: math.nextafter(x, math.inf),
                                                  lambda x: math.nextafter(x, -math.inf))]  # fmt: skip
    return [*around, *HARD]


COLUMNS = [(-5, 5, 2048), (0, 1, 65_000), (0.1, 0.7, 7), (-1e300, 1e300, 9), (1e-300, 3e-300, 100), (17, 90, 2)]


@pytest.mark.parametrize(("lower", "upper", "grid"), COLUMNS)
@pytest.mark.parametrize("bins", [None, 1, 2, 7, 64, 1000])
@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int64"])
def test_edges_are_counted_as_numpy_counts_them(lower, upper, grid, bins, kind, monkeypatch):
    cells, column = Cells("x", bins), Numeric("x", lower, upper, grid=grid, fill=lower)
    schema = Schema([column], "y", ["a", "b"])
    with np.errstate(all="ignore"):
        numbers = np.array(near(column, cells))
        if kind == "int64":
            numbers = np.nan_to_num(numbers, posinf=2**62, neginf=-(2**62)).clip(-(2.0**62), 2.0**62)
        numbers = numbers.astype(kind)
    labels = np.resize(["a", "b", "c"], len(numbers))
    table = pa.table({"x": pa.array(numbers), "y": pa.array(labels)})
    by_numpy, compiled = both(table, schema, [cells], monkeypatch)
    assert by_numpy == compiled


@settings(max_examples=60)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 65_000), st.lists(st.floats(), max_size=40))
def test_any_floats_are_counted_as_numpy_counts_them(lower, width, bins, numbers):
    column = Numeric("x", lower, lower + width)
    schema = Schema([column], "y", ["a"])
    with pytest.MonkeyPatch.context() as patch:
        table = pa.table({"x": pa.array(numbers, pa.float64()), "y": ["a"] * len(numbers)})
        by_numpy, compiled = both(table, schema, [Cells("x", bins), Cells("x")], patch)
    assert by_numpy == compiled


def test_categories_numbers_and_nulls_together(monkeypatch):
    rows = 12_345
    generator = np.random.default_rng(0)
    words = generator.choice(["a", "b", "zzz", "", "1"], rows)
    table = pa.table({"c": pa.array(words, mask=generator.random(rows) < 0.1),
                      "d": pa.array(generator.normal(size=rows)),
                      "n": pa.array(generator.normal(size=rows), mask=generator.random(rows) < 0.2),
                      "k": pa.array(generator.integers(-3, 9, rows)), "t": pa.array(generator.random(rows) < 0.5),
                      "y": pa.array(generator.integers(0, 3, rows))})  # fmt: skip
    schema = Schema(
        [Categorical("c", ["a", "b", 1], missing="b"), Categorical("d", [0, 1]), Numeric("n", -1, 1),
         Numeric("t", 0, 1), Categorical("k", [1, 2, 3])], "y", [1, 0]
    )  # fmt: skip
    cells = [Cells("c"), Cells("d"), Cells("n"), Cells("n", 9), Cells("t", 2), Cells("k")]
    by_numpy, compiled = both(table, schema, cells, monkeypatch)
    assert by_numpy == compiled


def test_no_product_and_sum_are_contracted():
    """A fused operation rounds once where the reference rounds twice. No such instruction is in what is compiled."""
    from numba import njit

    loops = kernels.Kernels(njit(nogil=True, fastmath=False)(kernels._add_numbers), None, None)
    tally = kernels.Tally(np.zeros(30, dtype=np.int64), 10)
    for kind in (np.float64, np.float32):
        tally.add_numbers(loops, np.ones(3, kind), np.zeros(3, np.int32), Cells("x", 10), Numeric("x", 0, 1))
    compiled = loops.numbers.inspect_asm()
    assert len(compiled) == 2
    assert not any(word in text for text in compiled.values() for word in ("vfmadd", "vfmsub", "fmla", "fmadd"))


def test_a_pass_changes_over_to_the_loops_and_nothing_else_changes(monkeypatch):
    seen = []
    loops, original = kernels._compiled(), kernels.Tally.add_numbers
    monkeypatch.setattr(kernels, "kernels", lambda batches: loops if batches > 2 else None)
    monkeypatch.setattr(kernels.Tally, "add_numbers", lambda self, *given: (seen.append(1), original(self, *given)))
    counter = BatchCounter([Cells("x", 4)], Schema([Numeric("x", 0, 1)], "y", ["a"]))
    batch = pa.record_batch({"x": [0.1, 0.6, None], "y": ["a", "a", "a"]})
    for place in range(5):
        counter.add(batch)
        assert len(seen) == max(place - 1, 0)
    assert counter.counted().counts[Cells("x", 4)].tolist() == [[5, 0, 10, 0]]


def test_loops_are_compiled_once_a_pass_is_long():
    kernels._compiled.cache_clear()
    assert kernels.kernels(kernels.PATIENCE) is None
    assert kernels.kernels(kernels.PATIENCE + 1) is not None
    assert kernels.kernels(1) is not None  # from then on at once


@pytest.mark.parametrize("failures", [1, 2])
def test_loops_that_cannot_be_kept_or_compiled_are_no_error(monkeypatch, failures):
    """A full disk, no folder to write to, a processor that numba does not know."""
    import numba

    tried = []

    def njit(**options):
        tried.append(options["cache"])
        if len(tried) <= failures:
            raise RuntimeError("no locator available")
        return original(**options)

    original = numba.njit
    monkeypatch.setattr(numba, "njit", njit)
    kernels._compiled.cache_clear()
    assert (kernels.kernels(10**6) is None) == (failures == 2)
    assert tried == [True, False]
    kernels._compiled.cache_clear()


def test_without_numba_numpy_counts(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    kernels._compiled.cache_clear()
    assert kernels.kernels(10**6) is None
    kernels._compiled.cache_clear()
