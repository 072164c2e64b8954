"""Everything that discreet raises on purpose.

DiscreetError
├── SchemaError (ValueError)       the schema is incomplete or contradicts itself
├── DataError (ValueError)         the table does not have the columns that the schema names
├── ParameterError (ValueError)    a constructor or command-line value is out of range
├── FileError (ValueError)         a file cannot be read, is newer than this version, or was altered
├── BudgetError (RuntimeError)     the ledger does not allow the release
├── MissingExtra (ImportError)     an optional package is not installed
└── UntestedVersion (ImportError)  a package that the guarantee rests on has a version that was never tested

Messages say what was got, what is allowed and what to do. They may quote public things (a column name, a parameter, a
file name) but never a value of the data: whether and what this package raises does not depend on any record.
"""


class DiscreetError(Exception):
    """Base of all errors of discreet. A message names what is wrong and the remedy, and quotes no value of the data.

    Examples
    --------
    >>> from discreet import DiscreetError, Numeric
    >>> try:
    ...     Numeric("age", 120, 0)
    ... except DiscreetError as error:
    ...     print(type(error).__name__)
    SchemaError
    """


class SchemaError(DiscreetError, ValueError):
    """The schema is incomplete or contradicts itself: reversed bounds, repeated categories, an unknown adjacency."""


class DataError(DiscreetError, ValueError):
    """The table's structure does not fit the schema: a missing or extra column, a wrong shape."""


class ParameterError(DiscreetError, ValueError):
    """A parameter is out of range: an epsilon that is not positive, an unknown option."""


class FileError(DiscreetError, ValueError):
    """A file cannot be used: unreadable, of a newer version, or altered since it was written."""


class BudgetError(DiscreetError, RuntimeError):
    """The ledger refuses: the limit would be exceeded, or the ledger was copied to another process."""


class MissingExtra(DiscreetError, ImportError):  # noqa: N818 - names what is missing
    """An optional package is not installed; the message is the command that installs it."""

    def __init__(self, extra: str) -> None:
        super().__init__(f"this needs an optional package: pip install 'discreet[{extra}]'")


class UntestedVersion(DiscreetError, ImportError):  # noqa: N818 - names what was found
    """A package that the guarantee rests on has an untested version, or draws noise of another law."""

    def __init__(self, package: str, version: str, oldest: str, beyond: str) -> None:
        super().__init__(
            f"{package} {version or 'of unknown version'} was not tested with this version of discreet, whose "
            f"guarantee rests on it; pip install '{package}>={oldest},<{beyond}', or upgrade discreet"
        )
