"""What one run of a target shows: all that can be read of what it returns, as numbers and as facts.

Loaded by the runner, by path, in the target's own process; needs the standard library and numpy (Python 3.8 or later).
What is not read is named, so that nobody takes silence for privacy.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import functools
import itertools
import re
import types
import zlib
from collections import abc
from numbers import Complex, Number, Real
from typing import Any

import numpy as np

MOST_NUMBERS, MOST_FEATURES, MOST_LETTERS = 2000, 2000, 200_000
"""The most numbers and facts that are kept of one run, and the letters of these facts: memory is bounded."""
ROOM = 1000
"""Numbers and facts that are kept besides, of what comes after the attributes of a model."""
MOST_OF_ONE, DEEPEST, LONGEST_TEXT, MOST_LOOKED_AT = 256, 8, 120, 20_000
"""The most that is read of one array or list, and how deep; the most values that are looked at in a run."""
WHOLE = 1 << 53
"""From here on a number loses digits; it is shown as a text too."""
ADDRESS = re.compile(r"(?<=\bat )0x[0-9a-fA-F]{6,16}\b")
"""Addresses as Python shows objects, "<Thing object at 0x7f…>": they tell nothing of the records. No other number is
left out of a text, as it may be one of the records'."""
TOLD = (str, bytes, datetime.date, datetime.time, datetime.timedelta)
"""What is shown as a text."""
MACHINERY = ("numpy.random", "_thread", "threading", "_io", "random")
"""Modules whose objects hold no result: generators of randomness, locks, files."""
PLAIN = (Number, np.generic, np.ndarray, str, bytes, list, tuple, dict, set, frozenset, collections.deque)
"""Attributes of classes that may be results, if they are named like results; functions are not."""


class Outputs:
    """What one run shows: numbers with names, and features, which are facts that a run has or has not."""

    def __init__(self, only: Any = None) -> None:
        self.names: list[str] = []
        self.numbers: list[float] = []
        self.features: list[str] = []
        self.seen: dict[int, Any] = {}  # the objects too: the id of one that is gone is given to another
        self.only = only
        self._most_numbers, self._most_facts = MOST_NUMBERS, MOST_FEATURES
        self._looked_at = self._letters = self._numbers_more = self._facts_more = self._checksum = 0

    def fact(self, text: str) -> None:
        """Add a feature; after the first `MOST_FEATURES` it is only counted, and goes into a checksum."""
        self._letters += len(text)
        if len(self.features) < self._most_facts and self._letters <= MOST_LETTERS:
            self.features.append(text)
        else:
            self._facts_more += 1
            self._checksum = zlib.crc32(_encoded(text), self._checksum)

    def make_room(self) -> None:
        """Keep room for what comes after all that a model holds, such as predictions and warnings."""
        self._most_numbers = len(self.numbers) + ROOM
        self._most_facts = len(self.features) + ROOM
        self._letters = min(self._letters, MOST_LETTERS - ROOM * LONGEST_TEXT)

    def finish(self) -> None:
        """Say what was not kept."""
        if self._facts_more:
            self.features.append("further facts: {}".format(self._facts_more))
            self.features.append("checksum of further facts: {:08x}".format(self._checksum))
        if self._numbers_more:
            self.features.append("further numbers: {}, not looked at".format(self._numbers_more))
        if self._looked_at > MOST_LOOKED_AT:
            self.features.append("more than {} values: the rest is not looked at".format(MOST_LOOKED_AT))

    def add(self, value: Any, path: str, depth: int = 0) -> None:
        """Add everything that a value holds, in a stable order."""
        if not self._leads_to_wanted(path):
            return
        self._looked_at += 1
        if self._looked_at > MOST_LOOKED_AT:
            return
        try:
            self._add(value, path, depth)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # code of the target's, which may raise anything
            self._unread(path, error)

    def add_number(self, value: Any, path: str) -> None:
        if len(self.numbers) >= self._most_numbers:
            self._numbers_more += 1
            return
        if not isinstance(value, Real) and isinstance(value, Complex):
            self.add_number(value.imag, path + ".imag")
            value = value.real
        if isinstance(value, int) and abs(value) > WHOLE:
            self.fact("{} = {}".format(path, short(value)))
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        except TypeError:  # such as a span of time
            self.fact("{} = {}".format(path, short(value)))
            return
        self.names.append(path)
        self.numbers.append(number)

    def add_array(self, array: Any, path: str, depth: int) -> None:
        self.fact("{}: {} of shape {}".format(path, array.dtype, array.shape))
        if isinstance(array, np.ma.MaskedArray):
            self.add_array(np.ma.getmaskarray(array), path + ".mask", depth)
        if array.dtype.names:  # field by field
            for name in array.dtype.names:
                self.add(array[name], "{}[{!r}]".format(path, name), depth + 1)
            return
        flat = np.asarray(array).ravel()
        if array.dtype.kind in "biuf":
            numbers = flat.astype(np.float64)
            taken = numbers[: min(MOST_OF_ONE, max(0, self._most_numbers - len(self.numbers)))]
            self._numbers_more += min(MOST_OF_ONE, len(numbers)) - len(taken)
            self.names.extend("{}[{}]".format(path, place) for place in range(len(taken)))
            self.numbers.extend(taken.tolist())
            if len(numbers) > 1:
                with np.errstate(all="ignore"):
                    self.add_number(numbers.sum(), "sum of " + path)
        else:
            self._add_each(flat[:MOST_OF_ONE].tolist(), path, depth)

    def _leads_to_wanted(self, path: str) -> bool:
        """Whether a path leads to some number that is asked for, or lies below one."""
        return self.only is None or any(each.startswith(path) or path.startswith(each) for each in self.only)

    def _unread(self, path: str, error: Any) -> None:
        self.fact("{} cannot be read: {}".format(path or "the model", type(error).__name__))

    def _add(self, value: Any, path: str, depth: int) -> None:
        if isinstance(value, (bytearray, memoryview)):
            value = bytes(value)
        if value is None or isinstance(value, (bool, np.bool_)):
            self.fact("{} is {}".format(path, value))
        elif isinstance(value, np.ndarray):
            self.add_array(value, path, depth)
        elif isinstance(value, (Complex, np.number)) or type(value).__name__ == "Decimal":
            self.add_number(value, path)
        elif isinstance(value, (*TOLD, np.generic)):
            self.fact("{} = {}".format(path, short(value)))
        elif id(value) in self.seen:
            return
        elif depth >= DEEPEST or (path and _is_machinery(type(value))):  # type: ignore[arg-type]
            self.fact("{}: {}, not looked at".format(path, type(value).__name__))
        else:
            self.seen[id(value)] = value
            self._add_parts(value, path, depth)

    def _add_parts(self, value: Any, path: str, depth: int) -> None:
        if isinstance(value, abc.Mapping):
            self._add_mapping(value, path, depth)
        elif isinstance(value, (abc.Sequence, abc.Set, abc.ValuesView)):
            self._add_list(value, path, depth)
        elif isinstance(value, abc.Iterator):  # what comes after the first values may never end
            self.fact("{}: {}".format(path, type(value).__name__))
            self._add_each(list(itertools.islice(value, MOST_OF_ONE)), path, depth)
        elif hasattr(value, "to_numpy"):
            self._add_frame(value, path, depth)
            return
        else:
            self.fact("{}: {}".format(path, type(value).__name__))
            self._add_object(value, path, depth)
            return
        self._add_attributes(value, _held(value), path, depth)

    def _add_mapping(self, value: Any, path: str, depth: int) -> None:
        self.fact("{}: {} of {}".format(path, type(value).__name__, len(value)))
        keys = list(itertools.islice(value, MOST_OF_ONE))
        if len(keys) > 1:
            self.fact("{}: keys in the order {}".format(path, _cut(", ".join(map(short, keys)))))
        for key in keys:
            self.fact("{} has {}".format(path, short(key)))
            self.add(value[key], "{}[{}]".format(path, short(key)), depth + 1)

    def _add_list(self, value: Any, path: str, depth: int) -> None:
        self.fact("{}: {} of {}".format(path, type(value).__name__, len(value)))
        if isinstance(value, abc.Set):
            parts = sorted(value, key=short)
        else:
            whole = isinstance(value, (list, tuple, collections.deque))
            parts = list(value if whole else itertools.islice(value, MOST_OF_ONE))
        if parts and all(isinstance(each, (int, float, np.number)) for each in parts):
            with contextlib.suppress(OverflowError, TypeError, ValueError):  # then one by one
                self.add_array(np.asarray(parts, dtype=np.float64), path, depth)
                return
        self._add_each(parts[:MOST_OF_ONE], path, depth)

    def _add_each(self, parts: Any, path: str, depth: int) -> None:
        for place, each in enumerate(parts):
            self.add(each, "{}[{}]".format(path, place), depth + 1)

    def _add_frame(self, value: Any, path: str, depth: int) -> None:
        """A frame or a series: what its rows and columns are named may tell as much as what they hold."""
        self.fact("{}: {}".format(path, type(value).__name__))
        self.add([str(each) for each in getattr(value, "columns", ())], path + ".columns", depth + 1)
        for name in ("index", "name"):
            named: Any = getattr(value, name, None)
            if hasattr(named, "to_numpy"):
                named = named.to_numpy()
            if named is not None and not callable(named):
                self.add(named, "{}.{}".format(path, name), depth + 1)
        self.add(value.to_numpy(), path, depth + 1)

    def _add_object(self, value: Any, path: str, depth: int) -> None:
        held = _held(value) or _reduced(value)
        named = _results(type(value)) if depth < 2 else []
        if held or named:
            self._add_attributes(value, held, path, depth)
            for name in named:
                if name not in held:
                    self._add_result(value, name, path, depth)
        elif _is_told(type(value)):
            self.fact("{} = {}".format(path, short(value)))
        elif not hasattr(value, "__dict__"):
            self.fact("{}: {}, not looked at".format(path, type(value).__name__))

    def _add_attributes(self, value: Any, held: Any, path: str, depth: int) -> None:
        for name in held:
            if isinstance(name, str) and not name.startswith("__"):
                self.add(held[name], "{}.{}".format(path, name) if path else name, depth + 1)

    def _add_result(self, value: Any, name: str, path: str, depth: int) -> None:
        """A property, or an attribute of the class."""
        path = "{}.{}".format(path, name) if path else name
        if not self._leads_to_wanted(path):
            return
        try:
            found = getattr(value, name)
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:
            self._unread(path, error)
        else:
            self.add(found, path, depth + 1)


def short(value: Any) -> str:
    """A value as one line, without addresses; a long one is cut, and its checksum tells it from others."""
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return "{} without a text: {}".format(type(value).__name__, type(error).__name__)
    return _cut(ADDRESS.sub("…", text))


def said(error: Any) -> str:
    """What an exception or a warning says, as one line."""
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as other:
        return "no message: {}".format(type(other).__name__)
    return short(text)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else "{}… ({:08x})".format(text[:LONGEST_TEXT], zlib.crc32(_encoded(text)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=256)
def _is_machinery(kind: Any) -> bool:
    """Whether things of a type hold no result: code, modules, generators of randomness, locks, files."""
    home = any(str(kind.__module__) == each or str(kind.__module__).startswith(each + ".") for each in MACHINERY)
    called = hasattr(kind, "__get__") and not hasattr(kind, "__set__")  # functions, methods and what is like them
    return home or called or issubclass(kind, (type, types.ModuleType, types.BuiltinFunctionType))


def _is_told(kind: Any) -> bool:
    """Whether things of a type are shown as something else than their address."""
    return kind.__repr__ is not object.__repr__


def _held(value: Any) -> dict[str, Any]:
    """Names and values of the attributes of an object itself."""
    held = dict(getattr(value, "__dict__", None) or {})
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):  # it was never set
                held.setdefault(name, getattr(value, name))
    return held


def _reduced(value: Any) -> dict[str, Any]:
    """What an object of an extension type holds, such as a tree of scikit-learn, as far as a copy is made of it."""
    with contextlib.suppress(Exception):
        reduced = value.__reduce_ex__(2)
        if isinstance(reduced, str):  # the name of a constant
            return {}
        reduced = (*reduced, None, None, None)
        state = {} if reduced[2] is None else reduced[2]
        held = dict(state) if isinstance(state, dict) else {"state": state}
        arguments = [each for each in reduced[1] if not isinstance(each, type)]
        for name, parts in (("args", arguments), ("items", reduced[3]), ("keys", reduced[4])):
            kept = list(itertools.islice(parts or (), MOST_OF_ONE))
            if kept:
                held.setdefault(name, kept)
        return held
    return {}


def _results(kind: Any) -> list[str]:
    """Attributes and properties of a class that are named like results, "classes_": a fit may have set the former."""
    found = {}
    for each in reversed(kind.__mro__[:-1]):
        for name, value in list(vars(each).items()):
            if name.endswith("_") and not name.startswith("_"):
                found[name] = isinstance(value, (*PLAIN, property)) or hasattr(value, "attrname")  # a cached property
    return [name for name, is_result in found.items() if is_result]
