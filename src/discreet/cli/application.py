"""The application: its commands, and what happens to errors.

An error that discreet raises on purpose, a wrong option or an unreadable file is reported on one line, with status 2.
Any other error is a defect: its message may quote data, so it is shown with --debug only (status 1).
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from discreet import __version__
from discreet.cli import (
    advise,
    audit,
    budget,
    card,
    compare,
    count,
    demo,
    epsilon,
    explain,
    federated,
    federated_simulate,
    perturb,
    predict,
    remote,
    remote_asking,
    reproduce,
    schema,
    schema_edit,
    score,
    serve,
    service,
    service_demo,
    split,
    train,
    worker,
)
from discreet.cli.outputs import one_line
from discreet.cli.wording import as_typed
from discreet.errors import DiscreetError


class CarefulGroup(TyperGroup):
    """Runs a command; turns every error into one line that quotes no data."""

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the options before the command's name."""
        with _in_one_line(None):
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context names."""
        with _in_one_line(ctx):
            return super().invoke(ctx)


UNEXPECTED = {"audit": 3}
"""Exit status of an unexpected error by command, where it is not 1: that of an audit says "refuted"."""


@contextlib.contextmanager
def _in_one_line(ctx: Any) -> Iterator[None]:
    try:
        yield
        return
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        explained = explanation(error)
        if _is_for_the_framework(error) or (explained is None and ctx is not None and ctx.params.get("debug")):
            raise
        command = None if ctx is None else ctx.invoked_subcommand
        message, status = explained or (_unexpected(error), UNEXPECTED.get(str(command), 1))
    typer.echo(f"error: {one_line(message)}", err=True)
    raise typer.Exit(status)


def explanation(error: Exception) -> tuple[str, int] | None:
    """Message and exit status of an error that the user can correct; None for any other error."""
    if isinstance(error, DiscreetError):
        return as_typed(str(error)), 2
    if hasattr(error, "format_message"):
        command = getattr(getattr(error, "ctx", None), "command_path", "discreet")
        return f"{error.format_message().rstrip('.')}; see `{command} --help`", 2
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {error.filename}: {error.strerror}; check the path", 2
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"cannot write the output: {os.strerror(errno.ENOSPC)}; free some space", 2
    return None


def _unexpected(error: Exception) -> str:
    return (
        f"something unexpected went wrong ({type(error).__name__}). Its message is not shown, since it may quote data; "
        "`discreet --debug ...` shows it"
    )


def _is_for_the_framework(error: Exception) -> bool:
    """Whether typer handles this error: a closed pipe (`discreet ... | head`), or a group called without a command."""
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
        bool, typer.Option("--debug", help="Show the details of an unexpected error; they may quote data.")
    ] = False,
) -> None:
    """Train classifiers that can be published: differentially private, with a guarantee that holds.

    \b
    Start here:  discreet demo
    """


def _add(group: typer.Typer, *commands: Callable[..., None]) -> typer.Typer:
    """Add commands to a group, each under the name of its function."""
    for command in commands:
        group.command(command.__name__.rstrip("_"))(command)  # import_ is `import`, which Python keeps to itself
    return group


def _add_group(name: str, words: str, *commands: Callable[..., None], within: typer.Typer | None = None) -> typer.Typer:
    """Add a group of commands to the application, or to another group."""
    group = _add(typer.Typer(no_args_is_help=True, rich_markup_mode=None), *commands)
    (within or app).add_typer(group, name=name, help=words)
    return group


_add(app, demo.demo, split.split, train.train, predict.predict, perturb.perturb, score.score, count.count)
_add(app, epsilon.epsilon, advise.advise, compare.compare, reproduce.reproduce)
_add(app, card.card, explain.explain, explain.plot, audit.audit)
_add_group("schema", "Write and check what is public about a table.", schema.draft, schema_edit.edit, schema.check)
_add_group(
    "federated",
    "Train one model with parties that share no rows.",
    federated.key,
    federated.invite,
    federated.answer,
    federated.combine,
    federated_simulate.simulate,
)
_add_group(
    "budget",
    "Look at what was spent and set limits: ledger files, and accounts in a database.",
    budget.show,
    budget.limit,
    budget.verify,
    budget.import_,
    budget.export,
    budget.adopt,
)

_add_group(
    "remote",
    "Ask a service for models, scores and counts of tables that you never see.",
    remote.login,
    remote.logout,
    remote.datasets,
    remote.schema,
    remote.dummy,
    remote_asking.quote,
    remote_asking.train,
    remote_asking.score,
    remote_asking.count,
    remote.jobs,
    remote.wait,
    remote.cancel,
    remote.releases,
    remote.fetch,
    remote.predict,
    remote.budget,
)
_add(app, serve.serve)
_WORKER = _add_group("worker", "Run the jobs of a service, and say where data are.", worker.run)
_add_group("sources", "Tables that owners can register.", worker.add, worker.listing, within=_WORKER)
_add_group(
    "service",
    "Look after a service: tables, backup, a link for an owner, a demo.",
    service.migrate,
    service.backup,
    service.restore,
    service.owner_link,
    service_demo.demo,
)


def main() -> None:
    """Run the command line, and end the process with the command's status, whatever compiled libraries do at the end.

    Their threads are still there when they clean up after themselves, and on a busy machine that can abort a process
    whose work is done, paid for and reported.
    """
    try:
        app(prog_name="discreet")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        atexit._run_exitfuncs()
        os._exit(_flushed() or status)


def _flushed() -> int:
    """Write what the outputs still hold; Python's own status for an output that fails now, else 0."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except OSError:
        return 120
    return 0
