"""The aggregator: adds the parties' answers, one at a time and in any order, and makes the model. It sees no record.

Its state is a sum of integers and the names of the parties that have answered. With a file, the state is on disk after
every answer: a crash loses nothing, and nothing is counted twice.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, FileError
from discreet.federated import dealing
from discreet.federated.invitation import Invitation
from discreet.federated.message import Message
from discreet.models import MODELS
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.receipt import Charge, Receipt
from discreet.queries.tables import shape
from discreet.released.statistics import NoisyStatistics
from discreet.storage.envelope import Envelope
from discreet.storage.locking import lock_module

FILE = Envelope(
    "discreet/aggregator",
    1,
    "the state of an aggregator",
    "an aggregator",
    remedy="remove it and add all answers again",
)
LARGEST = 2**62
"""The largest sum of answers that is accepted: it fits a signed 64-bit integer."""


class Aggregator:
    """Adds up the answers to an invitation.

    Parameters
    ----------
    invitation : the round.
    path : a file that keeps the state; if it exists, the round goes on from there.

    Examples
    --------
    >>> from discreet import Ledger, datasets
    >>> from discreet.federated import Aggregator, Party, invite
    >>> from discreet.sources.memory import MemorySource
    >>> X, y, schema = datasets.load("iris")
    >>> invitation = invite(schema, 1, ["north"])
    >>> aggregator = Aggregator(invitation)
    >>> aggregator.add(Party("north", MemorySource({**X, schema.target: y}), Ledger(1)).answer(invitation))
    >>> aggregator.model().predict(X).shape
    (150,)
    """

    def __init__(self, invitation: Invitation, path: str | Path | None = None) -> None:
        self.invitation = invitation
        self.answered: list[str] = []
        self.seeded = False
        self._path = None if path is None else Path(path)
        self._sums: list[NDArray[Any]] = [
            np.zeros(shape(question.query, invitation.schema), dtype=object) for question in invitation.questions
        ]
        if self._path is not None and self._path.exists():
            self._resume(self._path)

    @classmethod
    def of(cls, invitation: Invitation, messages: Sequence[Message]) -> Aggregator:
        """An aggregator that has these answers, in memory; DataError if there are none."""
        if not messages:
            raise DataError("no answer was given; need at least one")
        aggregator = cls(invitation)
        for message in messages:
            aggregator.add(message)
        return aggregator

    @property
    def missing(self) -> list[str]:
        """Parties that have not answered."""
        return [party.name for party in self.invitation.parties if party.name not in self.answered]

    def add(self, message: Message) -> None:
        """Add one answer. DataError, and no change, if it is to another invitation, misshapen or there already."""
        with self._alone():
            self._fold(message)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """With a file: other processes wait, and the answers that they have added are read first."""
        if self._path is None:
            yield
            return
        locks = lock_module(self._path, "an aggregator without a file")
        try:
            lock = self._path.with_name(self._path.name + ".lock").open("a")
        except OSError as error:
            raise FileError(f"cannot write beside {self._path}: {error.strerror}; check the folder") from None
        with lock:
            locks.flock(lock, locks.LOCK_EX)
            if self._path.exists():
                self._resume(self._path)
            yield

    def _fold(self, message: Message) -> None:
        self._check(message)
        places = self.invitation.asked(message.party)
        before = [self._sums[place] for place in places], list(self.answered), self.seeded
        for place, table in zip(places, message.tables, strict=True):
            self._sums[place] = self._sums[place] + table.astype(object)
        self.answered = [*self.answered, message.party]
        self.seeded = self.seeded or message.seeded
        try:
            self._keep()
        except FileError:
            sums, self.answered, self.seeded = before
            for place, table in zip(places, sums, strict=True):
                self._sums[place] = table
            raise

    def _check(self, message: Message) -> None:
        invitation = self.invitation
        if (message.invitation, message.round) != (invitation.hash, invitation.round):
            raise DataError("the answer is to another invitation; add answers to this one only")
        shapes = invitation.shapes(message.party)
        if [table.shape for table in message.tables] != shapes:
            raise DataError(f"the answer of {message.party!r} has tables of another shape than asked; ask for it again")
        if message.party in self.answered:
            raise DataError(
                f"{message.party!r} has answered already; each party is counted once, so leave this answer out"
            )
        kind, most = ("u", None) if invitation.trust == "sum" else ("i", LARGEST // len(invitation.parties))
        for table in message.tables:
            if table.dtype.kind != kind or (most is not None and bool(((table > most) | (table < -most)).any())):
                raise DataError(f"the answer of {message.party!r} holds numbers that no table has; ask for it again")

    def statistics(self) -> NoisyStatistics:
        """The sum of the answers, as if released at one place.

        Every answer is needed for a secure sum and if parties have different columns; DataError if one is missing.
        """
        invitation = self.invitation
        if not self.answered or (self.missing and (invitation.trust == "sum" or invitation.is_vertical)):
            listed = ", ".join(self.missing[:10])
            remedy = "invite the others to a new round, which costs its own epsilon" if self.answered else "add answers"
            raise DataError(f"no answer yet from: {listed}; without it there is no sum: wait, or {remedy}")
        answers = np.zeros(len(self._sums), dtype=np.int64)
        for party in self.answered:
            answers[invitation.asked(party)] += 1
        tables = dealing.tables(
            invitation.schema,
            [question.query for question in invitation.questions],
            [self._opened(table) for table in self._sums],
            [invitation.variance(place, int(count)) for place, count in enumerate(answers)],
            answers.tolist(),
            1 if invitation.is_vertical else len(self.answered),
        )
        return NoisyStatistics(tables, self._receipt())

    def model(self) -> Any:
        """The model that is made from the sum: post-processing."""
        return model_of(self.invitation, self.statistics())

    def _opened(self, table: NDArray[Any]) -> NDArray[np.int64]:
        """The true sum as signed numbers: modulo 2**64 the masks cancel."""
        if self.invitation.trust == "nobody":
            return table.astype(np.int64)
        return np.asarray((table % 2**64).astype(np.uint64).view(np.int64))

    def _receipt(self) -> Receipt:
        invitation = self.invitation
        charges = []
        dealt = invitation.each < len(invitation.questions)
        asked = invitation.asked(invitation.parties[0].name) if dealt else range(len(invitation.questions))
        for question in (invitation.questions[place] for place in asked):
            distance = question.query.distance(invitation.schema)
            whole = DiscreteLaplace.calibrated(question.epsilon, distance)
            how = "in shares" if invitation.trust == "sum" else "questions dealt" if dealt else "at each party"
            name = f"{whole.name}, {how}"
            charges.append(Charge(repr(question.query), name, question.epsilon, distance, whole.scale))
        trust = trusted(invitation, len(self.answered))
        return Receipt(invitation.schema.adjacency, tuple(charges), self.seeded, invitation.schema.hash, trust)

    def _keep(self) -> None:
        if self._path is None:
            return
        content = {
            "invitation": self.invitation.hash,
            "answered": self.answered,
            "seeded": self.seeded,
            "sums": [[[str(value) for value in row] for row in table] for table in self._sums],
        }
        FILE.write(self._path, FILE.wrap(content))

    def _resume(self, path: Path) -> None:
        content = FILE.read(path)
        if content.get("invitation") != self.invitation.hash:
            raise FileError(f"{path} is the state of another round; name another file")
        try:
            sums = [np.array([[int(v) for v in row] for row in table], dtype=object) for table in content["sums"]]
            answered, seeded = [str(name) for name in content["answered"]], content["seeded"] is not False
        except (KeyError, TypeError, ValueError):
            raise FileError(f"{path} was damaged; remove it and add all answers again") from None
        fits = [table.shape for table in sums] == [table.shape for table in self._sums]
        if self.invitation.trust == "nobody":
            fits = fits and all(abs(value) <= LARGEST for table in sums for value in table.flat)
        if not fits or len(set(answered)) != len(answered):
            raise FileError(f"{path} does not fit the invitation; remove it and add all answers again")
        self._sums, self.answered, self.seeded = sums, answered, seeded


def model_of(invitation: Invitation, noisy: NoisyStatistics) -> Any:
    """The invitation's model, built from noisy statistics: post-processing."""
    return MODELS[invitation.model](invitation.schema, epsilon=invitation.epsilon).fit_noisy(noisy)


def trusted(invitation: Invitation, answers: int) -> str:
    """Who has to be trusted for the guarantee, in a sentence."""
    if invitation.is_vertical:
        return (
            f"Made of {answers} parties' answers about the same people, each with noise of its own: it holds against "
            "everyone who sees all answers."
        )
    if invitation.trust == "nobody":
        return (
            f"Made of {answers} parties' answers, each with noise of its own: it holds for every party's records "
            "against everyone else, the aggregator included."
        )
    apart = len(invitation.parties) - invitation.honest
    others = f"together with up to {apart} of the parties" if apart else "but not against parties, who know their share"
    return (
        f"Made of the sum of {answers} parties' masked answers: it holds against whoever sees the sum, the aggregator "
        f"included, {others}, as long as {invitation.honest} other parties followed the protocol and told nobody their "
        "secrets."
    )
