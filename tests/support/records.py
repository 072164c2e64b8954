"""A small mixed table with everything awkward in it."""

import math

import numpy as np


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
