"""A chosen event, counted in fresh runs: the bound, and the finding if it is above the claim."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import loss, runs_to_show
from discreet.audit.choosing import Choice
from discreet.audit.events import Event, Scored
from discreet.audit.findings import Finding
from discreet.audit.neighbours import Pair
from discreet.audit.runs import LOWEST_BIT, Runs, is_feature, together
from discreet.audit.script import repeated

if TYPE_CHECKING:
    from discreet.audit.session import Session

PICTURED = 2000
"""Values per table that are kept for the picture."""
REACHED = 0.7
"""Fresh runs are made until the bound is likely to be this far on its way from the claim to the estimate."""
LOOKS, GROWTH = 3, 2.5
"""A test is looked at up to so often, each time after so many times as many runs: the rates of chosen events look
better than they are, so the first number of runs may be too small, and more would often be wasted."""


def promised(session: Session, choice: Choice, sides: tuple[Runs, Runs], risk: float) -> int:
    """Fresh runs per table that are likely to refute the claim, by the runs that the event was chosen by."""
    more, less = (
        float(np.count_nonzero(choice.event.holds(each)) + 1) / (len(each) + 2)
        for each in (sides[::-1] if choice.swapped else sides)
    )
    estimate = math.log(max(more - session.claim.delta, 1e-9) / less)
    wanted = session.claim.epsilon + REACHED * max(estimate - session.claim.epsilon, 0.1)
    return runs_to_show(wanted, (more, less), risk / LOOKS, session.claim.delta)


def looks(runs: int, most: int) -> list[int]:
    """Numbers of runs per table after which a test is looked at, fixed before the first: from `runs` up to `most`."""
    return sorted({max(1, min(most, round(runs * GROWTH**place))) for place in range(LOOKS)})


def shown(event: Event) -> tuple[str, ...]:
    """What runs must show for an event to be counted: predictions and sizes take time, and are left out if they can."""
    about = [name.strip("“").removeprefix(LOWEST_BIT).removeprefix("sum of ") for name in event.names]
    predicted = any(name.startswith(("predict", "decision_function")) for name in about)
    size = any(name.startswith(("size of", "its pickle")) for name in about)
    return (*(["predictions"] if predicted else []), *(["size"] if size else []))


def numbers(event: Event) -> list[str] | None:
    """The numbers that are enough to count an event; None if it is about more than numbers."""
    if any(map(is_feature, event.names)):
        return None
    return [name.removeprefix("sum of ") for name in event.names]


def counted(
    session: Session,
    stage: str,
    pair: Pair,
    choice: Choice,
    sizes: Sequence[int],
    risk: float,
    *,
    view: Callable[[Runs], Runs] | None = None,
    reason: str = "",
) -> Finding | None:
    """What fresh runs on a pair show of an event: at the first of these sizes that refutes the claim, else at the last
    that was worth its runs. None if there were no runs.

    The runs are made in new processes: addresses of objects, say, tell apart the states of processes, not tables.

    Guarantee  with probability 1 - risk, the ε of the finding is at most the true loss.
    Proof      sizes and event are fixed before the runs. At each size, the bound of all runs so far fails with
               probability risk / len(sizes) (`bounds.losses`), whether or not the runs go on; the errors add up.
    Test       tests/audit/test_fresh.py::test_looking_often_raises_no_more_alarms_than_stated

    Parameters
    ----------
    sizes : numbers of runs per table, ascending.
    view : what the event is about, made from the numbers of the runs; by default these numbers.
    reason : what made the pair suspicious, for the reader.
    """
    session.renew()
    only, delta = numbers(choice.event) if view is None else None, session.claim.delta
    sides = (together([]), together([]))
    epsilon, counts = 0.0, [(0, 0), (0, 0)]
    for size in sizes:
        first, second = session.run_pair(pair, size - max(map(len, sides)), shown(choice.event), only)
        sides = (together([sides[0], first]), together([sides[1], second]))
        seen = [each if view is None else view(each) for each in sides]
        counts = [(int(np.count_nonzero(choice.event.holds(each))), len(each)) for each in seen]
        if not all(len(each) for each in seen):
            return None
        (more, of), (less, other) = counts[::-1] if choice.swapped else counts
        gone = [each.lost for each in (sides[::-1] if choice.swapped else sides)]  # counted against the finding
        epsilon = loss(more, of + gone[0], less + gone[1], other + gone[1], risk / len(sizes), delta)
        hoped = math.log(max(more / of - delta, 1e-9) / max(less / other, 1e-9))
        if epsilon > session.claim.epsilon or hoped <= session.claim.epsilon or session.left() <= 0:
            break
    table = "second" if choice.swapped else "first"
    words = f"{choice.event.words}: seen in {more} of {of} runs on the {table} table, in {less} of {other} on the other"
    both = (counts[0], counts[1])
    return Finding(
        stage=stage,
        epsilon=epsilon,
        confidence=session.confidence,
        event=words + (f" ({reason})" if reason else ""),
        pair=pair,
        repeat=repeated(session, pair, choice.event, both),
        counts=both,
        pictured=_pictured(choice.event, seen),
    )


def confirmed(
    session: Session,
    stage: str,
    pair: Pair,
    choice: Choice,
    sizes: Sequence[int],
    risk: float,
    *,
    view: Callable[[Runs], Runs] | None = None,
    reason: str = "",
) -> Finding | None:
    """The finding of `counted`, which the session keeps; None if it does not refute the claim."""
    finding = counted(session, stage, pair, choice, sizes, risk, view=view, reason=reason)
    if finding is None or finding.epsilon <= session.claim.epsilon:
        return None
    session.findings.append(finding)
    return finding


def _pictured(event: Event, sides: Sequence[Runs]) -> tuple[str, list[float], list[float]]:
    """The number, or score, that an event is about: its name, and values on both tables."""
    if isinstance(event, Scored):
        name, columns = "score", [event.score(each.under(event.names)) for each in sides]
    else:
        name, columns = event.names[0], [each.column(event.names[0]) for each in sides]
    first, second = ([float(value) for value in each[:PICTURED]] for each in columns)
    return name, first, second
