"""What the runner shows of a run: texts without addresses, and with every other number."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import Categorical, NaiveBayes, Numeric, Schema
from discreet.audit import audit, runner
from discreet.audit.inside.arguments import as_arguments
from discreet.audit.runner import Refusal, Target, short
from discreet.audit.structure import Structure
from discreet.audit.tables import empty
from discreet.errors import ParameterError
from support.audit_path import targets_can_be_imported
from support.audited import noisy_count

__all__ = ["targets_can_be_imported"]


class Thing:
    """Shown as Python shows objects: with its address."""


def test_addresses_of_objects_are_left_out() -> None:
    assert short(Thing()) == short(Thing())
    assert short([lambda: 1]) == short([lambda: 1])
    assert "0x" not in short(Thing())


@pytest.mark.parametrize(
    "number", ["93000000000012", "94999999999999", "130000000000007", "140000000000000", "0x1f40", "0x7f12ab34cd56"]
)
def test_no_other_number_is_left_out(number: str) -> None:
    """Numbers that look like ids or addresses may be the sum of a column, or a hash of the records."""
    assert number in short(f"the sum is {number} of all records")


def test_a_large_number_in_a_message_is_found() -> None:
    def told(X: Any, y: Any) -> Any:
        return {"message": f"about {93_000_000_000_000 + len(y)} units", "count": noisy_count(X, y)}

    report = audit(told, 1.0, most_runs=3000, seed=0, stages=[Structure()])
    assert report.refuted
    assert "9300000000" in report.findings[0].event


TABLE = {"names": ["a"], "kinds": ["numeric"], "rows": [[0.5]], "labels": [1], "target": "class"}


class Panic(BaseException):
    """As extensions in other languages raise it."""


class MuteError(Exception):
    """Its message cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Panic("x"), "raises Panic: 'x'"),
        (MuteError(), "raises MuteError: no message: RuntimeError"),
        (SystemExit(3), "exits: 3"),
    ],
)
def test_whatever_a_target_raises_is_a_refusal_and_no_crash(error: BaseException, words: str) -> None:
    def refusing(X: Any, y: Any) -> Any:
        raise error

    assert Target(refusing).run(TABLE, None, ()).features == [words]


def test_an_interrupt_is_not_the_targets() -> None:
    def interrupted(X: Any, y: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Target(interrupted).run(TABLE, None, ())


def test_a_function_may_have_labels_by_default() -> None:
    def count(X: Any, y: Any = None) -> Any:
        return float(len(X))

    def making(epsilon: float = 1.0, delta: float = 0.0) -> Any:
        return Thing()

    assert Target(count).run(TABLE, None, ()).numbers == [1.0]
    assert Target(making).is_estimator


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"eps": 1}, "unexpected keyword argument"),
        ({"epsilon": {"call": "nowhere:C"}}, "cannot import nowhere:C"),
        ({"epsilon": {"call": "math:pi"}}, "math:pi is float, which cannot be called"),
        ({"epsilon": {"call": "math:sqrt", "with": {"x": 1}}}, "keyword arguments"),
    ],
)
def test_wrong_parameters_of_a_function_are_told_as_such(parameters: Any, words: str) -> None:
    with pytest.raises(ParameterError) as told:
        audit("support.audited:noisy_count", 1.0, parameters=parameters, minutes=1)
    assert words in str(told.value)
    assert "--schema" not in str(told.value)


def test_a_refusal_in_a_run_is_told_as_it_is() -> None:
    class Late:
        def fit(self, X: Any, y: Any) -> None:
            raise Refusal("this cannot be made")

    with pytest.raises(Refusal, match="this cannot be made"):
        Target(Late).run(TABLE, None, ())


class Turning:
    """Shows what it learned only by what it does to points."""

    def fit(self, X: Any, y: Any) -> None:
        self._by = [lambda points: np.asarray(points) + len(y)]

    def transform(self, points: Any) -> Any:
        return self._by[0](points)


def test_points_are_transformed_even_if_no_predictions_are_asked_for() -> None:
    for wanted, only in ((("predictions",), None), ((), ["transform[0]"])):
        outputs = Target(Turning).run(TABLE, TABLE, wanted, only)
        assert outputs.numbers[outputs.names.index("transform[0]")] == 1.5
    assert "transform[0]" not in Target(Turning).run(TABLE, TABLE, (), ["other"]).names


def test_the_runner_needs_nothing_of_ours(tmp_path: Path) -> None:
    """It finds its files by path, from any folder."""
    code = f"import sys; sys.path.insert(0, {str(Path(runner.__file__).parent)!r}); import runner; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "runner" in done.stdout.split()
    assert "discreet" not in done.stdout.split()


class Large:
    """Holds more texts and numbers than are kept, and predicts."""

    def fit(self, X: Any, y: Any) -> None:
        self.parts_ = [{f"{each}": [float(each)] * 9} for each in range(250)]
        self.texts_ = [[f"{each}" for each in range(200)] for _ in range(20)]

    def predict(self, points: Any) -> Any:
        warnings.warn("a guess", stacklevel=1)
        return np.array([5.0, 6.0])


@pytest.mark.parametrize("python", ["/bin/ls", "-S"])
def test_an_interpreter_without_numpy_is_told_in_one_line(python: str, tmp_path: Path, capfd: Any) -> None:
    if python == "-S":  # an interpreter without the packages of its environment
        file = tmp_path / "python"
        file.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n', encoding="ascii")
        file.chmod(0o755)
        python = str(file)
    with pytest.raises(ParameterError, match="that has numpy") as told:
        audit("support.audited:noisy_count", 1.0, python=python, minutes=0.2)
    assert "\n" not in str(told.value)
    assert capfd.readouterr() == ("", "")


def test_an_import_takes_no_longer_than_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slowly.py").write_text("import time\ntime.sleep(60)\n", encoding="ascii")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    began = time.monotonic()
    with pytest.raises(ParameterError, match="--minutes"):
        audit("slowly:f", 1.0, minutes=0.05)
    assert time.monotonic() - began < 30


def test_predictions_of_a_large_model_are_seen() -> None:
    outputs = Target(Large).run(TABLE, TABLE, ("predictions",))
    assert outputs.numbers[outputs.names.index("predict[1]")] == 6
    assert "warns UserWarning: 'a guess'" in outputs.features
    assert any("further facts" in each for each in outputs.features)
    assert any("further numbers" in each for each in outputs.features)


def test_an_empty_frame_has_the_types_of_any_other() -> None:
    """What reads texts by their type would refuse it, and look as if it told empty tables apart."""
    schema = Schema([Numeric("age", 0, 1), Categorical("ward", ["a", "b"])], "ill", ["no", "yes"])
    some = empty(schema).holding([((0.5, "a"), "no")])
    types = [as_arguments(each.to_dict(), "frame")[0].dtypes.tolist() for each in (empty(schema), some)]
    assert types[0][0] == types[1][0] == np.dtype(float)
    NaiveBayes(schema.replace(records=40), epsilon=1.0).fit(*as_arguments(empty(schema).to_dict(), "frame"))
