"""The content of a report, independent of its format: `html` and `markdown` write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import ParameterError

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Paragraph:
    """Plain text without markup, so that a model's message cannot change the page.

    An empty line begins a new paragraph; other line breaks are kept.
    """

    text: str


@dataclass(frozen=True)
class ReportTable:
    """Rows under headings.

    Parameters
    ----------
    caption : what the table shows.
    heads : the headings.
    rows : cells as texts, one per heading in each row; readers can sort by the numbers that cells begin with.
    origin : the command and the seed that made the numbers; must not be empty. A report whose own origin is the same
        shows it once.
    best : the cells that are printed bold, each as its row and column, from 0.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    origin: str
    best: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        if not self.heads:
            raise ParameterError(f"{self.caption}: the table has no headings; need one for each column")
        for row in self.rows:
            if len(row) != len(self.heads):
                raise ParameterError(
                    f"{self.caption}: a row has {len(row)} cells; need {len(self.heads)}, one per heading"
                )
            if not all(isinstance(cell, str) for cell in row):
                raise ParameterError(f"{self.caption}: a cell is not a text; format numbers as texts")
        _check_origin(self.caption, self.origin)


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure.

    Parameters
    ----------
    name : name of its file, if the report has files beside it: lower-case letters, digits and hyphens.
    caption : what the picture shows, also for readers who cannot see it.
    figure : a matplotlib Figure.
    origin : the command and the seed that made the numbers.
    """

    name: str
    caption: str
    figure: Any
    origin: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ParameterError(f"a picture's name is {self.name!r}; need lower-case letters, digits and hyphens")
        _check_origin(self.caption, self.origin)


@dataclass(frozen=True)
class Code:
    """Lines of code, shown as they are."""

    caption: str
    text: str


Part = Paragraph | ReportTable | Picture | Code


@dataclass(frozen=True)
class Section:
    """A heading and the parts below it."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Document:
    """A whole report; with more than one section it begins with a table of contents.

    The origin, if given, is the command and the seed that made the numbers in its paragraphs.
    """

    title: str
    sections: Sequence[Section]
    notices: Sequence[str] = field(default_factory=tuple)
    """Shown first: which data were used, and what is not private."""
    origin: str = ""

    def __post_init__(self) -> None:
        names = [picture.name for picture in self.pictures()]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ParameterError(f"two pictures are named {twice[0]!r}; each becomes a file and needs its own name")

    def pictures(self) -> list[Picture]:
        """All pictures, in the order in which they are shown."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Picture)]


def _check_origin(caption: str, origin: str) -> None:
    if not origin.strip():
        raise ParameterError(f"{caption}: the origin is empty; name the command and the seed that made the numbers")
