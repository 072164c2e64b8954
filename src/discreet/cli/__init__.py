"""The command line: a module for each command or group of commands, and what they share."""

from discreet.cli.application import app, main

__all__ = ["app", "main"]
