"""One party's share of discrete Laplace noise, for a sum that is opened only as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError
from discreet.privacy.draws import LARGEST_SCALE
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.negative_binomial import MOST_PARTIES
from discreet.privacy.randomness import Randomness
from discreet.queries.arrays import Integers
from discreet.schema.columns import is_integer


@dataclass(frozen=True)
class PolyaShare:
    """Add a Pólya share to each integer: `honest` shares together are discrete Laplace noise of the given scale.

    ONE SHARE ALONE GUARANTEES NOTHING: with many parties it is 0 most of the time. Whoever sees a party's table with
    its share only (no mask, a mask that is known or used twice, two sums that differ by one party) sees the counts.

    Guarantee  whoever sees nothing but the sum of the parties' tables, and perhaps all shares and tables of parties
               that are not honest, learns (d / scale)-DP about tables whose sum over parties changes by an L1 distance
               of d, if at least `honest` honest parties (who drew their shares afresh and told nobody) are in the sum.
               A record that is at several parties changes several tables: d is the sum over them.
    Proof      a share is X - Y, X and Y independent of law NB(1 / honest, p), p = exp(-1 / scale), whose generating
               function is ((1 - p) / (1 - p t))^(1 / honest) (1). The product of `honest` of these is that of NB(1, p),
               the geometric law, and the difference of two geometric variables has
               P[z] = (1 - p) / (1 + p) * p^|z|: discrete Laplace. So the honest parties' tables with `honest` of their
               shares are a DiscreteLaplace answer of loss d / scale. More honest shares are independent of it, and all
               that is seen is made of that sum: what the others add may depend on it. Post-processing.
    Rests on   (1), drawn exactly: privacy/negative_binomial.py. tests/privacy/mechanisms/test_polya.py:
               test_shares_add_up_to_laplace, test_one_party_draws_laplace_noise,
               test_loss_bounds_the_worst_ratio_of_a_sum, test_one_share_alone_guarantees_nothing.
    Errors     none that depend on the data.
    """

    scale: float
    honest: int
    name = "Pólya share of discrete Laplace"
    experimental = False

    def __post_init__(self) -> None:
        if not is_integer(self.honest) or not 1 <= self.honest <= MOST_PARTIES:
            raise ParameterError(f"honest={self.honest!r}; need a number of parties from 1 to 10^9")
        if not 0 <= self.scale <= LARGEST_SCALE:
            raise ParameterError(f"scale={self.scale!r}; need a number from 0 (no noise) to 2^50")

    @classmethod
    def calibrated(cls, epsilon: Epsilon, distance: int, honest: int) -> PolyaShare:
        """Shares whose sum has the least float scale with a loss of at most epsilon, in exact arithmetic."""
        return cls(DiscreteLaplace.calibrated(epsilon, distance).scale, honest)

    def loss(self, distance: int) -> Epsilon:
        """The exact privacy loss of a sum with `honest` shares at an L1 distance; one share's is not bounded by it."""
        return DiscreteLaplace(self.scale).loss(distance)

    @property
    def variance(self) -> float:
        """Variance of one share: that of discrete Laplace noise, divided by `honest`."""
        return DiscreteLaplace(self.scale).variance / self.honest

    def total_variance(self, parties: int) -> float:
        """Variance of the noise in the sum of so many parties' shares."""
        if not is_integer(parties) or parties < self.honest:
            raise ParameterError(f"parties={parties!r}; need at least the honest={self.honest} that were counted on")
        return DiscreteLaplace(self.scale).variance * parties / self.honest

    def perturb(self, table: Integers, rng: Randomness) -> Integers:
        """The table with an independent share in each cell: to be masked, never to be shown."""
        return table.copy() if self.scale == 0 else table + rng.polya(self.scale, self.honest, table.shape)
