"""Advice in words that a data officer understands."""

from __future__ import annotations

import math
from itertools import groupby

from discreet.advice.advisor import Advice, Choice, Useful
from discreet.advice.record import track_record
from discreet.models.settings import split_names

NAMES = {
    "naive-bayes": "naive Bayes",
    "naive-bayes(select=auto)": "naive Bayes with a private choice of columns",
    "one-rule": "a single rule",
    "decision-tree": "a decision tree",
    "random-forest": "a random forest",
    "svm": "a linear SVM",
}
"""What the models are called."""


def options(model: str) -> str:
    """What to add to `discreet train`."""
    name, _, settings = model.removesuffix(")").partition("(")
    return f"--model {name}" + "".join(f" --with {each}" for each in split_names(settings))


def sentences(advice: Advice) -> list[str]:
    """A sentence for each run of epsilons at which the same is to be trained, about the least of them."""
    runs = [list(run) for _, run in groupby(advice.choices, key=lambda choice: choice.first.model)]
    return [sentence(advice, run[0], run[-1].epsilon) for run in runs]


def sentence(advice: Advice, choice: Choice, until: float | None = None) -> str:
    """What to train at one epsilon, what to expect, and how sure that is; the same holds until another one."""
    first, records = choice.first, f"{advice.facts.records:,}"
    where = (
        "Without noise" if choice.epsilon == math.inf else f"At epsilon {choice.epsilon:g} with about {records} records"
    )
    if until not in (None, choice.epsilon):
        where += f" (and more, up to {rounded(until or 0)})"
    counted = f"in {first.close_in} of the {choice.cases} most comparable cases it was the best or within a point of it"
    text = (
        f"{where}, train {NAMES[first.model]}: expect {first.low:.0%} to {first.high:.0%} of records right; {counted}. "
        f"{_record(advice, choice)}."
    )
    return text.replace("%", " %") + _warning(advice, choice)


def _record(advice: Advice, choice: Choice) -> str:
    """How sure that is: how often first choices were good on data sets that they were made without."""
    if choice.is_guess:
        return "The table is unlike all cases that are known: this is a guess"
    share = track_record(advice.cases).share
    return f"How sure is that? First choices were that good in about {10 * share:.0f} of 10 trials on public data sets"


def _warning(advice: Advice, choice: Choice) -> str:
    """What to say where noise leaves little."""
    needed = min(each.epsilon for each in advice.useful)
    if choice.epsilon >= needed:
        return ""
    better = "no epsilon" if needed == math.inf else f"an epsilon of about {rounded(needed)}"
    return f" Noise will leave little: it takes {better} for a model to be clearly better than the largest class."


def from_where(each: Useful) -> str:
    """From which epsilon on a model is useful."""
    return "not expected" if each.epsilon == math.inf else f"{rounded(each.epsilon)} ({_range(each)})"


def _range(each: Useful) -> str:
    return f"{rounded(each.low)} to {'more than measured' if each.high == math.inf else rounded(each.high)}"


def rounded(epsilon: float) -> str:
    """An epsilon with two digits: more would pretend.

    >>> rounded(0.01234), rounded(12.3), rounded(1234.5)
    ('0.012', '12', '1200')
    """
    if epsilon == math.inf:
        return "∞"
    return f"{float(f'{epsilon:.2g}'):.10g}"
