"""One party's share of discrete Laplace noise, for tables that are only ever shown as a sum."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import ParameterError
from discreet.privacy.epsilon import Epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.negative_binomial import MOST_PARTIES
from discreet.privacy.randomness import Randomness
from discreet.privacy.sampling import LARGEST_SCALE
from discreet.queries.arrays import Integers
from discreet.schema.columns import is_integer


@dataclass(frozen=True)
class PolyaShare:
    """Add a Pólya share to each integer: `honest` shares together are discrete Laplace noise of the given scale.

    ONE SHARE ALONE GUARANTEES NOTHING: with many parties it is 0 most of the time. Anyone who sees a single party's
    table with only its share (no mask, a mask that is known or used twice, two sums that differ by one party) sees the
    counts.

    Guarantee  suppose that at least `honest` parties in the sum are honest: they draw fresh shares and tell nobody.
               Then the sum of all parties' tables is (d / scale)-DP for neighbours whose tables, added over parties,
               differ by an L1 distance of d. This also holds against someone who knows all shares and tables of the
               other parties, for neighbours that differ at honest parties only. A record that several parties hold
               changes several tables: d is the sum over them.
    Proof      a share is X - Y, X and Y independent of law NB(1 / honest, p), p = exp(-1 / scale), whose generating
               function is ((1 - p) / (1 - p t))^(1 / honest) (1). The product of `honest` of these is that of NB(1, p),
               the geometric law, and the difference of two geometric variables has
               P[z] = (1 - p) / (1 + p) * p^|z|: discrete Laplace. So the sum of the honest parties' tables and of
               `honest` of their shares is a DiscreteLaplace answer of loss d / scale. Further honest shares are
               independent of that answer; everything that is seen is computed from it, even if what the other parties
               add depends on it. Post-processing.
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
            raise ParameterError(f"honest={self.honest!r}; need an integer from 1 to 10^9")
        if not 0 <= self.scale <= LARGEST_SCALE:
            raise ParameterError(f"scale={self.scale!r}; need a number from 0 (no noise) to 2^50")

    @classmethod
    def calibrated(cls, epsilon: Epsilon, distance: int, honest: int) -> PolyaShare:
        """Shares whose sum has the least float scale whose loss is at most epsilon, in exact arithmetic."""
        return cls(DiscreteLaplace.calibrated(epsilon, distance).scale, honest)

    def loss(self, distance: int) -> Epsilon:
        """The exact privacy loss of a sum with `honest` shares at an L1 distance; one share alone can lose more."""
        return DiscreteLaplace(self.scale).loss(distance)

    @property
    def variance(self) -> float:
        """Variance of one share: that of discrete Laplace noise, divided by `honest`."""
        return DiscreteLaplace(self.scale).variance / self.honest

    def total_variance(self, parties: int) -> float:
        """Variance of the noise in the sum, if this many parties add a share each."""
        if not is_integer(parties) or parties < self.honest:
            raise ParameterError(
                f"parties={parties!r}; need at least honest={self.honest}, the number that the noise was divided by"
            )
        return DiscreteLaplace(self.scale).variance * parties / self.honest

    def perturb(self, table: Integers, rng: Randomness) -> Integers:
        """The table with an independent share in each cell: it must be masked before anyone else sees it."""
        return table.copy() if self.scale == 0 else table + rng.polya(self.scale, self.honest, table.shape)
