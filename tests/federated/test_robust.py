"""Hostile parties: whatever 30 % of fifty send, the model stays near that of honest training, or it is refused."""

import base64
import json
import os

import numpy as np
import pytest
from scipy import stats

from discreet import Ledger, datasets
from discreet.errors import DataError, FileError, ParameterError
from discreet.federated.aggregator import Aggregator
from discreet.federated.invitation import invite
from discreet.federated.message import Message
from discreet.federated.party import Party
from discreet.federated.robust import MOST_LEFT_OUT, combine, middle
from discreet.federated.simulate import noise
from discreet.privacy.randomness import as_rng
from discreet.sources.memory import MemorySource
from discreet.storage.envelope import content_hash
from support.clinic import CLINIC, ill
from support.consortium import ATTACKS, Consortium, town

FULL = "DISCREET_DATA" in os.environ


def total(invitation, messages):
    aggregator = Aggregator(invitation)
    for message in messages:
        aggregator.add(message)
    return aggregator.statistics()


def honest(consortium):
    return consortium.accuracy(total(consortium.invitation, consortium.messages(consortium.noisy)))


@pytest.fixture(scope="module")
def clinics():
    return [Consortium(town(), 2, repeat) for repeat in range(2)]


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_parties_change_little(clinics, attack):
    """Within .03 of honest training; the plain sum of the worst of these is worse than guessing."""
    for rule in ("trimmed-mean", "median"):
        lost = [
            honest(each) - each.accuracy(combine(each.invitation, each.attacked(ATTACKS[attack]), rule=rule).statistics)
            for each in clinics
        ]
        assert np.mean(lost) <= 0.03, (rule, lost)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="DISCREET_DATA is not set")
@pytest.mark.parametrize("name", ["mushroom", "adult"])
@pytest.mark.parametrize("division", [("equal", None), ("exponential", 1.0)], ids=["alike", "unlike"])
def test_hostile_parties_change_little_on_large_data(name, division):
    """ε = 1: every attack within .03 of the honest sum, on average over three partitions and draws of the noise."""
    lost = {(rule, attack): [] for rule in ("trimmed-mean", "median") for attack in ATTACKS}
    for repeat in range(3):
        each = Consortium(datasets.load(name), 1, repeat, *division)
        unharmed = honest(each)
        sent = {attack: each.attacked(make) for attack, make in ATTACKS.items()}
        for (rule, attack), gaps in lost.items():
            robust = combine(each.invitation, sent[attack], rule=rule)
            gaps.append(unharmed - each.accuracy(robust.statistics))
    means = {case: np.mean(gaps) for case, gaps in lost.items()}
    assert max(means.values()) <= 0.03, means


def test_without_defence_the_same_parties_ruin_the_model(clinics):
    """The attacks are attacks: without them a pass above would mean nothing."""
    (each, _) = clinics
    for attack in ("labels flipped, at most records", "mass in the worst cells"):
        assert each.accuracy(total(each.invitation, each.attacked(ATTACKS[attack]))) < 0.5


def test_honest_parties_are_left_in_and_cost_little(clinics):
    for each in clinics:
        messages = each.messages(each.noisy)
        for rule in ("trimmed-mean", "median", "clip"):
            robust = combine(each.invitation, messages, rule=rule)
            assert robust.left_out == ()
            assert each.accuracy(robust.statistics) > honest(each) - 0.03


def test_parties_without_noise_and_parties_that_agree_are_left_out(clinics):
    """What is found depends on how loud the noise is: a loud one hides agreement, a quiet one hides silence."""
    loud = Consortium(town(), 0.5, 0)
    cases = [
        (each, attack) for each in clinics for attack in ("nothing", "mass in the worst cells", "edges of the range")
    ]
    for each, attack in [*cases, (loud, "agreed, without noise"), (loud, "two deviations in every cell")]:
        hostile = {each.invitation.parties[place].name for place in each.hostile}
        left_out = set(combine(each.invitation, each.attacked(ATTACKS[attack])).left_out)
        assert left_out <= hostile
        assert len(left_out) >= (8 if each is loud else 12), attack


def test_the_order_of_answers_does_not_matter(clinics):
    (each, _) = clinics
    messages = each.attacked(ATTACKS["mass in the worst cells"])
    first, second = combine(each.invitation, messages), combine(each.invitation, messages[::-1])
    assert set(first.left_out) == set(second.left_out)
    for (_, one), (_, other) in zip(first.statistics.tables, second.statistics.tables, strict=True):
        assert np.abs(one.values - other.values).max() <= 1


def test_the_result_is_postprocessing_of_the_answers(clinics):
    (each, _) = clinics
    messages = each.messages(each.noisy)
    robust = combine(each.invitation, messages)
    assert robust.statistics.receipt == total(each.invitation, messages).receipt
    model = robust.model()
    assert model.guarantee_.seeded
    assert model.receipt_.epsilon == 2


def test_the_variance_is_about_that_of_the_robust_tables(clinics):
    """Honest parties, many draws of the noise: what the tables say of their noise is right within a factor of two."""
    (each, _) = clinics
    found = []
    for draw in range(12):
        rng = as_rng(100 + draw)
        noisy = [exact + noise(each.invitation, place, exact.shape, rng) for place, exact in enumerate(each.exact)]
        found.append(combine(each.invitation, each.messages(noisy)).statistics.tables)
    for place in (0, 5):
        seen = np.var([tables[place][1].values for tables in found], axis=0, ddof=1).mean()
        said = np.mean([tables[place][1].variance for tables in found])
        assert 0.5 < seen / said < 2


VALUES = np.random.default_rng(0).normal(size=(20, 7))


@pytest.mark.parametrize("trim", [0.0, 0.1, 0.25, 0.45])
def test_the_trimmed_mean_is_the_known_one_for_equal_weights(trim):
    assert np.allclose(middle(VALUES, np.ones(20), trim), stats.trim_mean(VALUES, trim, axis=0))


def test_the_median_is_the_known_one_for_equal_weights():
    assert np.allclose(middle(VALUES, np.ones(20), 0.5), np.median(VALUES, axis=0))
    assert np.allclose(middle(VALUES[:19], np.ones(19), 0.5), np.median(VALUES[:19], axis=0))


def test_a_weight_of_two_is_that_of_two_parties():
    weights = np.random.default_rng(1).integers(0, 4, 20)
    for trim in (0.0, 0.2, 0.35, 0.5):
        repeated = np.repeat(VALUES, weights, axis=0)
        assert np.allclose(middle(VALUES, weights, trim), middle(repeated, np.ones(len(repeated)), trim))


@pytest.mark.parametrize(("trim", "hostile"), [(0.35, 6), (0.5, 9), (0.2, 3)])
@pytest.mark.parametrize("value", [1e18, -1e18, 0.3])
def test_estimates_lie_between_honest_ones(trim, hostile, value):
    """Fewer than `trim` of the weight, whatever they send."""
    values = VALUES.copy()
    values[:hostile] = value
    found = middle(values, np.ones(20), trim)
    assert (found >= values[hostile:].min(axis=0)).all()
    assert (found <= values[hostile:].max(axis=0)).all()


def test_a_claimed_count_buys_nothing(clinics):
    """A party that multiplies its answer by a thousand changes a robust model no more than any other, and a clipped sum
    by the public number of records."""
    (each, _) = clinics
    tables = [table.copy() for table in each.noisy]
    for table in tables:
        table[0] *= 1000
    for rule in ("trimmed-mean", "clip"):
        plain, loud = (
            combine(each.invitation, each.messages(sent), rule=rule).statistics.tables for sent in (each.noisy, tables)
        )
        unit = each.units[0]
        apart = np.abs(plain[0][1].values - loud[0][1].values).sum() / unit
        assert apart < (1.5 * each.most if rule == "clip" else 0.1 * each.exact[0].sum() / unit)
        assert each.accuracy(combine(each.invitation, each.messages(tables), rule=rule).statistics) > 0.8


def test_most_records_bounds_a_clipped_sum(clinics):
    (each, _) = clinics
    messages = each.attacked(ATTACKS["labels flipped, at most records"])
    small, large = (
        sum(table.values.sum() for _, table in combine(each.invitation, messages, rule="clip", most_records=most)
            .statistics.tables[:1])
        for most in (5, 10_000)
    )  # fmt: skip
    assert small < large / 2


def answer(invitation, name, seed):
    return Party(name, MemorySource(ill(300, seed)), Ledger(1), random_state=seed).answer(invitation)


@pytest.fixture
def few():
    invitation = invite(CLINIC, 1, ["north", "south", "west"])
    return invitation, [answer(invitation, party.name, seed + 1) for seed, party in enumerate(invitation.parties)]


def resent(message, **changes):
    """The bytes of a message with other content and a checksum that fits: whoever can write one can write the other."""
    content = {**json.loads(message.to_bytes()), **changes}
    content.pop("checksum")
    return json.dumps({**content, "checksum": content_hash(content)}).encode()


def test_garbage_is_refused_before_it_is_combined(few):
    invitation, messages = few
    sent = messages[0].to_bytes()
    for wrong in (b"", b"\x00" * 50, b"NaN", b"[]", sent[:-20], sent[10:], sent.replace(b"north", b"souths")):
        with pytest.raises((FileError, ParameterError)):
            Message.from_bytes(wrong, invitation)
    short = [base64.b64encode(bytes(8)).decode() for _ in messages[0].tables]
    for wrong in (short, [], "NaN", ["NaN"], [None], None, {"a": 1}):
        with pytest.raises(FileError):
            Message.from_bytes(resent(messages[0], tables=wrong), invitation)


def test_numbers_that_no_table_has_are_refused(few):
    """The bits of a NaN, read as an integer, are a count of 9e18 records."""
    invitation, messages = few
    for number in (np.float64("nan").view(np.int64), 2**62, -(2**62)):
        tables = tuple(np.full_like(table, number) for table in messages[0].tables)
        wrong = Message(invitation.hash, invitation.round, "north", False, tables)
        with pytest.raises(DataError, match="numbers that no table has"):
            combine(invitation, [wrong, *messages[1:]])
    floats = tuple(table * 0.5 for table in messages[0].tables)
    with pytest.raises(DataError, match="numbers that no table has"):
        combine(invitation, [Message(invitation.hash, invitation.round, "north", False, floats)])


def test_wrong_shapes_replays_and_foreign_answers_are_refused(few):
    invitation, messages = few
    wrong = Message(invitation.hash, invitation.round, "north", False, tuple(t[:, :1] for t in messages[0].tables))
    with pytest.raises(DataError, match="another shape"):
        combine(invitation, [wrong])
    with pytest.raises(DataError, match="answered already"):
        combine(invitation, [*messages, messages[1]])
    with pytest.raises(DataError, match="another invitation"):
        combine(invite(CLINIC, 1, ["north", "south", "west"]), messages)
    with pytest.raises(DataError, match="no answer"):
        combine(invitation, [])


@pytest.mark.parametrize("rule", ["trimmed-mean", "median", "clip"])
def test_few_answers_and_huge_ones_still_give_a_model(few, rule):
    invitation, messages = few
    records = [{"age": 40.0, "smoker": "yes"}]
    for sent in (messages[:1], messages[:2], messages):
        assert combine(invitation, sent, rule=rule).model().predict(records).shape == (1,)
    huge = tuple(np.full_like(table, 2**59) for table in messages[0].tables)
    loud = Message(invitation.hash, invitation.round, "north", False, huge)
    model = combine(invitation, [loud, *messages[1:]], rule=rule).model()
    assert np.isfinite(model.predict_proba(records)).all()


def test_at_most_two_of_five_are_left_out(clinics):
    (each, _) = clinics
    loud = [table + np.arange(50)[:, None, None] * 100 * table.max() for table in each.noisy]
    assert len(combine(each.invitation, each.messages(loud)).left_out) <= MOST_LEFT_OUT * 50


def test_masked_answers_and_different_columns_are_refused(few):
    _, messages = few
    keys = {name: f"{place + 9:064x}" for place, name in enumerate("abc")}
    with pytest.raises(ParameterError, match="only their sum can be read"):
        combine(invite(CLINIC, 1, list("abc"), trust="sum", keys=keys), messages)
    with pytest.raises(ParameterError, match="different columns"):
        combine(invite(CLINIC, 1, {"a": ["age"], "b": ["smoker"]}), messages)


@pytest.mark.parametrize("wrong", [{"rule": "mean"}, {"trim": 0.5}, {"trim": -1}, {"most_records": 0}, {"trim": "a"}])
def test_wrong_parameters_are_named(few, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        combine(*few, **wrong)
