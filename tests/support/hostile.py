"""Values, records and texts that refuse everything that reading might ask of them, or that lie."""

import datetime
import math
import uuid
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

ERRORS = (
    RuntimeError, TypeError, ValueError, KeyError, AttributeError, IndexError, StopIteration, RecursionError,
    MemoryError, OverflowError, ZeroDivisionError, OSError, AssertionError, NotImplementedError, EOFError,
)  # fmt: skip
METHODS = (
    "__hash__", "__eq__", "__ne__", "__bool__", "__float__", "__int__", "__index__", "__complex__", "__str__",
    "__repr__", "__len__", "__iter__", "__getitem__", "__array__", "__lt__", "__gt__", "__format__", "__bytes__",
    "__contains__", "__next__", "__call__", "__dlpack__", "__array_ufunc__", "__array_function__",
)  # fmt: skip
TEXT_METHODS = ("strip", "lower", "casefold", "encode", "split", "isdigit", "startswith", "join")
NUMBER_METHODS = ("imag", "real", "is_integer", "as_integer_ratio", "conjugate")


def raising(error, *names, base=object, **more):
    """A class whose methods and attributes of these names raise."""

    def refuse(self, *arguments, **options):
        raise error("the secret value 12345")

    members = {name: refuse if name.startswith("__") else property(refuse) for name in names}
    members.update({name: refuse for name in names if name in TEXT_METHODS})
    return type("Hostile", (base,), {**members, **more})


def lying_text(told, text="zzz"):
    """A text that has the hash of another one and equals everything."""
    members = {"__hash__": lambda self: hash(told), "__eq__": lambda self, other: True}
    return type("Liar", (str,), {**members, "__ne__": lambda self, other: False, "strip": lambda *_: told})(text)


def of_hostile_type():
    """A value whose type has a hash that raises, and equals every type."""

    class Kind(type):
        def __hash__(cls):
            raise RuntimeError("no")

        def __eq__(cls, other):
            return True

    return Kind("OfHostileType", (), {})()


def of_lying_type(told):
    """A value whose type has the hash of `told` and equals every type."""

    class Kind(type):
        def __hash__(cls):
            return hash(told)

        def __eq__(cls, other):
            return True

    return Kind("OfLyingType", (), {"__hash__": lambda self: hash("a"), "__eq__": lambda self, other: True})()


def pretending(kind):
    """A value that is not of that type and says it is."""
    return type("Pretender", (), {"__class__": property(lambda self: kind)})()


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


def endless():
    value = []
    value.append(value)
    return value


def structured():
    return np.array([(1, "a")], dtype=[("a", "i4"), ("b", "U1")])[0]


VALUES = {
    "writable memoryview": lambda: memoryview(bytearray(b"a")),
    "hash of one": raising(ValueError, "__hash__"),
    **{f"all methods, {error.__name__}": lambda error=error: raising(error, *METHODS)() for error in ERRORS},
    **{f"{method} alone": lambda method=method: raising(RuntimeError, method)() for method in METHODS},
    "class": raising(RuntimeError, "__class__", *METHODS),
    "any attribute": raising(RuntimeError, "__getattribute__", *METHODS),
    **{
        f"pretends to be {kind.__name__}": lambda kind=kind: pretending(kind)
        for kind in (str, float, int, bool, complex, bytes, list, dict, tuple, np.ndarray, np.float64, Decimal, type)
    },
    "text": lambda: raising(RuntimeError, *METHODS, *TEXT_METHODS, base=str)("a"),
    "text, StopIteration": lambda: raising(StopIteration, *METHODS, *TEXT_METHODS, base=str)("a"),
    "text like a": lambda: lying_text("a"),
    "text like b": lambda: lying_text("b"),
    "text like zzz": lambda: lying_text("zzz", "a"),
    "float": lambda: raising(RuntimeError, *METHODS, *NUMBER_METHODS, base=float)(1.0),
    "int": lambda: raising(RuntimeError, *METHODS, *NUMBER_METHODS, base=int)(1),
    "complex": lambda: raising(RuntimeError, *METHODS, *NUMBER_METHODS, base=complex)(1),
    "Decimal": lambda: raising(RuntimeError, *METHODS, *NUMBER_METHODS, base=Decimal)(1),
    "Fraction": lambda: raising(RuntimeError, "__float__", "__gt__", "__hash__", base=Fraction)(1),
    "UUID": lambda: raising(RuntimeError, *METHODS, base=uuid.UUID)(int=5),
    "of a hostile type": of_hostile_type,
    "of a type like str": lambda: of_lying_type(str),
    "of a type like float": lambda: of_lying_type(float),
    "signalling NaN": lambda: Decimal("sNaN"),
    "huge Decimal": lambda: Decimal("1e999999"),
    "huge int": lambda: 10**100_000,
    "huge negative int": lambda: -(10**100_000),
    "huge Fraction": lambda: Fraction(10**400, 7),
    "long digits": lambda: "9" * 40_000 + "x",
    "long number": lambda: "9" * 1_000_000,
    "spaces": lambda: " " * 1_000_000 + "a",
    "exponent": lambda: "1e" + "9" * 900,
    "surrogate": lambda: "\ud800",
    "NUL": lambda: "a\x00",
    "long s": lambda: "fal\u017fe",
    "nested tuple": lambda: nested(10_000),
    "endless list": endless,
    "list of lists": lambda: [[1, 2], [3]],
    "dict": lambda: {"a": 1},
    "set": lambda: {1},
    "record": lambda: {"c": "a", "n": 1, "y": "no"},
    "0-d array": lambda: np.array(1.0),
    "0-d array of objects": lambda: np.array(None, dtype=object),
    "array": lambda: np.array([1.0, 2.0]),
    "empty array": lambda: np.array([]),
    "masked": lambda: np.ma.masked,
    "structured": structured,
    "void": lambda: np.void(b"abc"),
    "timedelta64": lambda: np.timedelta64(1, "s"),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "timestamp": lambda: pd.Timestamp("2020-01-01"),
    "date": lambda: datetime.date(2020, 1, 1),
    "longdouble": lambda: np.longdouble("1e4000"),
    "series": lambda: pd.Series([1.0]),
    "frame": lambda: pd.DataFrame({"a": [1.0]}),
    "polars series": lambda: pl.Series([1.0]),
    "arrow array": lambda: pa.array([1.0]),
    "arrow scalar": lambda: pa.scalar("a"),
    "arrow text": lambda: undecodable([b"\xff"])[0],
    "generator": lambda: (each for each in [1]),
    "type": lambda: str,
    "bytes": lambda: b"\xff",
    "NaN": lambda: math.nan,
}
"""By name, made anew for each use: some of them change when they are looked at."""


class Record(Mapping):
    """A record as a mapping that refuses one question."""

    def __init__(self, error, refused):
        self._error, self._refused = error, refused

    def _answer(self, question, value):
        if question == self._refused:
            raise self._error("the secret value 12345")
        return value

    def __getitem__(self, name):
        return self._answer("getitem", {"c": "a", "n": 1.0, "y": "no"}[name])

    def get(self, name, default=None):
        return self._answer("get", self[name])

    def __iter__(self):
        return self._answer("iter", iter(("c", "n", "y")))

    def __len__(self):
        return self._answer("len", 3)

    def __contains__(self, name):
        return self._answer("contains", True)


class KeyThatRaises:
    """A key that collides with a name and cannot be compared."""

    def __init__(self, name):
        self._hash = hash(name)

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        raise RuntimeError("no")


def unending_row():
    def numbers(self):
        while True:
            yield "a"

    return type("Unending", (list,), {"__iter__": numbers})()


RECORDS = {
    **{
        f"mapping, {refused}, {error.__name__}": lambda error=error, refused=refused: Record(error, refused)
        for refused in ("getitem", "get", "iter", "len", "contains")
        for error in (RuntimeError, StopIteration, RecursionError)
    },
    "dict with a key that raises": lambda: {KeyThatRaises("c"): 1, KeyThatRaises("n"): 1, KeyThatRaises("y"): 1},
    "row that cannot be iterated": lambda: raising(RuntimeError, "__iter__", "__len__", base=list)(["a", 1.0]),
    "row without a length": lambda: raising(RuntimeError, "__len__", base=tuple)(["a", 1.0]),
    "row without an end": unending_row,
    "array of another shape": lambda: np.zeros((2, 2)),
    "masked row": lambda: np.ma.array([1.0, 2.0], mask=True),
    **{f"{name} for a record": make for name, make in VALUES.items() if "method" in name or "pretend" in name},
    "nothing": lambda: None,
}
"""Whole records of a list."""

BYTES = [b"\xff", b"a\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"no\xe9", b"\x80" * 40]
"""Texts that are not UTF-8; short ones and long ones are stored in different ways."""


def undecodable(values, kind=None):
    """An Arrow array of text that holds these bytes, None or texts, valid or not."""
    kind = kind or pa.string()
    wide = pa.types.is_large_string(kind)
    raw = [value.encode() if isinstance(value, str) else value for value in values]
    stored = pa.array(raw, pa.large_binary() if wide else pa.binary())
    return pa.Array.from_buffers(kind, len(stored), stored.buffers())
