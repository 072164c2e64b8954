"""Advice in words that a data officer understands."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from itertools import takewhile

from discreet.advice.advisor import Advice, Choice, Strange, Useful
from discreet.advice.record import track_record
from discreet.models.parameter_texts import split_names

NAMES = {
    "naive-bayes": "naive Bayes",
    "naive-bayes(select=auto)": "naive Bayes with a private choice of columns",
    "one-rule": "a single rule",
    "decision-tree": "a decision tree",
    "random-forest": "a random forest",
    "svm": "a linear SVM",
}
"""The models' names in sentences."""
STRANGE: dict[Strange, str] = {
    "few records": "There are fewer records than in any known case, so accuracies may well be lower than this range",
    "many classes": "There are more classes than in any known case",
    "far": "The table is unlike all known cases",
}
"""What is said of a table that is unlike all cases."""
WITHIN = "within one percentage point"
WIDE = 0.4
"""A range that is wider than this says little."""
SAME = 0.005
"""Accuracies that differ by less than this count as equal."""


def options(model: str) -> str:
    """The options of `discreet train` that choose this model."""
    name, _, settings = model.removesuffix(")").partition("(")
    return f"--model {name}" + "".join(f" --with {each}" for each in split_names(settings))


def command(advice: Advice, model: str, schema: str, adjacency: str | None = None) -> str:
    """The command that trains a model of the advice, to paste once DATA and M are filled in; empty if none should be.

    It takes the smallest epsilon that the model is advised for; infinity, which is not private, only if that is all.
    """
    epsilons = [each.epsilon for each in advice.choices if each.first.model == model and not hopeless(advice, each)]
    if not epsilons:
        return ""
    changed = "" if adjacency is None else f" --adjacency {adjacency}"
    return (
        f"discreet train DATA --schema {shlex.quote(schema)} --epsilon {min(epsilons):.12g} --out M "
        f"{options(model)}{changed}"
    )


def sentences(advice: Advice) -> list[str]:
    """One paragraph per model that is a first choice, about all its epsilons; then general remarks."""
    models = dict.fromkeys(choice.first.model for choice in advice.choices)
    found = [sentence(advice, [each for each in advice.choices if each.first.model == model]) for model in models]
    return [*found, *_enough(advice)]


def sentence(advice: Advice, group: Sequence[Choice]) -> str:
    """For epsilons that share a first choice: whether to train it, what to expect, and how sure that is."""
    never = [each for each in group if hopeless(advice, each)]
    rest = [each for each in group if not hopeless(advice, each)]
    name, records = NAMES[group[0].first.model], amount(advice.facts.records)
    parts = []
    if never:
        parts.append(f"Do not train {_at(never)}: always predicting the largest class is expected to do as well.")
    where = f"{_at(rest)} with {records}, train {name}" if rest else f"With {records}, the least bad is {name}"
    parts.append(f"{where[0].upper()}{where[1:]}: expect {_expected(group)}{_counted(group)}.")
    parts += [_record(advice, group[0]), *_little_said(group), *_little_left(advice, rest)]
    if group[-1].epsilon == math.inf:
        parts.append("At epsilon inf there is no noise: the model is not private.")
    return " ".join(parts).replace("%", " %")


def hopeless(advice: Advice, choice: Choice) -> bool:
    """Whether the epsilon is below the range from which on the first choice is useful: then do not train."""
    return choice.epsilon < _useful(advice, choice).low


def _useful(advice: Advice, choice: Choice) -> Useful:
    return next(each for each in advice.useful if each.model == choice.first.model)


def amount(records: int) -> str:
    """The number of records in words.

    >>> amount(1), amount(12000)
    ('1 record', 'about 12,000 records')
    """
    return "1 record" if records == 1 else f"about {records:,} records"


def _at(choices: Sequence[Choice]) -> str:
    """The epsilons in words: "at epsilon 0.1 and 1"."""
    return f"at epsilon {_listed([f'{each.epsilon:g}' for each in choices])}"


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _expected(group: Sequence[Choice]) -> str:
    """The range at each epsilon."""
    spans = [f"{each.first.low:.0%} to {each.first.high:.0%}" for each in group]
    if len(group) == 1:
        return f"{spans[0]} of records right"
    others = [f"{span} at {each.epsilon:g}" for span, each in zip(spans[1:], group[1:], strict=True)]
    return ", ".join([f"{spans[0]} of records right at epsilon {group[0].epsilon:g}", *others])


def _counted(group: Sequence[Choice]) -> str:
    """In how many cases the model was good; empty for a guess."""
    if group[0].is_guess:
        return ""
    numbers = [str(each.first.close_in) for each in group]
    told = _listed(numbers if len(set(numbers)) > 1 else numbers[:1])
    return f"; in {told} of the {group[0].cases} most comparable cases it was the best or {WITHIN} of it"


def _record(advice: Advice, choice: Choice) -> str:
    """How sure the advice is: how often first choices were good on data sets that were left out."""
    if choice.is_guess:
        return f"{'. '.join(STRANGE[each] for each in choice.strange)}: this is a guess."
    trials = f"about {10 * track_record(advice.cases).fraction:.0f} of 10 trials on public data sets"
    return f"How sure is that? First choices were the best or {WITHIN} of it in {trials}."


def _little_said(group: Sequence[Choice]) -> list[str]:
    """A remark on ranges that are too wide to say much."""
    wide = [each for each in group if each.first.high - each.first.low > WIDE]
    return [f"Little can be said {_at(wide)}: the range is wider than {100 * WIDE:.0f} points."] if wide else []


def _little_left(advice: Advice, choices: Sequence[Choice]) -> list[str]:
    """A remark on epsilons at which the model is not useful in most cases."""
    some = [each for each in choices if each.epsilon < _useful(advice, each).epsilon and each.epsilon != math.inf]
    if not some:
        return []
    needed = _useful(advice, some[0])
    where = f"from an epsilon of about {rounded(needed.epsilon)} on" if needed.epsilon < math.inf else "at no epsilon"
    return [
        f"Noise may leave little {_at(some)}: the model is clearly better than the largest class {where} "
        f"({_range(needed)} in four of five cases)."
    ]


def _enough(advice: Advice) -> list[str]:
    """A remark on the smallest epsilon that is expected to do as well as the largest one."""
    worth = [each for each in advice.choices if not hopeless(advice, each)]
    as_good = list(takewhile(lambda each: abs(each.first.accuracy - worth[-1].first.accuracy) < SAME, reversed(worth)))
    if len(as_good) < 2:
        return []
    return [f"A smaller epsilon, {as_good[-1].epsilon:g}, is expected to do as well."]


def from_where(each: Useful) -> str:
    """From which epsilon on a model is useful, in words."""
    return "not expected" if each.epsilon == math.inf else f"{rounded(each.epsilon)} ({_range(each)})"


def _range(each: Useful) -> str:
    return f"{rounded(each.low)} to {'more than measured' if each.high == math.inf else rounded(each.high)}"


def rounded(epsilon: float) -> str:
    """An epsilon with two digits; more digits would suggest a precision that is not there.

    >>> rounded(0.01234), rounded(12.3), rounded(1234.5)
    ('0.012', '12', '1200')
    """
    if epsilon == math.inf:
        return "∞"
    return f"{float(f'{epsilon:.2g}'):.10g}"
