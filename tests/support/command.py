"""The command line, run in this process."""

import csv
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from discreet.cli.application import app


def write_csv(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def run(*arguments, status=0, input=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
    assert result.exit_code == status, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result


def refused(command, *extra, words=(), secrets=(), **given):
    """One line on standard error that has the words and no data; nothing on standard output; no file made or lost."""
    before = {path.name for path in Path().iterdir()}
    result = command(*extra, status=2, **given)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    for secret in (*secrets, "Traceback"):
        assert secret not in result.stderr
    for word in words:
        assert word in result.stderr, result.stderr
    assert {path.name for path in Path().iterdir()} == before


SHELL = {"|", "||", "&", "&&", ";", "<", ">", ">>", "2>"}


def run_script(text):
    """The commands of a document, in order: quotes, comments, continued lines and `>` as the shell has them."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(re.sub(r"(^|\s)#.*", "", line))  # a # within a word, as in an address, is no comment
        if words:
            command, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
            assert command[0] == "discreet", line
            assert SHELL.isdisjoint(command), f"only a shell can run this: {line}"
            result = run(*command[1:])
            if target is not None:
                Path(target).write_text(result.stdout, encoding="utf-8")
