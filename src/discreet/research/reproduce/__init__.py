"""The tables and figures of the five papers beside ours: what agrees, what does not, and why.

On public data only: scores are exact functions of the records and not private.
"""

from discreet.research.reproduce.lopuhaa2021.study import Lopuhaa2021
from discreet.research.reproduce.marchioro2022.study import Marchioro2022
from discreet.research.reproduce.study import Study
from discreet.research.reproduce.vaidya2013.study import Vaidya2013
from discreet.research.reproduce.zafarani2020.study import Zafarani2020
from discreet.research.reproduce.zorarpaci2019.study import Zorarpaci2019

STUDIES: dict[str, type[Study]] = {
    each.name: each for each in (Lopuhaa2021, Zorarpaci2019, Vaidya2013, Zafarani2020, Marchioro2022)
}
"""The studies by their names on the command line."""

__all__ = ["STUDIES", "Study"]
