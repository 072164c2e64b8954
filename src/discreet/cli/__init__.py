"""The command line: one module per command."""

from discreet.cli.application import app, main

__all__ = ["app", "main"]
