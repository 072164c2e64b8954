"""Floats become integers, and NaN is noticed wherever it is."""

import numpy as np
import pytest

from discreet.records import truncating
from discreet.records.truncating import truncated

KINDS = [np.int16, np.int32, np.int64]


@pytest.mark.parametrize("is_told", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_nan_is_noticed_at_every_place(monkeypatch, kind, is_told):
    if not is_told:  # as on a processor that tells nothing
        monkeypatch.setattr(truncating, "_is_told", lambda kind: False)
    for length in range(1, 40):
        numbers = np.linspace(0, 99.9, length)
        integers = np.empty(length, dtype=kind)
        assert truncated(numbers, integers)
        assert integers.tolist() == [int(number) for number in numbers]
        for place in range(length):
            spoilt = numbers.copy()
            spoilt[place] = np.nan
            assert not truncated(spoilt, integers)


def test_nothing_is_no_nan():
    assert truncated(np.empty(0), np.empty(0, dtype=np.int16))


def test_a_processor_that_does_not_tell_is_found_out(monkeypatch):
    monkeypatch.setattr(truncating, "_truncated", lambda numbers, integers: not np.isnan(numbers[:64]).any())
    truncating._is_told.cache_clear()
    try:
        assert not truncating._is_told(np.dtype(np.int16))
    finally:
        truncating._is_told.cache_clear()
