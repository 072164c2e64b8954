"""The command line, run in this process."""

import csv

from typer.testing import CliRunner

from discreet.cli.application import app


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def run(*arguments, status=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result
