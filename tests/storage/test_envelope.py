"""The envelope of every file: what is read is what was written; anything else is refused with one clear error."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import FileError
from discreet.storage.envelope import Envelope, as_text, content_hash, read_json

SEALED = Envelope("discreet/letter", 2, "a letter", "`discreet write`", remedy="ask the writer again")
OPEN = Envelope("discreet/note", 1, "a note", "hand", seal=None, indent=1)
CONTENT = {"name": "Zoë", "counts": [1, -2, 3], "part": 0.25, "none": None}

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text('aé\n"☃'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def path(tmp_path):
    """A file with a sealed envelope."""
    path = tmp_path / "letter.json"
    SEALED.write(path, SEALED.wrap(CONTENT))
    return path


def resealed(**changes):
    """The content of a file whose author changed something and computed the hash again."""
    body = {key: value for key, value in {**SEALED.wrap(CONTENT), **changes}.items() if key != "hash"}
    return {**body, "hash": content_hash(body)}


def test_what_is_written_is_read(path):
    wrapped = SEALED.wrap(CONTENT)
    assert list(wrapped) == ["format", "version", *CONTENT, "hash"]
    assert wrapped["hash"] == content_hash({**SEALED.head, **CONTENT})
    assert SEALED.read(path) == wrapped
    assert path.read_bytes() == (json.dumps(wrapped, ensure_ascii=False) + "\n").encode()


def test_a_file_without_a_seal_may_be_edited_and_may_begin_with_a_mark(tmp_path):
    path = tmp_path / "note.json"
    OPEN.write(path, OPEN.wrap(CONTENT))
    assert path.read_text(encoding="utf-8").startswith('{\n "format": "discreet/note",\n "version": 1,\n "name": "Zoë"')
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"-2", b"-3"))
    assert OPEN.read(path) == {**OPEN.head, **CONTENT, "counts": [1, -3, 3]}


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), plain, max_size=4))
def test_any_plain_data_passes_its_own_check(content):
    wrapped = SEALED.wrap(content)
    SEALED.check(wrapped, "it")
    again = json.loads(json.dumps(wrapped))
    SEALED.check(again, "it")
    assert again == wrapped


def test_every_older_version_is_read():
    for version in (1, 2):
        SEALED.check(resealed(version=version), "it")


@pytest.mark.parametrize("format", ["discreet/note", "Discreet/letter", "", None, 1, ["discreet/letter"]])
def test_another_format_is_refused(format):
    words = r"^it is not a letter \(format 'discreet/letter'\); need a file written by `discreet write`$"
    with pytest.raises(FileError, match=words):
        SEALED.check(resealed(format=format), "it")


def test_a_missing_format_is_refused():
    with pytest.raises(FileError, match="is not a letter"):
        SEALED.check({}, "it")


@pytest.mark.parametrize("version", [3, 10**30, 0, -1, True, False, 1.0, 2.5, "1", "2", None, [1], {}])
def test_a_version_that_cannot_be_read_is_refused(version):
    with pytest.raises(
        FileError, match=r"^it has version .*; this discreet reads up to 2: upgrade discreet, or ask the"
    ):
        SEALED.check(resealed(version=version), "it")
    with pytest.raises(FileError, match="version"):
        OPEN.check({"format": OPEN.format, "version": version}, "it")


def test_a_missing_version_is_refused():
    with pytest.raises(FileError, match="has version None"):
        OPEN.check({"format": OPEN.format}, "it")


@pytest.mark.parametrize("seal", [None, "", 0, True, "0" * 64, ["x"], {}])
def test_a_seal_that_does_not_fit_is_refused(seal):
    with pytest.raises(FileError, match=r"^it was altered or damaged: its hash does not fit; ask the writer again$"):
        SEALED.check({**SEALED.wrap(CONTENT), "hash": seal}, "it")


def test_a_seal_in_capitals_is_refused():
    wrapped = SEALED.wrap(CONTENT)
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.check({**wrapped, "hash": wrapped["hash"].upper()}, "it")


def test_a_missing_seal_is_refused():
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.check({**SEALED.head, **CONTENT}, "it")


@pytest.mark.parametrize(
    "change", [{"name": "Zoe"}, {"counts": [1, 2, 3]}, {"part": 0.250000001}, {"extra": None}, {"version": 1}, {"": 0}]
)
def test_a_changed_or_added_entry_is_refused(change):
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.check({**SEALED.wrap(CONTENT), **change}, "it")


@pytest.mark.parametrize("entry", ["name", "counts", "part", "none"])
def test_a_removed_entry_is_refused(entry):
    wrapped = SEALED.wrap(CONTENT)
    del wrapped[entry]
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.check(wrapped, "it")


def test_equal_numbers_of_another_type_are_another_content():
    """In Python 1 == 1.0 == True; in a file they are not the same."""
    for one in (1.0, True):
        with pytest.raises(FileError, match="hash does not fit"):
            SEALED.check({**SEALED.wrap(CONTENT), "counts": [one, -2, 3]}, "it")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1, 2}, b"bytes", "\ud800"])
def test_what_json_cannot_hold_is_refused_in_a_file_and_never_written(path, value):
    before = path.read_bytes()
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.check({**SEALED.wrap(CONTENT), "part": value}, "it")
    with pytest.raises((ValueError, TypeError)):
        SEALED.wrap({"part": value})
    with pytest.raises((ValueError, TypeError)):
        SEALED.write(path, {"part": [0] * 100_000 + [value]})
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_json_does_not_know_are_refused_with_and_without_a_seal(tmp_path, word):
    path = tmp_path / "note.json"
    path.write_text(f'{{"format": "discreet/note", "version": 1, "part": {word}}}')
    for envelope in (OPEN, SEALED):
        with pytest.raises(FileError, match=r"note.json is not UTF-8 text, or not JSON as discreet writes it; get it"):
            envelope.read(path)


def test_a_number_that_overflows_does_not_fit_the_seal(path):
    path.write_bytes(path.read_bytes().replace(b"0.25", b"1e999"))
    with pytest.raises(FileError, match="hash does not fit"):
        SEALED.read(path)


@pytest.mark.parametrize("bit", range(8))
def test_every_flipped_bit_is_refused_or_changes_nothing(path, bit):
    whole, content = path.read_bytes(), json.dumps(SEALED.read(path))
    refused = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        try:
            assert json.dumps(SEALED.read(path)) == content, place
        except FileError:
            refused += 1
    assert refused > len(whole) * 0.9  # the rest is white space between entries


def test_every_torn_file_is_refused(path):
    whole = path.read_bytes()
    for size in range(len(whole) - 1):  # without its last newline it is still whole
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"letter\.json"):
            SEALED.read(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"is not JSON \(line 1, column 1: .*\); correct it, or get it again if it was cut off"),
        (b'{"a": 1', r"is not JSON \(line 1, column 8"),
        (b'{"a": "\xff"}', "is not UTF-8 text"),
        (b"[" * 100_000, "is not UTF-8 text, or not JSON as discreet writes it"),
        (b'{"a": ' + b"1" * 5000 + b"}", "is not UTF-8 text, or not JSON as discreet writes it"),
        (b"[1]", "is JSON, but not an object"),
        (b"null", "is JSON, but not an object"),
    ],
)
def test_a_file_that_is_not_ours_is_one_clear_error(tmp_path, content, words):
    path = tmp_path / "strange.json"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_json(path)


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        with pytest.raises(FileError, match=r"cannot read .*; check the path"):
            read_json(path)


def test_an_entry_that_has_to_be_a_text_is_one():
    assert as_text("é") == "é"
    for value in (None, 1, True, b"a", ["a"]):
        with pytest.raises(TypeError, match=rf"got {type(value).__name__}; need a text"):
            as_text(value)


def test_the_hash_knows_neither_the_order_nor_the_spelling_of_entries():
    assert content_hash({"a": 1, "b": [2, "é"]}) == content_hash(json.loads('{"b":[2,"\\u00e9"],  "a":1}'))
    assert content_hash({"a": [1, 2]}) != content_hash({"a": [2, 1]})


@pytest.mark.parametrize("entry", ["format", "version", "hash"])
def test_content_cannot_take_the_place_of_the_envelope(entry):
    """Such a file would be written, and then refused by its reader."""
    with pytest.raises(ValueError, match="entries of the envelope"):
        SEALED.wrap({"text": "a", entry: 1})
    assert OPEN.wrap({"hash": 1})["hash"] == 1
