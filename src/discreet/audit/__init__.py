"""Attacks on a claim: a lower bound on the privacy loss of anything that can be run."""

from discreet.audit.lower_bound import LowerBound, lower_bound

__all__ = ["LowerBound", "lower_bound"]
