"""What a quote expects, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from discreet.service.pages.views import MODELS

MOST_QUERIES = 5


def sentences(expected: Mapping[str, Any]) -> list[str]:
    """The expected accuracy of a model, the margin of a score, or the noise of counts."""
    if "accuracy" in expected:
        names = {name: shown for name, shown, _ in MODELS}
        model = names.get(str(expected.get("model")), str(expected.get("model")))
        said = [
            f"{model}: accuracy about {expected['accuracy']:.0%}, "
            f"most likely between {expected['low']:.0%} and {expected['high']:.0%}."
        ]
        return said + (["A guess: no table that was measured is like this one."] if expected.get("is_guess") else [])
    if "queries" in expected:
        return [_counts(each) for each in expected["queries"][:MOST_QUERIES]]
    if "margin" in expected:
        return [f"Numbers of right and of wrong predictions ± {expected['margin']:,.0f} in 95 of 100 answers."]
    return ["Nothing can be said: the number of records is not declared."]


def _counts(query: Mapping[str, Any]) -> str:
    cells = int(query.get("cells", 1))
    each = "The count" if cells == 1 else f"Each of {cells:,} counts"
    return f"{each} ± {query['margin']:,.0f} in 95 of 100 answers (standard deviation {query['deviation']:,.1f})."


def duration(span: timedelta) -> str:
    """A time for people.

    >>> duration(timedelta(seconds=90)), duration(timedelta(seconds=10))
    ('2 minutes', '10 seconds')
    """
    seconds = span.total_seconds()
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{-(-seconds // 60):.0f} minutes"
