"""What tests share: a small mixed table with everything awkward in it, its schema, and hypothesis' settings."""

import os

# The matrices are small and the workers of xdist share the processors: threads would only wait for one another.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ.get("OPENBLAS_NUM_THREADS", "1")
os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")

import signal

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


def pytest_addoption(parser):
    """`--one-each`: a quick look at another Python or other packages."""
    parser.addoption("--one-each", action="store_true", help="run each test with its first parameters only")


def pytest_collection_modifyitems(config, items):
    """With `--one-each`, leave out all but the first case of each test."""
    if config.getoption("--one-each"):
        first = {}
        for item in items:
            first.setdefault((item.path, item.cls, getattr(item, "originalname", item.name)), item)
        kept = set(map(id, first.values()))
        config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
        items[:] = first.values()


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
