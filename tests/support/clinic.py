"""A table that parties can divide among them: smokers are ill more often."""

import numpy as np

from discreet import Categorical, Numeric, Schema

CLINIC = Schema([Numeric("age", 0, 100), Categorical("smoker", ["no", "yes"])], "ill", ["no", "yes"], records=1500)


def ill(rows, seed):
    """Smokers are ill more often."""
    draw = np.random.default_rng(seed)
    smoker = draw.random(rows) < 0.5
    sick = draw.random(rows) < np.where(smoker, 0.8, 0.2)
    return {
        "age": draw.integers(0, 100, rows).astype(float),
        "smoker": np.where(smoker, "yes", "no").astype(object),
        "ill": np.where(sick, "yes", "no").astype(object),
    }
