"""Released counts, scores and cards as pages show them; computed from what was released alone."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from discreet.released.answers import Answer, Answers
from discreet.service.pages import drawings, views
from discreet.service.releases import Release

MOST_ROWS = 500
"""Cells that a page shows of one table; the file has all."""
MOST_CLASSES = 20
"""Classes of a score that a page shows; the file has all."""


def tables(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of a release of counts, each with its picture where it has few cells."""
    return [_table(each) for each in Answers.from_dict(content).answers]


def _table(answer: Answer) -> dict[str, Any]:
    by = [each.column for each in answer.query.by]
    width = answer.half_width()
    cells = list(itertools.islice(itertools.product(*answer.cells), MOST_ROWS))
    values = [float(each) for each in answer.counts.reshape(-1)[: len(cells)]]
    rows = [_row(names, value, width) for names, value in zip(cells, values, strict=True)]
    title = f"Records by {', '.join(by)}" if by else "Records"
    bars = [
        drawings.Bar(" · ".join(names) or "all", value, value - width, value + width)
        for names, value in zip(cells, values, strict=True)
    ]
    size = int(answer.counts.size)
    picture = drawings.counts(title, bars) if size <= drawings.MOST_BARS else None
    return {"title": title, "by": by, "rows": rows, "picture": picture, "cut": size if size > MOST_ROWS else None}


def _row(names: tuple[str, ...], value: float, width: float) -> dict[str, Any]:
    return {"cells": names, "value": f"{value:,.0f}", "interval": f"{value - width:,.0f} to {value + width:,.0f}"}


def score_view(content: Mapping[str, Any]) -> dict[str, Any]:
    """An accuracy with its interval, and the figures of each class; scores of earlier versions have none."""
    low, high = content["lower"], content["upper"]
    words = f"between {low:.1%} and {high:.1%} with confidence {content['confidence']:.0%}"
    view = {"value": f"{content['accuracy']:.1%}", "words": f"Accuracy on the records of this table, {words}."}
    confusion = content.get("confusion")
    return view | ({} if confusion is None else _confusion_view(confusion))


def _confusion_view(confusion: Mapping[str, Any]) -> dict[str, Any]:
    names = [str(label) for label in confusion["classes"]]
    rates = ("sensitivity", "specificity", "precision")
    shown = confusion["by_class"][:MOST_CLASSES]
    by_class = [(str(each["class"]), f"{each['records']:,}", *(_rate(each[rate]) for rate in rates)) for each in shown]
    rows = [(name, [f"{each:,}" for each in row]) for name, row in zip(names, confusion["counts"], strict=True)]
    return {
        "balanced": _rate(confusion["balanced_accuracy"]),
        "by_class": by_class,
        "margin": f"{confusion['margin']:,}",
        "names": names if len(names) <= MOST_CLASSES else [],
        "rows": rows if len(names) <= MOST_CLASSES else [],
    }


def _rate(estimate: Mapping[str, float]) -> str:
    return f"{estimate['value']:.0%} ({estimate['lower']:.0%}–{estimate['upper']:.0%})"


def card_view(release: Release, content: bytes) -> dict[str, Any]:
    """What a release promises, to whom, and what it cost."""
    promise = release.card.get("guarantee") or json.loads(content).get("guarantee") or {}
    facts = [
        ("Table", f"{release.dataset}, version {release.version}"),
        ("ε", views.epsilon_words(release.epsilon)),
        ("Promised to", str(promise.get("unit", ""))),
        ("Adjacency", str(promise.get("adjacency", ""))),
        ("Asked by", release.person),
        ("File", f"{release.content_hash[:16]}…"),
    ]
    known = [(name, value) for name, value in facts if value]
    return {"statement": promise.get("statement", ""), "facts": known, "limits": promise.get("limits", [])}
