"""Stage *structure*: what differs between neighbours with certainty or nearly so, without looking at numbers.

Attributes, shapes, classes, types, texts, warnings, exceptions, what is printed, and how a process ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discreet.audit.bounds import enough_runs, loss, losses, runs_to_show
from discreet.audit.choosing import Choice
from discreet.audit.events import Single
from discreet.audit.findings import Finding, StageResult
from discreet.audit.neighbours import Pair, smaller
from discreet.audit.runs import REFUSALS, Runs
from discreet.audit.script import repeated

if TYPE_CHECKING:
    from discreet.audit.session import Session

LOOKED, LEAST = 8, 5
"""Runs per table that choose what is tested: what differs nearly always is seen in a few runs; and where the first
finding is enough."""
AGAIN, LOOKED_AGAIN = 8, 40
"""Pairs with something that only some runs on one table have, such as a name that noise publishes or not, are looked
at again: at most this many pairs, with this many runs per table."""
CLEAR = 0.2
"""The least cautious estimate of the loss from which a difference is tested."""
SHARE = 0.25
"""The part of the time that is left which this stage may take to look at pairs."""
TESTED = 6
"""The most differences that are tested on fresh runs; the risk is divided among them."""
EARLY = 3
"""How many of them are tested before all pairs are looked at, where the first finding is enough."""
UNCERTAIN, MARGIN = 0.25, 0.2
"""The share of the time that is left for a test of what only some runs on a table have; it is made if its runs are
likely to show a loss this far above the claim."""
SHRINKING = 0.05
"""The share of the time that is left for finding a smaller pair that shows the same."""
CERTAIN = 0.9
"""Difference between the shares of two tables' runs from which a feature is said to tell them apart."""
DOCUMENTED = ("raises ", "exits: ")
"""How features begin that say that a target refuses a table; that a process ends is no refusal, but a crash."""
CAUTION, LESS = 0.05, 0.2
"""Error of the intervals that rank differences, and with fewer runs. The bound holds with any value."""


class Difference(NamedTuple):
    """A cautious estimate of the loss, a pair, an event, whether it is the second table's, and whether it is no more
    than that this table is refused."""

    estimate: float
    pair: Pair
    event: Single
    swapped: bool
    refusal: bool


Kind = tuple[bool, bool, str]


class Structure:
    """Looks for features that one table's runs have and the other's have not."""

    name = "structure"

    def run(self, session: Session) -> StageResult:
        """Look at all pairs in a few runs, then test what differed on fresh runs."""
        began = time.monotonic()
        pairs, tests, bound = session.pairs(), 0, 0.0
        findings: list[Finding] = []
        remarks: list[str] = []
        for _, pair, event, swapped, _ in self._proposed(session, pairs):
            tests += 1
            finding = _tested(session, pair, Choice(event, swapped, 0.0), session.risk / TESTED)
            if finding is None:
                continue
            if finding.refusal and not session.strict:
                both = all(each.refused for each in session.screen(pair, 1))
                which = "an empty table and its neighbour by other words" if both else "one of two neighbours"
                remarks.append(f"refuses {which}, which --strict would count: {finding.event} ({pair.words})")
                continue
            bound = max(bound, finding.epsilon)
            if finding.epsilon > session.claim.epsilon:
                findings.append(finding)
                session.findings.append(finding)
                if session.first:
                    break
        looked = sum(all(map(len, session.screened[pair])) for pair in pairs if pair in session.screened)
        tried = [f"{looked} of {len(pairs)} pairs, {_looks(session)} runs or more on each table"]
        tried.append(f"{tests} differences tested on fresh runs")
        return StageResult(self.name, time.monotonic() - began, tried, findings, remarks, bound)

    def _proposed(self, session: Session, pairs: list[Pair]) -> Iterator[Difference]:
        """What differs in a few runs on each pair, to be tested, at most `TESTED` in all; where the first finding is
        enough, a clear difference comes at once, and if fresh runs do not confirm it the search goes on."""
        seen: list[Difference] = []
        early: dict[Kind, Difference] = {}
        stop = session.left() * (1 - SHARE)
        for done, pair in enumerate(pairs):
            if session.left() <= stop:
                break
            session.progress(self.name, done, len(pairs))
            found = _differences(pair, *session.screen(pair, _looks(session)))
            seen += found
            if session.first and len(early) < EARLY:
                for each in found:
                    if _is_enough(each, session) and _kind(each) not in early:
                        early[_kind(each)] = each
                        smallest = _smallest(session, each)
                        _renewed(session, [smallest])
                        yield smallest
        again = self._again(session, pairs, stop * (1 - SHARE))
        rest = [each for each in _spread([*seen, *again]) if _kind(each) not in early][: TESTED - len(early)]
        rest = [_smallest(session, each) for each in rest]
        _renewed(session, rest)
        yield from rest

    def _again(self, session: Session, pairs: list[Pair], stop: float) -> list[Difference]:
        """What more runs show on the pairs where something was seen on one table only, but not always."""
        halves = []
        for pair in (each for each in pairs if each in session.screened):
            share, feature = _sometimes(*session.screened[pair])
            halves.append((not pair.within, -share, feature, pair))
        found: list[Difference] = []
        kinds: dict[str, Pair] = {}
        for _, share, feature, pair in sorted(halves, key=lambda each: each[:2]):
            if share < 0:
                kinds.setdefault(feature, pair)
        for pair in list(kinds.values())[:AGAIN]:
            if session.left() <= stop:
                break
            found += _differences(pair, *session.screen(pair, LOOKED_AGAIN))
        return found


def _sometimes(first: Runs, second: Runs) -> tuple[float, str]:
    """The feature that most runs on one table have and no run on the other, and their share; what nearly all have is
    found at once, what one run has may be chance."""
    best = (0.0, "")
    if not len(first) or not len(second):
        return best
    for feature in dict.fromkeys((*first.features, *second.features)):
        shares = sorted(float(runs.feature(feature).mean()) for runs in (first, second))
        if (
            shares[0] == 0
            and 1.5 / min(len(first), len(second)) < shares[1] < CERTAIN
            and not feature.startswith(REFUSALS)
        ):
            best = max(best, (shares[1], feature))
    return best


def _differences(pair: Pair, first: Runs, second: Runs) -> list[Difference]:
    """The event that best tells the runs of a pair apart, with a cautious estimate of the loss; none if none does."""
    if not len(first) or not len(second):
        return []
    features = list(dict.fromkeys((*first.features, *second.features)))
    if first.refused or second.refused:  # then all else is missing too, and says nothing new
        features = [each for each in features if each.startswith(REFUSALS)]
    events = [*(Single(f"“{each}”", "=", 1.0) for each in features), *_fixed(first, second)]
    if not events:
        return []
    counts = np.array([[np.count_nonzero(event.holds(runs)) for runs in (first, second)] for event in events])
    swapped = counts[:, 1] * len(first) > counts[:, 0] * len(second)
    counts[swapped] = counts[swapped][:, ::-1]
    sizes = np.where(swapped[:, None], [[len(second), len(first)]], [[len(first), len(second)]])
    caution = CAUTION if min(len(first), len(second)) >= LOOKED else LESS
    estimates = losses(counts[:, 0], sizes[:, 0], counts[:, 1], sizes[:, 1], caution)
    best = int(np.argmax(estimates))
    if estimates[best] <= CLEAR:
        return []
    event, second_s = events[best], bool(swapped[best])
    return [
        Difference(float(estimates[best]), pair, event, second_s, _is_refusal(pair, event, second_s, first, second))
    ]


def _is_refusal(pair: Pair, event: Single, swapped: bool, first: Runs, second: Runs) -> bool:
    """Whether an event is that one table is refused. If its neighbour is refused too, though not by the same text, then
    the texts tell something of the records, which no documentation excuses; but that a table is empty has a documented
    text of its own nearly everywhere, whatever else its neighbour lacks."""
    own, other = (second, first) if swapped else (first, second)
    is_one = 2 * other.refused < own.refused or not min(len(pair.first), len(pair.second))
    return _is(event, DOCUMENTED) and is_one


def _fixed(first: Runs, second: Runs) -> list[Single]:
    """Numbers that are the same in all runs on each table, and not on both: they have no noise."""
    found = []
    for name in first.names if min(len(first), len(second)) > 1 else ():
        values = [np.unique(runs.column(name)) for runs in (first, second)]
        if all(len(each) == 1 and np.isfinite(each[0]) for each in values) and values[0][0] != values[1][0]:
            found.append(Single(name, "=", float(values[0][0])))
    return found


def _looks(session: Session) -> int:
    return LEAST if session.first else LOOKED


def _is_enough(difference: Difference, session: Session) -> bool:
    """Whether a difference is as clear as so few runs can show, and would be a finding."""
    clear = difference.estimate >= float(losses(LEAST, LEAST, 0, LEAST, LESS))
    return clear and (session.strict or (difference.pair.within and not difference.refusal))


def _is(event: Single, kinds: tuple[str, ...]) -> bool:
    """Whether an event is a feature that begins with one of these."""
    return event.name.lstrip("“").startswith(kinds)


def differs(first: Runs, second: Runs) -> bool:
    """Whether some feature is in nearly all runs on one table and in nearly none on the other."""
    features = dict.fromkeys((*first.features, *second.features))
    return any(abs(first.feature(each).mean() - second.feature(each).mean()) > CERTAIN for each in features)


def _spread(seen: list[Difference]) -> list[Difference]:
    """The differences, the clearest first, each kind of feature once; values outside the schema and
    refusals come last, as readers may expect them."""
    seen = sorted(seen, key=lambda each: (not each.pair.within, _is_late(each), -each.estimate, len(each.pair.first)))
    kinds: dict[Kind, Difference] = {}
    for each in seen:
        kinds.setdefault(_kind(each), each)
    return list(kinds.values())


def _is_late(difference: Difference) -> bool:
    return difference.refusal or _is(difference.event, ("the process ",))


def _kind(difference: Difference) -> Kind:
    """What differences of one kind have in common: whether their values are within the schema, whether they are
    refusals, and their feature."""
    feature = difference.event.name.partition(":")[0].partition(" =")[0]
    return difference.pair.within, difference.refusal, feature


def _smallest(session: Session, difference: Difference) -> Difference:
    """The difference on a pair with as few common records as show it as clearly; that a table is refused may have to do
    with how few these are."""
    pair, event = difference.pair, difference.event
    sides = session.screened.get(pair, ())
    held = sorted(float(event.holds(each).mean()) for each in sides if len(each))
    if held != [0.0, 1.0] or _is(event, DOCUMENTED) or session.given:
        return difference
    stop, runs, tried = session.left() * (1 - SHRINKING), min(map(len, sides)), iter(smaller(pair))
    while session.left() > stop and (each := next(tried, None)) is not None:
        for found in _differences(each, *session.screen(each, runs)):
            if found.event.name == event.name and found.estimate >= difference.estimate:
                difference, tried = found, iter(smaller(each))
    return difference


def _renewed(session: Session, chosen: list[Difference]) -> None:
    """New processes before fresh runs, unless it is only about refusals."""
    if any(not _is_late(each) for each in chosen):
        session.renew()


def _tested(session: Session, pair: Pair, choice: Choice, risk: float) -> Finding | None:
    """The bound that fresh runs give for one event."""
    event, swapped = choice.event, choice.swapped
    assert isinstance(event, Single)
    runs, most = max(40, enough_runs(session.claim.epsilon + 0.5, risk, session.claim.delta)), session.affordable(0.5)
    known = session.screen(pair, 1)
    rates = sorted((float(np.count_nonzero(event.holds(each))) + 0.5) / (len(each) + 1) for each in known)
    if abs(event.holds(known[0]).mean() - event.holds(known[1]).mean()) < CERTAIN:
        most = session.affordable(UNCERTAIN)
        runs = runs_to_show(session.claim.epsilon + MARGIN, (rates[1], rates[0]), risk, session.claim.delta)
        if runs > most:
            return None  # there is no time for that number of runs
    first, second = session.run_pair(pair, min(runs, max(40, most)))
    counts = [(int(np.count_nonzero(event.holds(each))), len(each)) for each in (first, second)]
    if not all(total for _, total in counts):
        return None
    (more, of), (less, other) = counts[::-1] if swapped else counts
    gone = (second.lost, first.lost) if swapped else (first.lost, second.lost)  # counted against the finding
    epsilon = loss(more, of + gone[0], less + gone[1], other + gone[1], risk, session.claim.delta)
    table = "second" if swapped else "first"
    words = f"{event.words} is seen in {more} of {of} runs on the {table} table, and in {less} of {other} on the other"
    both = (counts[0], counts[1])
    return Finding(
        Structure.name,
        epsilon,
        session.confidence,
        words,
        pair,
        repeated(session, pair, event, both),
        both,
        _is_refusal(pair, event, swapped, first, second),
    )
