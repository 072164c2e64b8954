"""How the CSV files of a table are written: public, declared by the owner, and never guessed from records."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from discreet.errors import SchemaError

DELIMITERS = (",", ";", "\t", "|")
ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "cp1252": "windows-1252", "iso8859-15": "iso-8859-15"}
"""Encodings by the name that Python has for them, and the name that we use. In all of them a byte below 128 stands for
itself, so that lines, delimiters and quotes are found before anything is decoded."""


@dataclass(frozen=True)
class Dialect:
    """How CSV files are written, where it is not as usual.

    Attributes
    ----------
    delimiter : what separates fields; None for what the first line tells: a semicolon, or else a tab, if there is one
        and no comma; a comma in all other files, and a tab in files named .tsv.
    decimal : "." or ",". With a comma, 1,5 is a number in a numeric column, and 1.5 is not. Texts that are compared
        with categories and classes stay as they are.
    encoding : utf-8, latin-1, iso-8859-15 or windows-1252.

    Examples
    --------
    >>> Dialect(decimal=",").to_json(), Dialect(encoding="ISO-8859-1").encoding
    ({'decimal': ','}, 'latin-1')
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.delimiter in ("tab", "\\t"):
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise SchemaError(f"delimiter={self.delimiter!r}; need a comma, ';', '|' or 'tab'")
        if self.decimal not in (".", ","):
            raise SchemaError(f"decimal={self.decimal!r}; need '.' or ','")
        try:
            name = codecs.lookup(self.encoding).name if isinstance(self.encoding, str) else ""
        except (LookupError, ValueError):
            name = ""
        if name not in ENCODINGS:
            raise SchemaError(f"encoding={self.encoding!r}; need one of: {', '.join(ENCODINGS.values())}")
        object.__setattr__(self, "encoding", ENCODINGS[name])

    def changed(self, **given: str | None) -> Dialect:
        """This dialect with the entries that are given and not None."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})

    def to_json(self) -> dict[str, str]:
        """The entries that are not as usual, as they are written to a file."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}

    @classmethod
    def from_json(cls, content: object) -> Dialect:
        """From plain data; SchemaError if it is not what `to_json` gives."""
        known: Any = {each.name for each in fields(cls)}
        if not isinstance(content, Mapping) or not content.keys() <= known:
            raise SchemaError('dialect: need an object with delimiter, decimal, encoding, such as {"decimal": ","}')
        for name, value in content.items():
            if not isinstance(value, str):
                raise SchemaError(f"dialect: {name} is not a text; need one, such as ','")
        return cls(**content)


USUAL = Dialect()
"""UTF-8, and a decimal point."""
