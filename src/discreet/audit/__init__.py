"""Audits: what can be refuted about a claim of privacy, from samples alone."""

from discreet.audit.lower_bound import LowerBound, lower_bound

__all__ = ["LowerBound", "lower_bound"]
