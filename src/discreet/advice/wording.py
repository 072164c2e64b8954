"""Advice in words that a data officer understands: each sentence says one thing."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from itertools import takewhile

from discreet.advice.advisor import Advice, Choice, Strange, Useful
from discreet.advice.cases import AUTO

STRANGE: dict[Strange, str] = {
    "few records": "There are fewer records than in any known case, so accuracies may well be lower than that",
    "many classes": "There are more classes than in any known case",
    "far": "The table has a shape unlike all known cases",
}
"""What is said of a table that is unlike all cases."""
LARGEST = "clearly better than always predicting the largest class"
SAME = 0.005
"""Accuracies that differ by less than this count as equal."""


def command(advice: Advice, schema: str, adjacency: str | None = None) -> str:
    """The command that trains the advised model, to paste once DATA and M are filled in; empty if none should be.

    It takes the smallest epsilon at which `auto` was useful in most cases, or else the largest one that is worth
    training at; infinity, which is not private, only if that is all.
    """
    worth = [each.epsilon for each in advice.choices if not hopeless(advice, each)]
    if not worth:
        return ""
    private = [epsilon for epsilon in worth if epsilon != math.inf] or worth
    epsilon = next((each for each in private if each >= _useful(advice).epsilon), private[-1])
    changed = "" if adjacency is None else f" --adjacency {adjacency}"
    return f"discreet train DATA --schema {shlex.quote(schema)} --epsilon {epsilon:.12g} --out M{changed}"


def sentences(advice: Advice) -> list[str]:
    """Where not to train; a paragraph per model that `auto` picks, about all its epsilons; then general remarks."""
    worth = [each for each in advice.choices if not hopeless(advice, each)]
    picks = dict.fromkeys(each.picked.statement() for each in worth)
    groups = [[each for each in worth if each.picked.statement() == told] for told in picks]
    never = [each for each in advice.choices if hopeless(advice, each)]
    texts = [_do_not(never)] if never else []
    return [*texts, *(sentence(advice, group) for group in groups), *guess(advice), *_enough(worth)]


def sentence(advice: Advice, group: Sequence[Choice]) -> str:
    """For epsilons at which `auto` picks the same: what it picks, what to expect, and whether noise leaves enough."""
    if hopeless(advice, group[0]):
        return _do_not(group)
    picked = group[0].picked.statement().removeprefix("Picked ")
    where = _at(group)
    parts = [f"{where[0].upper()}{where[1:]} with {amount(advice.facts.records)}, auto picks {picked}"]
    parts += [_expected(group), *_little_left(advice, group)]
    if group[-1].epsilon == math.inf:
        parts.append("At epsilon inf there is no noise: the model is not private.")
    return " ".join(parts)


def hopeless(advice: Advice, choice: Choice) -> bool:
    """Whether `auto` was useful in fewer than one of ten comparable cases: then do not train."""
    return choice.epsilon < _useful(advice).low


def _useful(advice: Advice) -> Useful:
    return next(each for each in advice.useful if each.model == AUTO)


def amount(records: int) -> str:
    """The number of records in words.

    >>> amount(1), amount(12000)
    ('1 record', 'about 12,000 records')
    """
    return "1 record" if records == 1 else f"about {records:,} records"


def _do_not(choices: Sequence[Choice]) -> str:
    return f"Do not train {_at(choices)}: in nine of ten comparable cases nothing was {LARGEST}."


def _at(choices: Sequence[Choice]) -> str:
    """The epsilons in words: "at epsilon 0.1 and 1"."""
    return f"at epsilon {_listed([f'{each.epsilon:g}' for each in choices])}"


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _expected(group: Sequence[Choice]) -> str:
    """The middle and the range at each epsilon."""
    told = []
    for place, choice in enumerate(group):
        first, unit = choice.first, " of records right at epsilon" if place == 0 else " at"
        span = f"{100 * first.low:.0f} % to {100 * first.high:.0f} %"
        told.append(f"{100 * first.accuracy:.0f} %{unit} {choice.epsilon:g} ({span})")
    rate = "" if group[0].is_guess else "; such ranges hold in four of five tables"
    return f"Expect {_listed(told)}{rate}."


def _little_left(advice: Advice, choices: Sequence[Choice]) -> list[str]:
    """A remark on epsilons at which the model was not useful in most cases."""
    some, needed = [each for each in choices if each.epsilon < _useful(advice).epsilon], _useful(advice)
    if not some:
        return []
    from_there = f"; it was from an epsilon of about {rounded(needed.epsilon)} on" if needed.epsilon < math.inf else ""
    return [f"Noise may leave little {_at(some)}: in most comparable cases auto was not {LARGEST}{from_there}."]


def guess(advice: Advice) -> list[str]:
    """A remark on a table that is unlike all cases, whatever the epsilon."""
    told = ". ".join(STRANGE[each] for each in advice.choices[0].strange)
    return [f"{told}: this is a guess."] if told else []


def _enough(worth: Sequence[Choice]) -> list[str]:
    """A remark on the smallest epsilon that is expected to do as well as the largest one."""
    as_good = list(takewhile(lambda each: abs(each.first.accuracy - worth[-1].first.accuracy) < SAME, reversed(worth)))
    return [f"A smaller epsilon, {as_good[-1].epsilon:g}, is expected to do as well."] if len(as_good) > 1 else []


def from_where(each: Useful) -> str:
    """From which epsilon on a model is useful, in words."""
    if each.epsilon == math.inf:
        return "not expected"
    high = "never" if each.high == math.inf else rounded(each.high)
    return f"{rounded(each.epsilon)} ({rounded(each.low)} to {high})"


def rounded(epsilon: float) -> str:
    """An epsilon with two digits; more digits would suggest a precision that is not there.

    >>> rounded(0.01234), rounded(12.3), rounded(1234.5)
    ('0.012', '12', '1200')
    """
    if epsilon == math.inf:
        return "∞"
    return f"{float(f'{epsilon:.2g}'):.10g}"
