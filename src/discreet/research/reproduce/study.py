"""The parts of a study of a paper: its experiments, and the report that compares them with the paper's numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

from discreet.research.comparison.grid import Grid
from discreet.research.comparison.summary import Cell
from discreet.research.report import Section

Factory = Callable[..., Any]
"""factory(schema, epsilon=..., random_state=...) makes a model with fit(columns by name, labels) and predict(columns).

It is sent to other processes, so it must be picklable: a class, a `functools.partial` of one, or the like.
"""


class Experiment(NamedTuple):
    """One grid and the models that it names; `name` is also the name of the file of its runs."""

    name: str
    grid: Grid
    models: Mapping[str, Factory]


class Context(NamedTuple):
    """What a study needs in order to describe its results.

    found : the cells of each experiment by its name; empty for an experiment without runs.
    origin : the command and seed for captions.
    full : whether everything was run, or only the quick part.
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
    name : name on the command line, such as "lopuhaa2021".
    title : author, year and subject.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def experiments(self, full: bool, directory: str | None = None) -> Sequence[Experiment]:
        """The experiments to run; if not full, a quick version with fewer repeats and smaller data that takes minutes.

        `directory` is the folder of the data sets, for models that look something up there.
        """

    @abstractmethod
    def sections(self, context: Context) -> Sequence[Section]:
        """The report: what agrees with the paper, what does not and why, and the true loss; measured numbers only."""

    def checks(self, context: Context) -> Mapping[str, bool]:
        """Statements about the results that a test can check: sentence to whether it holds; by default none."""
        return {}
