"""Discrete Laplace noise drawn by OpenDP, and a trial of its sampler before the first charge.

A guarantee rests on what OpenDP's `scale` means and on the type of what it draws. Both could change in another version;
so could what its functions are called. Whatever differs is an error before anything is charged.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UntestedVersion
from discreet.records.tested_versions import TESTED, check_version

TRIAL_SCALE, TRIAL_DRAWS = 8.0, 1000
"""The noise of a trial, and how many draws it has: enough that chance alone does not fail it once in 10^30 times."""
SMALLEST, LARGEST, SIDE = 0.6, 1.5, 0.25
"""The mean size of the trial's noise must lie between the first two, as multiples of what it should be; of draws below
and above zero, the fewer must be at least this part of the more."""
ROUNDING = 1e-9
"""OpenDP rounds the loss that it states upwards, by less than this part of it."""
_DREW: set[int] = set()
"""The numbers of this process and of those it was forked from, as far as OpenDP drew noise in them."""


def opendp_laplace(scale: float, count: int) -> NDArray[np.int64]:
    """Independent draws of P[z] proportional to exp(-|z| / scale), as OpenDP itself understands its `scale`.

    Guarantee  if OpenDP's map and sampler are right, inputs at L1 distance 1 to which the draws are added give outputs
               that are (1 / scale)-DP, up to OpenDP's rounding.
    Proof      the loss that OpenDP's own map states for distance 1 is compared with 1 / scale at every call, and the
               draws are whole numbers: a float would be cut towards 0, which is another law.
    Test       tests/privacy/test_opendp_sampler.py::test_a_sampler_of_another_law_is_refused
    """
    measurement = _measurement(scale)
    loss = measurement.map(1)
    if not abs(loss * scale - 1) <= ROUNDING:
        raise _untested()
    _DREW.add(os.getpid())
    draws = measurement([0] * count)
    if len(draws) != count or not set(map(type, draws)) <= {int}:
        raise _untested()
    return np.array(draws, dtype=np.int64)


def has_drawn() -> bool:
    """Whether OpenDP drew noise in this process, or in one that it was forked from before it was forked.

    A generator keeps its state in memory, which a fork copies. The tested versions take their bytes from OpenSSL, which
    seeds its generator anew in a process with another number; who wants not to rest on it forks only where nothing was
    drawn, as the service does.
    """
    return bool(_DREW)


@functools.cache
def check_opendp() -> None:
    """Raise UntestedVersion unless OpenDP has a tested version and a trial of its noise is of the right size.

    The trial is made once in a process, before anything is charged, and sees no data. It notices noise that is missing,
    constant, one-sided, repeated, or of half or twice the scale; whether the law is exact is for the tests.
    """
    check_version("opendp", _version())
    try:
        first, second = (opendp_laplace(TRIAL_SCALE, TRIAL_DRAWS) for _ in range(2))
    except (AttributeError, TypeError):  # other names or arguments
        raise _untested() from None
    if not (_has_the_right_size(first) and _has_the_right_size(second)) or (first == second).all():
        raise _untested()


def _has_the_right_size(draws: NDArray[np.int64]) -> bool:
    q = float(np.exp(-1 / TRIAL_SCALE))
    expected = 2 * q / (1 - q * q)
    sides = int((draws > 0).sum()), int((draws < 0).sum())
    return bool(SMALLEST * expected <= np.abs(draws).mean() <= LARGEST * expected and min(sides) >= SIDE * max(sides))


def _measurement(scale: float) -> Any:
    from opendp import domains, measurements, metrics, mod  # not its prelude, which loads polars where it is there

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l1_distance(T="i64")
    return measurements.make_laplace(*space, scale=scale)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("opendp")
    except PackageNotFoundError:  # packed without its metadata
        return ""


def _untested() -> UntestedVersion:
    return UntestedVersion("opendp", _version(), *TESTED["opendp"])
