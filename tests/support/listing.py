"""The whole command line and all public names as text, to compare with what is committed.

After a change that is wanted, write the two files again: `PYTHONPATH=src:tests python -m support.listing`.
"""

import importlib
from pathlib import Path

import typer

import discreet
from discreet.cli.application import app

COMMAND_LINE = Path(__file__).parents[1] / "cli" / "command_line.txt"
PUBLIC_NAMES = Path(__file__).parents[1] / "cli" / "public_names.txt"


def command_line():
    """Every command, each followed by its arguments and options: names, and default or required."""
    return "\n".join(_lines(typer.main.get_command(app), "discreet")) + "\n"


def _lines(command, path):
    yield path
    yield from (f"    {_parameter(each)}" for each in command.params)
    for name, inner in getattr(command, "commands", {}).items():
        yield ""
        yield from _lines(inner, f"{path} {name}")


def _parameter(parameter):
    """Names, and what may be left out or given often; types are left to the libraries, whose names for them change."""
    is_option = parameter.param_type_name == "option"
    words = [" / ".join([*parameter.opts, *parameter.secondary_opts]) if is_option else parameter.name.upper()]
    words += ["flag"] if getattr(parameter, "is_flag", False) else []
    words += ["required" if parameter.required else f"default {parameter.default}"]
    words += ["repeatable"] if getattr(parameter, "multiple", False) or parameter.nargs != 1 else []
    return ", ".join(words)


def public_names():
    """The public names of discreet, and of each of its public rooms."""
    rooms = [discreet, *(importlib.import_module(f"discreet.{name}") for name in discreet._ROOMS)]
    return "\n\n".join("\n    ".join([room.__name__, *sorted(room.__all__)]) for room in rooms) + "\n"


if __name__ == "__main__":
    COMMAND_LINE.write_text(command_line(), encoding="utf-8")
    PUBLIC_NAMES.write_text(public_names(), encoding="utf-8")
