"""`discreet budget`: show a ledger, verify it, or adopt one of discreet 0.1. No data are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.outputs import emit, say, tabulate
from discreet.privacy.epsilon import shown_above, shown_below
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.account import Account

File = Annotated[Path, typer.Argument(metavar="PATH", help="A ledger file.", show_default=False)]


def show(path: File, as_json: options.Json = False) -> None:
    """Show what was spent: every entry, as charged and as counted under the ledger's adjacency.

    \b
    Example, after `discreet train ... --ledger ledger.jsonl --limit 2`:
      discreet budget show ledger.jsonl
    """
    account = Ledger.open(path).account
    if as_json:
        emit(_as_dict(account, path))
        return
    rows = [
        [
            str(number),
            entry.at,
            entry.name,
            shown_above(entry.epsilon),
            entry.adjacency or "not known",
            shown_above(account.counted(entry)),
        ]
        for number, entry in enumerate(account.entries, 1)
    ]
    tabulate(str(path), ["number", "when", "name", "ε", "adjacency", "counted"], rows, right=["number", "ε", "counted"])
    say(_told(account))


def verify(path: File, as_json: options.Json = False) -> None:
    """Check that nothing in a ledger was changed: a hash chains every entry to the one before.

    The file cannot show whether it is an older copy of itself: note the head, which this command prints, elsewhere.

    \b
    Example:
      discreet budget verify ledger.jsonl
    """
    ledger = Ledger.open(path)
    count, head = len(ledger.account.entries), ledger.head
    if as_json:
        emit({"path": str(path), "entries": count, "head": head, "whole": True})
        return
    say(f"{path} is whole: {count} entries, each as it was written. Head: {head}")


def adopt(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A ledger of discreet 0.1.", show_default=False)],
    adjacency: Annotated[
        str,
        typer.Option(
            help="Adjacency of all entries: add-remove, replace-one, or mixed (both, or not known).", show_default=False
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Adopt a ledger of discreet 0.1, which did not note the adjacency. This is done once per ledger.

    State the adjacency of its releases: that of their schemas, or what --adjacency said. With mixed the ledger gets the
    adjacency replace-one and every entry counts twice, which is the most that it can cost. The old file is kept beside
    the new one, as PATH.v1.

    \b
    Example:
      discreet budget adopt ledger.jsonl --adjacency add-remove
    """
    account = Ledger.adopt(path, adjacency).account
    if as_json:
        emit({**_as_dict(account, path), "kept": f"{path}.v1"})
        return
    say(f"{path} adopted: {len(account.entries)} entries. The old file is {path}.v1.")
    say(_told(account))


def _told(account: Account) -> str:
    under = f"under {account.adjacency}" if account.adjacency else "under the adjacency of the first charge"
    spent, limit, left = shown_above(account.spent), shown_below(account.limit), shown_below(account.remaining)
    return f"{spent} of {limit} spent {under}, {left} left.".replace("inf", "∞")


def _as_dict(account: Account, path: Path) -> dict[str, Any]:
    entries = [
        {
            "number": number,
            "at": entry.at,
            "name": entry.name,
            "epsilon": str(entry.epsilon),
            "adjacency": entry.adjacency,
            "counted": str(account.counted(entry)),
        }
        for number, entry in enumerate(account.entries, 1)
    ]
    amounts = {"spent": str(account.spent), "remaining": str(account.remaining)}
    return {
        "path": str(path),
        "limit": str(account.limit),
        "adjacency": account.adjacency,
        **amounts,
        "entries": entries,
    }
