"""Makes what the pages of papers state: the claim, the verdict and the reason that the code holds, per algorithm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MADE = Path(__file__).parents[1] / "_made" / "papers"
PAPERS = ("vaidya2013", "lopuhaa2021", "zafarani2020", "marchioro2022", "zorarpaci2019")


def verdicts(paper: str) -> str:
    """The algorithms of a paper, as the classes that implement them describe themselves."""
    from discreet.research import papers

    parts = []
    for name in papers.__all__:
        published = getattr(papers, name)
        if name.lower().startswith(paper):
            parts.append(f"### {name}\n\n**Claim.** {published.claim}.\n\n**Verdict.** {published.verdict}.\n")
    assert parts, paper
    return "\n".join(parts)


def make(_app: Any) -> None:
    """Write one text per paper, for its page to include."""
    MADE.mkdir(parents=True, exist_ok=True)
    for paper in PAPERS:
        (MADE / f"{paper}.txt").write_text(verdicts(paper), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", make, priority=2)
    return {"version": "1", "parallel_read_safe": True}
