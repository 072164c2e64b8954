"""Runs of small numbers are read as they were written, and nothing is read beyond their bytes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.records import parquet_runs
from discreet.records.parquet_runs import FAILED, WIDEST
from support.parquet_pages import LOOPS

loops = pytest.mark.parametrize("loop", LOOPS)


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def groups(values, width, more=0):
    """Numbers in groups of eight, of which the last ones are filled up with ones."""
    count = -(-len(values) // 8) + more
    filled = [*values, *[1] * (8 * count - len(values))]
    bits = sum(value << (place * width) for place, value in enumerate(filled))
    return varint(count << 1 | 1) + bits.to_bytes(count * width, "little")


def run(value, times, width):
    return varint(times << 1) + value.to_bytes((width + 7) // 8, "little")


def read(loop, raw, width, size, count, place=0):
    """What is written, with the place after it; the bytes have others after them that must not be used."""
    around = np.frombuffer(raw + b"\xff" * 8, dtype=np.uint8)
    numbers = np.full(count + 8, -7, dtype=np.int32)
    end = loop(around[: len(raw)], place, width, size, numbers[:count])
    assert (numbers[count:] == -7).all()
    return end, numbers[:count].tolist()


@st.composite
def mixed(draw):
    width = draw(st.integers(0, WIDEST))
    raw, values = b"", []
    for _ in range(draw(st.integers(1, 4))):
        value = st.integers(0, (1 << width) - 1)
        if draw(st.booleans()):
            times, each = draw(st.integers(1, 300)), draw(value)
            raw, values = raw + run(each, times, width), values + [each] * times
        else:
            new = draw(st.lists(value, min_size=8, max_size=8)) * draw(st.integers(1, 9))
            raw, values = raw + groups(new, width), values + new
    return width, raw, values


@loops
@settings(max_examples=150)
@given(mixed())
def test_runs_are_read_as_they_were_written(loop, given):
    width, raw, values = given
    size = 1 << width
    assert read(loop, b"abc" + raw, width, size, len(values), 3) == (3 + len(raw), values)
    assert read(loop, raw[:-1], width, size, len(values))[0] == FAILED
    largest = max(values)
    assert read(loop, raw, width, largest + 1, len(values))[0] == len(raw)
    assert read(loop, raw, width, largest, len(values))[0] == FAILED


@loops
@pytest.mark.parametrize("more", [0, 1, 31])
def test_the_last_groups_may_be_filled_up(loop, more):
    raw = groups([5, 0, 7], 3, more)
    assert read(loop, raw, 3, 8, 3) == (len(raw), [5, 0, 7])


@loops
@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\x80", b"\xff" * 9, b"\x00", b"\x00\x01", b"\x01", b"\x08\x01", b"\x06\x02", b"\x06", b"\x02\x01",
        b"\x03", b"\x05\x01", b"\xff\xff\xff\xff\x7f\x00", b"\xfe\xff\xff\xff\x7f\x00", b"\xff\xff\xff\xff\xff\xff\x01",
    ],
)  # fmt: skip
def test_what_is_no_run_fails(loop, raw):
    """Three numbers of one bit: too short, of length 0, too long a run, a number of two bits."""
    assert read(loop, raw, 1, 2, 3)[0] == FAILED


@loops
def test_a_run_of_a_number_of_too_many_bits_fails(loop):
    """It may be a place in the dictionary all the same."""
    assert read(loop, b"\x06\x05", 3, 8, 3) == (2, [5, 5, 5])
    assert read(loop, b"\x06\x05", 2, 8, 3)[0] == FAILED


@loops
def test_lengths_of_many_bytes_fail(loop):
    assert read(loop, b"\x86\x80\x80\x80\x00\x01", 1, 2, 3) == (6, [1, 1, 1])
    assert read(loop, b"\x86\x80\x80\x80\x80\x00\x01", 1, 2, 3)[0] == FAILED


@loops
def test_no_numbers_need_no_byte(loop):
    assert read(loop, b"", 3, 0, 0) == (0, [])


@loops
@settings(max_examples=300)
@given(st.binary(max_size=40), st.integers(0, WIDEST), st.integers(0, 300), st.integers(0, 40), st.integers(0, 50))
def test_any_bytes_are_read_or_not(loop, raw, width, size, count, place):
    end, numbers = read(loop, raw, width, size, count, min(place, len(raw)))
    assert end == FAILED or (min(place, len(raw)) <= end <= len(raw) and all(0 <= number < size for number in numbers))
    assert read(loop, raw, width, size, count, min(place, len(raw)))[0] == end


def test_widths_fit_into_four_bytes():
    assert parquet_runs.WIDEST + 7 < 32
