"""Where data are: `sources.toml` in the worker's folder, mode 0600. Only the worker reads it; the service knows names.

[visits]
kind = "postgres"
url = "postgresql://reader:secret@db/clinic"
table = "public.visits"
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import FileError, ParameterError
from discreet.service.names import NAME
from discreet.service.settings import private_folder
from discreet.sources import Source
from discreet.sources.database import open_address
from discreet.sources.file import open_file
from discreet.storage.addresses import Address
from discreet.storage.writing import whole_file

KINDS = ("file", "duckdb", "postgres")


@dataclass(frozen=True, repr=False)
class SourceEntry:
    """One source: a file, a table of a DuckDB file, or a table of PostgreSQL. `described` is what owners are shown."""

    name: str
    kind: str
    place: str
    table: str | None = None
    described: str = ""

    def __repr__(self) -> str:
        return f"SourceEntry({self.name!r}, {self.kind!r}, place hidden)"

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ParameterError(f"source {self.name[:40]!r}; need a name of small letters, digits, dots and dashes")
        if self.kind not in KINDS:
            raise ParameterError(f"kind={self.kind[:40]!r}; need one of: {', '.join(KINDS)}")
        if (self.kind != "file") != bool(self.table):
            raise ParameterError(f"source {self.name}: a database needs the name of a table, and a file has none")

    def open(self) -> Source:
        """The table as a source of the library; rows of PostgreSQL travel to this process."""
        if self.kind == "postgres":
            return open_address(Address(self.place), self.table, stream=True)
        return open_file(Path(self.place), self.table)

    def to_dict(self) -> dict[str, str]:
        """Plain data, as in the file."""
        word = "url" if self.kind == "postgres" else "path"
        rest = {"table": self.table or "", "described": self.described}
        return {"kind": self.kind, word: self.place, **{key: value for key, value in rest.items() if value}}

    @classmethod
    def from_dict(cls, name: str, content: dict[str, str]) -> SourceEntry:
        """From plain data; ParameterError names what is wrong, and quotes neither path nor address."""
        if not isinstance(content, dict) or any(not isinstance(value, str) for value in content.values()):
            raise ParameterError(f"source {name[:40]}: need entries that are texts")
        unknown = content.keys() - {"kind", "url", "path", "table", "described"}
        word = "url" if content.get("kind") == "postgres" else "path"
        if unknown or "kind" not in content or word not in content:
            raise ParameterError(f"source {name[:40]}: need kind, {word}, and perhaps table and described")
        return cls(name, content["kind"], content[word], content.get("table"), content.get("described", ""))


def read_sources(folder: Path) -> dict[str, SourceEntry]:
    """All sources of a worker's folder; FileError if others than its owner can read the file."""
    path = folder / "sources.toml"
    if not path.exists():
        return {}
    try:
        if path.stat().st_mode & 0o077:
            raise FileError(f"{path} can be read by others, and may hold passwords; run: chmod 600 {path}")
        content = tomllib.loads(path.read_text())
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; it belongs to the worker's account") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise FileError(f"{path} is not TOML; correct it, or add sources with `discreet worker sources add`") from None
    return {name: SourceEntry.from_dict(name, entry) for name, entry in content.items()}


def add_source(folder: Path, entry: SourceEntry) -> None:
    """Add a source, or replace the one of the same name."""
    private_folder(folder)
    known = read_sources(folder)
    known[entry.name] = entry
    parts = [f"[{json.dumps(name)}]\n{_lines(each.to_dict())}" for name, each in sorted(known.items())]
    path = folder / "sources.toml"
    mask = os.umask(0o077)
    try:
        with whole_file(path) as file:
            file.write("\n".join(parts))
    finally:
        os.umask(mask)


def _lines(entries: dict[str, str]) -> str:
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in entries.items())


def described(entry: SourceEntry) -> str:
    """What owners are told of a source: its description, or its kind and table; never a path, host or password."""
    return entry.described or (f"{entry.kind} table" if entry.table else entry.kind)
