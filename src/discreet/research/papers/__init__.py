"""Algorithms as their papers publish them, for reproduction. No class here states a guarantee; each says why.

A class has `claim`, `verdict`, `reason`, `claimed_epsilon` and `honest_epsilon()`. It charges infinity, so it runs only
with `Ledger.unlimited()`, the default here. Models with a guarantee are in `discreet.models`.
"""

from discreet.research.papers.lopuhaa2021 import Lopuhaa2021NaiveBayes
from discreet.research.papers.lopuhaa2021_svm import Lopuhaa2021SVM
from discreet.research.papers.lopuhaa2021_tree import Lopuhaa2021Tree
from discreet.research.papers.marchioro2022 import Marchioro2022NaiveBayes
from discreet.research.papers.vaidya2013 import Vaidya2013NaiveBayes
from discreet.research.papers.zafarani2020 import Zafarani2020NaiveBayes
from discreet.research.papers.zorarpaci2019 import Zorarpaci2019NaiveBayes
from discreet.research.papers.zorarpaci2019_input import Zorarpaci2019InputPerturbation
from discreet.research.papers.zorarpaci2019_one_rule import Zorarpaci2019OneRule
from discreet.research.papers.zorarpaci2019_pipeline import Zorarpaci2019Pipeline

__all__ = [
    "Lopuhaa2021NaiveBayes",
    "Lopuhaa2021SVM",
    "Lopuhaa2021Tree",
    "Marchioro2022NaiveBayes",
    "Vaidya2013NaiveBayes",
    "Zafarani2020NaiveBayes",
    "Zorarpaci2019InputPerturbation",
    "Zorarpaci2019NaiveBayes",
    "Zorarpaci2019OneRule",
    "Zorarpaci2019Pipeline",
]
