"""A chosen event, counted in fresh runs: the bound, and the finding if it is above the claim."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discreet.audit.bounds import loss, runs_to_show
from discreet.audit.choosing import Choice
from discreet.audit.events import Event
from discreet.audit.findings import Finding
from discreet.audit.neighbours import Pair
from discreet.audit.runs import Runs, is_feature
from discreet.audit.script import script

if TYPE_CHECKING:
    from discreet.audit.session import Session

PICTURED = 2000
"""Values per table that are kept for the picture."""
REACHED = 0.7
"""Fresh runs are made until the bound is likely to be this far on its way from the claim to the estimate."""


def promised(session: Session, choice: Choice, sides: tuple[Runs, Runs], risk: float) -> int:
    """Fresh runs per table that are likely to refute the claim, by the runs that the event was chosen by."""
    more, less = (
        float(np.count_nonzero(choice.event.holds(each)) + 1) / (len(each) + 2)
        for each in (sides[::-1] if choice.swapped else sides)
    )
    estimate = math.log(max(more - session.claim.delta, 1e-9) / less)
    wanted = session.claim.epsilon + REACHED * max(estimate - session.claim.epsilon, 0.1)
    return runs_to_show(wanted, (more, less), risk, session.claim.delta)


def shown(event: Event) -> tuple[str, ...]:
    """What runs must show for an event to be counted: predictions and sizes take time, and are left out if they can."""
    about = [name.strip("“").removeprefix("sum of ") for name in event.names]
    predicted = any(name.startswith(("predict", "decision_function")) for name in about)
    size = any(name.startswith(("size of", "its pickle")) for name in about)
    return (*(["predictions"] if predicted else []), *(["size"] if size else []))


def numbers(event: Event) -> list[str] | None:
    """The numbers that are enough to count an event; None if it is about more than numbers."""
    if any(map(is_feature, event.names)):
        return None
    return [name.removeprefix("sum of ") for name in event.names]


def confirmed(
    session: Session,
    stage: str,
    pair: Pair,
    choice: Choice,
    runs: int,
    risk: float,
    *,
    view: Callable[[Runs], Runs] | None = None,
    reason: str = "",
) -> Finding | None:
    """The finding that fresh runs on a pair give, which the session keeps; None if they do not refute the claim.

    Parameters
    ----------
    view : what the event is about, made from the numbers of the runs; by default these numbers.
    reason : what made the pair suspicious, for the reader.
    """
    only = numbers(choice.event) if view is None else None
    sides = session.run_pair(pair, max(1, runs), shown(choice.event), only)
    if not all(map(len, sides)):
        return None
    seen = [each if view is None else view(each) for each in sides]
    counts = [(int(np.count_nonzero(choice.event.holds(each))), len(each)) for each in seen]
    (more, of), (less, other) = counts[::-1] if choice.swapped else counts
    gone = [each.lost for each in (sides[::-1] if choice.swapped else sides)]  # counted against the finding
    epsilon = loss(more, of + gone[0], less + gone[1], other + gone[1], risk, session.claim.delta)
    if epsilon <= session.claim.epsilon:
        return None
    table = "second" if choice.swapped else "first"
    words = f"{choice.event.words}: seen in {more} of {of} runs on the {table} table, in {less} of {other} on the other"
    both = (counts[0], counts[1])
    name = choice.event.names[0]
    columns = [[float(value) for value in each.column(name)[:PICTURED]] for each in seen]
    finding = Finding(
        stage=stage,
        epsilon=epsilon,
        confidence=session.confidence,
        event=words + (f" ({reason})" if reason else ""),
        pair=pair,
        repeat="" if view is not None else script(session.target, session.schema, pair, choice.event, both),
        counts=both,
        pictured=(name, columns[0], columns[1]),
    )
    session.findings.append(finding)
    return finding
