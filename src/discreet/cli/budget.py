"""`discreet budget`: show, limit, verify, import and export what was spent. No data are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options
from discreet.cli.outputs import check_out, emit, say, tabulate
from discreet.errors import FileError, ParameterError
from discreet.privacy.epsilon import shown_above, shown_below
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.account import Account
from discreet.privacy.ledger.address import EXAMPLE, AccountAddress, need_accounts
from discreet.privacy.ledger.file import LedgerFile

Heads = Annotated[
    list[str] | None,
    typer.Option("--head", metavar="HASH", help="A head that was noted earlier, which has to occur; may be repeated."),
]


def show(place: options.LedgerPlace, as_json: options.Json = False) -> None:
    """Show what was spent and what is left: every entry, as charged and as counted under the ledger's adjacency.

    The address of a database without a name after # shows all its accounts.

    \b
    Example, after `discreet train ... --ledger ledger.jsonl --limit 2`:
      discreet budget show ledger.jsonl
      discreet budget show 'postgresql://db.example/money#clinic/visits'
    """
    if isinstance(place, AccountAddress):
        _show_accounts(place, as_json)
        return
    account = Ledger.open(place).account
    if as_json:
        emit(_as_dict(account, place))
        return
    _tabulate(account, str(place))
    say(_told(account))


def _show_accounts(address: AccountAddress, as_json: bool) -> None:
    need_accounts()
    from discreet.cli import budget_accounts

    rows = budget_accounts.list_accounts(address)
    account = budget_accounts.entries_of(address) if address.names else None
    if as_json:
        about = {"path": str(address), "accounts": rows} if account is None else _as_dict(account, address)
        emit({**about, "accounts": rows})
        return
    if account is not None:
        _tabulate(account, str(address))
    budget_accounts.tabulate_accounts(address, rows)
    if account is not None:
        say(_told(account))


def _tabulate(account: Account, title: str) -> None:
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
    tabulate(title, ["number", "when", "name", "ε", "adjacency", "counted"], rows, right=["number", "ε", "counted"])


def limit(
    place: options.LedgerPlace,
    limit: Annotated[str, typer.Argument(metavar="LIMIT", help="The most that may ever be spent.", show_default=False)],
    adjacency: Annotated[
        str | None, typer.Option(help="For a new ledger or population: add-remove or replace-one.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Open an account with a limit, or change its limit; never below what is spent.

    The tables of the accounts are made or updated if need be. A ledger file can be made, but keeps its first limit.

    \b
    Example: a population, a data set of it, and a project on that:
      discreet budget limit sqlite:///accounts.db#clinic 10 --adjacency add-remove
      discreet budget limit sqlite:///accounts.db#clinic/visits 5
      discreet budget limit sqlite:///accounts.db#clinic/visits/heart 2
    """
    if isinstance(place, AccountAddress):
        need_accounts()
        from discreet.cli import budget_accounts

        is_new = budget_accounts.set_limit(place, limit, adjacency)
        account = Ledger(url=place).balance
    else:
        is_new = not os.path.lexists(place)
        account = Ledger(limit, place, adjacency=adjacency).account
    if as_json:
        amounts = {"limit": str(account.limit), "spent": str(account.spent), "remaining": str(account.remaining)}
        emit({"path": str(place), "new": is_new, "adjacency": account.adjacency, **amounts})
        return
    say(f"{place} {'opened' if is_new else 'has its limit'}: {_told(account)}")


def verify(place: options.LedgerPlace, head: Heads = None, as_json: options.Json = False) -> None:
    """Check that nothing in a ledger was changed: a hash chains every entry to the one before.

    Of accounts in a database, or in a file that `budget export` wrote, all balances are computed again too. None of
    them can show whether it is an older copy of itself: note the head, which this command prints, elsewhere, and give
    it as --head.

    \b
    Example:
      discreet budget verify ledger.jsonl
      discreet budget verify postgresql://db.example/money
    """
    if isinstance(place, AccountAddress):
        need_accounts()
        from discreet.cli import budget_accounts

        budget_accounts.report(place, budget_accounts.verified(place, head or []), as_json)
        return
    if _is_export(place):
        need_accounts()
        from discreet.cli import budget_accounts
        from discreet.privacy.accounts.export import verify_export

        budget_accounts.report(place, verify_export(place, head or []), as_json)
        return
    count, found, hashes = _verified_file(place)
    missing = [each for each in head or [] if each.strip().lower() not in hashes]
    if missing:
        raise FileError(f"{place} has no entry with the noted head {missing[0][:64]}: it is an older copy, or another")
    if as_json:
        emit({"path": str(place), "entries": count, "head": found, "whole": True})
        return
    say(f"{place} is whole: {count} entries, each as it was written. Head: {found}")


def _verified_file(path: Path) -> tuple[int, str, tuple[str, ...]]:
    with LedgerFile(path).held(spending=False) as held:
        return len(held.account.entries), held.head, held.contents.hashes


def _is_export(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b'"discreet/accounts"' in file.read(100)
    except OSError:
        return False


def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A ledger file.", show_default=False)],
    place: Annotated[
        Any,
        typer.Argument(
            parser=options.as_ledger,
            metavar="ACCOUNTS",
            help="Accounts in a database: postgresql://…#population/dataset",
            show_default=False,
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Take the entries of a ledger file over into accounts in a database: all of them or none, and each only once.

    From then on, charge the accounts, and not the file.

    \b
    Example:
      discreet budget import ledger.jsonl sqlite:///accounts.db#clinic/visits
    """
    if not isinstance(place, AccountAddress):
        raise ParameterError(f"{place} is not an address of accounts; need {EXAMPLE}")
    need_accounts()
    from discreet.privacy.ledger.importing import import_file

    imported = import_file(path, place)
    account = Ledger(url=place).balance
    if as_json:
        amounts = {"limit": str(account.limit), "spent": str(account.spent), "remaining": str(account.remaining)}
        emit(
            {"path": str(path), "accounts": str(place), "imported": imported.taken, "there": imported.there, **amounts}
        )
        return
    say(f"{imported.taken} entries of {path} imported, {imported.there} were there already.")
    say(f"{place}: {_told(account)} Charge the accounts from now on, and not the file.")


def export(
    place: options.LedgerPlace,
    out: Annotated[Path, typer.Option("--out", help="The file to write.", show_default=False)],
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write all entries of accounts to a file, to be kept and verified elsewhere, without the database.

    \b
    Example:
      discreet budget export postgresql://db.example/money --out accounts.jsonl
      discreet budget verify accounts.jsonl
    """
    if not isinstance(place, AccountAddress):
        raise ParameterError(f"{place} is a file already; copy it, and verify the copy: discreet budget verify")
    need_accounts()
    from discreet.cli import budget_accounts

    check_out(out, place, force=force)
    budget_accounts.report(out, budget_accounts.exported(place, out), as_json)


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


def _as_dict(account: Account, path: Path | AccountAddress) -> dict[str, Any]:
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
