"""Misuse of an audit is misuse, and never "refuted": recipes of the wrong kind, impossible times, crashing targets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet.audit import audit
from discreet.audit.target import as_recipe
from discreet.cli import app
from discreet.errors import ParameterError

WRONG: dict[str, list[Any]] = {
    "target": [5, None, ["a:B"]],
    "parameters": [[1], None, "epsilon=1"],
    "schema": [5, [1], True],
    "python": [5, None],
    "claim": ["abc", [1], True],
    "delta": ["abc", {}],
    "form": [3],
    "adjacency": [1],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_entries_of_the_wrong_kind_are_told_by_name(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps({"target": "a.b:C", "claim": 1, name: value}))
    with pytest.raises(ParameterError, match=f"recipe.json: {name} is "):
        as_recipe(str(path))
    shown = CliRunner().invoke(app, ["audit", str(path)])
    assert shown.exit_code == 2


@pytest.mark.parametrize("minutes", [math.inf, math.nan, 0, -1])
def test_times_that_are_none(minutes: float) -> None:
    with pytest.raises(ParameterError, match="minutes"):
        audit(lambda X, y: 0.0, 1.0, minutes=minutes)


def test_an_unexpected_error_is_not_the_status_of_a_refutation(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("discreet.audit.audit", fail)
    shown = CliRunner().invoke(app, ["audit", "a.b:C", "--claim", "1"])
    assert shown.exit_code == 3
    assert "ZeroDivisionError" in shown.output


CRASH = "import os\n\n\ndef crash(X, y):\n    os._exit(3)\n"
NONSENSE = """
import os


def forge(X, y):
    for number in range(3, 64):
        try:
            os.write(number, {frame!r})
        except OSError:
            pass
    return 0.0
"""


def test_a_target_that_crashes_on_every_table_is_misuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crashing.py").write_text(CRASH)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ParameterError, match="ended with status 3"):
        audit("crashing:crash", 1.0, minutes=1, processes=1)


@pytest.mark.parametrize("content", [b'{"table": 99}', b"[" * 100_000])
def test_frames_that_are_forged_end_the_process_alone(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = len(content).to_bytes(8, "little") + bytes(8) + content
    (tmp_path / "forging.py").write_text(NONSENSE.format(frame=frame))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ParameterError, match="gives no answer"):
        audit("forging:forge", 1.0, minutes=1, processes=1)
