"""Runs an auditor's target in the target's own environment: one file that needs Python 3.8 and numpy, nothing else.

`python runner.py IN OUT` reads requests from one pipe and answers on another: frames of a length, JSON and raw numbers.
Nothing is unpickled on either side, so a hostile target cannot run code in the auditor's process. What the target
prints is caught; a process that the target forked never answers in its parent's name.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import json
import os
import select
import signal
import struct
import sys
import tempfile
import time
import warnings
import zlib
from pickle import dumps  # only for its size: nothing is ever loaded
from typing import Any, Callable, Iterator

if __name__ == "__main__":  # the folder of this file is ours: its modules must not hide the target's
    sys.path[0] = os.getcwd()

import numpy as np

TAKEN = "(X, y) or of a table"
MOST_PRINTED = 2000
LARGEST_FILE = 1 << 26
"""A target that prints without end gets an error, and does not fill the disk."""


def loaded(path: Any, name: str = "discreet_audit_extension") -> Any:
    """A module from a file that lies beside this one: nothing of ours is installed where this runs."""
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside")
_giving = loaded(os.path.join(_INSIDE, "arguments.py"), "discreet_arguments")
_reading = loaded(os.path.join(_INSIDE, "outputs.py"), "discreet_outputs")
Outputs, short, said = _reading.Outputs, _reading.short, _reading.said


class Refusal(Exception):  # noqa: N818 - not a mistake of the runner's
    """The target cannot be used as it is named; the message says why, on one line."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """End a process that the target forked in this block when it leaves it: it never goes on in its parent's name."""
    here = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != here:
            os._exit(0)


def _objects(model: Any) -> dict[int, Any]:
    """The objects that a model holds before it is fitted, by their ids. Those that all models share, such as an account
    of the whole process, are not output of a run."""
    plain = (type(None), *_reading.PLAIN)
    held = getattr(model, "__dict__", None) or {}
    return {id(each): each for each in held.values() if not isinstance(each, plain)}


ESTIMATOR, PAIR, TABLE = "estimator", "X, y", "table"
"""What a target is: it makes estimators, whose `fit` takes (X, y), or is a function of (X, y) or of a whole table."""


class Target:
    """A class with `fit`, or a function of (X, y) or of a table, with its parameters."""

    def __init__(self, made: Any, parameters: Any = None, schema: Any = None, form: str = "auto") -> None:
        self.made, self.parameters, self.schema, self.form = made, parameters or {}, schema, form
        if not callable(made):
            kind = type(made).__name__
            raise Refusal("the target is {}; name a class with fit, or a function of {}".format(kind, TAKEN))
        self.takes = ESTIMATOR if isinstance(made, type) else _taken(made, self.parameters)
        self.is_estimator = self.takes == ESTIMATOR
        self._public: Any = None
        self._shared: dict[int, Any] = {}

    @classmethod
    def named(cls, name: str, parameters: Any = None, schema: Any = None, form: str = "auto") -> Target:
        """The target of a name such as "module:Class"."""
        return cls(_imported(name), parameters, schema, form)

    def make(self) -> Any:
        """A new estimator, not fitted."""
        given = {name: _revived(value) for name, value in self.parameters.items()}
        if self._public is None:  # the schema as ours, for a class that has a parameter of this name
            self._public = {}
            if self.is_given_schema:
                with contextlib.suppress(ImportError):
                    self._public["schema"] = importlib.import_module("discreet").Schema.from_dict(self.schema)
        made = self.made(**self._public, **given)
        if callable(getattr(made, "fit", None)):
            return made
        raise Refusal("{} has no fit; name a class with fit, or a function of {}".format(type(made).__name__, TAKEN))

    @property
    def is_given_schema(self) -> bool:
        """Whether the target has a parameter for a schema of ours, and leaves it to the audit."""
        named = "schema" in [each.name for each in _parameters(self.made)]
        return self.is_estimator and named and self.schema is not None and "schema" not in self.parameters

    def arguments(self, table: Any) -> Any:
        """What `fit`, or the function, is called with."""
        return (_giving.as_one(table, self.form),) if self.takes == TABLE else _giving.as_arguments(table, self.form)

    def points(self, table: Any) -> Any:
        """What `predict` is called with."""
        return _giving.as_arguments(table, self.form)[0]

    def call(self, table: Any) -> Any:
        """What a function returns for a table."""
        given = {name: _revived(value) for name, value in self.parameters.items()}
        returned = self.made(*self.arguments(table), **given)
        if self.takes == TABLE and callable(getattr(returned, "fit", None)):
            raise Refusal(
                "the target returns {}, which has a fit: what makes estimators is called without arguments; give its "
                "parameters with --with name=value".format(type(returned).__name__)
            )
        return returned

    def check(self) -> None:
        """Raise Refusal if the target cannot be made, or called, with its parameters."""
        try:
            if self.is_estimator:
                self._shared = _objects(self.make())
                return
            given = {name: _revived(value) for name, value in self.parameters.items()}
            with contextlib.suppress(ValueError):  # a function without a signature
                inspect.signature(self.made).bind(*([None] if self.takes == TABLE else [None, None]), **given)
        except (Refusal, KeyboardInterrupt):
            raise
        except BaseException as error:
            words = "the target cannot be made: {}: {}".format(type(error).__name__, said(error))
            raise Refusal(words + "; give its parameters with --with name=value") from None

    def run(self, table: Any, probes: Any, wanted: Any, only: Any = None) -> Any:
        """One run on a table: its outputs, or only those of these names, its warnings and errors."""
        outputs = Outputs(only)
        ended = []
        with alone(), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                self._run(table, probes, wanted, outputs)
            except (Refusal, KeyboardInterrupt):
                raise
            except SystemExit as error:
                ended.append("exits: {}".format(short(error.code)))
            except BaseException as error:  # extensions have panics that are no Exception
                words = "" if isinstance(error, MemoryError) else ": " + said(error)
                ended.append("raises {}{}".format(type(error).__name__, words))
        for each in dict.fromkeys("warns {}: {}".format(each.category.__name__, said(each.message)) for each in warned):
            outputs.fact(each)
        outputs.finish()
        outputs.features.extend(ended)
        return outputs

    def _run(self, table: Any, probes: Any, wanted: Any, outputs: Any) -> None:
        if not self.is_estimator:
            outputs.add(self.call(table), "output")
            return
        model, only = self.make(), outputs.only
        shared = {key: each for key, each in _objects(model).items() if key in self._shared}
        model.fit(*self.arguments(table))
        outputs.seen.update(shared)
        outputs.add(model, "")
        outputs.make_room()
        if probes is not None and "predictions" in wanted:
            points = self.points(probes)
            for name in ("predict", "predict_proba", "decision_function"):
                _add_predictions(model, name, points, outputs)
        if probes is not None and (only is None or any(each.startswith("transform") for each in only)):
            _add_predictions(model, "transform", self.points(probes), outputs)
        if "size" in wanted:
            try:
                outputs.add_number(len(dumps(model)), "size of its pickle")
            except (KeyboardInterrupt, MemoryError):
                raise
            except BaseException as error:
                outputs.fact("its pickle raises {}".format(type(error).__name__))


def _add_predictions(model: Any, name: str, points: Any, outputs: Any) -> None:
    try:
        if not callable(getattr(model, name, None)):
            return
        predicted = np.asarray(getattr(model, name)(points))
        if predicted.dtype.kind not in "biuf":
            texts = [short(each) for each in predicted.ravel().tolist()]
            predicted = np.array(
                [zlib.crc32(each.encode("utf-8", "backslashreplace")) for each in texts], dtype=np.float64
            )
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        outputs.fact("{} raises {}: {}".format(name, type(error).__name__, said(error)))
        return
    outputs.add_array(predicted, name, 0)


def _imported(name: str) -> Any:
    """What a name such as "module:Class" stands for."""
    module, _, inner = name.partition(":")
    try:
        found = importlib.import_module(module)
        for part in inner.split("."):
            found = getattr(found, part)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError):
            remedy = (
                "searched are the current folder ({}), PYTHONPATH and the packages of {}: set PYTHONPATH to "
                "the folder of the module, or give the interpreter of another environment with --python"
            ).format(os.getcwd(), sys.executable)
        elif isinstance(error, AttributeError) and module in sys.modules:
            file = getattr(sys.modules[module], "__file__", None)
            remedy = "the module is {}: check the name".format(file or module)
        else:
            remedy = "see that {} imports it, or give another with --python".format(sys.executable)
        words = "cannot import {}: {}: {}".format(name, type(error).__name__, said(error))
        raise Refusal("{}; {}".format(words, remedy)) from None
    return found


def _taken(function: Any, named: Any) -> str:
    """What a function takes, besides parameters of these names: X and y, a table, or nothing if it makes estimators."""
    given = _parameters(function)
    if not isinstance(given, list):
        return PAIR
    placed = [each for each in given if each.kind <= each.POSITIONAL_OR_KEYWORD]
    if [each.name.lower() for each in placed[:2]] == ["x", "y"] and placed[0].default is inspect.Parameter.empty:
        return PAIR
    needed = sum(each.default is each.empty and each.name not in named for each in placed)
    return PAIR if needed >= 2 else TABLE if needed else ESTIMATOR


def _parameters(function: Any) -> Any:
    with contextlib.suppress(TypeError, ValueError):
        return list(inspect.signature(function).parameters.values())
    return ()


def _revived(value: Any) -> Any:
    """A parameter from JSON: {"tuple": […]} is a tuple, {"call": "module:name", "with": {…}} what a call returns."""
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return tuple(_revived(each) for each in value["tuple"])
    if isinstance(value, dict) and "call" in value and set(value) <= {"call", "with"}:
        called = _imported(value["call"])
        if not callable(called):
            raise Refusal("{} is {}, which cannot be called".format(value["call"], type(called).__name__))
        return called(**{name: _revived(each) for name, each in value.get("with", {}).items()})
    if isinstance(value, dict):
        return {name: _revived(each) for name, each in value.items()}
    return [_revived(each) for each in value] if isinstance(value, list) else value


class Runner:
    """Answers requests: each is a dictionary with the name of an operation under "op"."""

    def __init__(self, target: Any = None) -> None:
        self.target = target
        self.operations = {"target": self.set_target, "run": self.run, "extend": self.extend}

    def answer(self, request: Any, send: Callable[[Any, bytes], None]) -> None:
        """Answer one request by calls of `send(header, numbers)`; the last has "end"."""
        with alone():
            try:
                end = self.operations[request["op"]](request, send) or {}
            except Refusal as error:
                end = {"refused": str(error)}
        send(dict(end, end=True), b"")

    def set_target(self, request: Any, send: Any) -> Any:
        """Import the target; the answer says what it is, and its version."""
        self.target = Target.named(request["target"], request["parameters"], request["schema"], request["form"])
        self.target.check()
        version = getattr(sys.modules.get(request["target"].partition(":")[0].partition(".")[0]), "__version__", None)
        found = {"python": sys.version.split()[0], "numpy": np.__version__, "version": version and str(version)}
        return dict(found, takes=self.target.takes, schema=self.target.is_given_schema)

    def run(self, request: Any, send: Any) -> Any:
        """Run on tables in the given order; each run is answered by a frame of its own, so none is lost by a crash."""
        known, features = None, None
        asked = request.get("probes"), request["wanted"], request.get("only")
        with _caught_output() as printed:
            for place in request["order"]:
                outputs = self.target.run(request["tables"][place], *asked)
                outputs.features.extend(printed())
                header = {"table": place}
                if outputs.names != known:
                    known = header["names"] = outputs.names
                if outputs.features != features:
                    features = header["features"] = outputs.features
                send(header, struct.pack("<%dd" % len(outputs.numbers), *outputs.numbers))

    def extend(self, request: Any, send: Any) -> Any:
        """Load further operations from a file: its `operations(runner)` returns them by name."""
        self.operations.update(loaded(request["path"]).operations(self))


MORE_FILES, SHORT = 64, 0.1
"""Files that may be open behind the pipes, and seconds between looks at a pipe if these come at once."""
CATCHING: list[Any] = []
"""The file that standard output and standard error of this process go to, if it is a process of its own."""


@contextlib.contextmanager
def _caught_output() -> Iterator[Any]:
    def printed() -> list[str]:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        file = CATCHING[0]
        size = os.fstat(file.fileno()).st_size
        text = os.pread(file.fileno(), MOST_PRINTED, 0).decode("utf-8", "replace")
        os.ftruncate(file.fileno(), 0)
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        return ["prints {} bytes: {}".format(size, short(text))] if size else []

    yield printed if CATCHING else list


def _write(stream: Any, request: Any, header: Any, numbers: bytes) -> None:
    content = json.dumps(dict(header, number=request)).encode()  # an answer to another request is none to this one
    stream.write(struct.pack("<QQ", len(content), len(numbers)) + content + numbers)
    stream.flush()


def _watch_parent(requests: int, answers: int) -> None:
    """Start a process that ends this group as soon as the auditor is gone, even if it was killed.

    The auditor alone can write to the pipe of requests. A thread would make each fork of the target one of a process
    with threads, and waits for a target that never lets go of the interpreter; a signal at the end of the parent comes
    at the end of the thread that started this process, and to this process alone.
    """
    if not hasattr(os, "fork") or not hasattr(select, "poll"):
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        if os.fork() == 0:  # no child of the target's process, which may wait for all its own
            os.closerange(0, requests)  # the pipe of answers, too: its end tells that the target's process ended
            os.closerange(requests + 1, max(requests, answers) + MORE_FILES)
            poll = select.poll()
            poll.register(requests, 0)  # tells the end of the pipe, not what is in it
            while not any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
                time.sleep(SHORT)
            os.killpg(os.getpgrp(), signal.SIGKILL)
    finally:
        os._exit(0)


def main(requests: int, answers: int, megabytes: int) -> None:
    """Answer requests until the pipe is closed."""
    caught = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the process
    CATCHING.append(caught)
    for place in (1, 2):
        os.dup2(caught.fileno(), place)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    _watch_parent(requests, answers)
    runner = Runner()
    with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb") as sink:
        while len(head := source.read(8)) == 8:
            request = json.loads(source.read(struct.unpack("<Q", head)[0]).decode())
            runner.answer(request, functools.partial(_write, sink, request.get("number")))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
