"""Every kind of output is read, or at least named: a kind that nobody looks at would pass for private."""

from __future__ import annotations

import collections
import datetime
import functools
import types
from typing import Any

import numpy as np
import pytest

from discreet.audit import audit
from discreet.audit.inside.outputs import MOST_FEATURES, MOST_LOOKED_AT, MOST_NUMBERS, Outputs, said, short
from discreet.audit.structure import Structure


def seen(value: Any, path: str = "output") -> tuple[list[str], dict[str, float]]:
    outputs = Outputs()
    outputs.add(value, path)
    outputs.finish()
    return outputs.features, dict(zip(outputs.names, outputs.numbers, strict=True))


Randomly = type("Randomly", (), {"__init__": lambda self, number: setattr(self, "n_", number)})
Randomly.__module__ = "randomforest"


class Slotted:
    __slots__ = ("n_", "unset")

    def __init__(self, number: int) -> None:
        self.n_ = number


class OfClass:
    """What a fit learned is the class's, or comes from a property."""

    def __init__(self, number: int) -> None:
        type(self).learned_ = number  # type: ignore[attr-defined]
        self._kept: list[Any] = [lambda: number]

    @property
    def told_(self) -> int:
        return int(self._kept[0]())

    @functools.cached_property
    def cached_(self) -> int:
        return -self.told_


KINDS: dict[str, Any] = {
    "numpy's bool": lambda n: np.bool_(n % 2),
    "deque": lambda n: collections.deque([n]),
    "deque of texts": lambda n: collections.deque([f"{n}"]),
    "bytearray": lambda n: bytearray([n]),
    "memoryview": lambda n: memoryview(bytes([n])),
    "range": range,
    "date": lambda n: datetime.date(2020, 1, n),
    "span of time": datetime.timedelta,
    "numpy's date": lambda n: np.datetime64(n, "D"),
    "numpy's span": lambda n: np.timedelta64(n, "D"),
    "array of dates": lambda n: np.array([n], dtype="M8[D]"),
    "generator": lambda n: (each for each in [n]),
    "iterator": lambda n: iter([n]),
    "order of keys": lambda n: dict.fromkeys(["a", "b"] if n % 2 else ["b", "a"], 1),
    "values of a dictionary": lambda n: {"a": n}.values(),
    "proxy of a dictionary": lambda n: types.MappingProxyType({"a": n}),
    "slice": slice,
    "slots": Slotted,
    "namespace": lambda n: types.SimpleNamespace(n=n),
    "class of a module with a name like random": Randomly,
    "hidden by a mask": lambda n: np.ma.MaskedArray([1.0, 2.0], mask=[n % 2, 0]),
    "whole number of many digits": lambda n: (1 << 60) + n,
    "list with a number that no float is": lambda n: [n, 10**400],
    "attribute of a subclass of a list": lambda n: _with(type("L", (list,), {})([1]), n),
}


def _with(value: Any, number: int) -> Any:
    value.n_ = number
    return value


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_output_is_read(kind: str) -> None:
    assert seen(KINDS[kind](4)) != seen(KINDS[kind](5))
    assert seen(KINDS[kind](5)) == seen(KINDS[kind](5))


def test_results_of_the_class_and_of_properties_are_read() -> None:
    numbers = seen(OfClass(5), "")[1]
    assert numbers == {"learned_": 5.0, "told_": 5.0, "cached_": -5.0}


def test_labels_of_rows_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    numbers = seen(pandas.Series([0.5], index=[7]))[1]
    assert numbers["output.index[0]"] == 7
    assert numbers["output[0]"] == 0.5
    assert seen(pandas.DataFrame({"a": [0.5]}, index=[7]))[1]["output.index[0]"] == 7


def test_records_of_an_array_are_read_field_by_field() -> None:
    numbers = seen(np.array([(1, 0.5), (2, 1.5)], dtype=[("n", int), ("x", float)]))[1]
    assert numbers["output['n'][1]"] == 2
    assert numbers["sum of output['x']"] == 2


def test_objects_that_are_made_for_a_look_are_all_read() -> None:
    """The id of an object that is gone is given to the next one, which must be read too."""

    class Making:
        """Its parts are made anew whenever they are asked for."""

        @property
        def first_(self) -> Any:
            return types.SimpleNamespace(n=1)

        @property
        def second_(self) -> Any:
            return types.SimpleNamespace(n=2)

    numbers = seen(Making(), "")[1]
    assert numbers == {"first_.n": 1.0, "second_.n": 2.0}


@pytest.mark.parametrize("value", [object(), len, lambda: 1, np.random.default_rng(), np], ids=short)
def test_what_is_not_looked_at_is_named(value: Any) -> None:
    assert f"output: {type(value).__name__}, not looked at" in seen(value)[0]


def test_what_lies_too_deep_is_named() -> None:
    deep: Any = [1.5]
    for _ in range(10):
        deep = [deep]
    assert any("not looked at" in each for each in seen(deep)[0])


class Raising:
    """Raises whatever is asked of it."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    def __len__(self) -> int:
        raise BaseException("no length")

    def __hash__(self) -> int:
        return 1

    @property
    def to_numpy(self) -> Any:
        raise RuntimeError("too early")

    @property
    def told_(self) -> Any:
        raise KeyError("too early")


def test_what_cannot_be_read_is_named_and_the_rest_is_read() -> None:
    features, numbers = seen({"lazy": Raising(), Raising(): 2.0, "n": 3.0})
    assert "output['lazy'] cannot be read: RuntimeError" in features
    assert numbers["output['n']"] == 3.0
    assert len(numbers) == 2


def test_texts_of_what_has_none() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert short(Raising()) == "Raising without a text: RuntimeError"
    assert said(MuteError()) == "no message: RuntimeError"
    assert said(ValueError("x\udc80" * 200))


def test_texts_are_kept_up_to_a_limit_and_the_rest_is_told_by_a_checksum() -> None:
    def many(last: str, times: int) -> tuple[list[str], dict[str, float]]:
        return seen([[f"{each}" for each in range(200)] for _ in range(times)] + [[last]])

    one, other, more = many("a", 40)[0], many("b", 40)[0], many("a", 41)[0]
    assert len(one) <= MOST_FEATURES + 4
    assert "further facts: 6043" in one
    assert [each for each in one if each not in other and each.startswith("checksum of further facts")]
    assert set(one) ^ set(other) == {each for each in {*one, *other} if each.startswith("checksum")}
    assert "further facts: 6244" in more


def test_numbers_that_are_left_out_are_counted() -> None:
    features, numbers = seen([np.zeros(200) for _ in range(20)])
    assert len(numbers) == MOST_NUMBERS
    assert "further numbers: 2020, not looked at" in features


def test_a_look_at_a_million_values_ends() -> None:
    features, _ = seen([[[f"{one}"] * 200 for one in range(200)] for _ in range(200)])
    assert f"more than {MOST_LOOKED_AT} values: the rest is not looked at" in features
    assert len(features) <= MOST_FEATURES + 4


def test_a_loss_in_such_an_output_is_found() -> None:
    def order(X: Any, y: Any) -> Any:
        return collections.deque(["a"] * len(y))

    assert audit(order, 1.0, most_runs=800, seed=0, stages=[Structure()]).refuted
