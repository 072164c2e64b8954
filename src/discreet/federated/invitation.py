"""An invitation: everything that the parties of a round agree on, in one file. Making one needs no data.

It fixes the schema, ε, whom the parties trust, and every question with its share of ε: each party answers the same
questions at the same price, whatever version of discreet it runs. The hash of the invitation is in every answer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.federated.dealing import FEWEST_PARTIES, hand, hand_size
from discreet.models.naive_bayes import plan as naive_bayes_plan
from discreet.privacy.epsilon import Epsilon, as_epsilon, as_release_epsilon
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.mechanisms.polya import PolyaShare
from discreet.privacy.steps import Step, laplace_steps, split_by_weight, split_evenly
from discreet.queries.tables import MOST_BINS, Counts, SoftCounts, SplineCounts, shape
from discreet.queries.tags import from_plain, to_plain
from discreet.schema import Schema
from discreet.schema.columns import Categorical, is_integer
from discreet.storage.envelope import Envelope, read_json

FILE = Envelope(
    "discreet/invitation",
    1,
    "an invitation of discreet",
    "`discreet federated invite`",
    remedy="get it again from its sender",
    indent=1,
)
TRUST = ("nobody", "sum")
FEDERATED = ("naive-bayes", "one-rule")
QUESTIONS: dict[str, Any] = {kind.__name__: kind for kind in (Counts, SplineCounts, SoftCounts)}
MOST_PARTIES = 100_000
"""An invitation may come from anyone: with more parties, a party would spend too long on masks and names."""
MOST_CELLS = 10_000_000
"""At most this many cells in all tables of a round, which a party holds in memory while it answers."""
LONGEST_NAME = 100
"""At most this many characters in the name of a party or a round; `message.longest` counts on it."""
ONE_RULE_BINS = 8
"""Number of bins of a numeric column in the questions of a rule."""


@dataclass(frozen=True)
class Invitee:
    """One party: its name, the columns that it has (empty: all), and its public key for a secure sum.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.federated import invite
    >>> invite(datasets.load("iris")[2], 1, ["north", "south"])["north"]
    Invitee(name='north', columns=(), key='')
    """

    name: str
    columns: tuple[str, ...] = ()
    key: str = ""


@dataclass(frozen=True)
class Question:
    """One table that the parties are asked for, and its share of ε.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.federated import invite
    >>> invitation = invite(datasets.load("iris")[2], 1, ["north", "south"])
    >>> sum(question.epsilon for question in invitation.questions) >= 1
    True
    """

    query: Counts | SplineCounts | SoftCounts
    epsilon: Epsilon


@dataclass(frozen=True)
class Invitation:
    """A round: which party is asked what, and at what price.

    Attributes
    ----------
    schema, epsilon, model : as for a model that is trained at one place.
    parties : who is invited.
    trust : "nobody": each answer is ε-DP by itself. "sum": answers are masked, only their sum can be read, and all
        parties together add as much noise as one would.
    honest : for "sum", the number of parties that are taken to be honest and to answer; their shares of the noise alone
        make up the whole noise.
    round : the name of the round; a party answers a round once.
    questions : the tables, with the ε that each of them costs a party.
    each : the number of questions that a party answers, dealt in turn (dealing.py); their shares sum to epsilon.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.federated import invite
    >>> invitation = invite(datasets.load("iris")[2], 1, ["north", "south"])
    >>> invitation.trust, [party.name for party in invitation.parties]
    ('nobody', ['north', 'south'])
    """

    schema: Schema
    epsilon: Epsilon
    model: str
    parties: tuple[Invitee, ...]
    trust: str
    honest: int
    round: str
    questions: tuple[Question, ...]
    each: int

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {party.name: place for place, party in enumerate(self.parties)}

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        return [shape(question.query, self.schema) for question in self.questions]

    def __getitem__(self, name: str) -> Invitee:
        if name in self._places:
            return self.parties[self._places[name]]
        listed = ", ".join(party.name for party in self.parties[:10])
        raise ParameterError(f"party {name!r} is not invited; need one of: {listed}")

    @property
    def is_vertical(self) -> bool:
        """Whether the parties have different columns about the same people."""
        return bool(self.parties[0].columns)

    def asked(self, name: str) -> list[int]:
        """The places of the questions that a party answers."""
        columns = self[name].columns
        if self.each < len(self.questions):
            return hand(self._places[name], len(self.questions), self.each)
        return [place for place, each in enumerate(self.questions) if not columns or each.query.column in columns]

    def steps(self, name: str) -> list[Step[Any, Any]]:
        """The questions of a party with the mechanisms that answer them."""
        asked = [self.questions[place] for place in self.asked(name)]
        if self.trust == "nobody":
            return laplace_steps([each.query for each in asked], [each.epsilon for each in asked], self.schema)
        return [
            Step(each.query, PolyaShare.calibrated(each.epsilon, self._distance(each), self.honest), each.epsilon)
            for each in asked
        ]

    def _distance(self, question: Question) -> int:
        return question.query.distance(self.schema)

    def schema_of(self, name: str) -> Schema:
        """The schema with only those columns that a party's table must have."""
        columns = self[name].columns
        if not columns:
            return self.schema
        others = [each for each in self.schema.names if each not in columns]
        return self.schema.replace(
            columns=[self.schema[each] for each in columns], ignore=(*self.schema.ignore, *others)
        )

    def shapes(self, name: str) -> list[tuple[int, int]]:
        """The shapes of a party's tables."""
        return [self._shapes[place] for place in self.asked(name)]

    def variance(self, place: int, answers: int) -> float:
        """The variance of the noise in the sum of this many answers to a question."""
        question = self.questions[place]
        whole = DiscreteLaplace.calibrated(question.epsilon, self._distance(question)).variance
        return whole * answers if self.trust == "nobody" else whole * answers / self.honest

    def to_dict(self) -> dict[str, Any]:
        """The content of an invitation file."""
        content = {
            "round": self.round,
            "model": self.model,
            "epsilon": str(self.epsilon),
            "trust": self.trust,
            "honest": self.honest,
            "each": self.each,
            "parties": [{"name": p.name, "columns": list(p.columns), "key": p.key} for p in self.parties],
            "questions": [{"query": to_plain(each.query), "epsilon": str(each.epsilon)} for each in self.questions],
            "schema": self.schema.to_dict(),
        }
        return FILE.wrap(content)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the content. It is in every answer, so no answer fits another round."""
        return str(self.to_dict()["hash"])

    def save(self, path: str | Path) -> None:
        """Write the invitation as a JSON file."""
        FILE.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Invitation:
        """Read an invitation file; FileError if it was altered or is not an invitation."""
        return cls.from_dict(read_json(path), str(path))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "invitation") -> Invitation:
        """The inverse of `to_dict`."""
        FILE.check(content, name)
        try:
            return cls(
                Schema.from_dict(content["schema"]),
                as_epsilon(content["epsilon"]),
                content["model"],
                tuple(Invitee(p["name"], tuple(p["columns"]), p["key"]) for p in content["parties"]),
                content["trust"],
                content["honest"],
                content["round"],
                tuple(_question(each) for each in content["questions"]),
                content["each"],
            )
        except DiscreetError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            raise FileError(f"{name} lacks an entry ({type(error).__name__}); get it again from its sender") from None


def invite(
    schema: Schema,
    epsilon: object,
    parties: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    trust: str = "nobody",
    model: str = "naive-bayes",
    keys: Mapping[str, str] | None = None,
    honest: int | None = None,
    deal: bool | None = None,
) -> Invitation:
    """An invitation to a new round: the questions follow from the schema, ε and the number of parties alone.

    `parties` are names or, if they have different columns about the same people, names with their columns. For
    trust="sum", `keys` are their public keys, and at least `honest` parties do not tell the aggregator what they know
    (default: all but one). With `deal` each party answers only some of the questions, which leaves less noise; the
    default is to deal if trust="nobody" and there are at least `FEWEST_PARTIES` parties.

    Examples
    --------
    >>> from discreet import datasets
    >>> from discreet.federated import invite
    >>> invite(datasets.load("iris")[2], "1/2", ["north", "south"]).epsilon
    Fraction(1, 2)
    """
    columns = {name: tuple(own) for name, own in parties.items()} if isinstance(parties, Mapping) else {}
    invitees = tuple(Invitee(name, columns.get(name, ()), (keys or {}).get(name, "")) for name in parties)
    price = as_release_epsilon(epsilon)
    if price == math.inf:
        raise ParameterError("epsilon=inf; a round without noise is not private: use a finite epsilon")
    DiscreteLaplace.calibrated(price, 1)  # raises if even one table could not be answered at this epsilon
    if schema.records is None:
        raise ParameterError(
            'the schema declares no number of records; add "records", roughly, of all parties together'
        )
    if model not in FEDERATED:
        raise ParameterError(f"model={model!r}; need one of: {', '.join(FEDERATED)}")
    if trust not in TRUST:
        raise ParameterError(f"trust={trust!r}; need one of: {', '.join(TRUST)}")
    alone = trust == "nobody" and bool(invitees) and not columns
    wanted = len(invitees) >= FEWEST_PARTIES if deal is None else deal
    questions, each = _dealt(schema, Fraction(price), model, len(invitees) if alone else 1, wanted and alone)
    most_honest = max(1, len(invitees) - 1) if honest is None else honest
    honest = most_honest if trust == "sum" else 0
    return Invitation(schema, price, model, invitees, trust, honest, os.urandom(16).hex(), questions, each)


def _dealt(schema: Schema, epsilon: Fraction, model: str, parties: int, deal: bool) -> tuple[tuple[Question, ...], int]:
    """The questions, and how many each party answers: all at shares of ε that sum to it, or a few at equal shares."""
    if deal and model == "naive-bayes":
        asked, each = hand_size(schema, float(epsilon), parties)
        questions = _questions(schema, epsilon, model, math.sqrt(parties * each / asked))
        if each < len(questions):
            return tuple(Question(question.query, epsilon / each) for question in questions), each
    questions = _questions(schema, epsilon, model, math.sqrt(parties))
    return questions, len(questions)


def _questions(schema: Schema, epsilon: Fraction, model: str, loudness: float) -> tuple[Question, ...]:
    """The tables and their shares of ε. With noise that is `loudness` times as large, tables are fewer and smaller."""
    if model == "one-rule":
        queries = [
            Counts(column.name, ONE_RULE_BINS if column.kind == "numeric" else None) for column in schema.columns
        ]
        return tuple(map(Question, queries, split_evenly(epsilon, len(queries))))
    weaker = Fraction(float(epsilon) / loudness)
    planned = naive_bayes_plan.steps(schema, weaker, schema.records or 1, "histogram", "auto", "weighted")
    shares = split_by_weight(epsilon, [float(step.epsilon) * loudness / float(epsilon) for step in planned])
    asked = [step.query for step in planned if isinstance(step.query, Counts | SplineCounts)]
    return tuple(Question(query, share) for query, share in zip(asked, shares, strict=True))


def _question(content: Mapping[str, Any]) -> Question:
    if content["query"]["kind"] not in QUESTIONS:
        raise FileError(f"a question of kind {content['query']['kind']!r} is not known; upgrade discreet")
    return Question(from_plain(content["query"]), as_epsilon(content["epsilon"]))


def _check(invitation: Invitation) -> None:
    """Raise ParameterError unless a party can answer safely: an invitation may come from anyone."""
    names, schema = [party.name for party in invitation.parties], invitation.schema
    if not 1 <= len(names) <= MOST_PARTIES or len(set(names)) != len(names) or not all(map(_is_name, names)):
        raise ParameterError(f"{len(names)} parties; need 1 to {MOST_PARTIES} different names, each a short text")
    if invitation.trust not in TRUST or invitation.model not in FEDERATED or not _is_name(invitation.round):
        raise ParameterError("the invitation has an unknown trust, model or round; upgrade discreet")
    if invitation.epsilon == math.inf:
        raise ParameterError("epsilon=inf; a round without noise is not private: get another invitation")
    if not invitation.questions or not _sums_to_epsilon(invitation):
        raise ParameterError("the questions' shares do not sum to epsilon; get another invitation")
    asked = [each.query.column for each in invitation.questions]
    if len(set(asked)) != len(asked) or not all(_fits(each.query, schema) for each in invitation.questions):
        raise ParameterError("the questions do not fit the schema; get another invitation")
    if invitation.model == "one-rule" and not all(isinstance(each.query, Counts) for each in invitation.questions):
        raise ParameterError("the model is one-rule, and the questions are not counts; get another invitation")
    cells = sum(each.query.cells(schema).size(schema) for each in invitation.questions) * len(schema.classes)
    if cells > MOST_CELLS:
        raise ParameterError(f"the questions have {cells} cells; need at most {MOST_CELLS}: use fewer bins or columns")
    owned = [column for party in invitation.parties for column in party.columns]
    if owned and (sorted(owned) != sorted(schema.names) or not all(party.columns for party in invitation.parties)):
        raise ParameterError("each column of the schema must belong to exactly one party")
    if invitation.trust == "sum":
        _check_sum(invitation, bool(owned))


def _sums_to_epsilon(invitation: Invitation) -> bool:
    """Whether a party's answers cost epsilon: all shares together or, if questions are dealt, `each` equal ones."""
    shares, each = [question.epsilon for question in invitation.questions], invitation.each
    if not is_integer(each) or not 1 <= each <= len(shares):
        return False
    if each == len(shares):
        return sum(shares) == invitation.epsilon
    alone = invitation.trust == "nobody" and not invitation.is_vertical
    return alone and all(share * each == invitation.epsilon for share in shares)


def _fits(query: Any, schema: Schema) -> bool:
    """Whether a query is about a column of the schema, fits its kind, and is of bounded size."""
    if query.column not in schema.names:
        return False
    bins: Any = getattr(query, "bins", None)
    if isinstance(schema[query.column], Categorical):
        return isinstance(query, Counts) and bins is None
    return isinstance(query, SoftCounts) or (is_integer(bins) and 1 <= bins <= MOST_BINS)


def _check_sum(invitation: Invitation, vertical: bool) -> None:
    parties = len(invitation.parties)
    if vertical:
        raise ParameterError("parties that have different columns have no sum to hide; use trust='nobody'")
    if not isinstance(invitation.honest, int) or not 1 <= invitation.honest <= parties or parties < 2:
        raise ParameterError(
            f"honest={invitation.honest!r} of {parties} parties; need at least 2 parties, and 1 to all of them honest"
        )
    keys = [party.key for party in invitation.parties]
    if not all(keys) or len(set(keys)) != parties:
        raise ParameterError("a secure sum needs a public key of each party; make them with `discreet federated key`")


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()
