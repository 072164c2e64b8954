"""Classifiers for which we can prove the guarantee, one family a module."""

from __future__ import annotations

from typing import Any

from discreet.models.naive_bayes import NaiveBayes

MODELS: dict[str, Any] = {NaiveBayes.kind: NaiveBayes}
"""The models by the name that files and the command line use."""

__all__ = ["MODELS", "NaiveBayes"]
