"""Classifiers for which we can prove the guarantee, one family a module."""

from __future__ import annotations

from typing import Any

from discreet.models.naive_bayes import NaiveBayes
from discreet.models.one_rule import OneRule

MODELS: dict[str, Any] = {NaiveBayes.kind: NaiveBayes, OneRule.kind: OneRule}
"""The models by the name that files and the command line use."""

__all__ = ["MODELS", "NaiveBayes", "OneRule"]
