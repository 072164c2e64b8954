"""Attacks on a claim: a lower bound on the privacy loss of anything that can be run."""

from discreet.audit.auditing import audit
from discreet.audit.lower_bound import LowerBound, lower_bound
from discreet.audit.report import Report

__all__ = ["LowerBound", "Report", "audit", "lower_bound"]
