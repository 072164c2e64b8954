"""Pairwise masks: numbers that hide each party's message and cancel in the sum over all parties.

Each pair of parties has a secret that only these two can compute (X25519). From this secret and everything public about
the round both draw the same keystream; one adds it, the other subtracts it, modulo 2**64 (Bonawitz et al. 2017, without
the recovery of parties that drop out: without every answer there is no sum).

What masks cannot ensure, and must be ensured elsewhere:

- The public keys belong to the parties. Whoever can replace the keys of all other parties by keys of their own can read
  a party's message: a party must get keys, or their hashes, from the other parties and not from the aggregator alone.
- A party masks only one message per context: two messages under one mask show their difference. `Party.answer` ensures
  it by the party's own ledger; the context is the invitation's hash, which names one round.
- Only the party can read its key file. A stolen key opens old messages too: a new key for each round is safer.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.schema.columns import is_integer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

LABEL = b"discreet/masks/1"
"""Separates these keys from those of any other use of the same primitives; changes if the masks change."""
KEY_BYTES = 32
PRIME = 2**255 - 19
"""The field of X25519: a key is the canonical little-endian form of a number below it."""


class KeyPair:
    """A party's X25519 key pair. The public key is sent; the secret key stays in its file.

    Examples
    --------
    >>> from discreet.federated import KeyPair
    >>> len(KeyPair.generate().public) > 40  # doctest: +SKIP
    True
    """

    def __init__(self, secret: X25519PrivateKey) -> None:
        self._secret = secret

    @classmethod
    def generate(cls) -> KeyPair:
        """A new key pair from the operating system's entropy."""
        try:
            from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        except ImportError:
            raise MissingExtra("federated") from None
        return cls(X25519PrivateKey.generate())

    @property
    def public(self) -> str:
        """The public key: 64 hexadecimal digits."""
        return self._secret.public_key().public_bytes_raw().hex()

    def to_file(self, path: str | Path) -> None:
        """Write the secret key, readable by its owner alone; FileError if the file exists."""
        try:
            place = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(place, "w", encoding="ascii") as file:
                file.write(f"{LABEL.decode()} secret {self._secret.private_bytes_raw().hex()}\n")
                file.flush()
                os.fsync(place)
        except FileExistsError:
            raise FileError(f"{path} exists, and a key is never overwritten; name another file") from None
        except OSError as error:
            raise FileError(f"cannot write {path}: {error.strerror}; check the folder") from None

    @classmethod
    def from_file(cls, path: str | Path) -> KeyPair:
        """Read a key pair; FileError if others can read the file, or it is not a key. No message quotes the content."""
        try:
            from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
        except ImportError:
            raise MissingExtra("federated") from None
        try:
            with open(path, "rb") as file:
                rights, content = os.fstat(file.fileno()).st_mode, file.read(1000)
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
        if os.name == "posix" and rights & (stat.S_IRWXG | stat.S_IRWXO):
            raise FileError(f"{path} can be read by others than its owner; make a new key, or: chmod 600 {path}")
        start = LABEL + b" secret "
        try:
            if not content.startswith(start):
                raise ValueError
            return cls(X25519PrivateKey.from_private_bytes(bytes.fromhex(content[len(start) :].decode("ascii"))))
        except ValueError:
            pass  # its message could quote the content
        raise FileError(f"{path} is not a key of discreet, or was damaged; make one with `discreet federated key`")

    def __repr__(self) -> str:
        return f"KeyPair(public={self.public!r})"


def mask(own: KeyPair, others: Mapping[str, str], name: str, context: bytes, count: int) -> NDArray[np.uint64]:
    """A party's mask for a message of `count` numbers, to be added modulo 2**64. Use a context for one message only.

    Parameters
    ----------
    own, name : the party's key pair, and its name.
    others : the public keys of all other parties of the round, by name.
    context : what distinguishes the round from all others: the hash of the invitation, which holds a random round.

    Guarantee  the masks of all parties sum to 0. To an observer who has neither secret key of a pair of parties, the
               masked messages of these two are uniform, except for their sum: of the parties whose keys the observer
               does not have, only the sum can be seen, as long as each of them masks one message per context.
    Proof      a pair's keystream is added by the party with the larger public key and subtracted by the other. It is
               ChaCha20 under a key that HKDF-SHA256 makes from the X25519 secret: uniform to anyone who cannot compute
               the secret, by the usual assumptions on these three, and independent of the keystream of any other pair,
               context, list of parties or length, since all of these enter the key. The pairs among parties whose
               keys are not known connect them all; independent uniform numbers, added at one end and subtracted at the
               other of each edge of a connected graph, are jointly uniform among vectors that sum to 0.
               Parties who were told different lists, contexts or lengths get masks that do not cancel: nothing opens.
    Test       tests/federated/test_masks.py: test_masks_cancel, test_part_of_the_masks_is_uniform,
               test_a_mask_is_that_of_the_primitives, test_everything_public_changes_the_mask.
    """
    if not isinstance(context, bytes) or not context:
        raise ParameterError(
            "context is empty or not bytes; need bytes that name the round, such as the invitation's hash"
        )
    if not is_integer(count) or count < 1:
        raise ParameterError(f"count={count!r}; need the number of integers to mask, at least 1")
    keys = _checked(own, others, name)
    salt = _salt(keys, context, count)
    total = np.zeros(count, dtype=np.uint64)
    for other in others:
        stream = _stream(_pair_key(own, keys[name], other, keys[other], salt), count)
        total = total + stream if keys[name] > keys[other] else total - stream
    return total


def _checked(own: KeyPair, others: Mapping[str, str], name: str) -> dict[str, bytes]:
    """The public keys of all parties by name; ParameterError if two are the same or one is not valid."""
    if name in others:
        raise ParameterError(f"party {name!r} is among the others; need all other parties, without the party itself")
    if not others:
        raise ParameterError("no other party; a mask needs at least one")
    keys = {name: bytes.fromhex(own.public)} | {other: _public(other, key) for other, key in others.items()}
    owners: dict[bytes, str] = {}
    for party, key in keys.items():
        if owners.setdefault(key, party) != party:
            raise ParameterError(
                f"parties {owners[key]!r} and {party!r} have the same public key; each party needs its own"
            )
    return keys


def _public(name: str, key: str) -> bytes:
    """The bytes of a public key, which must be written in its canonical form."""
    try:
        content = bytes.fromhex(key)
    except (TypeError, ValueError):
        content = b""
    if len(content) != KEY_BYTES or content.hex() != key or int.from_bytes(content, "little") >= PRIME:
        raise ParameterError(f"the key of party {name!r} is not a valid public key; need 64 digits 0-9 a-f, as sent")
    return content


def _salt(keys: Mapping[str, bytes], context: bytes, count: int) -> bytes:
    """A hash of all that the parties of a round agree on; each part follows its length, so no two inputs look alike."""
    digest = hashlib.sha256()
    roster = [part for party in sorted(keys) for part in (party.encode(errors="surrogatepass"), keys[party])]
    for part in (LABEL, context, str(count).encode(), *roster):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def _pair_key(own: KeyPair, own_key: bytes, other: str, other_key: bytes, salt: bytes) -> bytes:
    """The key of a pair's keystream, the same for both."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    try:
        secret = own._secret.exchange(X25519PublicKey.from_public_bytes(other_key))
    except ValueError:  # all bits of the secret are 0: anyone could compute it
        raise ParameterError(
            f"the public key of party {other!r} is of low order, so its masks hide nothing; do not take part"
        ) from None
    pair = b"".join(sorted((own_key, other_key)))
    return HKDF(algorithm=hashes.SHA256(), length=KEY_BYTES, salt=salt, info=LABEL + pair).derive(secret)


def _stream(key: bytes, count: int) -> NDArray[np.uint64]:
    """The first `count` numbers of ChaCha20's keystream; the nonce may be 0, since each key is used for one stream."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

    stream = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8 * count))
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64)
