"""The guides that need a service or a server work as printed, in a shell, with what this environment has."""

from pathlib import Path

import pytest

from support.transcripts import follow, stranger

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "ask-the-service",
            ["1-differentially private", "has less than epsilon=0.1 left; use a smaller epsilon, or ask the owner"],
        ),
        ("deploy", ["Become the owner", "every balance"]),
    ],
)
def test_a_guide_works_as_printed(name: str, words: list[str]) -> None:
    with stranger(None, name == "deploy") as (folder, environment):
        shown = follow(GUIDES / f"{name}.md", folder, environment, done=("pip install ",))
    text = "\n".join(output for _, output in shown)
    assert [word for word in words if word not in text] == [], text
