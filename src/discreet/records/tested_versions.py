"""Packages that a guarantee rests on, and the versions of them that it was tested with; others are refused.

OpenDP draws noise, DuckDB and pyarrow read records, pandas and Polars hold them. If another version drew less noise,
dropped a record or read one by the look of another, a guarantee would be void, and nothing would say so. So an untested
version is an error before anything is charged.
"""

from __future__ import annotations

import re

from discreet.errors import UntestedVersion

TESTED = {
    "duckdb": ("2.0", "3"),
    "opendp": ("0.13", "0.17"),
    "pandas": ("2.3", "4"),
    "polars": ("1.20", "3"),
    "pyarrow": ("25", "27"),
}
"""The oldest version that was tested, and the first that was not: the bounds in pyproject.toml, as a test checks."""


def check_version(package: str, version: str) -> None:
    """Raise UntestedVersion for a version outside the tested ones; packages that are not listed may have any."""
    if package not in TESTED:
        return
    oldest, beyond = TESTED[package]
    if not _numbers(oldest) <= _numbers(version) < _numbers(beyond):
        raise UntestedVersion(package, version, oldest, beyond)


def _numbers(version: str) -> tuple[int, ...]:
    """The release of a version: (3, 1, 1) for 3.1.1rc2; nothing, which is older than all, if there is none."""
    release = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, release[0].split("."))) if release else ()
