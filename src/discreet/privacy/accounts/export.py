"""Accounts in a file, to be kept or verified elsewhere: JSON lines, one for each entry, with the heads at the end.

{"format": "discreet/accounts", "version": 1, "made": "..."}
{"population_id": 1, "number": 1, "kind": "open", ..., "previous": "00...", "hash": "2f..."}
{"end": 1, "heads": [{"population": "clinic", "entries": 1, "head": "2f..."}], "hash": "..."}
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from discreet.errors import FileError
from discreet.privacy.accounts.chain import FIELDS, now
from discreet.privacy.accounts.replay import STRANGE, Replay
from discreet.privacy.accounts.tables import chains
from discreet.privacy.accounts.verification import Heads, Verification, Verified, entries_of
from discreet.storage.envelope import Envelope, content_hash
from discreet.storage.writing import whole_file

FILE = Envelope("discreet/accounts", 1, "an export of accounts", "`discreet budget export`", "export it again", None)
"""Without a seal: each entry has its own hash, and the last line that of all heads."""
COLUMNS = {*FIELDS, "previous", "hash"}


def export(connection: Connection, path: Path, population: int | None = None) -> Verification:
    """Write the entries of all populations, or of one, and verify what was written."""
    ids = [population] if population else sorted(connection.execute(select(chains.c.population_id)).scalars())
    heads, count = [], 0
    with whole_file(path) as file:
        file.write(_line({**FILE.head, "made": now()}))
        for each in ids:
            replay = Replay(each)
            for entry in entries_of(connection, each):
                replay.take(entry)
                file.write(_line(dict(entry)))
            heads.append(Verified(replay.name, replay.count, replay.head))
            count += replay.count
        file.write(_line(_end(count, heads)))
    return verify_export(path)


def is_export(path: Path) -> bool:
    """Whether a file begins like an export of accounts."""
    try:
        with path.open("rb") as file:
            return FILE.format.encode() in file.read(100)
    except OSError:
        return False


def verify_export(path: Path, noted: Collection[str] = ()) -> Verification:
    """Verify a file: every chain in it, all balances, and that nothing is missing at its end."""
    try:
        with path.open(encoding="utf-8") as file:
            return _verify_lines(file, path, noted)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise FileError(f"{path} is not UTF-8 text; export the accounts again") from None


def _verify_lines(lines: Iterator[str], path: Path, noted: Collection[str]) -> Verification:
    FILE.check_head(_object(next(lines, "")) or {}, str(path))
    heads, problems, last = Heads(noted), [], None
    replays: dict[str, Replay] = {}
    for number, line in enumerate(lines, 2):
        content = _object(line)
        if last is not None or content is None or not line.endswith("\n"):
            problems.append(f"line {number} is not as it was written, or follows the end")
        elif content.keys() == COLUMNS:
            if not _take(replays, content):
                problems.append(f"line {number} is not where it was")
            heads.meet(str(content["hash"]))
        elif "end" in content:
            last = content
        else:
            problems.append(f"line {number} is not as it was written")
    done = [Verified(each.name, each.count, each.head) for each in replays.values()]
    problems += [problem for each in replays.values() for problem in each.problems]
    if last != _end(sum(each.entries for each in done), done):
        problems.append("the end of the file is missing, or does not fit its entries")
    return Verification(tuple(done), (*problems, *heads.problems()))


def _take(replays: dict[str, Replay], entry: dict[str, Any]) -> bool:
    """Take an entry; false if another population has begun since the last entry of this one."""
    population = str(entry["population_id"])
    in_place = population not in replays or next(reversed(replays)) == population
    replays.setdefault(population, Replay(entry["population_id"])).take(entry)
    return in_place


def _end(count: int, heads: list[Verified]) -> dict[str, Any]:
    told = [{"population": each.population, "entries": each.entries, "head": each.head} for each in heads]
    body = {"end": count, "heads": told}
    try:
        return {**body, "hash": content_hash(body)}
    except STRANGE:  # a head that is no text
        return {}


def _object(line: str) -> dict[str, Any] | None:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _line(content: dict[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":")) + "\n"
