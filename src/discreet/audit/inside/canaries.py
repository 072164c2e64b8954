"""Fit once on a table with canaries, and say for each canary how much the model speaks for its label.

Run by path in the target's own process; needs the standard library and numpy (Python 3.8 or later).
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np


def operations(runner: Any) -> Any:
    """What the runner of a target can be asked besides runs."""

    def canaries(request: Any, send: Any) -> Any:
        points = runner.target.points(request["canaries"])
        labels, twins = request["canaries"]["labels"], request["twins"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = runner.target.make()
                with sys.modules[type(runner).__module__].alone():
                    model.fit(*runner.target.arguments(request["table"]))
                return {"scores": scores(model, points, labels, twins)}
            except Exception as error:
                return {"raised": "%s: %s" % (type(error).__name__, str(error)[:200])}

    return {"canaries": canaries}


def scores(model: Any, points: Any, labels: Any, twins: Any) -> Any:
    """By canary: the score of its label less that of its twin's label (of nothing, if it has no twin)."""
    if hasattr(model, "predict_proba"):
        places = {str(each): place for place, each in enumerate(np.asarray(model.classes_).tolist())}
        table = np.nan_to_num(np.log(np.maximum(np.asarray(model.predict_proba(points), dtype=float), 1e-300)))

        def at(row: Any, label: Any) -> Any:
            return float(table[row, places[str(label)]]) if str(label) in places else -700.0
    else:
        predicted = [str(each) for each in np.asarray(model.predict(points)).tolist()]

        def at(row: Any, label: Any) -> Any:
            return float(predicted[row] == str(label))

    return [
        at(row, label) - (at(row, twins[row]) if twins[row] is not None else 0.0) for row, label in enumerate(labels)
    ]
