"""A round from invitation to model: what is sent, what it costs, and that nothing wrong is ever combined silently."""

import dataclasses
import json
import math
import tempfile
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Ledger, NaiveBayes, Numeric, OneRule, Schema, load
from discreet.doors.counts import release
from discreet.doors.shares import share
from discreet.errors import BudgetError, DataError, DiscreetError, FileError, ParameterError
from discreet.federated import Aggregator, Invitation, KeyPair, Message, Party, invite
from discreet.privacy.randomness import as_rng
from discreet.sources.memory import MemorySource
from discreet.storage.envelope import content_hash
from support.clinic import CLINIC, ill
from support.neighbours import ADJACENCIES, BASE, ODD, neighbours, schema
from support.replay import replay

NAMES = ["north", "south", "west"]


def keys_of(names):
    return {name: KeyPair.generate() for name in names}


def invited(trust="nobody", names=NAMES, public=CLINIC, epsilon=1, **more):
    pairs = keys_of(names) if trust == "sum" else {}
    public_keys = {name: pair.public for name, pair in pairs.items()} or None
    return invite(public, epsilon, names, trust=trust, keys=public_keys, **more), pairs


def kept(limit=9):
    """A ledger in a file of its own."""
    return Ledger(limit, Path(tempfile.mkdtemp()) / "ledger.jsonl")


def answers(invitation, pairs, tables=None, seed=None):
    tables = tables or {name: ill(500, place) for place, name in enumerate(NAMES)}
    return [
        Party(name, MemorySource(table), kept(), key=pairs.get(name), checked=True, random_state=seed and seed + place)
        .answer(invitation)
        for place, (name, table) in enumerate(tables.items())
    ]  # fmt: skip


@pytest.mark.parametrize("trust", ["nobody", "sum"])
@pytest.mark.parametrize("model", ["naive-bayes", "one-rule"])
def test_a_round_gives_a_model_that_learns(trust, model, tmp_path):
    invitation, pairs = invited(trust, model=model, epsilon=3)
    invitation.save(tmp_path / "i.json")
    again = Invitation.load(tmp_path / "i.json")
    assert again == invitation
    aggregator = Aggregator(again)
    for message in answers(again, pairs):
        message.save(tmp_path / "m.msg")
        aggregator.add(Message.load(tmp_path / "m.msg", again))
    made = aggregator.model()
    test = ill(1000, 9)
    assert made.score({"age": test["age"], "smoker": test["smoker"]}, test["ill"]) > 0.75
    assert isinstance(made, OneRule if model == "one-rule" else NaiveBayes)
    assert made.guarantee_.holds
    assert made.guarantee_.epsilon == 3
    made.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").guarantee_ == made.guarantee_
    told = made.guarantee_.statement()
    assert ("every party's records against everyone else" in told) == (trust == "nobody")
    assert ("as long as 2 other parties followed the protocol" in told) == (trust == "sum")


def test_without_noise_the_secure_sum_is_the_exact_sum(monkeypatch):
    monkeypatch.setattr("discreet.privacy.mechanisms.polya.PolyaShare.perturb", lambda self, table, rng: table)
    invitation, pairs = invited("sum")
    aggregator = Aggregator(invitation)
    for message in answers(invitation, pairs):
        aggregator.add(message)
    whole = {name: np.concatenate([ill(500, seed)[name] for seed in range(3)]) for name in ("age", "smoker", "ill")}
    cells = [question.query.cells(CLINIC) for question in invitation.questions]
    exact = MemorySource(whole).count(cells, CLINIC)
    for query, table in aggregator.statistics().tables:
        np.testing.assert_array_equal(table.values, exact.answer(query, CLINIC))


def test_a_masked_answer_looks_like_nothing():
    """Masks of 64 bits: the numbers of one message are spread over the whole range, and differ from round to round."""
    first, pairs = invited("sum")
    second = dataclasses.replace(first, round="another")
    sent = [answers(each, pairs)[0] for each in (first, second)]
    values = [np.concatenate([table.ravel() for table in message.tables]) for message in sent]
    assert not (values[0] == values[1]).any()
    assert all((each > 2**60).mean() > 0.5 for each in values)


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_the_length_of_a_message_tells_nothing(trust):
    invitation, pairs = invited(trust)
    odd = {**ill(3, 2), "smoker": np.array(["x" * 999, None, 3], dtype=object)}
    lengths = {
        len(party.answer(invitation).to_bytes())
        for table in ([], ill(1, 0), ill(5000, 1), odd)
        for party in [Party("north", MemorySource(table), kept(), key=pairs.get("north"), checked=True)]
    }
    assert len(lengths) == 1


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_any_order_gives_the_same_statistics(trust):
    invitation, pairs = invited(trust)
    sent = answers(invitation, pairs)
    results = []
    for order in permutations(sent):
        aggregator = Aggregator(invitation)
        for message in order:
            aggregator.add(message)
        results.append([table.values.tolist() for _, table in aggregator.statistics().tables])
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_a_crash_between_two_messages_loses_nothing(trust, tmp_path):
    invitation, pairs = invited(trust)
    sent = answers(invitation, pairs)
    straight = Aggregator(invitation)
    for message in sent:
        straight.add(message)
        Aggregator(invitation, tmp_path / "state.json").add(message)  # a new process each time
    resumed = Aggregator(invitation, tmp_path / "state.json")
    assert resumed.answered == NAMES
    for (_, one), (_, other) in zip(straight.statistics().tables, resumed.statistics().tables, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert one.variance == other.variance
    with pytest.raises(DataError, match="answered already"):
        resumed.add(sent[0])


def test_two_processes_with_one_state_lose_no_answer(tmp_path):
    invitation, _ = invited()
    first, second = (Aggregator(invitation, tmp_path / "state.json") for _ in range(2))
    sent = answers(invitation, {})
    first.add(sent[0])
    second.add(sent[1])
    first.add(sent[2])
    assert sorted(Aggregator(invitation, tmp_path / "state.json").answered) == sorted(NAMES)
    with pytest.raises(DataError, match="answered already"):
        second.add(sent[2])


def test_a_seed_cannot_be_hidden_by_a_typing_error():
    with pytest.raises(FileError):
        Message.from_bytes(forged(SENT[0], seeded="maybe"), ROUND[0])


def test_whom_a_secure_sum_does_not_protect_from():
    """With every share counted on, a party that knows its own share sees less noise than promised."""
    invitation, pairs = invited("sum", honest=3)
    aggregator = Aggregator(invitation)
    for message in answers(invitation, pairs):
        aggregator.add(message)
    assert "not against parties" in aggregator.model().guarantee_.statement()


def test_a_state_of_another_round_or_damaged_is_refused(tmp_path):
    first, _ = invited()
    second, _ = invited()
    Aggregator(first, tmp_path / "s.json").add(answers(first, {})[0])
    with pytest.raises(FileError, match="another round"):
        Aggregator(second, tmp_path / "s.json")
    text = (tmp_path / "s.json").read_text()
    (tmp_path / "s.json").write_text(text.replace('"north"', '"south"'))
    with pytest.raises(FileError, match="damaged"):
        Aggregator(first, tmp_path / "s.json")
    content = json.loads(text)
    content["sums"][0][0][0] = str(2**63)  # no sum of answers is as large
    content["hash"] = content_hash({key: value for key, value in content.items() if key != "hash"})
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match="does not fit the invitation"):
        Aggregator(first, tmp_path / "s.json")


def test_a_missing_party(tmp_path):
    """Local answers add up without it; a masked sum cannot be opened, and the error says what to do."""
    local, _ = invited()
    aggregator = Aggregator(local)
    with pytest.raises(DataError, match="add answers"):
        aggregator.model()
    for message in answers(local, {})[:2]:
        aggregator.add(message)
    assert aggregator.missing == ["west"]
    one, three = (local.variance(0, count) for count in (1, 3))
    assert three == 3 * one
    assert aggregator.statistics().tables[0][1].variance == 2 * one
    assert "2 parties" in aggregator.model().guarantee_.statement()
    masked, pairs = invited("sum")
    aggregator = Aggregator(masked)
    for message in answers(masked, pairs)[:2]:
        aggregator.add(message)
    with pytest.raises(DataError, match=r"west.*new round, which costs its own epsilon"):
        aggregator.model()
    # the new round among the others: it costs, and works
    smaller, pairs = invited("sum", names=["north", "south"])
    ledger = kept(1)
    Party("north", MemorySource(ill(9, 0)), ledger, key=pairs["north"], checked=True).answer(smaller)
    assert ledger.remaining == 0


def test_a_party_pays_and_answers_once(tmp_path):
    invitation, pairs = invited("sum")
    local, _ = invited()
    for asked, path in ((local, None), (invitation, tmp_path / "ledger.jsonl")):
        party = Party("north", MemorySource(ill(9, 0)), Ledger(5, path), key=pairs["north"], checked=True)
        party.answer(asked)
        with pytest.raises(BudgetError, match="already"):
            party.answer(asked)
    reopened = Ledger(5, tmp_path / "ledger.jsonl")
    again = Party("north", MemorySource(ill(9, 0)), reopened, key=pairs["north"], checked=True)
    with pytest.raises(BudgetError, match="already"):
        again.answer(invitation)
    with pytest.raises(BudgetError, match="left"):
        Party("north", MemorySource(ill(9, 0)), kept("1/2"), key=pairs["north"], checked=True).answer(invitation)


def test_a_secure_sum_needs_a_ledger_that_lasts_and_the_known_keys():
    invitation, pairs = invited("sum")
    with pytest.raises(ParameterError, match="outlives"):
        Party("north", MemorySource(ill(9, 0)), Ledger(5), key=pairs["north"], checked=True).answer(invitation)
    ledger, known = kept(), {name: pair.public for name, pair in pairs.items() if name != "north"}
    with pytest.raises(ParameterError, match="give the keys of 1"):
        Party("north", MemorySource(ill(9, 0)), ledger, key=pairs["north"]).answer(invitation)
    for wrong in ({**known, "south": KeyPair.generate().public}, {**known, "east": known["south"]}):
        with pytest.raises(ParameterError, match="do not take part"):
            Party("north", MemorySource(ill(9, 0)), ledger, key=pairs["north"], known=wrong).answer(invitation)
    assert ledger.spent == 0
    assert Party("north", MemorySource(ill(9, 0)), ledger, key=pairs["north"], known=known).answer(invitation).tables


def test_a_bare_share_never_leaves():
    """A share without a mask guarantees nothing; its loss is that of the sum."""
    invitation, _ = invited("sum")
    steps, rng, ledger = invitation.steps("north"), as_rng(0), Ledger(5)
    with pytest.raises(ParameterError, match="masked"):
        release(MemorySource(ill(9, 0)), CLINIC, steps, ledger, rng)
    local = invited()[0].steps("north")
    with pytest.raises(ParameterError, match="need PolyaShare"):
        share(MemorySource(ill(9, 0)), CLINIC, local, np.zeros(99, dtype=np.uint64), ledger, rng, "round")
    with pytest.raises(ParameterError, match="one number per cell"):
        share(MemorySource(ill(9, 0)), CLINIC, steps, np.zeros(1, dtype=np.uint64), ledger, rng, "round")
    assert ledger.spent == 0


def test_a_round_is_answered_once_whatever_came_between(tmp_path):
    party = Party("north", MemorySource(ill(9, 0)), Ledger(9, tmp_path / "ledger.jsonl"))
    first, second = invited()[0], invited()[0]
    party.answer(first)
    party.answer(second)
    with pytest.raises(BudgetError, match="already"):
        party.answer(first)


@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_a_seeded_answer_voids_the_guarantee_of_all(trust, tmp_path):
    invitation, pairs = invited(trust)
    aggregator = Aggregator(invitation, tmp_path / "state.json")
    for place, name in enumerate(NAMES):
        seed = 7 if place == 0 else None
        party = Party(name, MemorySource(ill(9, place)), kept(), key=pairs.get(name), checked=True, random_state=seed)
        aggregator.add(Message.from_bytes(party.answer(invitation).to_bytes(), invitation))
    assert not aggregator.model().guarantee_.holds
    assert not Aggregator(invitation, tmp_path / "state.json").model().guarantee_.holds


def test_errors_before_the_charge_cost_nothing():
    invitation, _ = invited("sum")
    local, _ = invited()
    ledger = kept(5)
    wrong = {name: values for name, values in ill(9, 0).items() if name != "smoker"}
    for party, asked, error in (
        (Party("east", MemorySource(ill(9, 0)), ledger), local, ParameterError),
        (Party("north", MemorySource(wrong), ledger), local, DataError),
        (Party("north", MemorySource(ill(9, 0)), ledger), invitation, ParameterError),
        (Party("north", MemorySource(ill(9, 0)), ledger, key=KeyPair.generate()), invitation, ParameterError),
    ):
        with pytest.raises(error):
            party.answer(asked)
    assert ledger.spent == 0


@given(st.data())
def test_no_damage_goes_unseen(data):
    """Cut, flipped, doubled: a message is read whole and unchanged, or refused."""
    invitation, _ = ROUND
    sent = SENT[0].to_bytes()
    how = data.draw(st.sampled_from(["cut", "flip", "double", "insert", "garbage"]))
    place = data.draw(st.integers(0, len(sent) - 2))
    if how == "cut":
        damaged = sent[:place]
    elif how == "flip":
        damaged = sent[:place] + bytes([sent[place] ^ data.draw(st.integers(1, 255))]) + sent[place + 1 :]
    elif how == "insert":
        damaged = sent[:place] + data.draw(st.binary(min_size=1, max_size=9)) + sent[place:]
    else:
        damaged = sent + sent if how == "double" else data.draw(st.binary(max_size=200))
    try:
        read = Message.from_bytes(damaged, invitation)
    except DiscreetError:
        return
    assert all((a == b).all() for a, b in zip(read.tables, SENT[0].tables, strict=True))
    assert (read.party, read.round, read.seeded) == (SENT[0].party, SENT[0].round, SENT[0].seeded)


ROUND = invited()
SENT = answers(*ROUND)


def forged(message, **changes):
    """A message whose checksum fits, whatever it says."""
    from discreet.storage.envelope import content_hash

    content = json.loads(message.to_bytes())
    content.pop("checksum")
    content.update(changes)
    return json.dumps({**content, "checksum": content_hash(content)}).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"party": "east"},
        {"party": 3},
        {"party": None},
        {"tables": []},
        {"tables": "AAAA"},
        {"tables": [3, 4]},
        {"tables": ["", ""]},
        {"tables": ["AAAA", "AAAA"]},
        {"round": "0"},
        {"invitation": "0"},
        {"version": 2},
        {"version": "1"},
        {"version": None},
        {"format": "discreet/model"},
    ],
)
def test_messages_that_do_not_fit_are_refused(changes):
    with pytest.raises(DiscreetError):
        Message.from_bytes(forged(SENT[0], **changes), ROUND[0])


@pytest.mark.parametrize("sent", [b"1" * 5000, b"[" * 100_000, b'{"format": ' + b"9" * 5000 + b"}", b"null", b"[]"])
def test_strange_json_is_refused(sent, tmp_path):
    with pytest.raises(FileError):
        Message.from_bytes(sent, ROUND[0])
    (tmp_path / "i.json").write_bytes(sent)
    with pytest.raises(FileError):
        Invitation.load(tmp_path / "i.json")


def test_messages_of_another_round_mode_or_size_are_refused(tmp_path):
    other, pairs = invited("sum")
    masked = answers(other, pairs)[0]
    with pytest.raises(FileError, match="another invitation"):
        Message.from_bytes(masked.to_bytes(), ROUND[0])
    aggregator = Aggregator(ROUND[0])
    with pytest.raises(DataError, match="another invitation"):
        aggregator.add(masked)
    huge = dataclasses.replace(SENT[0], tables=tuple(np.full_like(t, 2**63 - 1) for t in SENT[0].tables))
    with pytest.raises(DataError, match="no table has"):
        aggregator.add(huge)
    floats = dataclasses.replace(SENT[0], tables=tuple(t.astype(float) for t in SENT[0].tables))
    with pytest.raises(DataError, match="no table has"):
        aggregator.add(floats)
    shorter = dataclasses.replace(SENT[0], tables=SENT[0].tables[:1])
    with pytest.raises(DataError, match="another shape"):
        aggregator.add(shorter)
    assert aggregator.answered == []
    (tmp_path / "long.msg").write_bytes(SENT[0].to_bytes() + b" " * 100_000)
    with pytest.raises(FileError, match="longer"):
        Message.load(tmp_path / "long.msg", ROUND[0])
    with pytest.raises(FileError, match="No such file"):
        Message.load(tmp_path / "none.msg", ROUND[0])


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@given(data=st.data())
def test_an_answer_stays_within_epsilon_and_leaks_nothing(adjacency, data):
    """Record and replay on one party's message, noise of its own."""
    table, other = data.draw(neighbours(adjacency))
    invitation = invite(schema(adjacency), 1, ["north", "south"])
    fit = lambda rows: Party("north", MemorySource(rows), Ledger(1), random_state=1).answer(invitation)  # noqa: E731
    loss, message, twin = replay(fit, table, other)
    assert loss <= 1
    assert message.to_bytes() == twin.to_bytes()


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_shares_of_the_honest_carry_the_whole_noise(adjacency):
    """The scale of the shares is that of the questions at the schema's sensitivity; and honest shares are enough."""
    public = schema(adjacency)
    pairs = keys_of(["a", "b", "c", "d"])
    invitation = invite(public, 1, list(pairs), trust="sum", keys={n: p.public for n, p in pairs.items()}, honest=2)
    steps = invitation.steps("a")
    for step, question in zip(steps, invitation.questions, strict=True):
        distance = question.query.distance(public)
        assert step.mechanism.honest == 2
        assert step.mechanism.loss(distance) <= question.epsilon
        assert float(step.mechanism.loss(distance)) == pytest.approx(float(question.epsilon))
    assert sum(step.epsilon for step in steps) == 1
    one = invitation.variance(0, 2)
    assert invitation.variance(0, 4) == 2 * one


def test_the_default_honesty_and_shares_that_sum_to_epsilon():
    invitation, _ = invited("sum", names=[f"p{i}" for i in range(10)])
    assert invitation.honest == 9
    for epsilon in ("1/3", 0.01, 7):
        assert sum(q.epsilon for q in invited(epsilon=epsilon)[0].questions) == Fraction(str(epsilon))


def test_noise_of_many_parties_leaves_fewer_questions_to_each():
    wide = Schema([Numeric(f"x{i}", 0, 1) for i in range(30)], "y", ["a", "b"], records=2000)
    alone, crowd = (invite(wide, 1, [f"p{i}" for i in range(count)]) for count in (1, 100))
    assert alone.each == len(alone.questions) == 30
    assert crowd.each < len(crowd.questions)
    assert len(invite(wide, 1, [f"p{i}" for i in range(100)], deal=False).questions) < 30
    pairs = keys_of([f"p{i}" for i in range(100)])
    summed = invite(wide, 1, list(pairs), trust="sum", keys={name: pair.public for name, pair in pairs.items()})
    assert summed.questions == alone.questions


def test_parties_with_different_columns(tmp_path):
    invitation = invite(CLINIC, 1, {"clinic": ["age"], "survey": ["smoker"]})
    table = ill(1500, 3)
    ledgers = {"clinic": Ledger(1), "survey": Ledger(1)}
    aggregator = Aggregator(invitation)
    for name, column in (("clinic", "age"), ("survey", "smoker")):
        own = {column: table[column], "ill": table["ill"]}
        aggregator.add(Party(name, MemorySource(own), ledgers[name]).answer(invitation))
        assert (name == "clinic") == bool(aggregator.missing)
        if aggregator.missing:
            with pytest.raises(DataError, match="survey"):
                aggregator.model()
    model = aggregator.model()
    assert sum(ledger.spent for ledger in ledgers.values()) == 1 == model.receipt_.epsilon
    assert model.score({"age": table["age"], "smoker": table["smoker"]}, table["ill"]) > 0.7
    with pytest.raises(ParameterError, match="exactly one party"):
        invite(CLINIC, 1, {"clinic": ["age"], "survey": ["age"]})
    with pytest.raises(ParameterError, match="no sum to hide"):
        invite(CLINIC, 1, {"a": ["age"], "b": ["smoker"]}, trust="sum", keys={"a": "0", "b": "1"})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "not private"),
        ({"parties": []}, "parties"),
        ({"parties": ["a", "a"]}, "different names"),
        ({"parties": ["a\n"]}, "short text"),
        ({"trust": "everybody"}, "nobody"),
        ({"trust": "sum"}, "public key"),
        ({"model": "svm"}, "one-rule"),
        ({"schema": CLINIC.replace(records=None)}, "records"),
    ],
)
def test_wrong_invitations(wrong, words):
    given = {"schema": CLINIC, "epsilon": 1, "parties": NAMES, **wrong}
    with pytest.raises(ParameterError, match=words):
        invite(given.pop("schema"), given.pop("epsilon"), given.pop("parties"), **given)


@pytest.mark.parametrize("honest", [0, 4, -1, 2.0])
def test_wrong_honesty(honest):
    with pytest.raises(ParameterError, match="honest"):
        invited("sum", honest=honest)


def test_an_invitation_that_was_altered_is_refused(tmp_path):
    invitation, _ = invited()
    content = invitation.to_dict()
    with pytest.raises(FileError, match="altered"):
        Invitation.from_dict({**content, "epsilon": "9"})
    with pytest.raises(FileError, match="not an invitation"):
        Invitation.from_dict({})


def rehashed(content):
    from discreet.storage.envelope import content_hash

    body = {key: value for key, value in content.items() if key != "hash"}
    return {**body, "hash": content_hash(body)}


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "1/2"},
        {"questions": []},
        {"questions": [{"query": {"kind": "Moments", "column": "age"}, "epsilon": "1"}]},
        {"questions": [{"query": {"kind": "Counts", "column": "height", "bins": 3}, "epsilon": "1"}]},
        {"questions": [{"query": {"kind": "Counts", "column": "age", "bins": 3, "x": 1}, "epsilon": "1"}]},
        {"questions": [{"query": {"kind": "Counts", "column": "smoker", "bins": None}, "epsilon": "1/2"}] * 2},
        {"questions": [{"query": {"kind": "Counts", "column": "age", "bins": 128}, "epsilon": "1"}]},
        {"questions": [{"query": {"kind": "SplineCounts", "column": "smoker", "bins": 3}, "epsilon": "1"}]},
        {"epsilon": "inf", "questions": [{"query": {"kind": "Counts", "column": "smoker"}, "epsilon": "inf"}]},
        {"each": 1},
        {"each": 0},
        {"parties": [{"name": "north"}]},
        {"parties": 7},
        {"trust": "everybody"},
        {"round": 5},
        {"version": 2},
        {"schema": {}},
    ],
)
def test_a_forged_invitation_that_makes_no_sense_is_refused(change):
    """The hash fits: it may come from anyone. The shares of its questions always sum to its epsilon."""
    content = invited()[0].to_dict()
    with pytest.raises(DiscreetError):
        Invitation.from_dict(rehashed({**content, **change}))


def test_no_hand_is_dealt_where_all_are_asked_about_the_same_people():
    """A person would pay epsilon at every party."""
    content = invite(CLINIC, 1, {"clinic": ["age"], "survey": ["smoker"]}).to_dict()
    dealt = [{**question, "epsilon": "1"} for question in content["questions"]]
    with pytest.raises(ParameterError, match="sum to epsilon"):
        Invitation.from_dict(rehashed({**content, "questions": dealt, "each": 1}))


def test_one_key_for_two_parties_is_refused():
    pair = KeyPair.generate().public
    with pytest.raises(ParameterError, match="public key of each"):
        invite(CLINIC, 1, ["a", "b"], trust="sum", keys={"a": pair, "b": pair})


def test_the_records_of_a_party_appear_nowhere():
    invitation = invite(schema(), 1, ["north"])
    party = Party("north", MemorySource([BASE, {**ODD, "open": "canary-7731"}]), Ledger(1))
    assert b"canary" not in party.answer(invitation).to_bytes()
    assert "canary" not in repr(party)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**600), "1e-300", Fraction(1, 2**60)])
def test_an_epsilon_that_no_noise_fits_is_refused_at_once(epsilon):
    with pytest.raises(ParameterError, match="too small; use a larger epsilon"):
        invite(CLINIC, epsilon, ["north", "south"])
