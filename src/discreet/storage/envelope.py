"""Files of ours: JSON that is read in one way, and hashed in one spelling."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from discreet.errors import FileError


def content_hash(content: Any) -> str:
    """SHA-256 of plain data in one canonical spelling."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object; every way to fail is one clear error."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"), parse_constant=_refused)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}; check the path") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise FileError(f"{path} is not JSON ({where}); correct it, or get it again if it was cut off") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path} is not UTF-8 text, or no JSON that discreet writes; get it again") from None
    if not isinstance(content, dict):
        raise FileError(f"{path} holds no JSON object; was it written by discreet?")
    return content


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
