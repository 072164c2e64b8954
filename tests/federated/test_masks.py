"""Pairwise masks: they cancel in the whole sum, and in nothing less."""

import hashlib
import os
import pickle
import stat
import sys

import numpy as np
import pytest
from scipy import stats

from discreet.errors import FileError, MissingExtra, ParameterError
from discreet.federated.masks import KeyPair, mask

pytest.importorskip("cryptography")

ROUND = b"round one"
LOW_ORDER = [
    0,
    1,
    2**255 - 20,
    325606250916557431795983626356110631294008115727848805560023387167927233504,
    39382357235489614581723060781553021112529911719440698176882885853963445705823,
]
"""The points of low order in canonical spelling."""


def parties(count):
    return {f"party {i}": KeyPair.generate() for i in range(count)}


def masks(pairs, context=ROUND, count=50):
    public = {name: pair.public for name, pair in pairs.items()}
    return {
        name: mask(pair, {other: key for other, key in public.items() if other != name}, name, context, count)
        for name, pair in pairs.items()
    }


@pytest.mark.parametrize("count", [2, 3, 10])
def test_masks_cancel(count):
    made = masks(parties(count))
    assert not sum(made.values()).any()
    assert all(each.dtype == np.uint64 and each.shape == (50,) for each in made.values())


def test_masked_tables_sum_to_the_sum_of_tables():
    """Negative numbers too: modulo 2**64 is a group."""
    made = masks(parties(4), count=6)
    tables = [np.array([1, -2, 3, 0, 2**62, -(2**61)]) * (i + 1) // 4 for i in range(4)]
    total = sum(table.view(np.uint64) + each for table, each in zip(tables, made.values(), strict=True))
    assert total.view(np.int64).tolist() == sum(tables).tolist()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_part_of_the_masks_is_uniform(size):
    """Bytes of the sum over any proper part are uniform, and no two parts have one sum."""
    made = list(masks(parties(4), count=20_000).values())
    parts = [sum(made[(start + i) % 4] for i in range(size)) for start in range(4)]
    for part in parts:
        seen = np.bincount(part.view(np.uint8), minlength=256)
        assert stats.chisquare(seen).pvalue > 1e-6
        assert np.unique(part).size == 20_000
    assert len({part.tobytes() for part in parts}) == 4


def test_the_order_of_parties_does_not_matter():
    pairs = parties(5)
    turned = dict(reversed(pairs.items()))
    for name, made in masks(pairs).items():
        np.testing.assert_array_equal(made, masks(turned)[name])


def test_everything_public_changes_the_mask():
    """Context, length, list of parties and names enter; who was told another list opens nothing."""
    pairs = parties(3)
    public = {name: pair.public for name, pair in pairs.items()}
    own, others = pairs["party 0"], {name: public[name] for name in ("party 1", "party 2")}
    swapped = {"party 1": public["party 2"], "party 2": public["party 1"]}
    made = [
        mask(own, others, "party 0", ROUND, 9),
        mask(own, others, "party 0", b"round two", 9),
        mask(own, others, "party 0", ROUND, 10)[:9],
        mask(own, others, "another", ROUND, 9),
        mask(own, swapped, "party 0", ROUND, 9),
        mask(own, {"party 1": public["party 1"]}, "party 0", ROUND, 9),
        mask(own, {**others, "party 3": KeyPair.generate().public}, "party 0", ROUND, 9),
        mask(pairs["party 1"], {"party 0": own.public, "party 2": public["party 2"]}, "party 1", ROUND, 9),
    ]
    for i, one in enumerate(made):
        for other in made[:i]:
            assert not (one == other).any()


def test_no_two_lists_are_spelled_alike():
    """Contexts, lengths, names and keys are told apart by where they end."""
    own, other = KeyPair.generate(), KeyPair.generate()
    one, two = (mask(own, {"b": other.public}, "a", *end) for end in ((b"x", 14), (b"x1", 4)))
    assert not (one[:4] == two).any()


@pytest.mark.parametrize("replaced", ["party 0", "party 1", "party 2"])
def test_another_public_key_breaks_the_sum(replaced):
    """One party is told a key that is not its owner's: the sum is noise, in every cell."""
    pairs = parties(3)
    public = {name: pair.public for name, pair in pairs.items()}
    lied_to = "party 2" if replaced != "party 2" else "party 1"
    total = np.zeros(50, dtype=np.uint64)
    for name, pair in pairs.items():
        told = {**public, replaced: KeyPair.generate().public} if name == lied_to else public
        total = total + mask(pair, {other: key for other, key in told.items() if other != name}, name, ROUND, 50)
    assert (total != 0).all()


def test_a_mask_is_that_of_the_primitives():
    """By hand: X25519, then HKDF-SHA256 over the list, then ChaCha20's first block; and a fixed answer."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    secrets = {"a": bytes(range(32)), "b": bytes(range(1, 33)), "c": bytes(range(2, 34))}
    raw = {name: X25519PrivateKey.from_private_bytes(secret) for name, secret in secrets.items()}
    public = {name: secret.public_key().public_bytes_raw() for name, secret in raw.items()}
    parts = [b"discreet/masks/1", ROUND, b"5", b"a", public["a"], b"b", public["b"], b"c", public["c"]]
    salt = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
    expected = np.zeros(5, dtype=np.uint64)
    for other in ("b", "c"):
        info = b"discreet/masks/1" + min(public["a"], public[other]) + max(public["a"], public[other])
        key = HKDF(hashes.SHA256(), 32, salt, info).derive(raw["a"].exchange(raw[other].public_key()))
        stream = np.frombuffer(
            Cipher(algorithms.ChaCha20(key, bytes(16)), None).encryptor().update(bytes(40)), dtype="<u8"
        )
        expected = expected + stream if public["a"] > public[other] else expected - stream
    others = {name: public[name].hex() for name in ("b", "c")}
    made = mask(KeyPair(raw["a"]), others, "a", ROUND, 5)
    np.testing.assert_array_equal(made, expected)
    assert made.tolist() == [
        8786376972365395978,
        15628937082961999876,
        7329252097637878553,
        17062884580010895012,
        13632518506047736882,
    ]


@pytest.mark.parametrize("number", LOW_ORDER)
def test_a_key_of_low_order_is_refused(number):
    others = {"b": KeyPair.generate().public, "c": number.to_bytes(32, "little").hex()}
    with pytest.raises(ParameterError, match="'c' is of low order"):
        mask(KeyPair.generate(), others, "a", ROUND, 4)


@pytest.mark.parametrize(
    "key",
    ["", "00", "zz" * 32, "AB" * 31 + "0B", " " + "ab" * 31 + "0b", "0b" * 31, "ff" * 32, None, 7, b"ab" * 32,
     (2**255 - 19 + 9).to_bytes(32, "little").hex(), (2**255 + 9).to_bytes(32, "little").hex()],
)  # fmt: skip
def test_what_is_no_key_is_refused(key):
    with pytest.raises(ParameterError, match="the key of party 'b' is not a valid public key"):
        mask(KeyPair.generate(), {"b": key}, "a", ROUND, 4)


def test_keys_and_names_twice_are_refused():
    own, other = KeyPair.generate(), KeyPair.generate()
    with pytest.raises(ParameterError, match="'a' and 'b' have the same public key"):
        mask(own, {"b": own.public}, "a", ROUND, 4)
    with pytest.raises(ParameterError, match="'b' and 'c' have the same public key"):
        mask(own, {"b": other.public, "c": other.public}, "a", ROUND, 4)
    with pytest.raises(ParameterError, match="'a' is among the others"):
        mask(own, {"a": other.public}, "a", ROUND, 4)
    with pytest.raises(ParameterError, match="no other party"):
        mask(own, {}, "a", ROUND, 4)


@pytest.mark.parametrize("context", [b"", "round", None])
def test_a_round_without_a_context_is_refused(context):
    with pytest.raises(ParameterError, match="context"):
        mask(KeyPair.generate(), {"b": KeyPair.generate().public}, "a", context, 4)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, None])
def test_a_length_that_is_none_is_refused(count):
    with pytest.raises(ParameterError, match="count="):
        mask(KeyPair.generate(), {"b": KeyPair.generate().public}, "a", ROUND, count)


def test_a_key_file_is_its_owners_alone_and_never_overwritten(tmp_path):
    path, pair = tmp_path / "north.key", KeyPair.generate()
    before = os.umask(0)
    try:
        pair.to_file(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyPair.from_file(path).public == pair.public
    content = path.read_bytes()
    with pytest.raises(FileError, match="never overwritten"):
        KeyPair.generate().to_file(path)
    assert path.read_bytes() == content
    with pytest.raises(FileError, match="cannot write"):
        pair.to_file(tmp_path / "nowhere" / "north.key")
    with pytest.raises(FileError, match="cannot read"):
        KeyPair.from_file(tmp_path / "other.key")


@pytest.mark.parametrize("rights", [0o640, 0o604, 0o620, 0o777])
def test_a_key_that_others_can_read_is_refused(tmp_path, rights):
    path = tmp_path / "north.key"
    KeyPair.generate().to_file(path)
    path.chmod(rights)
    with pytest.raises(FileError, match="chmod 600"):
        KeyPair.from_file(path)


def test_a_damaged_key_is_refused_and_not_quoted(tmp_path):
    path, pair = tmp_path / "north.key", KeyPair.generate()
    pair.to_file(path)
    whole = path.read_text()
    secret = whole.split()[-1]
    for number, content in enumerate(
        ["", "secret", whole[:-3], whole.upper(), whole.replace(secret, "ä" * 64), secret]
    ):
        damaged = tmp_path / f"{number}.key"
        damaged.touch(mode=0o600)
        damaged.write_text(content, encoding="utf-8")
        with pytest.raises(FileError, match="not a key of discreet") as caught:
            KeyPair.from_file(damaged)
        assert secret[:20] not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_secret_key_is_not_shown_or_pickled(tmp_path):
    pair = KeyPair.generate()
    pair.to_file(tmp_path / "north.key")
    secret = (tmp_path / "north.key").read_text().split()[-1]
    assert len(secret) == 64
    assert secret not in f"{pair!r} {pair} {vars(pair)}"
    assert pair.public in repr(pair)
    with pytest.raises(TypeError):
        pickle.dumps(pair)


def test_key_pairs_differ():
    assert len({KeyPair.generate().public for _ in range(20)}) == 20


def test_without_the_package_the_error_says_what_to_install(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    for call in (KeyPair.generate, lambda: KeyPair.from_file(tmp_path / "none.key")):
        with pytest.raises(MissingExtra, match=r"discreet\[federated\]"):
            call()
