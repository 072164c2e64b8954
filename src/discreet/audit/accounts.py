"""Stage *ledger*: does the account of a library forget what was spent?

A limit that allows one fit must refuse the second, whoever makes it: a clone, a copy from a pickle, a forked process, a
thread. What is found here is about the account, not about one fit, and needs no samples.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.audit import workers
from discreet.audit.findings import Finding, StageResult
from discreet.audit.inside import accounts as inside
from discreet.audit.tables import bases
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.audit.session import Session

WAYS = {
    "refit": "the same estimator, fitted twice",
    "cloned": "a clone (scikit-learn's clone, as cross-validation makes), fitted after the original",
    "deep_copied": "a deep copy, fitted after the original",
    "pickled": "a copy from a pickle (as other processes get), fitted after the original",
    "forked": "a forked process and its parent",
    "threads": "four threads at once",
}


class Ledger:
    """Fits in every way that could lose an entry, with an account that allows one fit."""

    name = "ledger"

    def run(self, session: Session) -> StageResult:
        """One request to the target's process."""
        began = time.monotonic()
        found, price = _asked(session)
        if not found:
            tried = ["no account that is known: neither diffprivlib's BudgetAccountant nor discreet's Ledger"]
            return StageResult(self.name, time.monotonic() - began, tried, [])
        findings = [each for way, seen in found.items() for each in _judged(session, way, seen, price)]
        session.findings.extend(findings)
        tried = [f"{WAYS.get(way, way)}: {seen[0]} of 2 fits or more allowed" for way, seen in found.items()]
        return StageResult(self.name, time.monotonic() - began, tried, findings)


def _asked(session: Session) -> tuple[dict[str, list[Any]], float]:
    """What the target's process found on an ordinary table, and what it charges for one fit; nothing if it has no
    account."""
    table = next(base for words, base in bases(session.schema) if words.startswith("spread") and len(base) >= 10)
    try:
        session.ask({"op": "extend", "path": str(Path(inside.__file__))})
        request = {"op": "accounts", "table": table.to_dict(), "epsilon": session.claim.epsilon}
        _, end = session.ask(request, max(session.patience, 120.0), [table])
    except (workers.Ended, ParameterError):
        return {}, 0.0
    return dict(end.get("found", {})), float(end.get("price", session.claim.epsilon))


def _judged(session: Session, way: str, seen: list[Any], epsilon: float) -> list[Finding]:
    """A finding if a limit of one fit, which costs `epsilon`, allowed more, or if a refused fit left a model behind."""
    fits, left, _ = seen
    words = WAYS.get(way, way)
    if fits > 1:
        event = f"the account forgets: with a limit of one fit, {fits} were allowed ({words})"
        return [Finding(Ledger.name, fits * epsilon, session.confidence, event, None, about="account")]
    if left:
        event = f"the account refuses too late: with a limit of one fit, {left} more left a fitted model ({words})"
        return [Finding(Ledger.name, (1 + left) * epsilon, session.confidence, event, None, about="account")]
    return []
