"""The public knowledge about a table: columns, bounds, categories, classes and adjacency.

What the schema should say is never learned from the data. A schema is a file that the data's owner can publish; its
hash is part of every model made with it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from discreet.errors import SchemaError
from discreet.schema.adjacency import Adjacency, Paid
from discreet.schema.columns import Categorical, Column, Label, Numeric, checked_labels, is_integer, is_utf8, text_of
from discreet.schema.dialect import USUAL, Dialect
from discreet.storage.envelope import Envelope, content_hash, read_json

FILE = Envelope("discreet/schema", 2, "a schema of discreet", "`discreet schema` or Schema.save", seal=None, indent=1)
"""Version 2 has an entry "dialect". A schema without it is written as version 1, with the hash that it always had."""


@dataclass(frozen=True, repr=False)
class Schema:
    """Columns, classes and adjacency: all that is public about a table.

    Parameters
    ----------
    columns : the columns without the target, in the order of a 2-D array's columns.
    target : name of the column that holds the class.
    classes : the public list of classes. A record with another label, or with none, is not counted.
    adjacency : "add-remove" (default) or "replace-one".
    records : the approximate number of records, if it is public. It guides choices such as the number of bins; a wrong
        number can cost accuracy, but the guarantee still holds.
    ignore : names of columns that may be present and are not read.
    chosen : what was paid, on the same data, to choose the columns (FeatureSelector), and under which adjacency. It is
        part of the guarantee of every model.
    from_data : which entries were read from the data, for instance "age.lower". A schema with such entries is not
        public, and a model made with it has no guarantee.
    dialect : how CSV files of this table are written, if not as usual: `Dialect(decimal=",")`. Files are read so for
        training and for prediction; tables in memory, Parquet files and databases are not concerned.

    Examples
    --------
    >>> schema = Schema([Numeric("age", 17, 90), Categorical("sex", ["F", "M"])], target="income",
    ...                 classes=["<=50K", ">50K"])
    >>> schema.adjacency.value, schema["sex"].size
    ('add-remove', 3)
    """

    columns: tuple[Column, ...]
    target: str
    classes: tuple[Label, ...]
    adjacency: Adjacency = Adjacency.ADD_REMOVE
    records: int | None = None
    ignore: tuple[str, ...] = ()
    from_data: tuple[str, ...] = ()
    chosen: Paid | None = None
    dialect: Dialect = USUAL

    def __init__(
        self,
        columns: Iterable[Column],
        target: str,
        classes: Sequence[Label],
        adjacency: str = "add-remove",
        records: int | None = None,
        ignore: Sequence[str] = (),
        from_data: Sequence[str] = (),
        chosen: Paid | Mapping[str, Any] | str | None = None,
        dialect: Dialect | Mapping[str, str] = USUAL,
    ) -> None:
        written = dialect if isinstance(dialect, Dialect) else Dialect.from_json(dialect)
        object.__setattr__(self, "dialect", written)
        paid = chosen if chosen is None or isinstance(chosen, Paid) else Paid.from_json(chosen)
        object.__setattr__(self, "chosen", paid)
        for name, value in (("columns", columns), ("ignore", ignore), ("from_data", from_data)):
            if isinstance(value, str) or not isinstance(value, Iterable):
                raise SchemaError(f"{name}: got {type(value).__name__}; need a list")
            object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "classes", checked_labels(classes, "classes", "class"))
        try:
            object.__setattr__(self, "adjacency", Adjacency(adjacency))
        except ValueError:
            raise SchemaError(f"adjacency={adjacency!r}; need 'add-remove' or 'replace-one'") from None
        self._check()

    def _check(self) -> None:
        names = [column.name for column in self.columns]
        if not names:
            raise SchemaError("the schema has no columns; need at least one column besides the target")
        seen: set[str] = set()
        for name in [*names, self.target, *self.ignore]:
            if not isinstance(name, str) or not name or not is_utf8(name):
                raise SchemaError(f"column name {name!r}; need a non-empty text of valid Unicode")
            if name in seen:
                raise SchemaError(f"column {name!r} is named twice; name each column once, including the target")
            seen.add(name)
        if self.records is not None and (not is_integer(self.records) or self.records < 1):
            raise SchemaError(f"records={self.records!r}; need a positive integer, or null if the number is not public")

    def __repr__(self) -> str:
        classes = f"{len(self.classes)} classes"
        return f"Schema({len(self.columns)} columns, target={self.target!r}, {classes}, {self.adjacency.value})"

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a column of this name; the target is none."""
        return name in self._by_name

    @cached_property
    def code_of_class(self) -> dict[str, int]:
        """The code of each class, by its one spelling."""
        return {text_of(label): code for code, label in enumerate(self.classes)}

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        """The columns by name: a search through thousands of them for each column would take minutes."""
        return {column.name: column for column in self.columns}

    @property
    def numeric_names(self) -> frozenset[str]:
        """Names of the columns that hold numbers."""
        return frozenset(column.name for column in self.columns if isinstance(column, Numeric))

    @property
    def names(self) -> list[str]:
        """Names of the columns without the target, in order."""
        return [column.name for column in self.columns]

    @property
    def all_names(self) -> list[str]:
        """Names of all columns that a table must have; the target is last."""
        return [*self.names, self.target]

    @property
    def is_public(self) -> bool:
        """Whether every entry is public knowledge; a guarantee needs this."""
        return not self.from_data

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain data, as it is written to a file."""
        unusual = self.dialect.to_json()
        return {
            **FILE.head,
            "version": 2 if unusual else 1,
            **({"dialect": unusual} if unusual else {}),
            "target": self.target,
            "classes": list(self.classes),
            "adjacency": self.adjacency.value,
            "records": self.records,
            "ignore": list(self.ignore),
            "from_data": list(self.from_data),
            **({} if self.chosen is None else {"chosen": self.chosen.to_json()}),
            "columns": [_column_to_dict(column) for column in self.columns],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Schema:
        """Build a schema from plain data; an unknown entry is an error."""
        if "format" not in content:
            return _from_collection_entry(content)
        FILE.check(content, "schema")
        known = {"format", "version", "target", "classes", "adjacency", "records", "ignore", "from_data", "columns"}
        _refuse_unknown(content, {*known, "chosen", "dialect"}, "schema")
        _require(content, ("target", "classes", "columns"), "schema")
        return cls(
            columns=[_column_from_dict(column) for column in _list(content["columns"], "columns")],
            target=content["target"],
            classes=content["classes"],
            adjacency=content.get("adjacency", "add-remove"),
            records=content.get("records"),
            ignore=content.get("ignore", ()),
            from_data=content.get("from_data", ()),
            chosen=content.get("chosen"),
            dialect=content.get("dialect", USUAL),
        )

    @property
    def hash(self) -> str:
        """SHA-256 of the content: schemas with the same hash have the same content."""
        return content_hash(self.to_dict())

    def save(self, path: str | Path) -> None:
        """Write the schema as a JSON file that a person can edit."""
        FILE.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path, name: str | None = None) -> Schema:
        """Read a schema file; `name` picks one from a file that holds several ("schemas.json#adult" too)."""
        if "#" in str(path) and not Path(path).exists():
            path, _, name = str(path).rpartition("#")
        content = read_json(path)
        if "columns" in content or "format" in content:
            return cls.from_dict(content)
        if name is None or name not in content:
            known = ", ".join(sorted(content))
            raise SchemaError(f"{path} holds several schemas, name={name!r}; choose one of: {known}")
        if not isinstance(content[name], Mapping):
            raise SchemaError(f"{path}: entry {name!r} is not a schema; need an object with target and columns")
        return cls.from_dict(content[name])

    def replace(self, **changes: Any) -> Schema:
        """A copy with some entries changed, for instance `schema.replace(adjacency="replace-one")`.

        If the columns were chosen at a cost, columns can be dropped but not added: what an added one cost is unknown.
        """
        if self.chosen is not None and "columns" in changes and "chosen" not in changes:
            added = [each.name for each in changes["columns"] if each.name not in self.names]
            if added:
                raise SchemaError(
                    f"column {added[0]!r} is not among those that were chosen, and what it cost is not known; choose "
                    "from the whole schema at once, or state what all columns cost together (chosen=...)"
                )
        entries = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return Schema(**{**entries, **changes})


def _column_to_dict(column: Column) -> dict[str, Any]:
    entries = {field.name: getattr(column, field.name) for field in dataclasses.fields(column)}
    if isinstance(column, Categorical):
        entries["categories"] = list(column.categories)
    return {"name": entries.pop("name"), "kind": column.kind, **entries}


def _column_from_dict(content: Mapping[str, Any]) -> Column:
    if not isinstance(content, Mapping) or "name" not in content:
        raise SchemaError("a column has no name; each column needs name, kind and its bounds or categories")
    name, kind = content["name"], content.get("kind")
    entries = {key: value for key, value in content.items() if key != "kind"}
    if kind == "numeric":
        _refuse_unknown(entries, {"name", "lower", "upper", "fill", "grid"}, f"column {name!r}")
        _require(entries, ("lower", "upper"), f"column {name!r}")
        return Numeric(**entries)
    if kind == "categorical":
        _refuse_unknown(entries, {"name", "categories", "unlisted", "missing"}, f"column {name!r}")
        _require(entries, ("categories",), f"column {name!r}")
        return Categorical(**entries)
    raise SchemaError(f"column {name!r}: kind={kind!r}; need 'numeric' or 'categorical'")


def _from_collection_entry(content: Mapping[str, Any]) -> Schema:
    """A schema from an entry of a collection: the target's categories are the classes; category lists are complete."""
    for entry in ("adjacency", "chosen", "classes", "dialect", "from_data", "ignore", "records"):
        if entry in content:
            raise SchemaError(f'schema: entry {entry!r} needs an entry "format": {FILE.format!r}; add it')
    _require(content, ("target", "columns"), "schema")
    target, split = content["target"], content.get("split_column")
    columns = {}
    for column in _list(content["columns"], "columns"):
        if not isinstance(column, Mapping) or "name" not in column:
            raise SchemaError("a column has no name; each column needs name, kind and its bounds or categories")
        columns[column["name"]] = column
    if target not in columns:
        raise SchemaError(f"target {target!r} is not among the columns; add it with its categories")
    others = [
        _column_from_dict({**column, "unlisted": False} if column.get("kind") == "categorical" else column)
        for name, column in columns.items()
        if name not in (target, split)
    ]
    classes = columns[target].get("categories", ())
    return Schema(others, target, classes, records=content.get("rows"), ignore=[split] if split else [])


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise SchemaError(f"{where}: got {type(value).__name__}; need a list")
    return list(value)


def _refuse_unknown(content: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in content:
        if key not in known:
            raise SchemaError(f"{where}: entry {key!r} is not known; need one of: {', '.join(sorted(known))}")


def _require(content: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in keys:
        if key not in content:
            raise SchemaError(f"{where}: entry {key!r} is missing; add it")
