"""Sets the Guarantee, Proof and Test of a docstring as a list of fields.

In the source they stand as columns, which read well there::

    Guarantee  with probability 0.999 ...
    Proof      the first half of ...
               and the second ...
"""

from __future__ import annotations

import re
from typing import Any

NAMES = ("Guarantee", "Proof", "Test", "Tests", "Claim", "Cost", "Assumption", "Error", "Limits", "Loss", "Noise")
CLAIM = re.compile(rf"^(\s*)({'|'.join(NAMES)})\s{{2,}}(\S.*)$")


def as_fields(lines: list[str]) -> list[str]:
    """The lines of a docstring with its columns of claims turned into fields."""
    done: list[str] = []
    margin: int | None = None  # where the text of the open claim begins
    for line in lines:
        found = CLAIM.match(line)
        if found:
            indent, name, text = found.groups()
            if margin is None and done and done[-1].strip():
                done.append("")
            margin = found.start(3)
            done.append(f"{indent}:{name}: {text}")
        elif margin is not None and line.startswith(" " * margin) and line.strip():
            done.append(f"    {line.strip()}")
        else:
            if margin is not None and line.strip():
                done.append("")
            margin = None if line.strip() else margin
            done.append(line)
    return done


def _process(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    lines[:] = as_fields(lines)


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"version": "1", "parallel_read_safe": True}
