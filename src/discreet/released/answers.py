"""Answers to count questions: noisy integers with the size of their noise, their intervals and their receipt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, FileError, ParameterError
from discreet.privacy.epsilon import shown_above
from discreet.privacy.guarantee import NEIGHBOURS, Guarantee, factor
from discreet.privacy.mechanisms.laplace import DiscreteLaplace
from discreet.privacy.receipt import Receipt
from discreet.queries.arrays import Integers
from discreet.queries.crossed import CrossedCounts
from discreet.queries.predicates import listed
from discreet.released.intervals import LEVEL, half_width, half_width_of_sum
from discreet.schema import Schema
from discreet.schema.columns import is_integer
from discreet.storage.envelope import Envelope, as_text

FILE = Envelope("discreet/answers", 1, "answers to count questions of discreet", "`discreet count` or Answers.save")


class CountGuarantee(Guarantee):
    """The guarantee of published answers, and of everything that is computed from them."""

    def statement(self) -> str:
        """One paragraph for a person who decides whether to publish."""
        if not self.holds:
            return f"No privacy is guaranteed: {'; '.join(self.reasons)}."
        text = (
            f"These answers are {shown_above(self.epsilon)}-differentially private (delta = 0) for {self.unit}: if "
            f"{NEIGHBOURS[self.adjacency]}, the probability of any published answers changes by a factor of at most "
            f"{factor(self.epsilon)}."
        )
        return f"{text} {self.source}".rstrip()


class Interval(NamedTuple):
    """An estimate, and the ends of an interval around it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Answer:
    """The published table of one question.

    Attributes
    ----------
    query : the question.
    values : noisy integers, an axis for each column of `query.by`, in units of 1 / `unit` records.
    cells : the name of each cell along each axis: a category, a class or an interval.
    scale : the scale of the discrete Laplace noise in each of them.
    unit : the sum of what one record adds to all values; 1 unless bins overlap.
    """

    query: CrossedCounts
    values: Integers
    cells: tuple[tuple[str, ...], ...]
    scale: float
    unit: int = 1

    @property
    def counts(self) -> NDArray[Any]:
        """The noisy number of records in each cell; integers unless bins overlap. May be negative."""
        return self.values if self.unit == 1 else self.values / self.unit

    @property
    def variance(self) -> float:
        """Variance of the noise in each of `counts`."""
        return DiscreteLaplace(self.scale).variance / self.unit**2

    def half_width(self, cells: int = 1, level: float = LEVEL) -> float:
        """Half of the length of the interval around the sum of this many cells: an exact quantile of the noise."""
        _check_level(level)
        width = half_width_of_sum(self.scale, cells, level) if cells > 1 else half_width(self.scale, level)
        return width if self.unit == 1 else width / self.unit

    def total(self, level: float = LEVEL, **cells: Any) -> Interval:
        """The number of records in some cells, with its interval: `total(sex="F")`, `total(age=[0, 1])`, `total()`.

        A column's cell is given by its name or its position, several as a list; columns that are not given are summed.
        """
        places = []
        for axis, each in enumerate(self.query.by):
            wanted = cells.pop(each.column, None)
            places.append(range(self.values.shape[axis]) if wanted is None else self._places(axis, wanted))
        if cells:
            raise ParameterError(f"the table is not divided by {next(iter(cells))!r}; need columns that it has")
        chosen = self.counts[np.ix_(*places)] if places else self.counts
        value = float(chosen.sum())
        width = self.half_width(chosen.size, level)
        return Interval(value, value - width, value + width)

    def _places(self, axis: int, wanted: Any) -> list[int]:
        names = self.cells[axis]
        found: list[int] = []
        some: list[Any] = [wanted] if isinstance(wanted, int | str) else list(wanted)
        for each in some:
            if is_integer(each) and 0 <= each < len(names):
                found.append(each)
            elif isinstance(each, str) and each in names:
                found.append(names.index(each))
            else:
                raise ParameterError(
                    f"{each!r} is not a cell of {self.query.by[axis].column!r}; need one of: {listed(names)}, or a "
                    f"position from 0 to {len(names) - 1}"
                )
        return list(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one request, with their receipt. They can be published, and what is computed from them too.

    `chosen` are the columns that were chosen, if the request asked for a choice in place of counts.
    """

    answers: tuple[Answer, ...]
    receipt: Receipt
    schema: Schema
    chosen: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, asked: int | CrossedCounts) -> Answer:
        """An answer, by its position or its question."""
        if isinstance(asked, int):
            return self.answers[asked]
        for each in self.answers:
            if each.query == asked:
                return each
        raise KeyError(f"{asked!r} has no answer here")

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed, in words that name unit and adjacency."""
        return CountGuarantee.of(self.receipt, self.schema)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, sealed: the questions and what was counted, noisy integers, intervals, receipt and schema."""
        return FILE.wrap(
            {
                "answers": [self._plain(each) for each in self.answers],
                **({} if self.chosen is None else {"chosen": list(self.chosen)}),
                "guarantee": self.guarantee.to_dict(),
                "receipt": self.receipt.to_dict(),
                "schema": self.schema.to_dict(),
            }
        )

    def _plain(self, answer: Answer) -> dict[str, Any]:
        return {
            "query": answer.query.to_plain(),
            "counted": answer.query.where.counted(self.schema),
            "cells": [list(names) for names in answer.cells],
            "values": answer.values.tolist(),
            "unit": answer.unit,
            "scale": answer.scale,
            "variance": answer.variance,
            "level": LEVEL,
            "half_width": answer.half_width(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], name: str = "the answers") -> Answers:
        """The inverse of `to_dict`; FileError if they were altered, or no door made them."""
        FILE.check(content, name)
        try:
            schema, receipt = Schema.from_dict(content["schema"]), Receipt.from_dict(content["receipt"])
            chosen = tuple(map(as_text, content["chosen"])) if "chosen" in content else None
            answers = cls(tuple(_answer(each, schema) for each in content["answers"]), receipt, schema, chosen)
            _ = answers.guarantee
            if not receipt.charges or bool(answers.answers) == (chosen is not None):
                raise ValueError("neither answers nor a choice")
            if not {*(chosen or ())} <= {*schema.names}:
                raise ValueError("a column that was chosen is not in the schema")
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            raise FileError(f"{name} were altered or damaged; get them again from their owner") from None
        return answers

    def save(self, path: str | Path) -> None:
        """Write the answers to a JSON file."""
        FILE.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Answers:
        """Read a file of answers."""
        return cls.from_dict(FILE.read(path), str(path))


def _answer(content: Mapping[str, Any], schema: Schema) -> Answer:
    query = CrossedCounts.from_plain(content["query"])
    query.check(schema)
    values = np.array(content["values"])
    scale = float(content["scale"])
    if values.shape != query.shape(schema) or values.dtype != np.int64 or content["unit"] != query.unit(schema):
        raise ValueError("a table has the wrong shape or type")
    return answered(query, values, DiscreteLaplace(scale).scale, schema)


def answered(query: CrossedCounts, values: Integers, scale: float, schema: Schema) -> Answer:
    """The answer to a question, with the names of its cells."""
    names = tuple(tuple(each.names(schema)) for each in query.by)
    return Answer(query, np.asarray(values), names, scale, query.unit(schema))


def _check_level(level: float) -> None:
    if not (isinstance(level, float) and math.isfinite(level) and 0 < level < 1):
        raise ParameterError(f"level={level!r}; need a probability between 0 and 1, such as 0.95")
