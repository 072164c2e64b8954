"""Algorithms as their papers publish them, for reproduction. None states a guarantee; each says why.

A class has `claim`, `verdict`, `claimed_epsilon` and `honest_epsilon()`. It charges infinity, so that it runs
only with `Ledger.unlimited()`, the default here. What is truly private is in `discreet.models`.
"""

from discreet.papers.lopuhaa2021 import Lopuhaa2021NaiveBayes
from discreet.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.papers.zafarani2020 import Zafarani2020NaiveBayes
from discreet.papers.zorarpaci2019 import Zorarpaci2019NaiveBayes

__all__ = [
    "Lopuhaa2021NaiveBayes",
    "Vaidya2013NaiveBayes",
    "Zafarani2020NaiveBayes",
    "Zorarpaci2019NaiveBayes",
]
