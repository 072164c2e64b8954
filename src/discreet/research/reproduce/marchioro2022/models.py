"""The models of Figure 1 of Marchioro et al. 2022: as published, two variants that explain its accuracy, and ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.federated.simulate import PublicTable, Setting
from discreet.models import NaiveBayes
from discreet.research.papers import Marchioro2022NaiveBayes
from discreet.research.papers.marchioro2022_exchange import Variant
from discreet.research.reproduce.study import Factory
from discreet.schema import Adjacency, Schema

CENTRAL, OURS = "published central", "ours central"
PUBLISHED, PROGRAM, LOCAL, SUMMED = "published N=", "program N=", "ours local noise N=", "ours secure sum N="
BOUNDED, NOISE = "public bounds N=", "noise alone N="


class Federation:
    """Our naive Bayes, trained by parties; the training records are divided among them evenly and at random.

    `discreet.federated.simulate` runs everything in this process and from one seed. The queries, their shares of
    epsilon and the noise are those of an invitation. Without noise this is training at one place: sums are exact.
    """

    def __init__(self, schema: Schema, *, epsilon: float, random_state: int, protocol: str, parties: int) -> None:
        self.schema, self.epsilon, self.random_state = schema, epsilon, random_state
        self.protocol, self.parties = protocol, parties

    def fit(self, X: Any, y: Any) -> Self:
        """Divide the records, add the parties' answers, and build the model from the sums."""
        model = NaiveBayes(self.schema, epsilon=self.epsilon, select=None, random_state=self.random_state)
        if self.epsilon == math.inf:
            self.model_ = model.fit(X, y)
        else:
            table = PublicTable(X, y, self.schema, seed=self.random_state)
            setting = Setting(self.protocol, self.parties, self.epsilon)
            self.model_ = model.fit_noisy(table.statistics(setting, np.arange(len(y)), 0))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each record."""
        return self.model_.predict(X)


class PublicBounds(Marchioro2022NaiveBayes):
    """The same exchange with noise on sums at the largest value that the schema allows, not the largest at the node.

    The claim needs this: a record moves S by at most max(|lower|, |upper|) and Q by its square, so each query is
    epsilon'-DP under add-remove, and the message epsilon-DP (except for the arithmetic of floats).
    """

    def honest_epsilon(self) -> float:
        """The claimed loss; under replace-one at most twice as much, for a removal and an addition."""
        return self.claimed_epsilon * (1 if self.schema.adjacency is Adjacency.ADD_REMOVE else 2)

    @property
    def variant(self) -> Variant:
        """Noise at the public bounds."""
        return Variant(public_bounds=True)


class NoiseAlone(Marchioro2022NaiveBayes):
    """The same exchange with every exact count and sum replaced by zero.

    Only the scale of the noise on sums still depends on the data: if this model beats a guess, the scale leaks.
    """

    @property
    def variant(self) -> Variant:
        """Noise without counts and sums."""
        return Variant(without_data=True)


def factories(nodes: Sequence[int], numeric: bool) -> dict[str, Factory]:
    """The models for a data set that is divided among these numbers of nodes."""
    most, many = max(nodes), [each for each in nodes if each > 1]
    published: Callable[..., Factory] = partial(partial, Marchioro2022NaiveBayes)
    models: dict[str, Factory] = {CENTRAL: published(federated=False)}
    models |= {f"{PUBLISHED}{each}": published(nodes=each) for each in nodes}
    models |= {OURS: NaiveBayes}
    models |= {f"{LOCAL}{each}": partial(Federation, protocol="local-noise", parties=each) for each in many}
    models |= {f"{SUMMED}{most}": partial(Federation, protocol="secure-sum", parties=most)}
    if numeric:
        models |= {f"{BOUNDED}{most}": partial(PublicBounds, nodes=most)}
        models |= {f"{NOISE}{most}": partial(NoiseAlone, nodes=most)}
    else:
        models |= {f"{PROGRAM}{each}": published(nodes=each, skip_empty=True) for each in many}
    return models
