"""The envelope of every file that discreet writes: its format, its version, and a hash of its content.

    {"format": "discreet/model", "version": 1, ..., "hash": "2f1c..."}

A file of another format, of a newer version or with a wrong hash is refused before anything in it is used. The hash
detects damage, not forgery: whoever can change the file can change the hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import FileError
from discreet.storage.writing import whole_file


@dataclass(frozen=True)
class Envelope:
    """One kind of file.

    Attributes
    ----------
    format : the name of the format, as it is written in the file.
    version : the version that is written; it and all older ones are read.
    what : what such a file is called in messages: "a model".
    made_by : what writes such files, for messages: "`discreet train`".
    remedy : what to do with a damaged file, for messages.
    seal : the entry that holds the hash; None for files that people edit.
    indent : indentation of the JSON text; None for one line.
    """

    format: str
    version: int
    what: str
    made_by: str
    remedy: str = "get it again from its owner"
    seal: str | None = "hash"
    indent: int | None = None

    @property
    def head(self) -> dict[str, Any]:
        """The first entries of every file of this kind."""
        return {"format": self.format, "version": self.version}

    def wrap(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The whole content of a file: head, the given entries, and hash."""
        if not content.keys().isdisjoint({*self.head, self.seal}):
            raise ValueError("format, version and hash are entries of the envelope; give the content other names")
        body = {**self.head, **content}
        return body if self.seal is None else {**body, self.seal: content_hash(body)}

    def check(self, content: Mapping[str, Any], name: str) -> None:
        """Raise FileError unless this is a file of this kind, of a version that can be read, and undamaged."""
        self.check_head(content, name)
        if self.seal is not None and not _fits(content, self.seal):
            raise FileError(f"{name} was altered or damaged: its hash does not fit; {self.remedy}")

    def check_head(self, content: Mapping[str, Any], name: str) -> None:
        """Raise FileError unless this format and version can be read."""
        if content.get("format") != self.format:
            raise FileError(
                f"{name} is not {self.what} (format {self.format!r}); need a file written by {self.made_by}"
            )
        version = content.get("version")
        if type(version) is not int or not 1 <= version <= self.version:
            raise FileError(
                f"{name} has version {version!r}; this discreet reads up to {self.version}: upgrade discreet, or "
                f"{self.remedy}"
            )

    def write(self, path: str | Path, wrapped: Mapping[str, Any]) -> None:
        """Write the result of `wrap`, completely or not at all."""
        with whole_file(path) as file:
            file.write(json.dumps(wrapped, indent=self.indent, ensure_ascii=False, allow_nan=False) + "\n")

    def read(self, path: str | Path) -> dict[str, Any]:
        """Read a file, and check it."""
        content = read_json(path)
        self.check(content, str(path))
        return content


def content_hash(content: Any) -> str:
    """SHA-256 of plain data, in a spelling that does not depend on the order of entries or on white space."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _fits(content: Mapping[str, Any], seal: str) -> bool:
    """Whether the seal is the hash of all other entries; false if they hold something that JSON cannot, such as NaN."""
    try:
        return bool(content[seal] == content_hash({key: value for key, value in content.items() if key != seal}))
    except (KeyError, ValueError, TypeError, RecursionError):
        return False


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; whatever goes wrong, the error is a FileError that says what to do."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"), parse_constant=_refuse_constant)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise FileError(f"{path} is not JSON ({where}); correct it, or get it again if it was cut off") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path} is not UTF-8 text, or not JSON as discreet writes it; get it again") from None
    if not isinstance(content, dict):
        raise FileError(f"{path} is JSON, but not an object; need a file written by discreet")
    return content


def as_text(value: object) -> str:
    """The value of an entry that has to be a text; TypeError if it is not."""
    if not isinstance(value, str):
        raise TypeError(f"got {type(value).__name__}; need a text")
    return value


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
