"""A message: a party's answer as it is sent, with integers of fixed width, so its length tells nothing about the data.

A message is JSON text: what it answers (invitation, round, party) and the tables as 64-bit integers in base64. Its
checksum finds damage, not forgery: whoever can write a message can write its checksum.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError
from discreet.federated.invitation import LONGEST_NAME, Invitation
from discreet.storage.envelope import Envelope
from discreet.storage.writing import whole_file

FILE = Envelope(
    "discreet/answer",
    1,
    "an answer to an invitation",
    "`discreet federated answer`",
    remedy="ask for it again",
    seal="checksum",
)
Tables = tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class Message:
    """A party's answer to an invitation: noisy tables (int64) or, for a secure sum, masked tables (uint64).

    Examples
    --------
    >>> from discreet import Ledger, datasets
    >>> from discreet.federated import Message, Party, invite
    >>> from discreet.sources.memory import MemorySource
    >>> X, y, schema = datasets.load("iris")
    >>> invitation = invite(schema, 1, ["north"])
    >>> sent = Party("north", MemorySource({**X, schema.target: y}), Ledger(1)).answer(invitation).to_bytes()
    >>> Message.from_bytes(sent, invitation).party
    'north'
    """

    invitation: str
    round: str
    party: str
    seeded: bool
    tables: Tables

    def to_bytes(self) -> bytes:
        """The message as it is sent."""
        content = {
            "invitation": self.invitation,
            "round": self.round,
            "party": self.party,
            "seeded": "yes" if self.seeded else "no ",
            "tables": [_packed(table) for table in self.tables],
        }
        return (json.dumps(FILE.wrap(content), ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, sent: bytes, invitation: Invitation, name: str = "message") -> Message:
        """Read a message; FileError unless it is complete and answers this invitation."""
        try:
            content = json.loads(sent)
            FILE.check(content, name)
            if (content["invitation"], content["round"]) != (invitation.hash, invitation.round):
                raise FileError(f"{name} answers another invitation; add answers to this one only")
            shapes = invitation.shapes(content["party"])
            tables = _unpacked(content["tables"], shapes, masked=invitation.trust == "sum")
            seeded = {"yes": True, "no ": False}[content["seeded"]]
            return cls(content["invitation"], content["round"], content["party"], seeded, tables)
        except DiscreetError:
            raise
        except binascii.Error:
            raise FileError(
                f"{name} has tables of another shape than the invitation asks for; ask for it again"
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise FileError(f"{name} is not an answer to an invitation, or was cut off; ask for it again") from None

    def save(self, path: str | Path) -> None:
        """Write the message as a file, whole or not at all."""
        with whole_file(path, binary=True) as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path, invitation: Invitation) -> Message:
        """Read a message file."""
        most = longest(invitation)
        try:
            with Path(path).open("rb") as file:
                sent = file.read(most + 1)
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
        if len(sent) > most:
            raise FileError(f"{path} is longer than any answer to this invitation; ask for it again")
        return cls.from_bytes(sent, invitation, str(path))


def longest(invitation: Invitation) -> int:
    """An upper bound on the bytes of any answer to the invitation, from public numbers.

    A cell is 8 bytes, at most 11 in base64; each table has a few bytes around it, and the party's name at most 8 bytes
    a character.
    """
    alike = not invitation.is_vertical and invitation.each == len(invitation.questions)
    parties = invitation.parties[:1] if alike else invitation.parties
    cells = max(sum(rows * columns for rows, columns in invitation.shapes(party.name)) for party in parties)
    return 11 * cells + 8 * len(invitation.questions) + 8 * LONGEST_NAME + 1000


def _packed(table: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(table).astype(table.dtype.newbyteorder("<")).tobytes()).decode()


def _unpacked(packed: Sequence[str], shapes: Sequence[tuple[int, int]], *, masked: bool) -> Tables:
    if not isinstance(packed, list) or len(packed) != len(shapes):
        raise binascii.Error
    tables = []
    for text, (rows, columns) in zip(packed, shapes, strict=True):
        sent = base64.b64decode(text, validate=True)
        if len(sent) != 8 * rows * columns:
            raise binascii.Error
        table = np.frombuffer(sent, dtype="<u8" if masked else "<i8").reshape(rows, columns)
        tables.append(table.astype(np.uint64 if masked else np.int64))
    return tuple(tables)
