"""The command line: `discreet --help`."""

from discreet.cli.application import app, main

__all__ = ["app", "main"]
