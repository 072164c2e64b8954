"""Requests of analysts: data, not code. A model, a private score, or counts over public cells; all sizes are bounded.

`read_request` checks the form; whether columns and values fit a data set's schema is checked in `fitting.py`. Nothing
here or there looks at data, so a refusal tells nothing about them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from discreet.errors import DiscreetError
from discreet.privacy.epsilon import as_release_epsilon
from discreet.service.errors import RequestError
from discreet.storage.envelope import content_hash

MOST_QUERIES = 256
"""As many as the door takes (doors/questions.py), so that a model of many columns is learned by one request."""
MOST_PREDICATES = 16
MOST_VALUES = 1000
MOST_COLUMNS_BY = 4
MOST_CELLS = 65_536
"""The most cells of one query, over all columns that it is grouped by."""
MOST_CANDIDATES = 4096
"""The most columns that a choice is among."""
MOST_PARAMETERS = 32
MOST_EPSILON = 40
"""The most characters of an epsilon, as it is asked for and as the fraction that is stored."""
LEAST_EPSILON = Fraction(1, 10**9)
"""The least epsilon of a request: the smallest unit of the accounts. With much less no model can be fitted, since the
noise of its counts would be beyond all numbers: such a job was charged, and then failed."""

MODEL_KINDS = ("auto", "naive-bayes", "one-rule", "decision-tree", "random-forest", "svm")
ModelKind = Literal["auto", "naive-bayes", "one-rule", "decision-tree", "random-forest", "svm"]


def _exact_text(value: object) -> str:
    """An epsilon as an exact text: 0.1 and "1/10" both become "1/10". What is read again is the same text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or len(str(value)) > MOST_EPSILON:
        raise ValueError(f"need a number above 0, such as 1, 0.1 or '1/3', of at most {MOST_EPSILON} characters")
    try:
        epsilon = as_release_epsilon(value)
    except DiscreetError as error:
        raise ValueError(str(error)) from None
    if epsilon == math.inf:
        raise ValueError("an infinite epsilon is not private; need a number above 0, such as 1")
    if epsilon < LEAST_EPSILON:
        raise ValueError(f"epsilon={str(value)[:MOST_EPSILON]}; need at least 1e-9, the smallest unit of the accounts")
    if len(text := str(epsilon)) > MOST_EPSILON:
        raise ValueError(f"as a fraction this has more than {MOST_EPSILON} characters; need fewer digits, such as 0.1")
    return text


ExactEpsilon = Annotated[str, BeforeValidator(_exact_text), Field(description="Privacy loss: '1', '0.1' or '1/3'.")]
Short = Annotated[str, Field(min_length=1, max_length=200)]
Value = StrictBool | StrictInt | StrictFloat | Annotated[str, Field(max_length=200)]
Number = StrictInt | Annotated[StrictFloat, Field(allow_inf_nan=False)]
Release = Annotated[str, Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]


class Strict(BaseModel):
    """Entries that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TrainRequest(Strict):
    """A model, learned with noise."""

    kind: Literal["train"]
    model: ModelKind = "auto"
    epsilon: ExactEpsilon
    parameters: Annotated[dict[Short, Value | None], Field(max_length=MOST_PARAMETERS)] = {}


class ScoreRequest(Strict):
    """How good a released model is on the data set, with noise: its accuracy and confusion matrix."""

    kind: Literal["score"]
    release: Release
    epsilon: ExactEpsilon


class Condition(Strict):
    """One public predicate on one column: exactly one of equals, in, between, missing or unlisted."""

    column: Short
    equals: Value | None = None
    in_: list[Value] | None = Field(default=None, alias="in", min_length=1, max_length=MOST_VALUES)
    between: tuple[Number | None, Number | None] | None = None
    missing: Literal[True] | None = None
    unlisted: Literal[True] | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [self.equals, self.in_, self.between, self.missing, self.unlisted]
        if sum(each is not None for each in given) != 1:
            raise ValueError("need exactly one of: equals, in, between, missing, unlisted")
        return self


class GroupBy(Strict):
    """A column to group by: its categories, or for numbers a count of equal bins between the public bounds."""

    column: Short
    bins: Annotated[StrictInt, Field(ge=2, le=MOST_CELLS)] | None = None
    overlapping: StrictBool = False


class CountQuery(Strict):
    """How many records satisfy all conditions, in each cell of the columns grouped by."""

    where: Annotated[list[Condition], Field(max_length=MOST_PREDICATES)] = []
    by: Annotated[list[GroupBy], Field(max_length=MOST_COLUMNS_BY)] = []


class Candidate(Strict):
    """A column that may be chosen (numbers in bins, classes weighted), or a fraction of the records to beat."""

    column: Short | None = None
    bins: Annotated[StrictInt, Field(ge=2, le=MOST_CELLS)] | None = None
    weights: Annotated[list[Annotated[StrictInt, Field(ge=1, le=10**6)]], Field(max_length=MOST_CELLS)] | None = None
    right: Annotated[StrictInt, Field(ge=0, le=10**6)] | None = None
    of: Annotated[StrictInt, Field(ge=1, le=10**6)] | None = None


class Choose(Strict):
    """Which columns alone classify the most records, and nothing else about them: what one-rule asks first."""

    candidates: Annotated[list[Candidate], Field(min_length=1, max_length=MOST_CANDIDATES)]
    wanted: Annotated[StrictInt, Field(ge=1, le=MOST_CANDIDATES)] = 1


class CountRequest(Strict):
    """Counts, or a choice of columns by counts; `shares` divides epsilon among the queries (equally if null)."""

    kind: Literal["count"]
    epsilon: ExactEpsilon
    queries: Annotated[list[CountQuery], Field(max_length=MOST_QUERIES)] = []
    choose: Choose | None = None
    shares: Annotated[list[Annotated[Number, Field(ge=1e-6, le=10**6)]], Field(max_length=MOST_QUERIES)] | None = None

    @model_validator(mode="after")
    def _a_share_each(self) -> Self:
        if self.shares is not None and len(self.shares) != len(self.queries):
            raise ValueError("shares: need one weight per query, or null")
        if bool(self.queries) == (self.choose is not None):
            raise ValueError("queries: need at least one query, or choose and no query")
        return self


Request = Annotated[TrainRequest | ScoreRequest | CountRequest, Field(discriminator="kind")]
_ADAPTER: TypeAdapter[TrainRequest | ScoreRequest | CountRequest] = TypeAdapter(Request)


def read_request(content: Any) -> TrainRequest | ScoreRequest | CountRequest:
    """A request from plain data; RequestError says which entry is wrong, and repeats no long text."""
    if isinstance(content, TrainRequest | ScoreRequest | CountRequest):  # read before: it cannot be changed
        return content
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part)[:40] for part in first["loc"][1:]) or "the request"
        raise RequestError(f"{where[:200]}: {first['msg'][:300]}") from None
    except RecursionError:
        raise RequestError("the request: it is nested too deeply") from None


def plain(request: TrainRequest | ScoreRequest | CountRequest) -> dict[str, Any]:
    """The request as plain data, as it is stored and hashed."""
    return request.model_dump(mode="json", by_alias=True, exclude_none=True)


def request_hash(request: TrainRequest | ScoreRequest | CountRequest, *context: object) -> str:
    """A hash of the request and of what it is asked of; requests with the same hash ask the same."""
    return content_hash([plain(request), *context])


def epsilon_of(request: TrainRequest | ScoreRequest | CountRequest) -> Fraction:
    """The exact epsilon of a request."""
    return Fraction(request.epsilon)
