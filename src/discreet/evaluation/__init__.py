"""How accurate a model is on private records, as a number that can be published."""

from discreet.evaluation.accuracy import (
    Accuracy,
    AccuracyGuarantee,
    check_options,
    evaluate,
    evaluate_file,
    evaluate_from,
)

__all__ = ["Accuracy", "AccuracyGuarantee", "check_options", "evaluate", "evaluate_file", "evaluate_from"]
