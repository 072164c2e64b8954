"""What does not fit is named and never counted, by the aggregator and by the nodes; and no error quotes anything."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from discreet import load
from discreet.errors import DataError, FileError, ParameterError
from discreet.federated import Aggregator, KeyPair, Message, invite
from support.clinic import CLINIC
from support.flower_nodes import (
    CANARY,
    NAMES,
    Nodes,
    by_files,
    needs_flower,
    node,
    prepare,
    read_log,
    resumed,
    run_config,
    same_tables,
    spent,
)


def hostile(flower, invitation, others, messages):
    """Replies that are no answer, by name: functions of a letter."""
    from flwr.app import ConfigRecord, Error, RecordDict

    def saying(content, record="discreet"):
        return lambda letter: flower.Letter(RecordDict({record: ConfigRecord(content)}), reply_to=letter)

    sent = messages[0].to_bytes()
    return {
        "an error": lambda letter: flower.Letter(Error(0, CANARY), reply_to=letter),
        "nothing": lambda letter: flower.Letter(RecordDict(), reply_to=letter),
        "another record": saying({"answer": sent}, "model"),
        "no bytes": saying({"answer": "text"}),
        "a list": saying({"answer": [1, 2, 3]}),
        "empty": saying({"answer": b""}),
        "cut off": saying({"answer": sent[:-40]}),
        "altered": saying({"answer": sent.replace(b'"no "', b'"yes"')}),
        "too long": saying({"answer": sent + b" " * 100_000}),
        "a number of many digits": saying({"answer": b'{"format": ' + b"1" * 5000 + b"}"}),
        "deep": saying({"answer": b"[" * 3000}),
        "another round": saying({"answer": others[0].to_bytes()}),
        "a foreign name": saying({"answer": sent.replace(b'"north"', b'"nord!"')}),
        "an invented refusal": saying({"party": "north", "refused": CANARY}),
        "a refusal of nobody": saying({"party": CANARY, "refused": "x"}),
        "a refusal of no text": saying({"party": [1], "refused": [2]}),
        "never": lambda letter: None,
    }


HOSTILE = ["an error", "nothing", "another record", "no bytes", "a list", "empty", "cut off", "altered", "too long",
           "a number of many digits", "deep", "another round", "a foreign name", "an invented refusal",
           "a refusal of nobody", "a refusal of no text", "never"]  # fmt: skip


@needs_flower
@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_a_node_that_does_not_answer_is_named_and_never_counted(flower, tmp_path, trust, kind):
    """trust="nobody" goes on with the others; without a party's masked answer there is no sum, and no model."""
    invitation, settings = prepare(tmp_path, trust, names=["north", "south"])
    (tmp_path / "other").mkdir()
    other, others = prepare(tmp_path / "other", trust, names=["north", "south"])
    messages = [Message.from_bytes(flower.answer(invitation, own), invitation) for own in settings[:1]]
    foreign = [Message.from_bytes(flower.answer(other, own), other) for own in others[:1]]
    kinds = hostile(flower, invitation, foreign, messages)
    assert list(kinds) == HOSTILE
    nodes = Nodes(kinds[kind], node(flower, settings[1]))
    if trust == "nobody":
        flower.collect(nodes, run_config(tmp_path, timeout=0.3))
        assert "1 parties" in load(tmp_path / "model.json").guarantee_.statement()
        assert same_tables(resumed(tmp_path), by_files(invitation, [tmp_path / "south.msg"]))
    else:
        with pytest.raises(DataError, match=r"no answer yet from: north.*new round, which costs its own epsilon"):
            flower.collect(nodes, run_config(tmp_path, timeout=0.3))
        assert not (tmp_path / "model.json").exists()
    told = read_log(tmp_path)
    assert told["answered"] == ["south"]
    assert told["missing"] == ["north"]
    assert told["nodes"]["2"] == "answer of 'south'"
    assert told["nodes"]["1"] != "answer of 'north'"
    assert CANARY not in str(told)


@needs_flower
def test_a_name_is_counted_once(flower, tmp_path):
    invitation, settings = prepare(tmp_path, names=["north", "south"])
    flower.collect(Nodes(*[node(flower, own) for own in (settings[0], settings[0], settings[1])]), run_config(tmp_path))
    assert same_tables(resumed(tmp_path),
                       by_files(invitation, [own["message"] for own in settings]))  # fmt: skip
    assert "answered already" in read_log(tmp_path)["nodes"]["2"]
    assert spent(settings[0]) == 1


@needs_flower
def test_numbers_that_no_table_has_are_refused(flower, tmp_path):
    from flwr.app import ConfigRecord, RecordDict

    invitation, settings = prepare(tmp_path, names=["north", "south"])
    tables = tuple(np.full(shape, 2**62, dtype=np.int64) for shape in invitation.shapes("north"))
    huge = Message(invitation.hash, invitation.round, "north", False, tables).to_bytes()
    reply = lambda letter: flower.Letter(RecordDict({"discreet": ConfigRecord({"answer": huge})}), reply_to=letter)  # noqa: E731
    started = time.monotonic()
    flower.collect(Nodes(reply, node(flower, settings[1])), run_config(tmp_path, timeout=60))
    assert time.monotonic() - started < 30, "all were heard of"
    assert read_log(tmp_path)["answered"] == ["south"]
    assert "no table has" in read_log(tmp_path)["nodes"]["1"]


@needs_flower
def test_a_secure_sum_is_answered_only_to_the_invitation_that_was_checked(flower, tmp_path):
    """Who makes the invitation could put keys of his own beside one real party, and open its answer."""
    invitation, (own, *_) = prepare(tmp_path, "sum")
    unchecked = {name: value for name, value in own.items() if name != "invitation"}
    with pytest.raises(ParameterError, match="check their keys"):
        flower.answer(invitation, unchecked)
    keys = {"north": invitation["north"].key, "x": KeyPair.generate().public, "y": KeyPair.generate().public}
    trap = invite(CLINIC, 1, list(keys), trust="sum", keys=keys)
    with pytest.raises(ParameterError, match="not the one in"):
        flower.answer(trap, own)
    local = invite(CLINIC, 1, NAMES)
    with pytest.raises(ParameterError, match="not the one in"):
        flower.answer(local, own)
    assert spent(own) == 0
    assert not Path(own["message"]).exists()


def refused_reply(flower, settings, invitation):
    letter = flower._letter(invitation if isinstance(invitation, str) else json.dumps(invitation.to_dict()), 1, 5.0)
    reply = flower.client_app(lambda context: settings)(letter, None)
    assert reply.has_content(), "Flower sends the text of an exception"
    record = dict(reply.content["discreet"])
    assert set(record) == {"party", "refused"}
    return record


@needs_flower
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"data": "headless.csv"}, "DataError"),
        ({"data": f"{CANARY}.csv"}, "FileError"),
        ({"data": "."}, "FileError"),
        ({"data": ""}, "ParameterError"),
        ({"ledger": ""}, "ParameterError"),
        ({"ledger": f"no/{CANARY}"}, "FileError"),
        ({"ledger": "north.csv"}, "FileError"),
        ({"limit": None}, "ParameterError"),
        ({"limit": CANARY}, "ParameterError"),
        ({"limit": "1/2"}, "BudgetError"),
        ({"party": "east"}, "ParameterError"),
        ({"party": 3}, "ParameterError"),
        ({"key": "north.csv"}, "FileError"),
        ({"table": "people"}, "ParameterError"),
        ({"message": "north.csv"}, "FileError"),
        ({"invitation": "north.csv"}, "FileError"),
    ],
)
def test_what_a_node_says_quotes_nothing(flower, tmp_path, monkeypatch, change, kind):
    """Neither a record nor a path, only which kind of error it was; and nothing is charged."""
    monkeypatch.chdir(tmp_path)
    invitation, (own, *_) = prepare(tmp_path)
    (tmp_path / "headless.csv").write_text(f"{CANARY},51,yes\n", encoding="utf-8")
    with (tmp_path / "north.csv").open("a", encoding="utf-8") as file:
        file.write(f"{CANARY},{CANARY},{CANARY}\n")
    record = refused_reply(flower, {**own, **change}, invitation)
    (expected,) = [text for each, text in flower.REFUSALS.items() if each.__name__ == kind]
    assert record["refused"] == expected
    assert CANARY not in str(record)
    assert str(tmp_path) not in str(record)
    assert change.get("ledger") or spent(own) == 0


@needs_flower
@pytest.mark.parametrize("text", ["", "{}", "[]", "[" * 5000, "1" * 5000, '{"format": "discreet/invitation"}'])
def test_an_invitation_that_is_none(flower, tmp_path, text):
    _, (own, *_) = prepare(tmp_path)
    assert refused_reply(flower, own, text)["refused"] == flower.REFUSALS[FileError]
    assert spent(own) == 0


@needs_flower
def test_errors_of_others_are_not_passed_on(flower, tmp_path, monkeypatch, caplog):
    """An engine's message may quote a row: neither the aggregator nor the log gets it."""

    def fails(*_):
        raise ValueError(f"could not convert string to float: {CANARY}")

    invitation, (own, *_) = prepare(tmp_path)
    monkeypatch.setattr(flower, "open_file", fails)
    assert refused_reply(flower, own, invitation)["refused"] == flower.REFUSALS[Exception]
    assert CANARY not in caplog.text
    assert refused_reply(flower, None, invitation)["party"] == ""  # settings that are none


@needs_flower
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"invitation": ""}, ParameterError, "no invitation"),
        ({"invitation": "none.json"}, FileError, "none.json"),
        ({"out": ""}, ParameterError, "no out"),
        ({"out": "there.json"}, FileError, "exists"),
        ({"out": "no/model.json"}, FileError, "its folder"),
        ({"log": "no/log.json"}, FileError, "its folder"),
        ({"state": "no/state.json"}, FileError, "its folder"),
        ({"state": "there.json"}, FileError, "not the state"),
        ({"timeout": 0}, ParameterError, "timeout"),
        ({"timeout": True}, ParameterError, "timeout"),
        ({"timeout": "soon"}, ParameterError, "timeout"),
        ({"timeout": float("nan")}, ParameterError, "timeout"),
    ],
)
def test_wrong_settings_are_found_before_anyone_is_asked(flower, tmp_path, monkeypatch, change, error, words):
    monkeypatch.chdir(tmp_path)
    _, settings = prepare(tmp_path)
    (tmp_path / "there.json").write_text("{}", encoding="utf-8")
    nodes = Nodes(*[node(flower, own) for own in settings])
    with pytest.raises(error, match=words):
        flower.collect(nodes, run_config(tmp_path, **change))
    assert nodes.asked == []


@needs_flower
def test_a_state_that_cannot_be_written_is_an_error_and_not_a_refusal(flower, tmp_path, monkeypatch):
    def full(self):
        raise FileError("cannot write: disk full")

    _, settings = prepare(tmp_path)
    monkeypatch.setattr(Aggregator, "_keep", full)
    with pytest.raises(FileError, match="disk full"):
        flower.collect(Nodes(node(flower, settings[0])), run_config(tmp_path))
    assert not (tmp_path / "model.json").exists()
    assert read_log(tmp_path)["answered"] == []
