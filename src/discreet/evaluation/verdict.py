"""Whether a model is worth anything, in a sentence that needs no statistics.

Guarantee  a verdict costs nothing. Proof: it is a function of published numbers: a noisy confusion matrix with its
           intervals, and the remarks of a model, themselves read off published answers. Post-processing.
Test       tests/evaluation/test_verdict.py::test_a_verdict_is_a_function_of_published_numbers
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.evaluation.confusion import Confusion

WIDE = 0.2
"""An interval of the balanced accuracy that is wider leaves open whether the model is worth anything."""


def verdict(found: Confusion, remarks: Sequence[str] = ()) -> str:
    """Whether the model is certainly better than a guess and, if it is not, why that may be.

    A guess that knows nothing about a record finds 1 in as many records of a class as there are classes, on average
    over the classes; a model that always says the largest class finds no more.
    """
    guess, balanced = 1 / len(found.classes), found.balanced_accuracy
    level = f"balanced accuracy {balanced}, where a guess has {guess:.3f}"
    if len(found.classes) == 1:
        return "Worth nothing: the schema has a single class, so there is nothing to tell apart."
    if balanced.lower > guess:
        doubt = "".join(f" But: {remark}." for remark in remarks)
        return f"Better than a guess: {level}.{doubt}"
    return f"Worth nothing, as far as this score shows: {level}. {_reason(found, remarks)}"


def _reason(found: Confusion, remarks: Sequence[str]) -> str:
    if remarks:
        return " ".join(f"Because: {remark}." for remark in remarks)
    balanced = found.balanced_accuracy
    if balanced.upper - balanced.lower > WIDE:
        return (
            "Because: too few records for this ε, so that noise and chance leave the accuracy open. More records to "
            "score on, or a larger ε, would tell."
        )
    if balanced.upper < 1 / len(found.classes) and found.rarest.sensitivity.lower > 0:
        return "Because: it is wrong more often than a guess. Check that the classes mean the same in both tables."
    if found.rarest.sensitivity.upper < 1 / len(found.classes):
        return (
            f"Because: class {found.rarest.label} is hardly ever found. If it is rare, train with --class-weight "
            "balanced, which finds more of it; if that does not help, the columns say little about the class."
        )
    return (
        "Because: the columns say little about the class, or the noise of training hid it. Other columns, more records "
        "or a larger ε may help."
    )
