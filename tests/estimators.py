"""Every private estimator, once: the suites that cut across run on each of these."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from discreet import NaiveBayes, OneRule

PRIVATE: dict[str, Callable[..., Any]] = {
    "naive-bayes": NaiveBayes,
    "naive-bayes gaussian": partial(NaiveBayes, numeric="gaussian"),
    "naive-bayes smooth": partial(NaiveBayes, numeric="smooth"),
    "one-rule": OneRule,
}
"""By name: called with a schema and keywords, as the class itself."""

EXPERIMENTAL = {"naive-bayes smooth"}
"""Those whose noise is continuous: their losses are computed in floats."""
