"""How accurate federated training is on public data: local noise, a secure sum and training at one place compared.

This does not use the doors: it counts a public table once for each way to divide it, then draws the noise of all
parties many times, seeded. Nothing here is private, neither the scores nor the models. Questions, shares of ε and noise
scales are those of the invitation that real parties would get, and each party draws its own noise, or its part of it.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, ParameterError
from discreet.federated import dealing
from discreet.federated.invitation import Invitation, invite
from discreet.federated.partition import partition
from discreet.models import MODELS
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.randomness import Randomness, as_rng, search_generator
from discreet.privacy.receipt import Charge, Receipt
from discreet.queries.tables import TableQuery
from discreet.records.encoding import Cells, class_codes
from discreet.records.tables import Table, as_vector
from discreet.released.statistics import NoisyStatistics
from discreet.schema import Schema

PROTOCOLS = ("central", "secure-sum", "local-noise")
EPSILONS = tuple(round(10 ** (power / 2), 6) for power in range(-4, 3))
PARTIES = (1, 10, 100, 1000)
"""Numbers of parties of a study, if none are given; `EPSILONS` are two per decade from 0.01 to 10."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Setting:
    """What is simulated: a protocol, the number of parties, ε, and how the rows are divided among the parties.

    `honest` is for the secure sum: the parts of this many parties make up the whole noise (None: all but one). With one
    party every protocol is training at one place.
    """

    protocol: str
    parties: int
    epsilon: float
    sizes: str = "equal"
    concentration: float | None = None
    honest: int | None = None

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ParameterError(f"protocol={self.protocol!r}; need one of: {', '.join(PROTOCOLS)}")
        if not isinstance(self.parties, Integral) or self.parties < 1:
            raise ParameterError(f"parties={self.parties!r}; need a positive integer")
        if as_epsilon(self.epsilon) == math.inf:
            raise ParameterError("epsilon=inf; a simulation of noise needs a finite epsilon")


@dataclass(frozen=True)
class Summary:
    """Accuracy over the repeats of a setting: mean, standard error, and the number of tables in the model."""

    setting: Setting
    accuracy: float
    error: float
    repeats: int
    tables: int

    def to_dict(self) -> dict[str, Any]:
        """A line of a results file."""
        own = {"accuracy": self.accuracy, "error": self.error, "repeats": self.repeats, "tables": self.tables}
        return {**asdict(self.setting), **own}


@dataclass
class PublicTable:
    """A public data set that is encoded once and divided among parties many times.

    Parameters
    ----------
    X, y, schema : as for a model; if the schema declares no number of records, the table's own is used.
    model : "naive-bayes" or "one-rule".
    held_out : the fraction of rows, drawn anew for each repeat, on which accuracy is measured.
    most_tested : accuracy is measured on at most this many rows, to save time.
    seed : for everything that is drawn.
    """

    X: Any
    y: Any
    schema: Schema
    model: str = "naive-bayes"
    held_out: float = 0.1
    most_tested: int = 5000
    seed: int = 0
    _codes: dict[Cells, NDArray[np.intp]] = field(default_factory=dict, init=False, repr=False)
    _invitations: dict[Setting, Invitation] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self._table = Table(self.X, self.schema)
        self._table.check(self.schema)
        self._labels = class_codes(as_vector(self.y), self.schema)
        if len(self._labels) != self._table.rows or self._table.rows < 2:
            raise DataError("need at least two rows, and one label per row")
        if not 0 < self.held_out < 1:
            raise ParameterError(f"held_out={self.held_out!r}; need a fraction of the rows between 0 and 1")
        if self.schema.records is None:
            self.schema = self.schema.replace(records=self._table.rows)

    def run(self, setting: Setting, repeats: int) -> Summary:
        """The mean accuracy of a setting; each repeat has its own test rows, partition and noise."""
        if repeats < 1:
            raise ParameterError(f"repeats={repeats!r}; need a positive integer")
        scores = []
        for repeat in range(repeats):
            train, test = self.split(repeat)
            noisy = self.statistics(setting, train, repeat)
            scores.append(self._score(noisy, test))
        error = float(np.std(scores, ddof=1) / math.sqrt(repeats)) if repeats > 1 else math.nan
        return Summary(setting, float(np.mean(scores)), error, repeats, len(noisy.tables))

    def split(self, repeat: int) -> tuple[Integers, Integers]:
        """The rows to train on and the rows to test on, the same for every setting."""
        rows = search_generator(_seed("split", self.seed, repeat)).permutation(self._table.rows)
        tested = max(1, round(self.held_out * len(rows)))
        return rows[tested:], rows[: min(tested, self.most_tested)]

    def invitation(self, setting: Setting) -> Invitation:
        """The invitation that the parties would get."""
        if setting not in self._invitations:
            many = setting.protocol != "central" and setting.parties > 1
            names = [f"party {number}" for number in range(setting.parties if many else 1)]
            summed = many and setting.protocol == "secure-sum"
            keys = {name: f"{number + 1:064x}" for number, name in enumerate(names)} if summed else None
            self._invitations[setting] = invite(
                self.schema,
                setting.epsilon,
                names,
                trust="sum" if summed else "nobody",
                model=self.model,
                keys=keys,
                honest=setting.honest if summed else None,
            )
        return self._invitations[setting]

    def statistics(self, setting: Setting, rows: Integers, repeat: int) -> NoisyStatistics:
        """The sum of all parties' noisy answers about these rows, as an aggregator would compute it."""
        invitation = self.invitation(setting)
        parties = len(invitation.parties)
        seed = _seed("partition", self.seed, repeat)
        owners = partition(
            self._labels[rows], parties, sizes=setting.sizes, concentration=setting.concentration, seed=seed
        )
        rng = as_rng(_seed("noise", self.seed, repeat, repr(setting)))
        asked = _asked(invitation)
        sums = []
        for place, question in enumerate(invitation.questions):
            exact = self.exact(question.query, rows, owners, parties)[asked[place]]
            sums.append((exact + noise(invitation, place, exact.shape, rng)).sum(axis=0))
        answers = [len(each) for each in asked]
        queries = [question.query for question in invitation.questions]
        variances = [invitation.variance(place, count) for place, count in enumerate(answers)]
        tables = dealing.tables(self.schema, queries, sums, variances, answers, parties)
        return NoisyStatistics(tables, _receipt(invitation))

    def exact(self, query: TableQuery, rows: Integers, owners: Integers, parties: int) -> Integers:
        """The exact tables of all parties (parties by classes by cells), in one pass."""
        cells, classes = query.cells(self.schema), len(self.schema.classes)
        size = cells.size(self.schema)
        if cells not in self._codes:
            self._codes[cells] = cells.codes(self._table.column(cells.column), self.schema)
        place = (owners * (classes + 1) + self._labels[rows]) * size + self._codes[cells][rows]
        counts = np.bincount(place, minlength=parties * (classes + 1) * size).reshape(parties, classes + 1, size)
        folded = query.fold(counts[:, :classes].reshape(-1, size), self.schema)
        return folded.reshape(parties, classes, -1)

    def _score(self, noisy: NoisyStatistics, test: Integers) -> float:
        fitted = MODELS[self.model](self.schema, epsilon=1).fit_noisy(noisy)
        tested = {name: self._table.column(name)[test] for name in self.schema.names}
        return float(fitted.score(tested, as_vector(self.y)[test]))


def noise(invitation: Invitation, place: int, shape: tuple[int, ...], rng: Randomness) -> Integers:
    """The noise that the parties add to their answers to a question, one layer per party: whole, or Pólya shares."""
    question = invitation.questions[place]
    scale = DiscreteLaplace.calibrated(question.epsilon, question.query.distance(invitation.schema)).scale
    if invitation.trust == "sum":
        return rng.polya(scale, invitation.honest, shape)
    return rng.discrete_laplace(scale, shape)


def grid(
    parties: Sequence[int] = PARTIES,
    epsilons: Sequence[float] = EPSILONS,
    *,
    protocols: Sequence[str] = PROTOCOLS,
    sizes: str = "equal",
    concentration: float | None = None,
) -> Iterator[Setting]:
    """Every setting of a study; training at one place comes once per ε, whatever the numbers of parties."""
    for protocol in protocols:
        for many in parties if protocol != "central" else [1]:
            if many > 1 or protocol == "central":
                for epsilon in epsilons:
                    yield Setting(protocol, many, epsilon, sizes, concentration)


def _asked(invitation: Invitation) -> list[Integers]:
    """For each question the numbers of the parties that answer it."""
    asked: list[list[int]] = [[] for _ in invitation.questions]
    for number, party in enumerate(invitation.parties):
        for place in invitation.asked(party.name):
            asked[place].append(number)
    return [np.array(each, dtype=np.int64) for each in asked]


def _receipt(invitation: Invitation) -> Receipt:
    """The receipt of a seeded release: every model of a simulation says that nothing is guaranteed."""
    charges = [
        Charge(repr(each.query), "simulated noise", each.epsilon, distance, float(distance / each.epsilon))
        for each in [invitation.questions[place] for place in invitation.asked(invitation.parties[0].name)]
        for distance in [each.query.distance(invitation.schema)]
    ]
    return Receipt(invitation.schema.adjacency, tuple(charges), True, invitation.schema.hash)


def _seed(*parts: object) -> int:
    return zlib.crc32(repr(parts).encode())
