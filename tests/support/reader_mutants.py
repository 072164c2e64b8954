"""Mutants of how a CSV file is read, and a model that reads one: a line is a record, and these forget it.

That a header is counted as a record, that the first record is taken for a header, and that a record with a bad value is
left out are mistakes too, but no leaks: one record still changes at most one. So they are no mutants here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet import NaiveBayes
from discreet.records import csv_opening
from discreet.schema import Schema
from discreet.sources.csv import CsvSource

Change = Callable[[pytest.MonkeyPatch], None]


class FromCsv:
    """Naive Bayes of a CSV file, written without a thought of quotes."""

    def __init__(self, schema: Schema, **options: Any) -> None:
        self.schema, self.options = schema, options

    def fit(self, X: Any, y: Any = None, *, ledger: Any = None) -> FromCsv:
        """Write the records, read them."""
        names = [self.schema.target, *self.schema.names]  # a label before a lone quote is read
        lines = [",".join("" if each[name] is None else str(each[name]) for name in names) for each in X]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            path.write_text("\n".join([",".join(names), *lines]) + "\n", encoding="utf-8")
            self.model_ = NaiveBayes(self.schema, **self.options).fit_from(CsvSource(path), ledger=ledger)
        return self

    def predict(self, X: Any) -> Any:
        """The label of each record."""
        return self.model_.predict(X)


def _reading(change: Callable[[list[bytes]], list[bytes]]) -> Change:
    """The lines after the header are changed on their way."""

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        original = csv_opening.whole_lines

        def changed(file: Any) -> Iterator[bytes]:
            for block in original(file):
                if lines := change(block.splitlines(keepends=True)):
                    yield b"".join(lines)

        monkeypatch.setattr(csv_opening, "whole_lines", changed)

    return patch


def _swallowing(lines: list[bytes]) -> list[bytes]:
    kept: list[bytes] = []
    for line in lines:
        if kept and kept[-1].count(b'"') % 2:
            kept[-1] = kept[-1].rstrip(b"\n") + line
        else:
            kept.append(line)
    return kept


def _stopping(lines: list[bytes]) -> list[bytes]:
    bad = next((place for place, line in enumerate(lines) if b"not-a-listed-value" in line), len(lines))
    return lines[:bad]


swallowed_record = _reading(_swallowing)
stop_at_bad_row = _reading(_stopping)
last_record_twice = _reading(lambda lines: lines + lines[-1:])
first_record_weighs = _reading(lambda lines: lines[:1] * 2 + lines)

WORDS = {
    "swallowed_record": "a lone quote swallows the next record of a file",
    "stop_at_bad_row": "a file is read up to the first unlisted value",
    "last_record_twice": "the last record of a file is read twice",
    "first_record_weighs": "the first record of a file is read three times",
}
"""What each does."""
