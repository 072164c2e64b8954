"""How the values of a table fit a schema, exactly: a private report for the owner, never to be published.

Nothing here goes through the passage, costs epsilon or is used for training. Values are read by the functions that
training uses, so that what the report says is what training would see.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from discreet.records.encoding import as_floats, label_codes
from discreet.records.values import Array, Columns
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, Numeric, text_of

EXAMPLES = 5
"""The most spellings of a column that are shown."""
MOST_SPELLINGS = 10_000
"""The most unlisted spellings of a column that are counted."""
NONSENSE = 0.9
"""If more records than this have no class, or no value in a column that the schema allows for, something is wrong."""
WORTH_SAYING = 0.01
"""If more than this part of the records has no listed class, the report says so."""


@dataclass
class Spelling:
    """A text that the schema does not list, the number of its records, and the listed value that it may stand for."""

    text: str
    records: int
    near: str | None = None


@dataclass
class ColumnReport:
    """One column, or the target: numbers of records by what training would do with their values."""

    name: str
    kind: str
    records: int = 0
    missing: int = 0
    clipped: int = 0
    unlisted: int = 0
    examples: list[Spelling] = field(default_factory=list)

    @property
    def useless(self) -> float:
        """The part of the records of which the model learns nothing from this column."""
        return (self.missing + self.unlisted) / self.records if self.records else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with shares."""
        shares = {
            f"{name}_share": getattr(self, name) / max(1, self.records) for name in ("missing", "clipped", "unlisted")
        }
        return {**asdict(self), **{name: round(share, 6) for name, share in shares.items()}}


@dataclass
class ValueReport:
    """The columns and the target of a table against a schema; exact, so for the owner only."""

    records: int
    columns: list[ColumnReport]
    target: ColumnReport
    classes: dict[str, int]

    @property
    def problems(self) -> list[str]:
        """Why a model of this table would be nonsense; empty if nothing speaks for that."""
        if not self.records:
            return ["there is no record"]
        found = []
        if self.target.useless > NONSENSE:
            found.append(f"{_percent(self.target.useless)} of the records have no class of the schema")
        if sum(count > 0 for count in self.classes.values()) < 2 <= len(self.classes):
            found.append("fewer than two classes occur")
        if len(self.classes) == 1:
            found.append("the schema has a single class, so there is nothing to tell apart")
        useless = [column for column in self.columns if column.useless > NONSENSE]
        if len(useless) == len(self.columns):
            found.append("in every column nearly all values are missing or unlisted")
        return found

    @property
    def verdict(self) -> str:
        """One line: whether training on this table would be nonsense."""
        if self.problems:
            return f"Training on this table would be nonsense: {'; '.join(self.problems)}."
        weak = [column.name for column in self.columns if column.useless > NONSENSE]
        clipped = [column.name for column in self.columns if column.clipped > column.records / 2]
        about = [f"{name!r} is useless in most records" for name in weak]
        about += [f"{name!r} is clipped in most records" for name in clipped]
        if self.target.useless > WORTH_SAYING:
            about.append(
                f"{_percent(self.target.useless)} of the records have no class of the schema, and are left out"
            )
        if about:
            return f"Training makes sense, but: {'; '.join(about)}."
        return "Nothing speaks against training on this table with this schema."


def report_values(blocks: Iterable[Columns], schema: Schema) -> ValueReport:
    """Compare the values of a table, block by block, with a schema."""
    reports = {column.name: ColumnReport(column.name, column.kind) for column in schema.columns}
    target, classes = ColumnReport(schema.target, "target"), np.zeros(len(schema.classes) + 2, dtype=np.int64)
    spellings: dict[str, dict[str, int]] = {name: {} for name in schema.all_names}
    records = 0
    for block in blocks:
        records += len(block[schema.target])
        for column in schema.columns:
            report, values = reports[column.name], block[column.name]
            if isinstance(column, Numeric):
                _add_numbers(report, values, column, spellings[column.name])
            else:
                _add_labels(report, values, column.categories, column, spellings[column.name])
        classes += _add_labels(target, block[schema.target], schema.classes, None, spellings[schema.target])
    for column in schema.columns:
        listed = column.categories if isinstance(column, Categorical) else ()
        reports[column.name].examples = _examples(spellings[column.name], listed)
    target.examples = _examples(spellings[schema.target], schema.classes)
    counts = {text_of(label): int(count) for label, count in zip(schema.classes, classes.tolist(), strict=False)}
    return ValueReport(records, list(reports.values()), target, counts)


def _add_numbers(report: ColumnReport, values: Array, column: Numeric, spellings: dict[str, int]) -> None:
    numbers = as_floats(values)
    absent = np.isnan(numbers)
    report.records += len(values)
    report.missing += int(absent.sum())
    report.clipped += int(((numbers < column.lower) | (numbers > column.upper)).sum())
    if absent.any() and values.dtype.kind in "OUST":
        _count_spellings(values[absent], spellings)


def _add_labels(
    report: ColumnReport, values: Array, labels: Sequence[Label], column: Categorical | None, spellings: dict[str, int]
) -> Any:
    """Count listed, unlisted and missing labels; returns the counts of all codes."""
    stray, missing = len(labels), len(labels) + 1
    codes = label_codes(values, labels, stray, missing)
    counts = np.bincount(codes, minlength=len(labels) + 2)
    report.records += len(values)
    report.unlisted += int(counts[stray])
    is_missing_listed = column is not None and column.missing is not None
    report.missing += 0 if is_missing_listed else int(counts[missing])
    if counts[stray]:
        _count_spellings(values[codes == stray], spellings)
    return counts


def _count_spellings(values: Array, spellings: dict[str, int]) -> None:
    for value in values.tolist():
        if value is None or value != value or isinstance(value, bytes):
            continue
        text = str(value).strip(" ")
        if text and (text in spellings or len(spellings) < MOST_SPELLINGS):
            spellings[text] = spellings.get(text, 0) + 1


def _examples(spellings: dict[str, int], listed: Sequence[Label]) -> list[Spelling]:
    """The most frequent spellings, each with the listed value that is nearest, if one is near."""
    often = sorted(spellings.items(), key=lambda each: (-each[1], each[0]))[:EXAMPLES]
    return [Spelling(text, records, nearest(text, listed)) for text, records in often]


def nearest(text: str, listed: Sequence[Label]) -> str | None:
    """The listed value that differs from a text in case, spaces, accents or a slip of the pen only; else None.

    >>> nearest("  MÜNCHEN", ["Munchen", "Berlin"]), nearest("Berlln", ["Munchen", "Berlin"]), nearest("x", ["y"])
    ('Munchen', 'Berlin', None)
    """
    folded = {_folded(text_of(label)): text_of(label) for label in listed}
    if _folded(text) in folded:
        return folded[_folded(text)]
    close = difflib.get_close_matches(_folded(text), folded, n=1, cutoff=0.8) if len(folded) <= 1000 else []
    return folded[close[0]] if close else None


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in parts if char.isalnum())


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share in (0.0, 1.0) or 0.01 <= share <= 0.99 else "nearly all"
