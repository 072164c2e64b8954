"""What a column seems to hold, and what a draft proposes for it: advice to the owner, read off the data.

A proposal is never more than that: every bound, list and omission is marked in the schema's `from_data`, and while one
is marked there, nothing is guaranteed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from discreet.records.encoding import number_of
from discreet.records.profile import ColumnProfile
from discreet.records.rounding import round_bounds
from discreet.schema.columns import Categorical, Column, Label, Numeric, spells_no_usable_number, text_of

FEW = 12
"""Numbers written as text with at most this many distinct values are taken for codes of categories."""
MANY = 1000
"""More distinct texts than this are not listed as categories."""
MOSTLY = 0.9
"""The part of a column's values that has to be of one kind for the column to be taken for it."""
ENOUGH = 50
"""With fewer records, values that are all different say nothing: no column is taken for an identifier or free text."""
CONSTANT = 0.99
"""A value that this part of the records have says little about any of them."""

DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})|\d{1,2}[. -][A-Za-z]{3,9}[. -]\d{2,4})"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?|\d{1,2}:\d{2}(?::\d{2})?"
)
COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
POINT = re.compile(r"[+-]?\d+[.]\d+(?:[eE][+-]?\d+)?")
DRESSED = re.compile(r"[<>≤≥~]?\s?[$€£]?\s?[+-]?\d[\d., '\u00a0]*(?:e[+-]?\d+)?\s?(?:%|[A-Za-zµ°€$£][\w/²³°%.]{0,9})?")
"""A number with something beside it: a unit, a currency, a sign, or marks between thousands."""
NAMED = re.compile(
    r"(?:^|[_\W])(?:id|ids|uuid|guid|nr|no|num|number|nummer|key|code|mrn|ssn|index)(?:$|[_\W])|[a-z]I[dD]$", re.I
)
"""Names of columns that tell of an identifier."""


@dataclass(frozen=True)
class Finding:
    """What a column was taken for, what is proposed, and why.

    Attributes
    ----------
    column : the name of the column.
    taken_for : "numbers", "category", "identifier", "date", "free text", ...
    proposal : "ignore", "bound: 0 to 100" or "list: 3 categories".
    remark : one sentence for the owner; it may tell something about the values.
    missing : the part of the records that have no value.
    """

    column: str
    taken_for: str
    proposal: str
    remark: str
    missing: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def recognise(name: str, profile: ColumnProfile) -> tuple[Finding, Column | None]:
    """What a column is taken for, and its draft; None if it is proposed to ignore it."""
    taken, remark, column = _recognised(name, profile)
    proposal = "ignore" if column is None else _proposed(column)
    missing = profile.missing / profile.records if profile.records else 0.0
    return Finding(name, taken, proposal, remark, round(missing, 4)), column


def _proposed(column: Column) -> str:
    if isinstance(column, Numeric):
        return f"bound: {column.lower:g} to {column.upper:g}"
    return f"list: {len(column.categories)} categories"


def _recognised(name: str, profile: ColumnProfile) -> tuple[str, str, Column | None]:
    present = profile.present
    if not present:
        return "empty", "no record has a value here", None
    if profile.dates >= MOSTLY * present:
        return "date", "a date is not read: compute a number, such as an age in years, in the table", None
    if profile.others > (1 - MOSTLY) * present:
        return "unreadable", "values that are neither numbers nor texts: convert them", None
    if profile.typed or profile.numbers + profile.infinite >= MOSTLY * present:
        return _numbers(name, profile)
    return _texts(name, profile)


def _numbers(name: str, profile: ColumnProfile) -> tuple[str, str, Column | None]:
    distinct, words = profile.distinct, profile.word_records
    if not profile.numbers:
        return "unreadable", "all numbers are infinite", None
    if distinct.size == 1 and not words:
        return "constant", "all records have the same number, which says nothing about any of them", None
    if _are_dates(profile):
        return "date", "whole numbers such as 20240131: compute a number, such as an age in years, in the table", None
    if _is_number_of_a_record(name, profile):
        return "identifier", "a different whole number in each record: it names records, and a model must not", None
    if not profile.typed and distinct.size <= FEW:
        return _categories(
            name, profile, ["few different numbers, taken for codes: if they are amounts, make it numeric"]
        )
    remarks = [] if profile.typed or not words else [f"{_share(words, profile.present)} are words, read as missing"]
    remarks += _about_extremes(profile)
    if profile.whole and not words and profile.present >= ENOUGH and distinct.size >= MOSTLY * profile.present:
        remarks.append("a different whole number in nearly each record: if it names records, ignore it")
    if distinct.is_exact and max(distinct.counts.values()) >= CONSTANT * profile.present:
        remarks.append(f"nearly constant: one number in {_share(max(distinct.counts.values()), profile.present)}")
    lower, upper = round_bounds(profile.low, profile.high)
    return "numbers", "; ".join(remarks), _numeric(name, lower, upper)


def _numeric(name: str, lower: float, upper: float) -> Numeric | None:
    try:
        return Numeric(name, lower, upper)
    except ValueError:  # numbers at the end of what floats can hold
        return None


def _about_extremes(profile: ColumnProfile) -> list[str]:
    """A remark if the largest or smallest number stands far off, as a code for missing values does."""
    inner = sorted(number for number in profile.distinct.counts if profile.low < number < profile.high)
    if len(inner) < FEW:
        return []
    width = inner[-1] - inner[0]
    far = [
        side
        for side, gap in (("largest", profile.high - inner[-1]), ("smallest", inner[0] - profile.low))
        if gap > 2 * width
    ]
    return [f"the {far[0]} number stands far off: a mistake, or a code for missing?"] if far else []


def _special_texts(profile: ColumnProfile) -> tuple[str, str] | None:
    """Texts that are dates, or numbers in another spelling than the file's."""
    if _mostly(profile, DATE):
        return "date", "a date is not read: compute a number, such as an age in years, in the table"
    if profile.words.size <= FEW:
        return None
    for mark, pattern in ((",", COMMA), (".", POINT)):
        if _mostly(profile, pattern):
            return "numbers", f"numbers with a decimal {mark!r}, unlike the rest of the file: write all alike"
    if _mostly(profile, DRESSED):
        return "numbers as text", "numbers with a unit, a sign or marks between thousands: write plain numbers"
    return None


def _texts(name: str, profile: ColumnProfile) -> tuple[str, str, Column | None]:
    words, present = profile.words, profile.present
    special = _special_texts(profile)
    if special is not None:
        return *special, None
    average = _mean(words.counts, lambda text: text.count(" ") + 1)
    is_long = average >= 4 or _mean(words.counts, len) > 60
    if is_long and present >= ENOUGH and words.size > min(MANY, present / 2):
        return "free text", f"about {words.size} different texts of {average:.0f} words: not a category", None
    if present >= ENOUGH and words.size >= MOSTLY * profile.word_records:
        return "identifier", "a different text in nearly each record: it names records, and a model must not", None
    if words.size > MANY or not words.is_exact:
        about = f"about {words.size} categories"
        return "many categories", f"{about}, more than {MANY}: group them in the table, or list those that matter", None
    return _categories(name, profile, [])


def _categories(name: str, profile: ColumnProfile, remarks: list[str]) -> tuple[str, str, Column | None]:
    labels = labels_of(profile)
    if not labels:
        return "unreadable", "no text that could be listed as a category", None
    if len(labels) == 1:
        return "constant", "all records have the same value, which says nothing about any of them", None
    counts = [*profile.words.counts.values(), *profile.distinct.counts.values()]
    most, rarest = max(counts), min(counts)
    if most >= CONSTANT * profile.present:
        remarks.append(f"nearly constant: one value in {_share(most, profile.present)}")
    elif rarest < 5 and profile.present >= ENOUGH:
        remarks.append("some occur in fewer than 5 records: a list with them could tell who is in the table")
    alike = _spelled_alike(labels)
    if alike:
        remarks.append(f"{alike[0]!r} and {alike[1]!r} differ in case or spaces only: write them alike")
    return "category", "; ".join(remarks), Categorical(name, tuple(labels))


def labels_of(profile: ColumnProfile) -> list[Label]:
    """The distinct values as labels, sorted; texts that no schema can list are left out.

    Numbers with a decimal comma are listed as they are written: so they are compared with categories and classes.
    """
    if profile.spelled != set():
        ordered = [*sorted(profile.spelled or (), key=_with_comma), *sorted(profile.words.counts)]
        return [text for text in dict.fromkeys(map(text_of, ordered)) if text and not spells_no_usable_number(text)]
    texts = {text_of(text) for text in profile.words.counts} | {text_of(number) for number in profile.distinct.counts}
    listed = [text for text in texts if text and not spells_no_usable_number(text)]
    numbers = [number for number in sorted(profile.distinct.counts) if text_of(number) in listed]
    if profile.typed:
        return [int(number) if number.is_integer() else number for number in numbers]
    return [text_of(number) for number in numbers] if not profile.word_records else [*sorted(listed)]


def _with_comma(text: str) -> tuple[float, str]:
    """The number that a text stands for where numbers have a decimal comma, and the text."""
    return number_of(text.replace(",", ".")), text


def _spelled_alike(labels: list[Label]) -> tuple[Label, Label] | None:
    seen: dict[str, Label] = {}
    for label in labels:
        key = " ".join(str(label).casefold().split())
        if key in seen:
            return seen[key], label
        seen[key] = label
    return None


def _is_number_of_a_record(name: str, profile: ColumnProfile) -> bool:
    """Whether whole numbers name records: all different and either without large gaps, or called an identifier."""
    if not profile.whole or profile.word_records or profile.present < ENOUGH:
        return False
    often = max(profile.distinct.counts.values(), default=0)
    if often > 1 and profile.distinct.size < MOSTLY * profile.present:
        return False
    is_dense = often == 1 and profile.high - profile.low < 2 * profile.present
    return is_dense or (NAMED.search(name) is not None and profile.distinct.size >= MOSTLY * profile.present)


def _are_dates(profile: ColumnProfile) -> bool:
    if not (profile.whole and profile.low > 1.85e7 and profile.high < 2.2e7 and profile.distinct.size > FEW):
        return False
    return all(1 <= number // 100 % 100 <= 12 and 1 <= number % 100 <= 31 for number in profile.distinct.counts)


def _mostly(profile: ColumnProfile, pattern: re.Pattern[str]) -> bool:
    """Whether most texts match, by their numbers of records, of those that are kept."""
    counts = profile.words.counts
    good = sum(count for text, count in counts.items() if len(text) <= 40 and pattern.fullmatch(text))
    return good >= MOSTLY * max(1, sum(counts.values())) and profile.word_records >= MOSTLY * profile.present


def _mean(counts: dict[str, int], size: Callable[[str], int]) -> float:
    return sum(size(text) * count for text, count in counts.items()) / max(1, sum(counts.values()))


def _share(part: int, whole: int) -> str:
    percent = 100 * part / max(1, whole)
    return "less than 1 %" if 0 < percent < 1 else "more than 99 %" if 99 < percent < 100 else f"{percent:.0f} %"
