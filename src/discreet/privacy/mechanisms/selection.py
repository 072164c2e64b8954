"""Private choice of the best among candidates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import checked_scale, least_scale, loss_at
from discreet.privacy.randomness import Randomness
from discreet.queries.arrays import Integers


@dataclass(frozen=True)
class PermuteAndFlip:
    """Choose a candidate with a high integer score (McKenna and Sheldon 2020).

    It goes through the candidates in random order and accepts candidate j with probability exp((u_j - max u) / scale).

    Guarantee  if neighbours move the lead of one score over another by at most a distance d, the choice is
               (d / scale)-DP. Scores that move by at most s, all the same way (monotone, as under add-remove), have
               d = s; scores that move by at most s either way have d = 2 s.
    Proof      the law is that of the largest of u_j + E_j, E_j exponential of mean `scale` (Ding et al. 2021). Fix the
               other draws. Then j wins if E_j exceeds r = max_i (u_i - u_j + E_i) over i != j, and r moves by at most
               d. For the exponential's tail P[E_j > r + d] >= exp(-d / scale) P[E_j > r]. Average over the other
               draws.
    Rests on   exact coins (privacy/exponential_coins.py), and in tests/privacy/mechanisms/test_selection.py:
               test_choice_fits_its_law; the ratio on the exact law, attained in the limit:
               test_loss_bounds_the_worst_ratio.
    Errors     none that depend on the data.
    """

    scale: float
    name = "permute-and-flip"
    experimental = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", checked_scale(self.scale))

    @classmethod
    def calibrated(cls, epsilon: Epsilon, distance: int) -> PermuteAndFlip:
        """The least float scale whose loss at this distance is at most epsilon, in exact arithmetic."""
        return cls(least_scale(epsilon, distance, "choice"))

    def loss(self, distance: int) -> Epsilon:
        """The privacy loss if the lead of one score over another moves by at most this distance (proof above)."""
        return loss_at(distance, self.scale)

    def choose(self, scores: Integers, rng: Randomness) -> int:
        """The position of the chosen candidate; without noise, the first of the best."""
        return int(np.argmax(scores)) if self.scale == 0 else rng.noisy_max(scores, self.scale)
