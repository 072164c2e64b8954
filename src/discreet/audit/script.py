"""A script of a few lines that repeats a finding with the target alone: discreet need not be installed."""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from discreet.audit import runner
from discreet.audit.events import Event, Single
from discreet.audit.neighbours import Pair
from discreet.audit.plain_bound import bound, edge
from discreet.audit.runs import LOWEST_BIT, is_feature
from discreet.audit.script_calls import arguments, call, form_of, modules, points
from discreet.audit.tables import probes
from discreet.audit.target import Target
from discreet.errors import ParameterError
from discreet.schema import Schema

if TYPE_CHECKING:
    from discreet.audit.session import Session

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
Counts: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""How often an event was seen: times and runs on the first table, and on the second."""

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
    "lowest_bit": """\
def lowest_bit(value):  # the exponent of the lowest bit that is 1; 0 and infinities have none
    value = float(getattr(value, "real", value))
    if math.isnan(value) or math.isinf(value) or value == 0:
        return nan if math.isnan(value) else 5000.0 if value == 0 else 10000.0
    mantissa, exponent = math.frexp(value)
    whole = abs(int(math.ldexp(mantissa, 53)))
    return (whole & -whole).bit_length() - 54 + exponent
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


def repeated(session: Session, pair: Pair, event: Event, counts: Counts) -> str:
    """The script of a finding; "" for a callable of this process and for a service; for what is ours, or needs a schema
    of ours, the command that made the report is shorter."""
    target, claim = session.target, (session.claim.epsilon, session.claim.delta)
    if session.given or target.call is not None or target.name.partition(":")[0].partition(".")[0] == "discreet":
        return ""
    try:
        takes, is_given_schema = session.takes()
    except ParameterError:
        return ""
    return "" if is_given_schema else script(target, session.schema, pair, event, counts, takes, claim)


def script(
    target: Target,
    schema: Schema,
    pair: Pair,
    event: Event | str,
    counts: Counts,
    takes: str,
    claim: tuple[float, float] = (0.0, 0.0),
) -> str:
    """The script; "" for events that no few lines can look for.

    Parameters
    ----------
    event : an event about numbers, or a feature of runs.
    counts : how often the event was seen.
    takes : what the target is called with, as its process says.
    claim : the claimed ε and δ: the script makes as many runs as are likely to show more.
    """
    names = [] if isinstance(event, str) else event.names
    if isinstance(event, Single) and is_feature(event.name) and event.value == 1:
        event = event.name[1:-1]
    elif any(map(is_feature, names)):
        return ""
    try:
        body = _body(event, takes != runner.ESTIMATOR)
        text = _written(target, schema, pair, counts, takes, body, claim)
        ast.parse(text)
    except (SyntaxError, ValueError):  # a name or key that is no code, such as that of an object without a text
        return ""
    return text if len(text) <= MOST else ""


def _written(
    target: Target,
    schema: Schema,
    pair: Pair,
    counts: Counts,
    takes: str,
    body: str,
    claim: tuple[float, float],
) -> str:
    """The script that looks for an event by these lines."""
    form = form_of(target, pair.first, takes)
    swapped = counts[1][0] * counts[0][1] > counts[0][0] * counts[1][1]
    (more, of), (less, other) = counts[::-1] if swapped else counts
    used, helpers = body, []
    for name, code in HELPERS.items():
        if re.search(rf"\b{name}\(", used):
            used += code
            helpers.append(code)
    if re.search(r"\bpoints\b", body):
        helpers.insert(0, f"points = {points(probes(schema), form)}\n")
    imported = modules(target, form) | {name for name in ("pickle", "warnings", "zlib") if f"{name}." in used}
    return HEAD.format(
        paths="".join(f"\n{each}" for each in _paths(imported)),
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
        imports="\n".join(f"import {each}" for each in sorted(imported)),
        helpers="".join(f"{each}\n\n" for each in helpers),
        run=call(target, pair.first, takes),
        body=body,
        first=arguments(pair.first, form),
        second=arguments(pair.second, form),
        runs=_runs((more / of, less / other), max(of, other), claim),
    )


def _paths(imported: set[str]) -> Iterator[str]:
    """A line for each folder that modules lie in and that a script does not search: it searches its own, while an audit
    searches the current one and those of PYTHONPATH."""
    searched = [os.getcwd(), *(each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each)]
    found: dict[str, str] = {}
    for module in sorted(imported):
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
    if name.startswith(LOWEST_BIT):
        return f"lowest_bit({_access(name.removeprefix(LOWEST_BIT), is_function)})"
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
