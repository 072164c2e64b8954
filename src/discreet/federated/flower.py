"""A round on Flower: Flower carries the invitation to the nodes and each party's answer back, and does nothing else.

Parties add noise and masks and charge their ledgers (`Party`); the aggregator adds the answers (`Aggregator`). Flower
carries the bytes unchanged: a round on Flower gives the same model as the same files sent by mail.

What Flower cannot ensure: a node runs the code of the app that comes with a run. Whoever may start runs on a SuperLink
can therefore make every node run anything, and read whatever the node's user account may read. A party that does not
trust these people runs `discreet federated answer` itself, and gives its node, under an account that cannot read the
data, the message file only (`message`).
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import (
    BudgetError,
    DataError,
    DiscreetError,
    FileError,
    MissingExtra,
    ParameterError,
    SchemaError,
)
from discreet.federated.aggregator import Aggregator
from discreet.federated.invitation import Invitation
from discreet.federated.masks import KeyPair
from discreet.federated.message import Message, longest
from discreet.federated.party import Party
from discreet.privacy.ledger import Ledger
from discreet.sources.file import open_file
from discreet.storage.writing import whole_file

try:
    from flwr.app import ConfigRecord, Context, RecordDict
    from flwr.app import Message as Letter
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
except ImportError:
    raise MissingExtra("flower") from None

Settings = Mapping[str, Any]

RECORD = "discreet"
PAUSE = 0.5
"""Seconds between two checks for replies."""
MOST_TEXT = 300
"""At most this many characters of a note about a node go to the log: a hostile node may send any name."""

REFUSALS: dict[type[Exception], str] = {
    BudgetError: "its ledger does not allow the answer, or has the round already",
    DataError: "its table does not have the columns of the schema",
    ParameterError: "its settings do not fit the invitation",
    SchemaError: "the invitation's schema contradicts itself",
    FileError: "the invitation, or a file of its own, cannot be used",
    MissingExtra: "an optional package is missing there",
    Exception: "it failed; its own log says more",
}
"""The only sentences that a node sends if it does not answer: they depend on the kind of error, and quote nothing."""

log = logging.getLogger("flwr")


def client_app(settings: Callable[[Context], Settings] | None = None) -> ClientApp:
    """The app of a node: answers an invitation by the node's own configuration.

    The owner of the node sets the configuration when the node starts: `flower-supernode --node-config 'party="north"
    data="north.csv" ledger="north.jsonl" limit="2"'`. Nothing in it comes from the run.

    party : the party's name in the invitation.
    data, table : a .csv, .parquet or .duckdb file; for the last, the table in it.
    ledger, limit : the party's ledger file and its limit. A round is answered once.
    invitation : a copy of the invitation that the party has checked; any other is refused. A secure sum needs a copy,
        since whoever chooses the keys in an invitation can open the sum.
    key : the party's secret key file, for a secure sum.
    message : a file for the answer. If it exists, from an earlier run or from `discreet federated answer`, it is sent
        as it is, at no cost and without data or ledger. So an answer that was lost on the way can be sent again.

    In a simulation nodes have no configuration of their own; `settings` provides it.
    """

    def reply(letter: Letter, context: Context) -> Letter:
        given: Settings = {}
        content: dict[str, Any]
        try:
            given = dict(context.node_config if settings is None else settings(context))
            content = {"party": _text(given, "party"), "answer": answer(_received(letter), given)}
        except Exception as error:  # Flower would send the text of whatever is raised
            content = {"party": str(given.get("party", "")), "refused": _refusal(error)}
        return Letter(RecordDict({RECORD: ConfigRecord(content)}), reply_to=letter)

    app = ClientApp()
    app.query()(reply)
    return app


def answer(invitation: Invitation, settings: Settings) -> bytes:
    """A party's answer by its settings (see `client_app`): read from its message file, or made now and charged."""
    name = _text(settings, "party")
    kept = _path(settings, "message")
    if kept is not None and kept.exists():
        message = Message.load(kept, invitation)
        if message.party != name:
            raise ParameterError(f"{kept} is the answer of another party than {name!r}; name its own")
        return message.to_bytes()
    checked = _path(settings, "invitation")
    if checked is None and invitation.trust == "sum":
        raise ParameterError(
            "a secure sum hides an answer among the parties of the invitation only: check their keys, "
            'then name your copy of it: invitation="FILE"'
        )
    if checked is not None and Invitation.load(checked).hash != invitation.hash:
        raise ParameterError(f"the invitation is not the one in {checked}; ask its sender before you answer it")
    secret = _path(settings, "key")
    key = None if secret is None else KeyPair.from_file(secret)
    source = open_file(_text(settings, "data"), settings.get("table") or None)
    ledger_file, limit = _text(settings, "ledger"), settings.get("limit")
    if limit is None:
        raise ParameterError('no limit for the ledger; add the most that it may ever spend: limit="2"')
    message = Party(name, source, Ledger(limit, ledger_file), key=key, checked=True).answer(invitation)
    if kept is not None:
        try:
            message.save(kept)
        except FileError as error:  # the answer is paid for, so send it anyway
            log.warning("discreet: the answer is sent, but not kept: %s", error)
    return message.to_bytes()


def _received(letter: Letter) -> Invitation:
    try:
        content = json.loads(str(letter.content[RECORD]["invitation"]))
    except (KeyError, ValueError, RecursionError):
        raise FileError("what came is no invitation; need a server that runs `discreet.federated.flower`") from None
    if not isinstance(content, dict):
        raise FileError("what came is no invitation; need a server that runs `discreet.federated.flower`")
    return Invitation.from_dict(content)


def _refusal(error: Exception) -> str:
    """The sentence for the aggregator. The node's own log gets the message of our errors; others may quote a row."""
    said = str(error) if isinstance(error, DiscreetError) else type(error).__name__
    log.warning("discreet: no answer is sent: %s", said)
    return next(text for kind, text in REFUSALS.items() if isinstance(error, kind))


def server_app() -> ServerApp:
    """The app of the aggregator: asks the connected nodes, adds their answers and writes the model.

    Its settings are the configuration of the run (`flwr run --run-config`):

    invitation : the invitation file.
    out : the model file to write; it must not exist.
    state : a file that keeps the answers added so far; default: `out` plus `.state`. After a crash a new run goes on.
    log : a file that names the nodes and parties that answered; default: `out` plus `.log`.
    timeout : seconds to wait for answers, also from nodes that connect later; default: 600.

    The log names nodes that do not answer, or whose answer does not fit. With trust="nobody" the other answers make the
    model. Otherwise every answer is needed: the run fails, names the missing parties, and writes no model.
    """
    app = ServerApp()

    def main(grid: Grid, context: Context) -> None:
        collect(grid, context.run_config)

    app.main()(main)
    return app


def collect(grid: Grid, settings: Settings) -> None:
    """Run a round by its settings (see `server_app`). Wrong settings are found before any node is asked."""
    invitation = Invitation.load(_text(settings, "invitation"))
    out = Path(_text(settings, "out"))
    state = _path(settings, "state") or out.with_name(f"{out.name}.state")
    note = _path(settings, "log") or out.with_name(f"{out.name}.log")
    timeout = settings.get("timeout", 600)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < 10**9:
        raise ParameterError(f"timeout={timeout!r}; need a number of seconds, for instance 600")
    if out.exists():
        raise FileError(f"{out} exists; choose another name")
    for path in (out, state, note):
        if not os.access(path.parent, os.W_OK):
            raise FileError(f"cannot write {path}: its folder does not exist or is not writable; make it first")
    aggregator = Aggregator(invitation, state)
    replies = _Replies(aggregator)
    try:
        _exchange(grid, replies, timeout)
    finally:
        _write_log(note, replies)
    aggregator.model().save(out)
    log.info("discreet: model of %d parties written to %s", len(aggregator.answered), out)


@dataclass
class _Replies:
    """What the nodes have sent so far."""

    aggregator: Aggregator
    said: dict[int, str] = field(default_factory=dict)
    refusing: set[str] = field(default_factory=set)
    unknown: int = 0

    @property
    def awaited(self) -> int:
        """The number of parties that may still answer; an unreadable reply may have come from any of them."""
        return len(set(self.aggregator.missing) - self.refusing) - self.unknown

    def take(self, node: int, letter: Letter) -> None:
        """Add an answer, or note why there is none. A FileError, if the state cannot be written, is raised."""
        try:
            record: dict[str, Any] = dict(letter.content[RECORD]) if letter.has_content() else {}
            party, refused = record.get("party"), record.get("refused")
            if refused is None:
                message = self._read(record.get("answer"))
        except Exception as error:  # a hostile node may send anything
            self._note(node, str(error) if isinstance(error, DiscreetError) else "what came is no answer")
            self.unknown += 1
            return
        if refused is not None:
            known = refused if refused in REFUSALS.values() else REFUSALS[Exception]
            invited = party if party in self.aggregator.missing else None
            self._note(node, f"no answer of {invited!r}: {known}" if invited else f"no answer: {known}")
            self.refusing |= {str(invited)} if invited else set()
            return
        try:
            self.aggregator.add(message)
        except DataError as error:
            self._note(node, str(error))
            self.unknown += message.party not in self.aggregator.answered
        else:
            self._note(node, f"answer of {message.party!r}")

    def _read(self, sent: object) -> Message:
        if not isinstance(sent, bytes) or len(sent) > longest(self.aggregator.invitation):
            raise FileError("what came is no answer to the invitation, or too long for one")
        return Message.from_bytes(sent, self.aggregator.invitation, "what came")

    def _note(self, node: int, text: str) -> None:
        self.said[node] = text[:MOST_TEXT]
        log.info("discreet: node %d: %s", node, self.said[node])


def _exchange(grid: Grid, replies: _Replies, timeout: float) -> None:
    """Ask every node once, also those that connect later, until all parties have replied or the time is over."""
    invitation = json.dumps(replies.aggregator.invitation.to_dict(), ensure_ascii=False)
    deadline = time.monotonic() + timeout
    asked: set[int] = set()
    waiting: dict[str, int] = {}
    while replies.aggregator.missing and (left := deadline - time.monotonic()) > 0:
        nodes = [node for node in grid.get_node_ids() if node not in asked]
        letters = [_letter(invitation, node, left) for node in nodes]
        sent = list(grid.push_messages(letters)) if letters else []
        waiting |= {name: node for name, node in zip(sent, nodes, strict=False) if name is not None}
        asked |= set(nodes)
        for letter in grid.pull_messages(list(waiting)) if waiting else []:
            node = waiting.pop(letter.metadata.reply_to_message_id, None)
            if node is not None:
                replies.take(node, letter)
        if not waiting and replies.awaited <= 0:
            break
        time.sleep(PAUSE)
    replies.said |= {node: "no answer in time" for node in asked if node not in replies.said}


def _letter(invitation: str, node: int, left: float) -> Letter:
    """The invitation to a node. It expires with the time limit, so no party pays for an answer that nobody reads."""
    content = RecordDict({RECORD: ConfigRecord({"invitation": invitation})})
    return Letter(content, dst_node_id=node, message_type="query", ttl=left)


def _write_log(path: Path, replies: _Replies) -> None:
    aggregator = replies.aggregator
    content = {
        "round": aggregator.invitation.round,
        "answered": aggregator.answered,
        "missing": aggregator.missing,
        "nodes": {str(node): text for node, text in replies.said.items()},
    }
    with whole_file(path) as file:
        file.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _text(settings: Settings, name: str) -> str:
    """A setting that is required."""
    value = settings.get(name)
    if not isinstance(value, str) or not value:
        raise ParameterError(f'the configuration has no {name}; add it, in quotes: {name}="..."')
    return value


def _path(settings: Settings, name: str) -> Path | None:
    """The path in a setting that may be missing or empty."""
    return Path(_text(settings, name)) if settings.get(name) else None
