"""Watch the samplers of a target while it runs: what enters the noise on a table, and on its neighbour.

Run by path in the target's own process; needs the standard library and numpy (Python 3.8 or later). Nobody has to
decorate code: the mechanisms of diffprivlib, OpenDP and discreet and the samplers of numpy are wrapped while it runs.
The neighbour is given the outputs that the table got, so that whatever depends on earlier outputs is equal too; then
the values that entered can be compared with the noise, call by call.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import sys
import warnings
from typing import Any

import numpy as np

NUMPY = ("laplace", "normal", "standard_normal", "geometric", "exponential", "gumbel", "standard_cauchy", "logistic")
"""Samplers of numpy that noise is made with."""
BY_LARGEST = ("PermuteAndFlip", "Exponential")
"""Choices, whose loss is how far scores moved apart, over the scale: what moves all of them alike shows nothing, and
one that rises while another falls shows both."""
MOST_CHOICES = 12
"""More than this many choices are not summed up."""
BY_SUM = (
    *("Laplace", "LaplaceTruncated", "LaplaceFolded", "LaplaceBoundedDomain"),
    *("Geometric", "GeometricTruncated", "GeometricFolded", "Binary"),
    *("DiscreteLaplace", "Measurement", "laplace"),
)
"""Noise whose loss is the sum of the differences over the scale. All other laws are not known here."""


class Tape:
    """The calls of one run, in order; with `given`, outputs of an earlier run are given out again."""

    def __init__(self, given: Any = None) -> None:
        calls: Any = []
        self.calls, self.given, self.inside = calls, given, 0

    def through(self, kind: Any, entered: Any, scale: Any, draw: Any) -> Any:
        """Call a sampler; nested calls of samplers by samplers are not recorded."""
        if self.inside:
            return draw()
        self.inside += 1
        try:
            place, left = len(self.calls), draw()
        finally:
            self.inside -= 1
        if self.given is not None and place < len(self.given) and self.given[place][0] == kind:
            left = self.given[place][3]
        self.calls.append((kind, entered, scale, left))
        return left


TAPE = [Tape()]
"""The tape that is running; wrapped samplers look here."""


def operations(runner: Any) -> Any:
    """What the runner of a target can be asked besides runs."""

    def replay(request: Any, send: Any) -> Any:
        first, second = request["tables"]
        return {"found": replay_pair(runner.target, first, second, request["claim"])}

    return {"replay": replay}


REPEATS = 8
"""How often the first table is run again on a pair that looks as if the noise allowed more than is claimed."""


def replay_pair(target: Any, first: Any, second: Any, claim: float = 0.0) -> Any:
    """What the noise protects between two tables: each call's kind, loss and values, and what is seen of the results.

    `loss` is the sum over calls of the loss between the values that entered, by the law of the noise: an upper bound
    for this pair if all randomness was watched and nothing is published around the noise. Where it is above the claim,
    the first table is run again: what differs then too, such as the inputs of noise in a tree that is drawn by other
    randomness, tells nothing of the pair and is not counted. `leak` is True if the results differ although every noisy
    answer was equal; None if they differ even when one table is run twice.
    """
    try:
        with watching(target.made):
            calls, seen = _run(target, first, None)
            repeated = [_run(target, first, calls)]
            others, other = _run(target, second, calls)
            steps = [compare(*pair) for pair in zip(calls, others)]  # noqa: B905 - Python 3.8
            same = _kinds(calls) == _kinds(others)
            if not same or sum(step["loss"] for step in steps) > claim:
                repeated += [_run(target, first, calls) for _ in range(REPEATS)]
    except Exception as error:
        return {"raised": "%s: %s" % (type(error).__name__, str(error)[:200])}
    for again, _ in repeated:
        if _kinds(again) != _kinds(calls):  # then nothing can be compared call by call
            steps, same = [_varying(kind) for kind in _kinds(calls)], True
            break
        for place, pair in enumerate(zip(calls[: len(steps)], again)):  # noqa: B905
            if compare(*pair)["loss"] > 0:
                steps[place] = _varying(pair[0][0])
    loss = sum(step["loss"] for step in steps) if same else math.inf
    unseen = any(call[0].startswith("numpy.") for call in calls)  # what such noise is added to cannot be seen
    varied = any(seen != again for _, again in repeated)
    return {
        "calls": len(calls),
        "same_calls": same,
        "loss": loss if loss < math.inf else None,
        "typical": sum(step.get("typical", step["loss"]) for step in steps) if same and loss < math.inf else None,
        "why": [step["why"] for step in steps if step["loss"] == math.inf or step["loss"] > 0][:8],
        "unknown": sorted({step["kind"] for step in steps if step.get("unknown")}),
        "leak": None if varied or unseen else bool(calls and seen != other),
    }


def _kinds(calls: Any) -> Any:
    return [call[0] for call in calls]


def _varying(kind: str) -> Any:
    return {"kind": kind + ", whose inputs vary by themselves", "loss": 0.0, "why": "", "unknown": True}


def compare(first: Any, second: Any) -> Any:
    """The loss of one call between two inputs: by the law of the noise, or infinite if the noise itself differs."""
    kind, entered, scale, _ = first
    law = kind.split(".")[-1]
    try:
        before, after = np.asarray(entered, dtype=float), np.asarray(second[1], dtype=float)
    except (TypeError, ValueError):
        return {"kind": kind, "loss": 0.0, "why": "its law is not known here", "unknown": True}
    if kind != second[0] or before.shape != after.shape:
        return {"kind": kind, "loss": math.inf, "why": "different calls"}
    if repr(scale) != repr(second[2]):
        return {"kind": kind, "loss": math.inf, "why": "the noise depends on the data: %r, %r" % (scale, second[2])}
    moved = np.abs(before - after)
    if not moved.any():
        return {"kind": kind, "loss": 0.0, "why": ""}
    if law not in BY_SUM + BY_LARGEST:
        return {"kind": kind, "loss": 0.0, "why": "its law is not known here", "unknown": True}
    distance = float(np.ptp(after - before) if law in BY_LARGEST else moved.sum())
    rate = scale[0] if isinstance(scale, tuple) else scale
    loss = math.inf if not rate or rate != rate else distance / rate
    typical = loss
    if loss < math.inf:
        typical = divergence(before, after, rate) if law in BY_LARGEST else _typical(moved / rate)
    return {"kind": kind, "loss": loss, "typical": typical, "why": "moved by %g, noise of scale %g" % (distance, rate)}


def _typical(shifts: Any) -> Any:
    """The average loss of Laplace noise that is shifted; shifts are given as multiples of its scale."""
    return float(np.sum(shifts + np.exp(-shifts) - 1))


def divergence(before: Any, after: Any, rate: Any) -> Any:
    """The average of the loss over the choices that are made, the larger of the two directions."""
    first, second = choices(before, rate), choices(after, rate)
    if first is None or second is None:
        return float(np.ptp(after - before) / rate)
    ratio = np.log(np.maximum(first, 1e-300)) - np.log(np.maximum(second, 1e-300))
    return float(max((first * ratio).sum(), -(second * ratio).sum()))


def choices(scores: Any, rate: Any) -> Any:
    """The probability of each choice by permute-and-flip; None if there are too many. Coins come up with the
    probability exp((score - best) / rate), in random order: the sum is over the sets of others that came earlier."""
    scores = np.ravel(scores)
    if not 1 <= len(scores) <= MOST_CHOICES:
        return None
    coins = np.exp((scores - scores.max()) / rate)
    found = np.zeros(len(coins))
    for place, coin in enumerate(coins):
        sums = np.array([1.0])  # by size of the set: elementary symmetric sums of the others' coins
        for other in np.delete(coins, place):
            sums = np.append(sums, 0.0) + np.append(0.0, sums * other)
        signs = (-1.0) ** np.arange(len(sums)) / (1 + np.arange(len(sums)))
        found[place] = coin * float((sums * signs).sum())
    return np.clip(found, 0.0, 1.0)


def _run(target: Any, table: Any, given: Any) -> Any:
    np.random.seed(20230516)  # noqa: NPY002 - thresholds and shuffles that are no noise are the same in all runs
    TAPE[0] = Tape(given)
    with sys.modules[type(target).__module__].alone(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not target.is_estimator:
            result = target.call(table)
        else:
            result = target.make()
            result.fit(*target.arguments(table))
    known = result.get_params(deep=False) if hasattr(result, "get_params") else {}
    shown = {name: each for name, each in vars(result).items() if name not in known} if known else result
    return TAPE[0].calls, _plain(shown, 0)


@contextlib.contextmanager
def watching(made: Any) -> Any:
    """Wrap every sampler that the target could use, until the end of the block."""
    undo = []

    def replace(owner: Any, name: Any, new: Any) -> Any:
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    try:
        _watch_numpy(replace, made)
        for package, watch in ADAPTERS.items():
            if package in sys.modules:
                watch(replace)
        yield
    finally:
        for owner, name, old in reversed(undo):
            setattr(owner, name, old)


def _watch_numpy(replace: Any, made: Any) -> Any:
    def wrapped(name: Any, original: Any) -> Any:
        def draw(*args: Any, **keywords: Any) -> Any:
            loc, scale = _numpy_law(name, args, keywords)
            return TAPE[0].through("numpy." + name, loc, scale, lambda: original(*args, **keywords))

        return draw

    package = (getattr(made, "__module__", None) or "").split(".")[0]
    own = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == package]
    for name in NUMPY:
        original = getattr(np.random, name)
        for owner in [np.random, *own]:  # a module of the target may have bound the function itself
            if getattr(owner, "__dict__", {}).get(name) is original or owner is np.random:
                replace(owner, name, wrapped(name, original))

    def watched(kind: Any) -> Any:
        body = {}
        for name in NUMPY:
            if hasattr(kind, name):

                def method(self: Any, *args: Any, _name: Any = name, **keywords: Any) -> Any:
                    loc, scale = _numpy_law(_name, args, keywords)
                    draw = lambda: getattr(super(type(self), self), _name)(*args, **keywords)  # noqa: E731
                    return TAPE[0].through("numpy." + _name, loc, scale, draw)

                body[name] = method
        return type(kind.__name__, (kind,), body)

    generator = watched(np.random.Generator)
    original = np.random.default_rng
    fixed = lambda seed=None: generator(original(20230516 if seed is None else seed).bit_generator)  # noqa: E731
    replace(np.random, "default_rng", fixed)


def _numpy_law(name: Any, args: Any, keywords: Any) -> Any:
    """Location and scale among the arguments of a numpy sampler; standard ones have 0 and 1."""
    if name.startswith("standard"):
        return 0.0, 1.0
    if name in ("geometric", "exponential"):
        return 0.0, _number(args[0] if args else keywords.get("p", keywords.get("scale", 1.0)))
    loc = args[0] if args else keywords.get("loc", 0.0)
    return loc, _number(args[1] if len(args) > 1 else keywords.get("scale", 1.0))


def _number(scale: Any) -> Any:
    return float(scale) if np.ndim(scale) == 0 else tuple(np.ravel(scale).tolist())


def _watch_diffprivlib(replace: Any) -> Any:
    mechanisms = importlib.import_module("diffprivlib.mechanisms")

    def wrapped(kind: Any, original: Any) -> Any:
        def randomise(self: Any, *value: Any) -> Any:
            entered = value[0] if value and value[0] is not None else list(getattr(self, "utility", None) or [0])
            law = _diffprivlib_law(self)
            return TAPE[0].through("diffprivlib." + kind.__name__, entered, law, lambda: original(self, *value))

        return randomise

    for kind in vars(mechanisms).values():
        if isinstance(kind, type) and "randomise" in vars(kind):
            replace(kind, "randomise", wrapped(kind, vars(kind)["randomise"]))


def _diffprivlib_law(mechanism: Any) -> Any:
    """Scale first, then whatever else shapes the noise: all of it must be free of the data."""
    epsilon, sensitivity = mechanism.epsilon, float(getattr(mechanism, "sensitivity", 1.0) or 0.0)
    if type(mechanism).__name__ in BY_LARGEST and not getattr(mechanism, "monotonic", False):
        sensitivity *= 2  # scores may move in both directions, and the mechanism allows for it
    rate = sensitivity / (epsilon - math.log(1 - getattr(mechanism, "delta", 0.0) or 1.0)) if epsilon else 0.0
    return (rate, getattr(mechanism, "lower", None), getattr(mechanism, "upper", None), mechanism.epsilon)


def _watch_opendp(replace: Any) -> Any:
    measurement = importlib.import_module("opendp.mod").Measurement
    original = measurement.__call__

    def call(self: Any, arg: Any) -> Any:
        scale = 1.0
        with contextlib.suppress(Exception):
            scale = 1.0 / float(self.map(1))
        return TAPE[0].through("opendp.Measurement", arg, scale, lambda: original(self, arg))

    replace(measurement, "__call__", call)
    replace(measurement, "invoke", call)


def _watch_discreet(replace: Any) -> Any:
    kinds = importlib.import_module("discreet.privacy.mechanisms")

    def wrapped(kind: Any, original: Any) -> Any:
        def perturb(self: Any, entered: Any, *rest: Any) -> Any:
            copied = entered.copy() if hasattr(entered, "copy") else entered
            scale = getattr(self, "scale", None)
            law = (float(scale), repr(self)) if isinstance(scale, (int, float)) else (float("nan"), repr(self))
            return TAPE[0].through("discreet." + kind.__name__, copied, law, lambda: original(self, entered, *rest))

        return perturb

    for kind in vars(kinds).values():
        for name in ("perturb", "choose"):
            if isinstance(kind, type) and name in vars(kind):
                replace(kind, name, wrapped(kind, vars(kind)[name]))


def _watch_papers(replace: Any) -> Any:
    """Published algorithms as discreet reproduces them add noise in floating point, by a function that is made once."""

    def made(original: Any) -> Any:
        def noise(rng: Any) -> Any:
            drawn = original(rng)

            def noisy(exact: Any, scale: Any) -> Any:
                each = np.asarray(scale, dtype=float)
                entered = np.asarray(exact, dtype=float) / np.maximum(each, 1e-12)
                law = (1.0, tuple(np.ravel(each).tolist()))
                return TAPE[0].through("discreet.laplace", entered, law, lambda: drawn(exact, scale))

            return noisy

        return noise

    for name, module in list(sys.modules.items()):
        if name.startswith("discreet.research.papers.") and "laplace_noise" in vars(module):
            replace(module, "laplace_noise", made(vars(module)["laplace_noise"]))


ADAPTERS = {
    "diffprivlib": _watch_diffprivlib,
    "opendp": _watch_opendp,
    "discreet": _watch_discreet,
    "discreet.research.papers": _watch_papers,
}


def _plain(value: Any, depth: Any) -> Any:
    """What can be seen of a result, as text: numbers to the last bit, attributes by name."""
    if isinstance(value, np.ndarray) or depth > 6:
        return [str(value.dtype), list(value.shape), repr(value.tolist())] if depth <= 6 else "..."
    if isinstance(value, dict):
        return [[repr(key), _plain(each, depth + 1)] for key, each in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each, depth + 1) for each in value]
    if hasattr(value, "tree_"):
        return _plain(value.tree_.__getstate__(), depth + 1)
    if hasattr(value, "__dict__"):
        return [type(value).__name__, _plain(vars(value), depth + 1)]
    plain = isinstance(value, (int, float, complex, str, bytes, bool, type(None), np.generic))
    return repr(value) if plain else type(value).__name__
