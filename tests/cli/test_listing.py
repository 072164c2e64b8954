"""The command line and the public names are promises: what is committed here changes on purpose only."""

import pytest
import typer
from typer.testing import CliRunner

from discreet.cli.application import app
from support.listing import COMMAND_LINE, PUBLIC_NAMES, command_line, public_names


@pytest.mark.parametrize(
    ("now", "path"), [(command_line, COMMAND_LINE), (public_names, PUBLIC_NAMES)], ids=["commands", "names"]
)
def test_nothing_public_changes_unseen(now, path):
    """If the change is wanted, write the file again as `support/listing.py` says, and commit it."""
    assert now() == path.read_text(encoding="utf-8")


def commands(command, path=()):
    """The words that call each command, without those of groups."""
    inner = getattr(command, "commands", None)
    return [path] if inner is None else [each for name in inner for each in commands(inner[name], (*path, name))]


@pytest.mark.parametrize("words", commands(typer.main.get_command(app)), ids=" ".join)
def test_every_help_has_an_example_of_its_command(words):
    shown = CliRunner().invoke(app, [*words, "--help"]).stdout
    assert "Example" in shown
    assert f"\n    discreet {' '.join(words)} " in shown
