"""Parties with files of their own, and a stand-in for Flower's grid."""

import json
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from discreet.federated import Aggregator, Invitation, KeyPair, Message, invite
from support.clinic import CLINIC, ill

NAMES = ["north", "south", "west"]
CANARY = "canary-7731"
needs_flower = pytest.mark.skipif(find_spec("flwr") is None, reason="needs Flower: pip install 'discreet[flower]'")


class Nodes:
    """Stands for the grid: each node is a function from a letter to its reply, or to None if it never replies."""

    def __init__(self, *nodes, late=()):
        self.nodes, self.late = dict(enumerate(nodes, 1)), list(late)
        self.sent, self.asked = {}, []

    def get_node_ids(self):
        return list(self.nodes)

    def push_messages(self, letters):
        for letter in letters:
            name = f"letter {len(self.asked)}"
            letter.metadata.__dict__["_message_id"] = name
            self.sent[name] = letter
            self.asked.append(letter)
        return list(self.sent)[-len(letters) :]

    def pull_messages(self, names):
        if self.late:
            self.nodes[len(self.nodes) + 1] = self.late.pop()
        waiting = [self.sent.pop(name) for name in names if name in self.sent]
        replies = [self.nodes[letter.metadata.dst_node_id](letter) for letter in waiting]
        return [reply for reply in replies if reply is not None]


def write_table(path, table):
    rows = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def prepare(folder, trust="nobody", names=NAMES, **more):
    """An invitation, and for each party its files and settings."""
    settings, keys = [], {}
    for place, name in enumerate(names):
        write_table(folder / f"{name}.csv", ill(500, place))
        own = {"party": name, "data": str(folder / f"{name}.csv"), "ledger": str(folder / f"{name}.jsonl"),
               "limit": "2", "message": str(folder / f"{name}.msg")}  # fmt: skip
        if trust == "sum":
            pair = KeyPair.generate()
            pair.to_file(folder / f"{name}.key")
            keys[name] = pair.public
            own |= {"key": str(folder / f"{name}.key"), "invitation": str(folder / "invitation.json")}
        settings.append(own)
    invitation = invite(CLINIC, 1, names, trust=trust, keys=keys or None, **more)
    invitation.save(folder / "invitation.json")
    return invitation, settings


def node(flower, settings):
    return lambda letter: flower.client_app(lambda context: settings)(letter, None)


def run_config(folder, **more):
    return {"invitation": str(folder / "invitation.json"), "out": str(folder / "model.json"), "timeout": 5, **more}


def read_log(folder):
    return json.loads((folder / "model.json.log").read_text(encoding="utf-8"))


def spent(settings):
    path = Path(settings["ledger"])
    lines = path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []
    return sum(Fraction(json.loads(line)["epsilon"]) for line in lines)


def same_tables(one, other):
    pairs = zip(one.statistics().tables, other.statistics().tables, strict=True)
    return all(np.array_equal(a.values, b.values) and a.variance == b.variance for (_, a), (_, b) in pairs)


def resumed(folder):
    """The state that the aggregator left."""
    return Aggregator(Invitation.load(folder / "invitation.json"), folder / "model.json.state")


def by_files(invitation, paths):
    aggregator = Aggregator(invitation)
    for path in paths:
        aggregator.add(Message.load(path, invitation))
    return aggregator
