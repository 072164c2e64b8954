"""Rounds whose questions are dealt: each party pays epsilon, and the answers make one model."""

import dataclasses

import numpy as np
import pytest

from discreet import Ledger
from discreet.errors import ParameterError
from discreet.federated import Aggregator, Invitation, Message, Party, invite
from discreet.federated.gossip import gossip
from discreet.federated.message import longest
from discreet.federated.robust import combine
from discreet.sources.memory import MemorySource
from support.consortium import town

NAMES = [f"p{n}" for n in range(100)]


def dealt(**more):
    X, y, schema = town(4000)
    return X, y, invite(schema, 1, NAMES, **more)


def answers(X, y, invitation, names=NAMES):
    out = []
    for place, name in enumerate(names):
        rows = slice(place, None, 100)
        source = MemorySource({k: v[rows] for k, v in X.items()}, y[rows])
        out.append(Party(name, source, Ledger(1), random_state=place).answer(invitation))
    return out


def test_each_hand_costs_epsilon_exactly():
    X, y, invitation = dealt()
    assert invitation.each < len(invitation.questions)
    for name in NAMES:
        assert sum(step.epsilon for step in invitation.steps(name)) == 1
    ledger = Ledger(1)
    Party("p3", MemorySource({k: v[:50] for k, v in X.items()}, y[:50]), ledger, random_state=1).answer(invitation)
    assert ledger.spent == 1


def test_an_invitation_whose_hands_cost_more_is_refused():
    _, _, invitation = dealt()
    for each in (0, invitation.each + 1, len(invitation.questions) + 1, 1.5):
        with pytest.raises(ParameterError):
            dataclasses.replace(invitation, each=each)


def test_receipt_and_file():
    X, y, invitation = dealt()
    assert Invitation.from_dict(invitation.to_dict()) == invitation
    aggregator = Aggregator(invitation)
    for message in answers(X, y, invitation):
        aggregator.add(message)
    noisy = aggregator.statistics()
    assert noisy.receipt.epsilon == 1
    assert len(noisy.tables) == len(invitation.questions)
    assert aggregator.model().score(X, y) > 0.8
    spread = gossip(invitation, answers(X, y, invitation), seed=1)
    for (_, one), (_, other) in zip(spread.statistics(5).tables, noisy.tables, strict=True):
        assert np.allclose(one.values, other.values, atol=1)


def test_missing_parties_leave_questions_with_fewer_answers():
    X, y, invitation = dealt()
    aggregator = Aggregator(invitation)
    for message in answers(X, y, invitation, NAMES[:3]):
        aggregator.add(message)
    asked = {p for n in NAMES[:3] for p in invitation.asked(n)}
    assert len(aggregator.statistics().tables) == len(asked) < len(invitation.questions)
    assert aggregator.model().predict(X).shape == (4000,)


def test_robust_rules_need_all_questions():
    X, y, invitation = dealt()
    with pytest.raises(ParameterError, match="every question"):
        combine(invitation, answers(X, y, invitation))
    X, y, invitation = dealt(deal=False)
    assert combine(invitation, answers(X, y, invitation)).model().score(X, y) > 0.7


def test_few_parties_and_sums_answer_everything():
    _, _, schema = town(4000)
    for names, more in (
        (NAMES[:50], {}),
        (NAMES, {"trust": "sum", "keys": {n: f"{i + 9:064x}" for i, n in enumerate(NAMES)}}),
    ):
        invitation = invite(schema, 1, names, **more)
        assert invitation.each == len(invitation.questions)


def test_every_hand_fits_the_longest_message():
    """Hands have tables of different sizes: the limit is that of the largest."""
    X, y, invitation = dealt()
    lengths = [len(message.to_bytes()) for message in answers(X, y, invitation)]
    assert max(lengths) <= longest(invitation)
    for message in answers(X, y, invitation, NAMES[:7]):
        assert Message.from_bytes(message.to_bytes(), invitation).party == message.party
