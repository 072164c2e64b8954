"""The file of a ledger: on the disk before data is read; complete or refused; used by many processes, after crashes."""

import contextlib
import errno
import hashlib
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import BudgetError, FileError, ParameterError
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger import file as ledger_file
from discreet.privacy.receipt import Charge

SOURCE = str(Path(discreet.__file__).parents[1])

GOLDEN = (
    b'{"format":"discreet/ledger","version":2,"entries":"0000000002",'
    b'"head":"HEAD","limit":"3","adjacency":"replace-one","made":"2025-07-01T08:00:00.000000+00:00"}\n'
    b'{"number":1,"name":"naive-bayes for ill","epsilon":"1/2","adjacency":"add-remove",'
    b'"at":"2025-07-01T09:00:00.000000+00:00","hash":"ONE"}\n'
    b'{"number":2,"name":"zweite \\u2013 \\u4e8c","epsilon":"1","adjacency":"replace-one",'
    b'"at":"2025-07-02T09:00:00.000000+00:00","hash":"HEAD"}\n'
)


def golden(text=GOLDEN):
    """The golden file, with hashes computed here from the description of the format alone."""
    header, one, two = (json.loads(line) for line in text.splitlines())
    hashes = [digest("", {name: header[name] for name in ("adjacency", "limit", "made")})]
    for entry in (one, two):
        hashes.append(digest(hashes[-1], {name: entry[name] for name in entry if name != "hash"}))
    return text.replace(b"ONE", hashes[1].encode()).replace(b"HEAD", hashes[2].encode())


def digest(previous, content):
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256((previous + text).encode()).hexdigest()


def charges(*epsilons):
    return [Charge("q", "m", epsilon if epsilon == math.inf else Fraction(epsilon), 1, 1.0) for epsilon in epsilons]


def pay(ledger, name="a", epsilon=Fraction(1, 4), adjacency="add-remove", **options):
    ledger.charge(name, charges(epsilon), adjacency, **options)


def filled(path, count=3, limit=4, adjacency="add-remove"):
    """A ledger with some entries, and the content of its file."""
    ledger = Ledger(limit, path, adjacency=adjacency)
    for number in range(count):
        pay(ledger, f"release {number}", Fraction(1, number + 2))
    return path.read_bytes()


def without_last(text):
    return text[: text.rindex(b"\n", 0, -1) + 1]


def crashed(path, count=3):
    """The file after a crash between entry and header: one entry more than its header says."""
    before = filled(path, count)
    pay(Ledger.open(path), "last", Fraction(1, 9))
    after = path.read_bytes()
    return before[: before.index(b"\n")] + after[after.index(b"\n") :]


def header(path):
    return json.loads(path.read_bytes().split(b"\n")[0])


# What is kept


def test_the_format_is_as_described(tmp_path):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(golden())
    ledger = Ledger.open(path)
    assert ledger.entries == [("naive-bayes for ill", Fraction(1)), ("zweite – 二", Fraction(1))]
    assert (ledger.limit, ledger.adjacency, ledger.remaining) == (3, "replace-one", 1)
    assert ledger.head == header(path)["head"]
    assert path.read_bytes() == golden()
    pay(ledger, "third", 1, "replace-one")
    assert path.read_bytes().split(b"\n")[1:3] == golden().split(b"\n")[1:3]
    assert (header(path)["entries"], header(path)["head"]) == ("0000000003", ledger.head)


def test_a_file_keeps_the_account(tmp_path):
    path = tmp_path / "ledger.jsonl"
    pay(Ledger("2/3", path), "first", Fraction(1, 3))
    again = Ledger(Fraction(2, 3), str(path))
    assert again.entries == [("first", Fraction(1, 3))]
    odd = "zweite – 二 \u2028 \ud800 \n {"
    pay(again, odd, Fraction(1, 3))
    assert Ledger("2/3", path).remaining == 0
    with pytest.raises(BudgetError):
        pay(Ledger("2/3", path), "third", Fraction(1, 10**9))
    assert [name for name, _ in Ledger.open(path).entries] == ["first", odd]
    assert again.is_kept
    assert not Ledger(1).is_kept
    assert Ledger(1).head is None


def test_two_ledgers_on_one_file_see_each_other(tmp_path):
    one, other = Ledger(1, tmp_path / "ledger"), Ledger(1, tmp_path / "ledger")
    pay(one, "one", Fraction(1, 2))
    pay(other, "other", Fraction(1, 2))
    assert one.spent == other.spent == 1
    with pytest.raises(BudgetError):
        pay(one)
    second = Ledger(9, tmp_path / "second")
    pay(second, "round", once=True)
    with pytest.raises(BudgetError, match="in the ledger already"):
        pay(Ledger.open(tmp_path / "second"), "round", once=True)
    assert repr(one) == "Ledger(limit=1, spent=1, adjacency='add-remove')"


def test_an_unlimited_ledger_has_a_file_too(tmp_path):
    pay(Ledger(math.inf, tmp_path / "ledger"), "all", math.inf)
    pay(Ledger.open(tmp_path / "ledger"), "more", 1, "replace-one")
    assert Ledger("inf", tmp_path / "ledger").entries == [("all", math.inf), ("more", math.inf)]


def test_the_adjacency_of_the_first_charge_stays(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(3, path)
    assert (ledger.adjacency, header(path)["adjacency"]) == (None, None)
    pay(ledger, "a", 1, "replace-one")
    assert Ledger.open(path).adjacency == "replace-one"
    pay(Ledger(3, path), "b", 1, "add-remove")
    assert ledger.entries == [("a", 1), ("b", 2)]
    Ledger(3, path, adjacency="replace-one")
    with pytest.raises(FileError, match="has adjacency replace-one, got add-remove"):
        Ledger(3, path, adjacency="add-remove")
    Ledger(3, tmp_path / "new")
    with pytest.raises(FileError, match="has adjacency that of its first charge"):
        Ledger(3, tmp_path / "new", adjacency="add-remove")


def test_another_limit_is_refused(tmp_path):
    Ledger(1, tmp_path / "ledger")
    with pytest.raises(FileError, match=r"has limit 1, got 2; open it with its own limit"):
        Ledger(2, tmp_path / "ledger")


def test_paths_that_cannot_be_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in (".", "none/ledger", "pipe", "dangling"):
        with pytest.raises(FileError, match="check the path"):
            Ledger(1, tmp_path / name)
    with pytest.raises(FileError, match="check the path"):
        Ledger.open(tmp_path / "absent")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "pipe"]


def test_a_file_that_is_read_only_can_be_looked_at(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    filled(path)
    original = os.open

    def read_only(name, flags, *rest):
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(name, flags, *rest)

    monkeypatch.setattr(os, "open", read_only)
    assert len(Ledger.open(path).entries) == 3
    for use in (lambda: pay(Ledger.open(path)), lambda: Ledger.open(path).check(Fraction(1, 4), "add-remove")):
        with pytest.raises(FileError, match="Permission denied"):
            use()


def test_amounts_that_could_not_be_read_again_are_refused_before_they_are_written(tmp_path):
    with pytest.raises(BudgetError, match="too many digits"):
        Ledger("0." + "1" * 900, tmp_path / "long")
    ledger = Ledger(math.inf, tmp_path / "ledger")
    for sum_of in ([Fraction(1, 10**450 + 1), Fraction(1, 10**450 + 3)], [Fraction(9 * 10**399)] * 2):
        with pytest.raises(BudgetError, match="too many digits"):
            ledger.charge("long", charges(*sum_of), "add-remove")
    assert ledger.entries == []
    assert [path.name for path in tmp_path.iterdir()] == ["ledger"]


# A changed file is refused and left as it is


def error_of(use, *given):
    """The message of the error that a call raises; empty if it works."""
    try:
        use(*given)
    except FileError as error:
        return str(error)
    return ""


def refuses(path, content):
    """Whether a content is refused, both on opening and on charging; a refused file is not changed."""
    path.write_bytes(content)
    opened, charged = error_of(Ledger.open, path), error_of(lambda: pay(Ledger(4, path), "again"))
    assert bool(opened) == bool(charged)
    if opened:
        assert "\n" not in opened + charged
        assert path.read_bytes() == content
    return bool(opened)


def edits(text):
    """Random edits: a bit flipped, bytes cut, lines removed, doubled or swapped, junk appended or inserted."""
    lines = text.splitlines(keepends=True)
    place, line, other = (st.integers(0, size - 1) for size in (len(text), len(lines), len(lines)))
    junk = st.binary(min_size=1, max_size=40) | st.sampled_from([b"\n", b" ", b"{}\n", b"\0", lines[-1], lines[0]])
    return st.one_of(
        st.builds(lambda at, bit: text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :], place, st.integers(0, 7)),
        st.builds(lambda at: text[:at], place),
        st.builds(lambda at: text[at:], place),
        st.builds(lambda at, end: text[: min(at, end)] + text[max(at, end) :], place, place),
        st.builds(lambda at: b"".join(lines[:at] + lines[at + 1 :]), line),
        st.builds(lambda at, to: b"".join([*lines[:to], lines[at], *lines[to:]]), line, other),
        st.builds(lambda at, to: b"".join(swapped(lines, at, to)), line, other),
        st.builds(lambda at, more: text[:at] + more + text[at:], st.integers(0, len(text)), junk),
        st.builds(lambda more: text + more, junk),
        st.builds(
            lambda at, digit: text[:at] + digit + text[at + 1 :], place, st.sampled_from([b"0", b"1", b"9", b"a"])
        ),
    )


def swapped(lines, one, other):
    lines = list(lines)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Files of four entries: declared adjacency, adjacency of the first charge, and after a crash."""
    folder = tmp_path_factory.mktemp("ledgers")
    plain, free = filled(folder / "plain", 4), filled(folder / "free", 4, adjacency=None)
    return folder, {"plain": plain, "free": free, "crashed": crashed(folder / "crashed", 3)}


@pytest.mark.parametrize("kind", ["plain", "free", "crashed"])
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_edit_is_refused(texts, kind, data):
    folder, text = texts[0], texts[1][kind]
    edited = data.draw(edits(text))
    allowed = {text, without_last(text)} if kind == "crashed" else {text}
    assert refuses(folder / "edited", edited) == (edited not in allowed)


def test_every_truncation_is_refused(texts):
    folder, kinds = texts
    text = kinds["plain"]
    for end in range(len(text)):
        assert refuses(folder / "edited", text[:end])


def test_an_empty_file_is_never_made_a_ledger(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(1, path)
    pay(ledger)
    path.write_bytes(b"")
    for use in (lambda: Ledger(1, path), lambda: Ledger.open(path), lambda: pay(ledger), lambda: ledger.spent):
        with pytest.raises(FileError, match="is empty, and a new ledger never replaces an existing file; restore it"):
            use()
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace(b'"1/3"', b'"1/9"'), "entry 2 is not as it was written"),
        (lambda text: text.replace(b"release 1", b"release 7"), "entry 2 is not as it was written"),
        (lambda text: text.replace(b'"limit":"4"', b'"limit":"5"'), "its first line or entry 1"),
        (lambda text: text.replace(b'"add-remove"', b'"replace-one"', 1), "its first line or entry 1"),
        (lambda text: text.replace(b"0000000003", b"0000000002"), "first line does not fit"),
        (without_last, "lost entries: 2 of 3"),
        (lambda text: text[:-1], "torn"),
        (lambda text: text[:-9], "torn"),
        (lambda text: text + text.splitlines(keepends=True)[-1], "entry 4 is not .*not where it was"),
        (lambda text: text.replace(b'"version":2', b'"version":3'), "version 3.*upgrade"),
        (lambda text: text.replace(b'"version":2', b'"version":true'), "not a ledger"),
        (lambda text: text.replace(b"ledger", b"ledgar", 1), "not a ledger"),
        (lambda text: b"name,epsilon\na,1\n", "not a ledger"),
        (lambda text: b"\xff\xfe" + text, "not a ledger"),
        (lambda text: b"[" * 100_000, "not a ledger"),
    ],
)
def test_what_was_changed_is_said_in_one_line(tmp_path, change, words):
    path = tmp_path / "ledger"
    changed = change(filled(path))
    assert refuses(path, changed)
    with pytest.raises(FileError, match=rf"ledger .*({words}).*backup$"):
        Ledger(4, path)


def test_an_amount_edited_with_its_own_hash_is_refused(tmp_path):
    """The chain, not only each line: an entry with its own correct hash does not fit the next one or the header."""
    path = tmp_path / "ledger"
    text = filled(path)
    lines = [json.loads(line) for line in text.splitlines()]
    for number in (1, 2, 3):
        changed = [dict(line) for line in lines]
        changed[number]["epsilon"] = "1/100"
        content = {name: value for name, value in changed[number].items() if name != "hash"}
        before = lines[number - 1].get("hash") or digest("", {n: lines[0][n] for n in ("adjacency", "limit", "made")})
        changed[number]["hash"] = digest(before, content)
        forged = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in changed)
        assert forged != text
        assert refuses(path, forged)


def test_entries_of_another_ledger_do_not_fit(tmp_path):
    one, other = filled(tmp_path / "one"), filled(tmp_path / "other")
    assert refuses(tmp_path / "mixed", one.split(b"\n", 1)[0] + b"\n" + other.split(b"\n", 1)[1])


# An open ledger remembers


def test_yesterdays_copy_is_noticed_while_the_ledger_is_open(tmp_path):
    path = tmp_path / "ledger"
    yesterday = filled(path)
    ledger = Ledger.open(path)
    pay(ledger)
    for put_back in (path.write_bytes, lambda text: (path.unlink(), path.write_bytes(text))):
        put_back(yesterday)
        uses = (lambda: pay(ledger), lambda: ledger.spent, lambda: ledger.check(Fraction(1, 9), "add-remove"))
        for use in uses:
            with pytest.raises(FileError, match=r"is not the file that was opened.*; restore it"):
                use()
        assert path.read_bytes() == yesterday


def test_another_ledger_in_its_place_is_noticed(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(4, path, adjacency="add-remove")  # nothing charged yet
    os.replace(path, tmp_path / "kept")
    with pytest.raises(FileError, match="check the path"):
        pay(ledger)
    assert not path.exists()
    filled(path)
    with pytest.raises(FileError, match="not the file that was opened"):
        pay(ledger)
    os.replace(tmp_path / "kept", path)
    pay(ledger)
    assert len(Ledger.open(path).entries) == 1


def test_what_others_added_is_not_mistaken_for_another_file(tmp_path):
    path = tmp_path / "ledger"
    ledger = Ledger(4, path)
    for _ in range(3):
        pay(Ledger.open(path))
        pay(ledger)
    assert len(ledger.entries) == 6


def test_a_file_replaced_in_the_middle_of_a_charge_is_noticed(tmp_path, monkeypatch):
    """The charge went into a file that has lost its name: the caller gets an error before data is read."""
    path = tmp_path / "ledger"
    ledger, copy = Ledger(4, path), tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    original = os.fsync

    def replacing(descriptor):
        if copy.exists():
            os.replace(copy, path)
        original(descriptor)

    monkeypatch.setattr(os, "fsync", replacing)
    with pytest.raises(FileError, match="replaced or removed while it was charged"):
        pay(ledger)


def test_a_file_replaced_while_a_process_waits_for_it_is_the_one_that_is_charged(tmp_path, monkeypatch):
    import fcntl

    path = tmp_path / "ledger"
    ledger, copy = Ledger(4, path), tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    original = fcntl.flock

    def replacing(descriptor, kind):
        original(descriptor, kind)
        if copy.exists():
            os.replace(copy, path)

    monkeypatch.setattr(fcntl, "flock", replacing)
    pay(ledger)
    assert len(Ledger.open(path).entries) == 1


# Crashes and full disks


def test_an_entry_more_than_the_header_says_counts_and_is_mended(tmp_path):
    path = tmp_path / "ledger"
    text = crashed(path)
    path.write_bytes(text)
    ledger = Ledger(4, path)
    assert [name for name, _ in ledger.entries][-1] == "last"
    assert path.read_bytes() == text  # reading changes nothing
    with pytest.raises(BudgetError):
        pay(ledger, "too much", 4)
    assert path.read_bytes() == text
    pay(ledger, "next")
    assert header(path)["entries"] == "0000000005"
    assert [name for name, _ in Ledger.open(path).entries][-2:] == ["last", "next"]


def test_two_entries_more_than_the_header_says_are_no_crash(tmp_path):
    path = tmp_path / "ledger"
    before = filled(path)
    for _ in range(2):
        pay(Ledger.open(path))
    after = path.read_bytes()
    assert refuses(path, before[: before.index(b"\n")] + after[after.index(b"\n") :])


class Disk:
    """Replaces `os` in the module: the call with this number fails, before it does anything or half-way."""

    def __init__(self, fails, half=False, only=()):
        self.calls, self.fails, self.half, self.only = 0, fails, half, only

    def __getattr__(self, name):
        value = getattr(os, name)
        if name not in ("pwrite", "fsync", "ftruncate"):
            return value

        def called(*given):
            self.calls += 1
            if self.calls in self.fails:
                if self.half and name == "pwrite":
                    self.half, self.fails = False, {*self.fails, self.calls + 1}  # the next call raises the reason
                    return value(given[0], given[1][: len(given[1]) // 2], given[2])
                raise OSError(errno.ENOSPC, "No space left on device")
            return value(*given)

        return called


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("after_a_crash", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_a_failing_disk_loses_and_doubles_nothing(tmp_path, monkeypatch, half, after_a_crash, first):
    """At each single write and fsync: an error, then the entry is there once or not at all, and the next one works."""
    path = tmp_path / "ledger"
    text = filled(path, 0) if first else crashed(path) if after_a_crash else filled(path)
    path.write_bytes(text)
    before = Ledger.open(path).entries
    failed, number = 0, 0
    while failed == number:
        number += 1
        path.write_bytes(text)
        ledger = Ledger.open(path)
        monkeypatch.setattr(ledger_file, "os", Disk({number}, half))
        if said := error_of(pay, ledger, "paid"):
            assert "No space left on device; no data was read" in said
            failed += 1
        monkeypatch.setattr(ledger_file, "os", os)
        paid = [name for name, _ in ledger.entries]
        assert paid[: len(before)] == [name for name, _ in before]
        assert paid[len(before) :] in ([["paid"]] if failed < number else [[], ["paid"]])
        pay(ledger, "next")
        again = Ledger.open(path)
        assert [name for name, _ in again.entries] == [*paid, "next"]
        assert int(header(path)["entries"]) == len(again.entries)
    assert failed >= 4  # entry, fsync, header, fsync; more if a header had to be corrected


def test_a_disk_that_cannot_even_take_back_leaves_a_file_that_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    filled(path)
    ledger = Ledger.open(path)
    monkeypatch.setattr(ledger_file, "os", Disk({1, 2, 3, 4, 5}, half=True))
    with pytest.raises(FileError, match="No space"):
        pay(ledger)
    monkeypatch.setattr(ledger_file, "os", os)
    for use in (lambda: pay(ledger), lambda: ledger.spent, lambda: Ledger.open(path)):
        with pytest.raises(FileError, match="torn"):
            use()


def test_an_interruption_in_the_middle_of_a_line_takes_it_back(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    text = filled(path)
    ledger = Ledger.open(path)

    def interrupted(descriptor, content, place):
        os.pwrite(descriptor, content[:10], place)
        raise KeyboardInterrupt

    disk = Disk(())
    disk.pwrite = interrupted
    monkeypatch.setattr(ledger_file, "os", disk)
    with pytest.raises(KeyboardInterrupt):
        pay(ledger)
    assert path.read_bytes() == text


def test_the_charge_is_on_the_disk_in_the_right_order(tmp_path, monkeypatch):
    """Entry, fsync, header, fsync: checked by the content of the file at each fsync."""
    path = tmp_path / "ledger"
    filled(path)
    ledger, seen, original = Ledger.open(path), [], os.fsync

    def watched(descriptor):
        seen.append((path.read_bytes().count(b"\n") - 1, int(header(path)["entries"])))
        original(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    pay(ledger)
    assert seen == [(4, 3), (4, 4)]


def test_a_new_file_is_made_whole_or_not_at_all(tmp_path, monkeypatch):
    for number in range(1, 9):
        path = tmp_path / f"ledger{number}"
        monkeypatch.setattr(ledger_file, "os", Disk({number}))
        said = error_of(Ledger, 1, path)
        if not said:
            assert number > 2  # the header, its fsync
            break
        assert "cannot make ledger" in said
        if path.exists():  # only the folder's fsync failed
            assert Ledger.open(path).limit == 1
            path.unlink()
        assert list(tmp_path.iterdir()) == []
    else:
        pytest.fail("no disk was good enough")


def test_who_comes_second_opens_the_file_of_the_first(tmp_path, monkeypatch):
    path = tmp_path / "ledger"
    original = os.link

    def late(made, name):
        monkeypatch.setattr(os, "link", original)
        pay(Ledger(1, path), "first")
        original(made, name)

    monkeypatch.setattr(os, "link", late)
    assert Ledger(1, path).entries == [("first", Fraction(1, 4))]
    assert [each.name for each in tmp_path.iterdir()] == ["ledger"]


# Processes


def spend(path, times, amount, gate, accepted):
    count = 0
    gate.wait(timeout=60)
    try:
        ledger = Ledger(1, path)
        for _ in range(times):
            with contextlib.suppress(BudgetError):
                pay(ledger, f"process {os.getpid()}", amount)
                count += 1
    finally:  # so that a failure shows at once
        accepted.put(count)


@pytest.mark.parametrize(("amount", "fits"), [(Fraction(1, 100), 100), (Fraction(1, 61), 61)])
def test_two_processes_at_once_lose_nothing_and_never_exceed_the_limit(tmp_path, amount, fits):
    """2 x 50 charges; the first process makes the file."""
    context = multiprocessing.get_context("spawn")
    gate, accepted, path = context.Barrier(2), context.Queue(), tmp_path / "ledger"
    processes = [context.Process(target=spend, args=(path, 50, amount, gate, accepted)) for _ in range(2)]
    for process in processes:
        process.start()
    counts = [accepted.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(timeout=60)
        process.close()
    accepted.close()
    accepted.join_thread()
    ledger = Ledger(1, path)
    assert sum(counts) == len(ledger.entries) == fits
    assert ledger.spent == 1
    assert [each.name for each in tmp_path.iterdir()] == ["ledger"]


SPENDER = """
import sys
from fractions import Fraction
from discreet.privacy.ledger import Charge, Ledger
ledger = Ledger(1, sys.argv[1])
for number in range(100_000):
    ledger.charge("release %d" % number, [Charge("q", "m", Fraction(1, 10**6), 1, 1.0)], "add-remove")
    print(number + 1, flush=True)
"""


@pytest.mark.parametrize("least", [1, 12, 33])
def test_a_killed_process_leaves_what_it_announced(tmp_path, least):
    """kill -9 in the middle of charging: all that was announced is in the ledger, at most one charge more."""
    path = tmp_path / "ledger"
    with subprocess.Popen(
        [sys.executable, "-c", SPENDER, str(path)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
    ) as process:  # fmt: skip
        announced = 0
        while announced < least:
            announced = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read()  # includes what is buffered already, which `communicate` would skip
    announced = int((rest.split() or [announced])[-1])
    if said := error_of(Ledger.open, path):  # the kernel may stop a line at the end of a page
        assert "torn" in said
        assert path.read_bytes().count(b"\n") - 1 >= announced
        return
    ledger = Ledger.open(path)
    entered = len(ledger.entries)
    assert announced <= entered <= announced + 1
    assert [name for name, _ in ledger.entries] == [f"release {number}" for number in range(entered)]
    pay(ledger, "afterwards")
    assert len(Ledger(1, path).entries) == entered + 1


def test_a_wrong_name_writes_nothing(tmp_path):
    path = tmp_path / "ledger"
    before = filled(path)
    with pytest.raises(ParameterError):
        pay(Ledger.open(path), b"bytes")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("written", "forged", "message"),
    [
        (b'"adjacency":"replace-one"', b'"adjacency":null', "it has no adjacency"),
        (b'"name":"naive-bayes for ill"', b'"name":7', "entry 1 is not as it was written"),
        (b'"made":"2025-07-01T08:00:00.000000+00:00"', b'"made":20250701', "its first line is not as it was written"),
    ],
)
def test_a_forgery_whose_hashes_fit_is_refused(tmp_path, written, forged, message):
    """Whoever can compute hashes can still not leave the adjacency out, nor put a number where a text belongs."""
    assert written in GOLDEN
    path = tmp_path / "ledger.jsonl"
    one_adjacency = GOLDEN.replace(b"add-remove", b"replace-one")
    path.write_bytes(golden(one_adjacency.replace(written, forged)))
    with pytest.raises(FileError, match=message):
        Ledger.open(path)


def test_a_disk_that_fails_is_named(tmp_path, monkeypatch):
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(golden())

    def broken(*arguments):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(ledger_file.os, "fdopen", broken)
    with pytest.raises(FileError, match="Input/output error; check the disk"):
        Ledger.open(path)
