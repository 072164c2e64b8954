"""The draft of a schema as a form: every entry that was read from the data, one by one, to be confirmed or changed.

A field is named by the place of its entry in the draft's list, so that no name of a column can be mistaken for another.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.schema import Adjacency, Categorical, Schema
from discreet.schema.columns import Label, spells_number, text_of
from discreet.service.errors import RequestError
from discreet.service.pages.numbers import whole
from discreet.service.pages.views import number_words

CLAIM = "I know this from elsewhere, or it may be published as it is"
WORDS = {"lower": "Lower bound", "upper": "Upper bound", "categories": "Categories"}


@dataclass(frozen=True)
class Fact:
    """One entry: how it is asked for, and what the form has said so far."""

    key: str
    label: str
    kind: str
    value: str
    confirmed: bool
    optional: bool = False

    @property
    def rows(self) -> int:
        """The height of the field."""
        return min(max(2, self.value.count("\n") + 1), 12)


@dataclass(frozen=True)
class Group:
    """The entries of one column, or one entry about the whole table. `place` is None where it cannot be left out."""

    title: str
    place: int | None
    left_out: bool
    facts: tuple[Fact, ...]


def groups(draft: Mapping[str, Any], form: Mapping[str, str]) -> list[Group]:
    """All entries to be confirmed, by column, with what the form says."""
    schema, marks = Schema.from_dict(draft), list(draft["from_data"])
    facts = {mark: _fact(schema, mark, str(key), form) for key, mark in enumerate(marks)}
    found = []
    for place, column in enumerate(schema.columns):
        own = tuple(fact for mark, fact in facts.items() if mark.rpartition(".")[0] == column.name)
        found.append(Group(column.name, place, f"leave-{place}" in form, own))
    if "classes" in facts:
        found.append(Group(f"{schema.target}, to be predicted", None, False, (facts["classes"],)))
    records = facts.get("records") or _fact(schema, "records", "records", form)
    return [*found, Group("The whole table", None, False, (records,))]


def _fact(schema: Schema, mark: str, key: str, form: Mapping[str, str]) -> Fact:
    name, _, entry = mark.rpartition(".")
    if mark == "records":
        label, kind, value = (
            "Number of records, roughly; empty if not public",
            "number",
            str(schema.records or ""),
        )
    elif mark == "classes":
        label, kind, value = "Classes", "list", "\n".join(text_of(each) for each in schema.classes)
    elif isinstance(column := schema[name], Categorical):
        label, kind, value = WORDS[entry], "list", "\n".join(text_of(each) for each in column.categories)
    else:
        label, kind, value = WORDS[entry], "number", number_words(getattr(column, entry))
    return Fact(key, label, kind, form.get(f"value-{key}", value), f"confirm-{key}" in form, key == "records")


def confirmed_schema(
    draft: Mapping[str, Any], form: Mapping[str, str], adjacency: Adjacency
) -> tuple[dict[str, Any], list[str]]:
    """The schema that the form describes, as plain data, and the entries that are confirmed."""
    content, marks = copy.deepcopy(dict(draft)), list(draft["from_data"])
    columns = {column["name"]: column for column in content["columns"]}
    left_out = [each["name"] for place, each in enumerate(content["columns"]) if f"leave-{place}" in form]
    for key, mark in enumerate(marks):
        text = form.get(f"value-{key}")
        name, _, entry = mark.rpartition(".")
        if text is None or name in left_out:
            continue
        if mark == "records":
            content["records"] = _records(text)
        elif mark == "classes":
            content["classes"] = _labels(text, content["classes"])
        elif entry == "categories":
            columns[name][entry] = _labels(text, columns[name][entry])
        else:
            columns[name][entry] = _bound(text, columns[name][entry], name)
    if "value-records" in form:
        content["records"] = _records(form["value-records"])
    content["columns"] = [each for each in content["columns"] if each["name"] not in left_out]
    content["ignore"] = [*content.get("ignore", []), *left_out]
    content["adjacency"] = adjacency.value
    content["from_data"] = []
    return content, [mark for key, mark in enumerate(marks) if f"confirm-{key}" in form]


def _bound(text: str, drafted: float, name: str) -> float:
    """The number that was typed; the drafted one, to the last digit, if the field was not touched."""
    if text == number_words(drafted):
        return drafted
    if not spells_number(text) or not math.isfinite(float(text)):
        raise RequestError(f"{name[:120]}: a bound is a number, such as 0 or 99.5")
    return int(text) if whole(text.lstrip("+-"), 15) is not None else float(text)


def _records(text: str) -> int | None:
    if not text:
        return None
    records = whole(text, 12)
    if records is None:
        raise RequestError("records: need a whole number, or nothing")
    return records


def _labels(text: str, drafted: Sequence[Label]) -> list[Label]:
    """One label per line; a label of the draft keeps its type."""
    known = {text_of(label): label for label in drafted}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [known.get(text_of(line), line) for line in lines]
