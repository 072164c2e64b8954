"""Texts, numbers and problems as the API's description has them: what all requests and answers share."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from discreet.privacy.accounts.amounts import NANO
from discreet.service.problems import BASE, MEDIA_TYPE, Problems

Name: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9._@-]{0,118}[a-z0-9])?$", min_length=1, max_length=120)
]
"""Names of people, data sets, populations and projects."""
Line: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", min_length=1, max_length=120)]
"""A line of text without control characters."""
Title: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", min_length=1, max_length=200)]
Note: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*$", max_length=400)]
Text: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$", max_length=4000)]
Money: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=r"^(0|[1-9][0-9]{0,4})([.][0-9]{1,9})?$", max_length=20),
    Field(examples=["10", "2.5"]),
]
"""A limit of an account: below 100,000, with at most nine decimals, which the accounts keep exactly."""
Amount: TypeAlias = Annotated[str, Field(description="Privacy loss as an exact decimal number.", examples=["0.25"])]
NamePath: TypeAlias = Annotated[Name, Path(description="The name.")]
Number: TypeAlias = Annotated[int, Path(ge=1, le=2**31 - 1, description="The number.")]
Identifier: TypeAlias = Annotated[
    str,
    Path(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", description="The identifier."),
]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=200, description="At most this many.")]
Before: TypeAlias = Annotated[
    int | None, Query(ge=1, le=2**31 - 1, description="Only those before this number, to page on.")
]


def shown(amount: Fraction) -> str:
    """An amount of the accounts as an exact decimal number: they have at most nine decimals.

    >>> shown(Fraction(5, 4)), shown(Fraction(3))
    ('1.25', '3')
    """
    whole, rest = divmod(abs(int(amount * NANO)), NANO)
    return ("-" if amount < 0 else "") + f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


class Body(BaseModel):
    """A request: what is not known is refused, and no type is converted into another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(BaseModel):
    """An answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Wrong(Answer):
    """A field and the rule that it breaks; never its value."""

    field: str
    rule: str


class ProblemBody(Answer):
    """A problem of RFC 9457, with a remedy."""

    type: Annotated[str, Field(json_schema_extra={"enum": [BASE + each.kind.name for each in Problems]})]
    title: str
    status: int
    detail: str
    remedy: str
    errors: list[Wrong] | None = None


ANY = (
    Problems.MALFORMED,
    Problems.NOT_SIGNED_IN,
    Problems.NOT_ALLOWED,
    Problems.NOT_FOUND,
    Problems.TOO_LARGE,
    Problems.INVALID,
    Problems.TOO_MANY,
    Problems.INTERNAL,
    Problems.UNAVAILABLE,
)
"""What any call can end with."""


def problems(*others: Problems) -> dict[int | str, dict[str, Any]]:
    """The problems of a call, for the API's description: those of ANY, and the given ones."""
    by_status: dict[int | str, list[str]] = {}
    for each in (*ANY, *others):
        by_status.setdefault(each.kind.status, []).append(each.kind.title)
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemBody"}}}
    return {status: {"description": "; ".join(titles), "content": content} for status, titles in by_status.items()}
