"""A paper's experiments: what is run, and what is said of it beside the figures that the paper prints."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from discreet.research.comparison.grid import Grid
from discreet.research.comparison.summary import Cell
from discreet.research.report import Section

Factory = Callable[..., Any]
"""Makes a model: factory(schema, epsilon=..., random_state=...) with fit(columns by name, labels), predict(columns).

It crosses to other processes, so it is a class, a `functools.partial` of one, or an instance of a class of a module.
"""


class Experiment(NamedTuple):
    """One grid and the models it names; its runs are kept in a file of this name."""

    name: str
    grid: Grid
    models: Mapping[str, Factory]


class Context(NamedTuple):
    """What a study needs to know to describe its results.

    found : the cells of each experiment, by its name (empty while an experiment has no runs).
    origin : the command and seed for captions.
    full : whether everything was run, or the quick part.
    directory : the folder of the data sets; None for the default.
    """

    found: Mapping[str, Sequence[Cell]]
    origin: str
    full: bool
    directory: str | None


class Study(Protocol):
    """One of the five papers.

    Class attributes
    ----------------
    name : as the command line knows it, such as "lopuhaa2021".
    title : author, year and subject.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """What has to be run; quick if not full: minutes, the same shape, fewer repeats and smaller data.

        The directory is the folder of the data sets, for models that look something up there.
        """

    @abstractmethod
    def sections(self, context: Context) -> Sequence[Section]:
        """What agrees with the paper, what does not and why, and the honest epsilon; measured numbers only."""

    def checks(self, context: Context) -> Mapping[str, bool]:
        """Statements on the results that a test can hold the study to, by sentence; none by default."""
        return {}
