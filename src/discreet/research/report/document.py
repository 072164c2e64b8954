"""What a report says, before anybody decides how it looks: `html` and `markdown` write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.errors import ParameterError

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Paragraph:
    """Plain text; no markup, so that a message of a model cannot become part of the page.

    An empty line begins a new paragraph; other ends of lines are kept.
    """

    text: str


@dataclass(frozen=True)
class ReportTable:
    """Rows under headings.

    Parameters
    ----------
    caption : what it shows.
    heads : the headings.
    rows : cells as shown to people, as many in each row as there are headings; sorted by the numbers they begin with.
    origin : the command and the seed that made the numbers; every table has one.
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    origin: str

    def __post_init__(self) -> None:
        if not self.heads:
            raise ParameterError(f"{self.caption}: the table has no headings; need one for each column")
        for row in self.rows:
            if len(row) != len(self.heads):
                raise ParameterError(f"{self.caption}: a row has {len(row)} cells; need {len(self.heads)}, as headings")
            if not all(isinstance(cell, str) for cell in row):
                raise ParameterError(f"{self.caption}: a cell is no text; write numbers as people shall read them")
        _check_origin(self.caption, self.origin)


@dataclass(frozen=True)
class Picture:
    """A matplotlib figure.

    Parameters
    ----------
    name : of its file, where the report has files beside it: small letters, digits and hyphens.
    caption : what it shows, for those who cannot see it too.
    figure : a matplotlib Figure.
    origin : the command and the seed that made the numbers.
    """

    name: str
    caption: str
    figure: Any
    origin: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ParameterError(f"a picture's name is {self.name!r}; need small letters, digits and hyphens")
        _check_origin(self.caption, self.origin)


Part = Paragraph | ReportTable | Picture


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Document:
    """A whole report; a table of contents stands above it if it has more than one section.

    The origin, if given, is the command and the seed of all numbers in the running text.
    """

    title: str
    sections: Sequence[Section]
    notices: Sequence[str] = field(default_factory=tuple)
    """What has to be said before anything else: whose data these are, and what is not private."""
    origin: str = ""

    def __post_init__(self) -> None:
        names = [picture.name for picture in self.pictures()]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ParameterError(f"two pictures are named {twice[0]!r}; each is a file and needs a name of its own")

    def pictures(self) -> list[Picture]:
        """All pictures, in the order in which they are shown."""
        return [part for section in self.sections for part in section.parts if isinstance(part, Picture)]


def _check_origin(caption: str, origin: str) -> None:
    if not origin.strip():
        raise ParameterError(f"{caption}: the origin is empty; name the command and the seed that made the numbers")
