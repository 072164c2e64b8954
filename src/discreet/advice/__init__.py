"""What accuracy to expect from public facts alone, before any budget is spent.

No module here reads a record: a schema, numbers, and measurements on public data sets that come with the package.
"""

from discreet.advice.advisor import Advice, Choice, Expectation, Useful, advise
from discreet.advice.facts import Facts

__all__ = ["Advice", "Choice", "Expectation", "Facts", "Useful", "advise"]
