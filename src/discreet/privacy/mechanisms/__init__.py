"""Mechanisms: how what is exact becomes what may be published, each with its proof."""

from __future__ import annotations

from typing import Protocol

from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.clear import InTheClear
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.objective import ObjectivePerturbation
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.mechanisms.response import RandomizedResponse
from discreet.privacy.mechanisms.selection import PermuteAndFlip
from discreet.privacy.mechanisms.smooth import SmoothCauchy


class Mechanism(Protocol):
    """What every mechanism says of itself."""

    @property
    def name(self) -> str:
        """Its name on a receipt."""
        ...

    @property
    def scale(self) -> float:
        """The size of its noise, for a receipt."""
        ...

    @property
    def experimental(self) -> bool:
        """Whether its noise is continuous and drawn in floating point, open to attacks on its bits."""
        ...

    def loss(self, distance: int) -> Epsilon:
        """The most that an answer can cost if neighbours enter at this distance; never understated."""
        ...


MECHANISMS = (
    DiscreteLaplace,
    InTheClear,
    ObjectivePerturbation,
    PermuteAndFlip,
    PolyaShare,
    RandomizedResponse,
    SmoothCauchy,
)
"""The mechanisms that have a proof, or that say that they have none: the passage takes no others."""
