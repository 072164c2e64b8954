"""What tests share: a small mixed table with everything awkward in it, its schema, and hypothesis' settings."""

import os

# The matrices are small and the workers of xdist share the processors: threads would only wait for one another.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")
os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from discreet import Categorical, Numeric, Schema
from support.records import draw_records

settings.register_profile(
    "discreet", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("discreet")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: interruptions would never arrive
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # started by nohup: no end of a terminal would
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


LONG = [
    "advice/test_left_out.py",
    "audit",
    "cli/test_audit.py",
    "cli/test_interruptions.py",
    "research",
    "suites/test_attacks.py",
    "suites/test_memory.py",
    "suites/test_pictures.py",
    "suites/test_random_lines.py",
    "test_site.py",
]
"""Files and folders of tests that take minutes, beside the tests that are marked slow."""


def pytest_addoption(parser):
    """`--only fast` is what `make test` and nox run, `--only long` what `make test-long` adds to it."""
    parser.addoption(
        "--only",
        choices=["fast", "long", "audits"],
        help="fast: tests of seconds; long: tests of minutes; audits: those whose outcome depends on draws and clock",
    )
    parser.addoption("--one-each", action="store_true", help="run each test with its first parameters only")


def pytest_ignore_collect(collection_path, config):
    """With `--only`, do not even import the files that it leaves out."""
    only = config.getoption("--only")
    return True if only == "fast" and _is_in(LONG, collection_path) else None


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that `--only` does not want; with `--one-each`, all but the first case of each test."""
    only = config.getoption("--only")
    if only is not None:
        _keep(config, items, [item for item in items if _belongs(item) == only])
    if config.getoption("--one-each"):
        first = {}
        for item in items:
            first.setdefault((item.path, item.cls, getattr(item, "originalname", item.name)), item)
        _keep(config, items, list(first.values()))


def _belongs(item):
    if item.get_closest_marker("chance"):
        return "audits"
    return "long" if item.get_closest_marker("slow") or _is_in(LONG, item.path) else "fast"


def _is_in(names, path):
    inside = path.relative_to(Path(__file__).parent)
    return any(inside.is_relative_to(name) for name in names)


def _keep(config, items, kept):
    chosen = set(map(id, kept))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = kept


@pytest.fixture
def schema():
    """Two numbers, two categories, three classes; one category list is complete, one is not."""
    return Schema(
        [
            Numeric("age", 0, 100),
            Numeric("dose", -1.5, 2.5, fill=0.25, grid=64),
            Categorical("sex", ["F", "M"], unlisted=False),
            Categorical("site", ["north", "south", 3], missing="south"),
        ],
        target="outcome",
        classes=["ill", "unknown", "well"],
        records=400,
    )


@pytest.fixture
def records():
    """Four hundred records of that schema as columns of objects, some values missing, unlisted or out of bounds."""
    return draw_records(400, seed=7)
