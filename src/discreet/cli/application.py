"""The application: its commands, and what happens to errors.

An error that discreet raises on purpose, a wrong option and an unreadable file are one line and status 2. Anything
else is a defect: its message may hold a value of the data, so it is not shown (status 1) unless --debug is given.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from discreet import __version__
from discreet.cli import (
    advise,
    budget,
    card,
    compare,
    demo,
    explain,
    federated,
    federated_simulate,
    perturb,
    predict,
    reproduce,
    schema,
    score,
    train,
)
from discreet.cli.outputs import one_line
from discreet.errors import DiscreetError


class CarefulGroup(TyperGroup):
    """Runs a command; turns every error into one line that quotes no data."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the options before the command's name."""
        with _in_one_line(debug=False):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names."""
        with _in_one_line(debug=bool(ctx.params.get("debug"))):
            return super().invoke(ctx)


@contextlib.contextmanager
def _in_one_line(debug: bool) -> Iterator[None]:
    try:
        yield
        return
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        explained = explanation(error)
        if _is_for_the_framework(error) or (explained is None and debug):
            raise
        message, status = explained or (_unexpected(error), 1)
    typer.echo(f"error: {one_line(message)}", err=True)
    raise typer.Exit(status)


def explanation(error: Exception) -> tuple[str, int] | None:
    """Message and exit status of an error that is the user's to mend, or None."""
    if isinstance(error, DiscreetError):
        return str(error), 2
    if hasattr(error, "format_message"):
        command = getattr(getattr(error, "ctx", None), "command_path", "discreet")
        return f"{error.format_message().rstrip('.')}; see `{command} --help`", 2
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {error.filename}: {error.strerror}; check the path", 2
    return None


def _unexpected(error: Exception) -> str:
    return (
        f"something unexpected went wrong ({type(error).__name__}). The message is held back, as it may quote data; "
        "`discreet --debug ...` shows it"
    )


def _is_for_the_framework(error: Exception) -> bool:
    """A closed pipe (`discreet ... | head`), or a group called without a command, which shows its help."""
    closed = isinstance(error, OSError) and error.errno == errno.EPIPE
    return closed or type(error).__name__ == "NoArgsIsHelpError"


app = typer.Typer(
    cls=CarefulGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show what went wrong inside; this may show values of the data.")
    ] = False,
) -> None:
    """Train classifiers that can be published: differentially private, with a guarantee that holds.

    \b
    Start here:  discreet demo
    """


schemas = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
schemas.command("draft")(schema.draft)
schemas.command("check")(schema.check)

ledgers = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
ledgers.command("show")(budget.show)
ledgers.command("verify")(budget.verify)
ledgers.command("adopt")(budget.adopt)

parties = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
parties.command("key")(federated.key)
parties.command("invite")(federated.invite)
parties.command("answer")(federated.answer)
parties.command("combine")(federated.combine)
parties.command("simulate")(federated_simulate.simulate)

app.command("demo")(demo.demo)
app.add_typer(schemas, name="schema", help="Write and check what is public about a table.")
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("perturb")(perturb.perturb)
app.add_typer(parties, name="federated", help="Train one model with parties that share no rows.")
app.command("score")(score.score)
app.add_typer(ledgers, name="budget", help="Look at what was spent: ledger files.")
app.command("advise")(advise.advise)
app.command("compare")(compare.compare)
app.command("reproduce")(reproduce.reproduce)
app.command("card")(card.card)
app.command("explain")(explain.explain)
app.command("plot")(explain.plot)


def main() -> None:
    """Run the command line."""
    app(prog_name="discreet")
