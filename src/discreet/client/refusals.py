"""Problems of a service (RFC 9457) as errors, each with its remedy."""

from __future__ import annotations

from typing import Any

from discreet.errors import BudgetError, DiscreetError

BUDGET = "/problems/budget-short"


class RefusedError(DiscreetError):
    """The service refused, failed, or could not be reached.

    Attributes
    ----------
    status : the HTTP status; 0 if there was no answer.
    problem : the type of the problem, such as "/problems/not-found"; "" if there was no answer.
    remedy : what to do.
    """

    def __init__(self, text: str, *, status: int = 0, problem: str = "", remedy: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.problem = problem
        self.remedy = remedy


class BudgetRefusedError(RefusedError, BudgetError):
    """An account of the service has too little left; caught by `except BudgetError` like a local ledger's refusal."""


def refusal(status: int, content: Any) -> RefusedError:
    """The error for an answer that is a problem, or for one that no service of ours would give."""
    if not isinstance(content, dict) or not str(content.get("type", "")).startswith("/problems/"):
        text = f"the answer has status {status} and is not from a service of discreet; check the address"
        return RefusedError(text, status=status)
    problem, remedy = str(content["type"]), str(content.get("remedy", ""))
    detail = str(content.get("detail", "refused")).rstrip(".")
    if problem == BUDGET:  # the ledger's own words have a remedy, too
        detail = detail.partition(";")[0]
    text = f"{detail}; {remedy[:1].lower()}{remedy[1:]}".rstrip("; ")
    kind = BudgetRefusedError if problem == BUDGET else RefusedError
    return kind(text, status=status, problem=problem, remedy=remedy)
