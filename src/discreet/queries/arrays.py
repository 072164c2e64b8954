"""The arrays that queries are answered with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]
"""Counts and sums: exact integers, and the same integers after integer noise."""
