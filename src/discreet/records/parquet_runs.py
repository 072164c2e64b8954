"""Small natural numbers as Parquet writes them: runs of one number, and groups of eight numbers of few bits each.

Guarantee  `write_runs` fills an array with numbers that are all below `size`, and reads and writes nothing outside of
           its arrays; or it returns FAILED. What it accepts is what the format describes, to the last byte.
Proof      a run is read only if all of its bytes are there. Groups may have more numbers than are wanted, as the last
           ones have where a writer fills them up; a run of one number may not. Four bytes at a time are read where
           there are four; at the end one by one. Numbers are compared with `size`, and with what their bits can say,
           before the end of the runs is returned.
Test       tests/records/test_parquet_runs.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

FAILED = -1
WIDEST = 24
"""Most bits of a number: with those before it in its first byte, they are in four bytes."""


def write_runs(data: Any, place: int, width: int, size: int, numbers: Any) -> int:
    """Fill `numbers` (of 32 bits) from the runs at a place in the bytes; returns the place after them, or FAILED.

    Meant to be compiled (`sources/kernels.py`): one by one, Python takes long for it.
    """
    length, count, row, largest = len(data), len(numbers), 0, np.int32(0)
    while row < count:
        head: Any = np.int64(0)
        byte: Any = np.int64(128)
        shift = 0
        while byte >= 128:
            if place >= length or shift > 28:
                return FAILED
            byte = np.int64(data[place])
            head |= (byte & 127) << shift
            place, shift = place + 1, shift + 7
        run, left, is_packed = head >> 1, count - row, head & 1
        used = run * width if is_packed else (width + 7) // 8
        if run < 1 or (run > left and not is_packed) or used > length - place:
            return FAILED
        bits = width if is_packed else 8 * used
        mask = np.uint32((1 << bits) - 1)
        different = min(8 * run, left) if is_packed else 1
        fast = min(different, max(8 * (length - 3 - place), 0) // max(bits, 1))
        for each in range(fast):  # unsigned: numba would take a negative place for one from the end
            bit = np.uint64(each) * np.uint64(bits)
            at = np.uint64(place) + (bit >> np.uint64(3))
            four = np.uint32(data[at]) | np.uint32(data[at + np.uint64(1)]) << np.uint32(8)
            four |= np.uint32(data[at + np.uint64(2)]) << np.uint32(16)
            four |= np.uint32(data[at + np.uint64(3)]) << np.uint32(24)
            number = np.int32((four >> np.uint32(bit & np.uint64(7))) & mask)
            numbers[np.uint64(row + each)] = number
            largest = max(largest, number)
        for each in range(fast, different):
            four = np.uint32(0)
            for nth in range(min(4, length - place - each * bits // 8)):
                four |= np.uint32(data[place + each * bits // 8 + nth]) << np.uint32(8 * nth)
            number = np.int32((four >> np.uint32(each * bits % 8)) & mask)
            numbers[row + each] = number
            largest = max(largest, number)
        if not is_packed:
            numbers[row + 1 : row + run] = numbers[row]
        place += used
        row += different if is_packed else run
    return place if count == 0 or largest < min(size, 1 << width) else FAILED
