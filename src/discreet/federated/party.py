"""A party: it has records, a ledger and possibly a key, and answers each invitation once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.doors.counts import release
from discreet.doors.shares import share
from discreet.errors import ParameterError
from discreet.federated.invitation import Invitation
from discreet.federated.masks import KeyPair, mask
from discreet.federated.message import Message
from discreet.privacy.ledger import Ledger
from discreet.privacy.randomness import as_rng
from discreet.schema import Schema
from discreet.sources import Source, finish


class Party:
    """One of the parties that have records.

    Parameters
    ----------
    name : the party's name in the invitation.
    source : the records; they never leave it.
    ledger : the party's own account, charged for every answer. With a file, which a secure sum needs, it also
        remembers which rounds were answered: two answers under one mask would show their difference.
    key : for a secure sum, the key pair whose public key is in the invitation.
    known : for a secure sum, public keys that other parties told this party, by name. An invitation with other keys is
        refused: whoever can replace the keys of all other parties can read this party's answer. Needs at least as many
        keys as the invitation counts on honest parties, less this one, unless `checked` is set.
    checked : whether the party has compared the hash of the invitation with the other parties.
    random_state : None for secure noise; an integer for experiments and tests, which voids the guarantee.

    Examples
    --------
    >>> from discreet import Categorical, Ledger, Schema
    >>> from discreet.federated import Aggregator, Party, invite
    >>> from discreet.sources.memory import MemorySource
    >>> schema = Schema([Categorical("smoker", ["no", "yes"])], target="ill", classes=["no", "yes"], records=2000)
    >>> records = MemorySource([{"smoker": "yes", "ill": "yes"}] * 500 + [{"smoker": "no", "ill": "no"}] * 500)
    >>> invitation = invite(schema, 1, ["north", "south"])
    >>> aggregator = Aggregator(invitation)
    >>> for name in ("north", "south"):
    ...     aggregator.add(Party(name, records, Ledger(1)).answer(invitation))
    >>> model = aggregator.model()
    >>> model.predict([{"smoker": "yes"}]).tolist(), model.guarantee_.holds
    (['yes'], True)
    """

    def __init__(
        self,
        name: str,
        source: Source,
        ledger: Ledger,
        *,
        key: KeyPair | None = None,
        known: Mapping[str, str] | None = None,
        checked: bool = False,
        random_state: Any = None,
    ) -> None:
        self.name = name
        self._source, self._ledger, self._key, self._known = source, ledger, key, known or {}
        self._checked = checked
        self._random_state = random_state

    def __repr__(self) -> str:
        return f"Party({self.name!r})"

    def answer(self, invitation: Invitation) -> Message:
        """Charge the party's ledger, count, add noise (and a mask), and return one message that is safe to send.

        Guarantee  trust="nobody": the message is ε-DP for one record of this party, under the schema's adjacency
                   (`release`). trust="sum": the sum of all messages is, for whoever sees that sum and the secrets
                   of all but `honest` parties (`share`). Parties with different columns about the same people: all
                   messages together are, since the questions' shares sum to ε and each is asked of one party.
        """
        schema, steps = invitation.schema_of(self.name), invitation.steps(self.name)
        if not steps:  # no question is about this party's columns: nothing to read, nothing to pay
            return Message(invitation.hash, invitation.round, self.name, False, ())
        try:
            return self._answered(invitation, schema, steps)
        finally:
            finish(self._source)

    def _answered(self, invitation: Invitation, schema: Schema, steps: Sequence[Any]) -> Message:
        purpose = f"federated round {invitation.round} as {self.name}"
        rng = as_rng(self._random_state)
        if invitation.trust == "nobody":
            noisy = release(self._source, schema, steps, self._ledger, rng, purpose, once=True)
            tables = tuple(np.asarray(table.values, dtype=np.int64) for _, table in noisy.tables)
            return Message(invitation.hash, invitation.round, self.name, rng.seeded, tables)
        hidden, _ = share(self._source, schema, steps, self._mask(invitation), self._ledger, rng, purpose)
        return Message(invitation.hash, invitation.round, self.name, rng.seeded, tuple(hidden))

    def _mask(self, invitation: Invitation) -> NDArray[np.uint64]:
        if self._key is None or self._key.public != invitation[self.name].key:
            raise ParameterError(
                f"party {self.name!r}: the key does not fit the invitation; use the key pair whose public key was sent"
            )
        if not self._ledger.is_kept:
            raise ParameterError("a secure sum needs a ledger that outlives this process; use Ledger(limit, path=...)")
        others = {party.name: party.key for party in invitation.parties if party.name != self.name}
        for name, public in self._known.items():
            if others.get(name) != public:
                raise ParameterError(
                    f"the invitation's key of party {name!r} is not the one that it told you; do not take part"
                )
        if not self._checked and len(self._known) < invitation.honest - 1:
            raise ParameterError(
                f"the sum counts on {invitation.honest} honest parties; give the keys of {invitation.honest - 1} "
                "others (known), or compare the invitation's hash with theirs and say so (checked)"
            )
        cells = sum(rows * columns for rows, columns in invitation.shapes(self.name))
        return mask(self._key, others, self.name, bytes.fromhex(invitation.hash), cells)
