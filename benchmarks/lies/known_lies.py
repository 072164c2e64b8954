"""Targets of recipes in this folder that are no class of a library by themselves. Imports only what each one needs."""

from __future__ import annotations

from typing import Any


def laplace_sum(X: Any, y: Any, epsilon: float = 1.0) -> float:
    """The sum of the first column, whose values lie in [0, 1], by diffprivlib's Laplace mechanism."""
    import numpy as np
    from diffprivlib.mechanisms import Laplace

    total = float(np.nan_to_num(X[:, 0]).clip(0, 1).sum())
    return float(Laplace(epsilon=epsilon, sensitivity=1.0).randomise(total))


class GaussianNBWithPublicRecords:
    """diffprivlib's GaussianNB on a table with ten public records of each class at the lower bounds.

    Neighbours stay neighbours. No class is ever empty, and under replace-one the number of records is public: what is
    left to find is in the numbers themselves.
    """

    def __init__(self, epsilon: float = 1.0, lower: float = 0.0, upper: float = 1.0) -> None:
        self.epsilon, self.lower, self.upper = epsilon, lower, upper

    def fit(self, X: Any, y: Any) -> GaussianNBWithPublicRecords:
        """Fit on the public records and these."""
        import numpy as np
        from diffprivlib import BudgetAccountant
        from diffprivlib.models import GaussianNB

        public = np.full((20, X.shape[1]), self.lower)
        own = BudgetAccountant()  # the account of the process would grow with every run
        model = GaussianNB(epsilon=self.epsilon, bounds=(self.lower, self.upper), accountant=own)
        self.model_ = model.fit(np.vstack([public, X]), np.concatenate([np.repeat([0, 1], 10), y]))
        return self

    def predict(self, X: Any) -> Any:
        """The label of each record."""
        return self.model_.predict(X)


class EBMWithPublicRecords:
    """DP-EBM on a table with ten public records of each class, all of the first categories.

    Neighbours stay neighbours, and no class is ever empty: what is left to find is about categories and numbers.
    """

    def __init__(self, epsilon: float = 1.0, delta: float = 1e-6, max_rounds: int = 5) -> None:
        self.epsilon, self.delta, self.max_rounds = epsilon, delta, max_rounds

    def fit(self, X: Any, y: Any) -> EBMWithPublicRecords:
        """Fit on the public records and these."""
        import numpy as np
        import pandas as pd
        from interpret.privacy import DPExplainableBoostingClassifier

        public = pd.DataFrame({"a": ["u"] * 20, "b": ["s"] * 20})
        made = DPExplainableBoostingClassifier(
            feature_types=["nominal", "nominal"],
            epsilon=self.epsilon,
            delta=self.delta,
            max_rounds=self.max_rounds,
            n_jobs=1,
        )
        labels = np.concatenate([np.repeat(["x", "y"], 10), y])
        self.model_ = made.fit(pd.concat([public, X], ignore_index=True), labels)
        return self

    def predict(self, X: Any) -> Any:
        """The label of each record."""
        return self.model_.predict(X)


class InputPerturbation:
    """The table that Zorarpacı 2019 publishes in place of the records, as the thesis does."""

    def __init__(self, schema: Any, epsilon: float = 1.0, ranges: str = "data") -> None:
        self.schema, self.epsilon, self.ranges = schema, epsilon, ranges

    def fit(self, X: Any, y: Any) -> InputPerturbation:
        """Perturb the table."""
        from discreet.research.papers import Zorarpaci2019InputPerturbation

        made = Zorarpaci2019InputPerturbation(self.schema, epsilon=self.epsilon, ranges=self.ranges)
        self.table_, self.labels_ = made.fit_resample(X, y)
        return self
