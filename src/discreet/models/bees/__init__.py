"""Searches by swarms, and the classification rules that they find. These models read their data in the clear.

`ArtificialBeeColony` and `DifferentialEvolution` maximise any function over a box. The rule learners use the colony;
they are private only if the records that they are given are (see `discreet.models.bees.bee_rules`).
"""

from discreet.models.bees.colony import ArtificialBeeColony, Optimum
from discreet.models.bees.evolution import DifferentialEvolution

__all__ = ["ArtificialBeeColony", "DifferentialEvolution", "Optimum"]
