"""How accurate a model is on private records, as a number that can be published."""

from discreet.evaluation.accuracy import (
    Accuracy,
    AccuracyGuarantee,
    check_options,
    check_table,
    evaluate,
    evaluate_file,
    evaluate_table,
)

__all__ = [
    "Accuracy",
    "AccuracyGuarantee",
    "check_options",
    "check_table",
    "evaluate",
    "evaluate_file",
    "evaluate_table",
]
