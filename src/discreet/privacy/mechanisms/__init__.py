"""Mechanisms: how exact answers become answers that may be published, each with its proof."""

from __future__ import annotations

from typing import Protocol

from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.clear import InTheClear
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.multiclass_objective import MulticlassPerturbation
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.mechanisms.response import RandomizedResponse
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.mechanisms.smooth import SmoothCauchy


class Mechanism(Protocol):
    """What every mechanism has."""

    @property
    def name(self) -> str:
        """The name on a receipt."""
        ...

    @property
    def scale(self) -> float:
        """The size of the noise, for a receipt."""
        ...

    @property
    def experimental(self) -> bool:
        """Whether the noise is continuous and drawn in floating point, which attacks on its bits can exploit."""
        ...

    def loss(self, distance: int) -> Epsilon:
        """An upper bound on the privacy loss of one answer, if the inputs of neighbours are at most this far apart."""
        ...


MECHANISMS = (
    DiscreteLaplace,
    InTheClear,
    MulticlassPerturbation,
    ObjectivePerturbation,
    PermuteAndFlip,
    PolyaShare,
    RandomizedResponse,
    SmoothCauchy,
)
"""The mechanisms with a proof, and `InTheClear`, which has none and costs infinity. The passage takes no others."""
