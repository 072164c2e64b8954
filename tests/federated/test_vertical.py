"""Parties that have different columns of the same people: the join of their answers is the model of one place."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import Ledger, NaiveBayes
from discreet.errors import DataError, ParameterError
from discreet.federated.aggregator import Aggregator
from discreet.federated.invitation import Invitation, invite
from discreet.federated.message import Message
from discreet.federated.party import Party
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.sources.memory import MemorySource
from support.records import draw_records, split_target
from support.replay import exact_loss, recorded

OWNED = {"clinic": ["age", "sex"], "laboratory": ["dose"], "registry": ["site"]}


def own_part(records, name, target="outcome"):
    return {column: records[column] for column in [*OWNED[name], target]}


def answers(invitation, records, seed=None, limit=1):
    return {
        name: Party(name, MemorySource(own_part(records, name)), Ledger(limit), random_state=seed and seed + place)
        .answer(invitation)
        for place, name in enumerate(OWNED)
    }  # fmt: skip


def joined(invitation, messages):
    aggregator = Aggregator(invitation)
    for message in messages:
        aggregator.add(message)
    return aggregator


def test_each_party_answers_for_its_columns_and_the_join_has_all(schema, records):
    invitation = invite(schema, 1, OWNED)
    assert sorted(place for name in OWNED for place in invitation.asked(name)) == list(range(len(schema.columns)))
    messages = answers(invitation, records, seed=5)
    for name, message in messages.items():
        assert {invitation.questions[place].query.column for place in invitation.asked(name)} == set(OWNED[name])
        assert len(message.tables) == len(OWNED[name])
    model = joined(invitation, messages.values()).model()
    X, _ = split_target(records)
    assert model.predict(X).shape == (400,)
    assert {query.column for query, _ in model.noisy_.tables} == set(schema.names)


def test_the_order_of_answers_does_not_matter_and_messages_survive_the_mail(schema, records):
    invitation = Invitation.from_dict(invite(schema, 1, OWNED).to_dict())
    messages = list(answers(invitation, records, seed=6).values())
    sent = [Message.from_bytes(message.to_bytes(), invitation) for message in messages]
    first, second = (joined(invitation, each).statistics() for each in (messages, sent[::-1]))
    for (_, one), (_, other) in zip(first.tables, second.tables, strict=True):
        assert np.array_equal(one.values, other.values)


def test_the_model_equals_in_law_that_of_one_place(schema, records):
    """The same questions, the same exact tables, the same noise: only who adds it differs."""
    invitation = invite(schema, 1, OWNED)
    passed, central = [], []
    with recorded(passed):
        noisy = joined(invitation, answers(invitation, records, seed=7).values()).statistics()
    with recorded(central):
        model = NaiveBayes(schema, epsilon=1, random_state=7).fit(*split_target(records))
    assert len(passed) == len(central) == len(schema.columns)
    for (query, table), (asked, expected) in zip(noisy.tables, model.noisy_.tables, strict=True):
        assert query == asked
        assert table.variance == pytest.approx(expected.variance, rel=1e-4)
    for own in passed:
        (other,) = [each for each in central if np.array_equal(each.entered, own.entered)]
        assert isinstance(own.mechanism, DiscreteLaplace)
        assert own.mechanism.scale == pytest.approx(other.mechanism.scale, rel=1e-4)


def test_it_is_as_accurate_as_training_at_one_place(schema):
    tests, y = split_target(draw_records(2000, seed=1))
    scores = {"joined": [], "central": []}
    invitation = invite(schema, 2, OWNED)
    for seed in range(20):
        records = draw_records(400, seed=100 + seed)
        model = joined(invitation, answers(invitation, records, seed=10 + 3 * seed, limit=2).values()).model()
        scores["joined"].append(model.score(tests, y))
        one_place = NaiveBayes(schema, epsilon=2, random_state=seed).fit(*split_target(records))
        scores["central"].append(one_place.score(tests, y))
    assert np.mean(scores["joined"]) == pytest.approx(np.mean(scores["central"]), abs=0.03)


def test_a_person_loses_epsilon_over_all_parties_together(schema, records):
    """Remove one person at every party: the exact losses of all answers add up to epsilon at most, and reach it."""
    invitation = invite(schema, 1, OWNED)
    neighbour = {name: np.delete(values, 17) for name, values in records.items()}
    first, second = [], []
    with recorded(first):
        answers(invitation, records, seed=8)
    with recorded(second, replayed=first):
        answers(invitation, neighbour, seed=8)
    loss = sum(exact_loss(*pair) for pair in zip(first, second, strict=True))
    assert 0.999 < loss <= 1


def test_each_ledger_is_charged_for_its_own_questions_and_together_they_pay_epsilon(schema, records):
    invitation = invite(schema, Fraction(1, 3), OWNED)
    ledgers = {name: Ledger(1) for name in OWNED}
    for name, ledger in ledgers.items():
        Party(name, MemorySource(own_part(records, name)), ledger, random_state=1).answer(invitation)
    assert sum(ledger.spent for ledger in ledgers.values()) == Fraction(1, 3)
    for name, ledger in ledgers.items():
        assert ledger.spent == sum(invitation.questions[place].epsilon for place in invitation.asked(name)) > 0


def test_the_guarantee_names_who_sees_what(schema, records):
    model = joined(invite_ := invite(schema, 1, OWNED), answers(invite_, records).values()).model()
    assert model.guarantee_.holds
    assert model.guarantee_.epsilon == 1
    assert "same people" in model.guarantee_.source


def test_an_answer_that_is_missing_is_named(schema, records):
    invitation = invite(schema, 1, OWNED)
    messages = answers(invitation, records, seed=9)
    with pytest.raises(DataError, match="registry"):
        joined(invitation, [messages["clinic"], messages["laboratory"]]).statistics()


def test_a_party_needs_its_columns_and_the_labels_alone(schema, records):
    invitation = invite(schema, 1, OWNED)
    for lacking in ("age", "outcome"):
        table = own_part(records, "clinic")
        del table[lacking]
        ledger = Ledger(1)
        with pytest.raises(DataError, match=lacking):
            Party("clinic", MemorySource(table), ledger).answer(invitation)
        assert ledger.spent == 0


def test_a_party_whose_columns_are_not_asked_sends_nothing_and_pays_nothing(schema, records):
    """At a small epsilon only one column carries signal; the others are not asked."""
    invitation = invite(schema.replace(records=20), 0.1, OWNED)
    assert sum(bool(invitation.asked(name)) for name in OWNED) == 1
    ledgers = {name: Ledger(1) for name in OWNED}
    aggregator = Aggregator(invitation)
    for name, ledger in ledgers.items():
        aggregator.add(Party(name, MemorySource(own_part(records, name)), ledger, random_state=2).answer(invitation))
        assert math.isclose(ledger.spent, 0.1 if invitation.asked(name) else 0.0)
    assert aggregator.model().receipt_.epsilon == Fraction(1, 10)


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": ["age", "sex"], "b": ["dose"]},
        {"a": ["age", "sex", "dose"], "b": ["dose", "site"]},
        {"a": ["age", "sex", "dose", "site"], "b": []},
        {"a": ["age", "sex", "dose", "height"], "b": ["site"]},
    ],
    ids=["a column is nobody's", "a column is of two", "a party has none", "a column that is not"],
)
def test_every_column_belongs_to_one_party(schema, wrong):
    with pytest.raises(ParameterError, match="exactly one party"):
        invite(schema, 1, wrong)


def test_there_is_no_secure_sum_of_different_columns(schema):
    keys = {name: f"{place + 9:064x}" for place, name in enumerate(OWNED)}
    with pytest.raises(ParameterError, match="no sum to hide"):
        invite(schema, 1, OWNED, trust="sum", keys=keys)
