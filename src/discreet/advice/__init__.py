"""Advice before anything is spent: which model at which epsilon, from public facts alone.

No module here reads a record: a schema, numbers, and measurements on public data sets that come with the package.
"""

from discreet.advice.advisor import Advice, Choice, Expectation, Useful, advise
from discreet.advice.facts import Facts

__all__ = ["Advice", "Choice", "Expectation", "Facts", "Useful", "advise"]
