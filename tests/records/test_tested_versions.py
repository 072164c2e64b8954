"""Versions of packages that a guarantee rests on: those outside the tested range are refused before a charge."""

import re
import tomllib
from pathlib import Path

import pytest

from discreet import Ledger, NaiveBayes, datasets
from discreet.errors import UntestedVersion
from discreet.records.tested_versions import TESTED, check_version

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def requirements():
    project = PROJECT["project"]
    for group in (
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *PROJECT["dependency-groups"].values(),
    ):
        yield from group


def test_the_range_is_that_of_the_project():
    """What pip installs is what is allowed at run time: neither bound can be moved alone."""
    named = {package: set() for package in TESTED}
    for requirement in requirements():
        package, bounds = re.fullmatch(r"([\w.-]+)(?:\[.*\])?(.*)", requirement).groups()
        if package in TESTED:
            named[package].add(bounds)
    assert named == {package: {f">={oldest},<{beyond}"} for package, (oldest, beyond) in TESTED.items()}


@pytest.mark.parametrize(
    ("package", "version", "allowed"),
    [
        ("pandas", "2.2.3", False),
        ("pandas", "2.3.0", True),
        ("pandas", "3.1.1", True),
        ("pandas", "3.2.0rc1", True),
        ("pandas", "4.0.0rc1", False),
        ("pandas", "10.0", False),
        ("opendp", "0.9.0", False),
        ("opendp", "0.13.0", True),
        ("opendp", "0.16.0", True),
        ("opendp", "0.17.0.dev3", False),
        ("duckdb", "2.0.0", True),
        ("duckdb", "3.0.0", False),
        ("polars", "unknown", False),
        ("somebody", "0.1", True),
    ],
)
def test_a_version_is_compared_by_its_numbers(package, version, allowed):
    if allowed:
        check_version(package, version)
    else:
        with pytest.raises(UntestedVersion, match=f"{package} {version} .*; pip install '{package}>="):
            check_version(package, version)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("only", ["columns", "labels"])
def test_a_frame_of_an_untested_version_is_refused_before_the_charge(monkeypatch, library, only):
    module = pytest.importorskip(library)
    X, y, schema = datasets.load("iris")
    X = module.DataFrame(X) if only == "columns" else X
    y = module.Series(list(y)) if only == "labels" else y
    ledger = Ledger(1)
    with monkeypatch.context() as newer:
        newer.setattr(module, "__version__", "99.0.0")
        with pytest.raises(UntestedVersion, match=f"{library} 99.0.0 was not tested"):
            NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)
    assert ledger.remaining == 1
    NaiveBayes(schema, epsilon=1).fit(X, y, ledger=ledger)
