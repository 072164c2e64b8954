"""A schema drafted from a file, with what was found about each column: for the owner, never private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import DataError
from discreet.records.csv_columns import split_columns
from discreet.records.csv_header import header_and_delimiter
from discreet.records.csv_lines import Lines
from discreet.records.csv_opening import read_content
from discreet.records.files import checked, is_text, structure
from discreet.records.profile import Profile, Told, parts, profile_file
from discreet.records.recognition import COMMA, MANY, POINT, Finding, labels_of, recognise
from discreet.schema import Schema
from discreet.schema.columns import Column, Label, Numeric
from discreet.schema.dialect import USUAL, Dialect


@dataclass(frozen=True)
class FileDraft:
    """A schema whose `from_data` lists every entry that a person has to confirm, and the findings behind it.

    `notes` are about the file as a whole, and for its owner, as all of this is.
    """

    schema: Schema
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def draft_file(
    path: str | Path,
    target: str,
    ignore: Sequence[str] = (),
    dialect: Dialect = USUAL,
    sheet: str | None = None,
    told: Told = lambda done, of: None,
    *,
    guess: bool = True,
) -> FileDraft:
    """Draft a schema from a file in one pass. Messages name columns and quote no value.

    With `guess`, the draft of a CSV file says whether its numbers have a decimal comma, and marks that as read off it.
    """
    path = checked(path)
    absent = [name for name in (target, *ignore) if name not in structure(path, dialect, sheet)]
    if absent:
        raise DataError(
            f"{path} has no column {absent[0]!r}; check --target and --ignore, that it has a header row, and commas "
            "between the columns (tabs in a .tsv file), or --delimiter"
        )
    guessed = guess and dialect.decimal == "." and is_text(path) and _has_decimal_commas(path, dialect)
    written = dialect.changed(decimal="," if guessed else None)
    profile = profile_file(path, written, sheet, told)
    if profile.too_long:
        raise DataError(f"{path} has a line that is too long to read; remove it, or convert the file to Parquet")
    if not profile.records:
        raise DataError(f"{path} has a header and no record: a draft needs records; write the schema by hand")
    classes = _classes(profile, target)
    found = {name: recognise(name, each) for name, each in profile.columns.items() if name not in (target, *ignore)}
    columns = [column for _, column in found.values() if column is not None]
    if not columns:
        taken = ", ".join(f"{name!r} is taken for {finding.taken_for}" for name, (finding, _) in found.items())
        why = f": {taken[:300]}" if taken else ""
        raise DataError(f"no column is left besides the target that a model could use{why}; need at least one")
    left_out = [name for name, (_, column) in found.items() if column is None]
    marks = [mark for column in columns for mark in marks_of(column)] + [f"{name}.ignore" for name in left_out]
    schema = Schema(
        columns,
        target,
        classes,
        records=profile.records,
        ignore=[*ignore, *left_out],
        from_data=[*marks, "records", "classes", *(["dialect.decimal"] if guessed else [])],
        dialect=written,
    )
    return FileDraft(schema, tuple(finding for finding, _ in found.values()), _notes(path, profile, schema, guessed))


def marks_of(column: Column) -> list[str]:
    """The names, in `from_data`, of what was read off the data for a column."""
    entries = ("lower", "upper") if isinstance(column, Numeric) else ("categories",)
    return [f"{column.name}.{entry}" for entry in entries]


def _classes(profile: Profile, target: str) -> list[Label]:
    column = profile.columns[target]
    if column.others >= column.present:
        what = "has no value in any record" if not column.present else "holds neither numbers nor texts"
        raise DataError(f"column {target!r}, the target, {what}; name another column: --target")
    distinct = column.words.size + column.distinct.size
    classes = labels_of(column) if distinct <= MANY else []
    if not classes:
        raise DataError(
            f"column {target!r}, the target, holds more than {MANY} different values: it is no class; name another "
            "column (--target), or write groups of its values to a column of their own"
        )
    return classes


def _notes(path: Path, profile: Profile, schema: Schema, guessed: bool) -> tuple[str, ...]:
    """Remarks about the file as a whole."""
    notes = []
    if len(schema.classes) == 1:
        notes.append(
            f"{schema.target!r}, the target, has a single class in these data: a model has nothing to tell apart."
        )
    if profile.open_quotes:
        lines = f"{profile.open_quotes} lines have" if profile.open_quotes > 1 else "1 line has"
        notes.append(
            f"{path}: {lines} a quote that is never closed. Every line is taken for a record: if fields hold line "
            "breaks, convert the file to Parquet."
        )
    if others := profile.columns[schema.target].others:
        values = f"{others} values are" if others > 1 else "1 value is"
        notes.append(
            f"{schema.target!r}, the target: {values} neither a number nor a text; such records have no class."
        )
    if guessed:
        notes.append("Numbers have a decimal comma: the draft says so, and the file will be read so (--decimal ,).")
    if any(column.broken for column in profile.columns.values()):
        notes.append(
            f"{path}: some texts are not {schema.dialect.encoding.upper()}; name the encoding: --encoding latin-1."
        )
    return tuple(notes)


def _has_decimal_commas(path: Path, dialect: Dialect) -> bool:
    """Whether, in the first lines, more columns hold numbers with a decimal comma than with a decimal point."""
    names, delimiter = header_and_delimiter(path, dialect)
    commas = points = 0
    for content in parts(read_content(path, dialect)):
        lines = Lines(content, delimiter, len(names))
        for column in split_columns(lines, range(len(names)), len(names), delimiter).values():
            texts = [str(value) for value in column.values().tolist() if value]
            commas += sum(map(bool, map(COMMA.fullmatch, texts))) > len(texts) / 2
            points += sum(map(bool, map(POINT.fullmatch, texts))) > len(texts) / 2
        break
    return commas > points
