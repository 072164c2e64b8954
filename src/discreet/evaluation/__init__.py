"""How good a model is on private records, as numbers that can be published."""

from discreet.evaluation.accuracy import (
    Accuracy,
    AccuracyGuarantee,
    check_options,
    evaluate,
    evaluate_file,
    evaluate_from,
)
from discreet.evaluation.confusion import ClassFigures, Confusion
from discreet.evaluation.intervals import Estimate

__all__ = [
    "Accuracy",
    "AccuracyGuarantee",
    "ClassFigures",
    "Confusion",
    "Estimate",
    "check_options",
    "evaluate",
    "evaluate_file",
    "evaluate_from",
]
