"""What tests share: a small mixed table with everything awkward in it, its schema, and hypothesis' settings."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from discreet import Categorical, Numeric, Schema

settings.register_profile(
    "discreet", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("discreet")


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


def draw_records(rows, seed):
    rng = np.random.default_rng(seed)
    outcome = rng.choice(["well", "ill", "unknown"], rows, p=[0.5, 0.3, 0.2]).astype(object)
    shift = (outcome == "ill") * 20.0
    age = rng.normal(45, 15, rows) + shift
    age[rng.random(rows) < 0.05] = math.nan
    sex = np.where(rng.random(rows) < 0.5, "F", "M").astype(object)
    site = rng.choice(["north", "south", "3", "west"], rows, p=[0.5, 0.2, 0.2, 0.1]).astype(object)
    sex[0], site[1], outcome[2] = None, None, "elsewhere"
    return {
        "age": age.round(1),
        "dose": rng.normal(0.5, 1, rows).round(3),
        "sex": sex,
        "site": site,
        "outcome": outcome,
    }


def split_target(columns, target="outcome"):
    """Attributes and labels of a mapping of columns."""
    return {name: values for name, values in columns.items() if name != target}, columns[target]
