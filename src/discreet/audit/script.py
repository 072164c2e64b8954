"""A script of a few lines that repeats a finding with the target alone: discreet need not be installed."""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
from collections.abc import Iterator
from typing import Any

from discreet.audit.events import Event, Single
from discreet.audit.neighbours import Pair
from discreet.audit.plain_bound import bound, edge
from discreet.audit.runs import is_feature
from discreet.audit.tables import Table, probes
from discreet.audit.target import Target
from discreet.schema import Schema

MOST = 20_000
"""The longest script that is written: a longer one, such as a score of many numbers needs, nobody would read."""
CONFIDENCE = 0.999
"""How sure the bound is that a script prints."""
FEWEST, ENOUGH, LONGEST = 20, 1.5, 1_000_000
"""The fewest runs on each table that a script makes if nothing else is asked for, how many times as many as its bound
is likely to need, and the most."""
_PREDICTED = re.compile(r"(predict|predict_proba|decision_function|transform)(?:\[(\d+)\])?")
_UNTOLD = re.compile(r"^(?:prints|the process|its pickle|further|checksum of|more than)| cannot be read: ")
"""Features for which a script has no few lines."""
_OUTPUT = re.compile(r"(?:sum of )?output(?!\w)")
"""How the names of a function's numbers begin; those of an estimator are its attributes."""

HEAD = """\
# Repeats a finding: seen in {more} of {of} runs on the {table} table, in {less} of {other} on the other.
# The number of runs on each table may be given; more runs give a better bound: python repeat-1.py 10000
import math
import sys
{paths}
{imports}
import numpy as np
from numpy import inf, nan


{helpers}def run(X, y):
{run}


def seen(X, y):
{body}


first = {first}
second = {second}
runs = int(sys.argv[1]) if len(sys.argv) > 1 else {runs}
counts = []
for X, y in (first, second):
    counts.append(sum(bool(seen(X, y)) for _ in range(runs)))
    print(counts[-1], "of", runs, "runs")


{bound}

loss = bound({more_of}, {less_of}, runs, {delta!r}, 1 - {confidence})
print("epsilon is at least", math.floor(100 * loss) / 100, "with confidence {confidence}")
"""

HELPERS = {
    "number": """\
def number(get):
    try:
        value = get()
        return float(getattr(value, "real", value))
    except OverflowError:
        return inf
    except Exception:  # a run may lack this number
        return nan
""",
    "item": """\
def item(held, place):  # the numbers of an array are counted through all its axes
    return held[place] if isinstance(held, (dict, list, tuple)) else array(held).ravel()[place]
""",
    "array": """\
def array(held):
    held = held.to_numpy() if hasattr(held, "to_numpy") else held
    held = sorted(held, key=repr) if isinstance(held, (set, frozenset)) else held
    return held if isinstance(held, np.ndarray) else np.asarray(held, dtype=float)
""",
    "predicted": """\
def predicted(values):  # classes that are no numbers are told apart by checksums
    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        return values
    texts = [repr(each).encode("utf-8", "backslashreplace") for each in values.ravel().tolist()]
    return np.array([zlib.crc32(each) for each in texts], dtype=float)
""",
}
"""What scripts may need; each is written where it is used."""


def script(
    target: Target,
    schema: Schema,
    pair: Pair,
    event: Event | str,
    counts: tuple[tuple[int, int], tuple[int, int]],
    is_function: bool | None = None,
    claim: tuple[float, float] = (0.0, 0.0),
) -> str:
    """The script; "" for a callable of this process, and for tables or targets that no few lines can make.

    Parameters
    ----------
    event : an event about numbers, or a feature of runs.
    counts : how often the event was seen: times and runs on the first table, and on the second.
    is_function : whether the target is a function of (X, y), as its process says; None if it was not asked: then the
        names of the numbers tell.
    claim : the claimed ε and δ: the script makes as many runs as are likely to show more.
    """
    names = [] if isinstance(event, str) else event.names
    if isinstance(event, Single) and is_feature(event.name) and event.value == 1:
        event = event.name[1:-1]
    elif any(map(is_feature, names)):
        return ""
    module = target.name.partition(":")[0]
    if target.call is not None or target.form not in ("auto", "array") or "categorical" in pair.first.kinds:
        return ""
    if module.partition(".")[0] == "discreet":  # ours need a schema: the command that made the report is shorter
        return ""
    if is_function is None:
        is_function = all(map(_OUTPUT.match, [event] if isinstance(event, str) else event.names))
    try:
        bodies = _run_body(target, is_function), _body(event, is_function)
        text = _written(target, schema, pair, counts, *bodies, claim)
        ast.parse(text)
    except (SyntaxError, ValueError):  # a name or key that is no code, such as that of an object without a text
        return ""
    return text if len(text) <= MOST else ""


def _written(
    target: Target,
    schema: Schema,
    pair: Pair,
    counts: tuple[tuple[int, int], tuple[int, int]],
    run: str,
    body: str,
    claim: tuple[float, float],
) -> str:
    """The script whose functions have these lines."""
    swapped = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
    (more, of), (less, other) = counts[::-1] if swapped else counts
    used, helpers = body, []
    for name, code in HELPERS.items():
        if re.search(rf"\b{name}\(", used):
            used += code
            helpers.append(code)
    if re.search(r"\bpoints\b", body):
        helpers.insert(0, f"points = np.array({[list(row) for row, _ in probes(schema).records]})\n")
    modules = {target.name.partition(":")[0], *_modules(list(target.parameters.values()))}
    modules |= {name for name in ("pickle", "warnings", "zlib") if f"{name}." in used}
    return HEAD.format(
        paths="".join(f"\n{each}" for each in _paths(modules)),
        bound=f"{inspect.getsource(edge)}\n\n{inspect.getsource(bound)}",
        delta=claim[1],
        confidence=CONFIDENCE,
        more_of=f"counts[{int(swapped)}]",
        less_of=f"counts[{1 - int(swapped)}]",
        more=more,
        of=of,
        less=less,
        other=other,
        table="second" if swapped else "first",
        imports="\n".join(f"import {each}" for each in sorted(modules)),
        helpers="".join(f"{each}\n\n" for each in helpers),
        run=run,
        body=body,
        first=_arguments(pair.first),
        second=_arguments(pair.second),
        runs=_runs((more / of, less / other), max(of, other), claim),
    )


def _paths(modules: set[str]) -> Iterator[str]:
    """A line for each folder that modules lie in and that a script does not search: it searches its own, while an audit
    searches the current one and those of PYTHONPATH."""
    searched = [os.getcwd(), *(each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each)]
    found: dict[str, str] = {}
    for module in sorted(modules):
        top = module.partition(".")[0]
        for folder in map(os.path.abspath, searched):
            if os.path.isdir(os.path.join(folder, top)) or os.path.isfile(os.path.join(folder, f"{top}.py")):
                found.setdefault(folder, top)
                break
    for folder, top in found.items():
        yield f"sys.path.insert(0, {folder!r})  # where {top} lies; change it if that is elsewhere"


def _runs(rates: tuple[float, float], tested: int, claim: tuple[float, float]) -> int:
    """Runs on each table after which the bound of a script is likely to be above the claim, if the audit's rates are
    true; as many as the audit made if that is not in sight."""
    runs, risk = FEWEST, 1 - CONFIDENCE
    while runs < LONGEST and bound(rates[0] * runs, rates[1] * runs, runs, claim[1], risk) <= claim[0]:
        runs = math.ceil(1.3 * runs)
    return min(max(FEWEST, tested), LONGEST) if runs >= LONGEST else math.ceil(ENOUGH * runs)


def _run_body(target: Target, is_function: bool) -> str:
    """The lines of one run; `fit` need not return the model."""
    called = target.name.replace(":", ".")
    given = [f"{name}={_literal(value)}" for name, value in target.parameters.items()]
    if is_function:
        return f"    return {called}({', '.join(['X', 'y', *given])})"
    return f"    model = {called}({', '.join(given)})\n    model.fit(X, y)\n    return model"


def _body(event: Event | str, is_function: bool) -> str:
    """The lines that look for an event; ValueError for features that a few lines cannot look for."""
    return _feature_body(event, is_function) if isinstance(event, str) else _event_body(event, is_function)


def _event_body(event: Event, is_function: bool) -> str:
    """The lines that read the numbers of an event off one run."""
    held = "output" if is_function else "model"
    lines = ["    try:", f"        {held} = run(X, y)", "    except Exception:  # then it shows no numbers"]
    lines += [f"        {held} = None", "    v = {"]
    lines += [f"        {name!r}: number(lambda: {_access(name, is_function)})," for name in event.names]
    return "\n".join([*lines, "    }", f"    return {event.code()}"])


def _feature_body(feature: str, is_function: bool) -> str:
    """The lines that look for a feature in one run."""
    ended = re.fullmatch(r"(?:raises (\w+)|exits)(?:: (.*))?", feature, re.DOTALL)
    warned = re.fullmatch(r"warns (\w+): (.*)", feature, re.DOTALL)
    refused = re.fullmatch(rf"({_PREDICTED.pattern}) raises (\w+)(?:: (.*))?", feature, re.DOTALL)
    if ended:
        said = "error.code" if ended[1] is None else "str(error)"
        return _raising("run(X, y)", _is_error(ended[1] or "SystemExit", ended[2], said))
    if refused:
        lines = ["    try:", "        model = run(X, y)", "    except Exception:", "        return False"]
        test = _is_error(refused[4], refused[5], "str(error)")
        return "\n".join([*lines, _raising(f"model.{refused[1]}(points)", test)])
    if warned:
        test = f"each.category.__name__ == {warned[1]!r} and {_is_text('str(each.message)', warned[2])}"
        lines = ["    with warnings.catch_warnings(record=True) as warned:", "        warnings.simplefilter('always')"]
        lines += ["        try:", "            run(X, y)", "        except Exception:", "            pass"]
        return "\n".join([*lines, f"    return any({test} for each in warned)"])
    held = "output" if is_function else "model"
    lines = ["    try:", f"        {held} = run(X, y)", f"        return {_test(feature, is_function)}"]
    return "\n".join([*lines, "    except Exception:  # then it shows nothing like that", "        return False"])


def _raising(code: str, test: str) -> str:
    lines = ["    try:", f"        {code}", "    except BaseException as error:", f"        return {test}"]
    return "\n".join([*lines, "    return False"])


def _is_error(kind: str, text: str | None, said: str) -> str:
    """Whether an error is of this type, and what it says is shown as this text."""
    same = "" if text is None else f" and {_is_text(said, text)}"
    return f"type(error).__name__ == {kind!r}{same}"


def _is_text(code: str, text: str) -> str:
    """Whether the value of an expression is shown as this text, of which "…" stands for what was left out."""
    start, cut, _ = text.partition("…")
    return f"repr({code}).startswith({start!r})" if cut else f"repr({code}) == {text!r}"


def _test(feature: str, is_function: bool) -> str:
    """An expression that tells whether a run has a feature of what it holds or predicts."""
    shape = re.fullmatch(r"(.*?): (.+) of shape (\([\d, ]*\))", feature)
    if shape:
        predicted = _PREDICTED.fullmatch(shape[1])
        place = _rooted(shape[1], is_function)
        array = f"predicted(model.{predicted[1]}(points))" if predicted and not is_function else f"array({place})"
        return f"(str({array}.dtype), {array}.shape) == ({shape[2]!r}, {shape[3]})"
    text = re.fullmatch(r"(.+?) = (b?['\"].*)", feature, re.DOTALL)
    if text:
        return _is_text(_rooted(text[1], is_function), text[2])
    key = re.fullmatch(r"(.*?) has (.+)", feature, re.DOTALL)
    if key:
        return f"any({_is_text('each', key[2])} for each in {_rooted(key[1], is_function)})"
    fixed = re.fullmatch(r"(.+) is (None|True|False)", feature)
    if fixed:
        return f"{_rooted(fixed[1], is_function)} is {fixed[2]}"
    kind = re.fullmatch(r"(.*?): (\w+)(?: of (\d+))?", feature)
    if kind is None or _UNTOLD.search(feature):
        raise ValueError("no few lines can look for this feature")
    place = _rooted(kind[1], is_function)
    size = "" if kind[3] is None else f" and len({place}) == {kind[3]}"
    return f"type({place}).__name__ == {kind[2]!r}{size}"


def _access(name: str, is_function: bool) -> str:
    """The number of a name as an expression."""
    if name == "size of its pickle" and not is_function:
        return "nan if model is None else len(pickle.dumps(model))"
    path = name.removeprefix("sum of ")
    predicted = None if is_function else _PREDICTED.fullmatch(path)
    whole = f"predicted(model.{predicted[1]}(points))" if predicted else _rooted(path, is_function)
    if path != name:
        return f"array({whole}).astype(float).sum()"
    return f"{whole}.ravel()[{predicted[2]}]" if predicted and predicted[2] else whole


def _rooted(path: str, is_function: bool) -> str:
    """The place that a path names, as an expression about the output or the model of a run."""
    root = path if is_function else f"model{path}" if path[:1] in ("", "[") else f"model.{path}"
    return ast.unparse(_Items().visit(ast.parse(root, mode="eval")))


class _Items(ast.NodeTransformer):
    """Reads places by `item`: runs count the numbers of an array through all its axes, and sort sets."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return ast.Call(ast.Name("item", ast.Load()), [node.value, node.slice], [])
        return node


def _literal(value: Any) -> str:
    """A parameter as code; see `runner` for how tuples and calls are written as plain data."""
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return "(" + "".join(f"{_literal(each)}, " for each in value["tuple"]).rstrip(" ") + ")"
    if isinstance(value, dict) and "call" in value and set(value) <= {"call", "with"}:
        inner = ", ".join(f"{name}={_literal(each)}" for name, each in value.get("with", {}).items())
        return f"{value['call'].replace(':', '.')}({inner})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_literal(each)}" for name, each in value.items()) + "}"
    return "[" + ", ".join(map(_literal, value)) + "]" if isinstance(value, list) else repr(value)


def _modules(value: Any) -> Iterator[str]:
    """The modules that calls among parameters need: "a.b" for "a.b:C"."""
    if isinstance(value, dict):
        if isinstance(value.get("call"), str) and set(value) <= {"call", "with"}:
            yield value["call"].partition(":")[0]
        value = list(value.values())
    for each in value if isinstance(value, list) else ():
        yield from _modules(each)


def _arguments(table: Table) -> str:
    """X and y as code, as the runner makes them."""
    rows = [f"[{', '.join(map(_value, values))}]" for values, _ in table.records]
    labels = [_value(label) if isinstance(label, float) else repr(label) for _, label in table.records]
    if not rows:
        return f"np.empty((0, {len(table.names)})), np.empty(0, dtype={table.label_kind!r})"
    kinds = {type(label) for _, label in table.records}
    kind = "" if kinds <= {int, bool} or kinds <= {str} else ", dtype=object"
    many = len(rows) > 1 and len({*rows}) == 1 and len({*labels}) == 1
    X, y = (f"[{each[0]}] * {len(each)}" if many else f"[{', '.join(each)}]" for each in (rows, labels))
    return f"np.array({X}, dtype=float), np.array({y}{kind})"


def _value(value: Any) -> str:
    return "nan" if value is None or (isinstance(value, float) and math.isnan(value)) else repr(value)
