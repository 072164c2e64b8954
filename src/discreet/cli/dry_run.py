"""`discreet train --dry-run`: what would be read, spent and released. Public facts only; no value is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.cli.accounts import Place, as_dict, in_words
from discreet.cli.outputs import emit, say, shown
from discreet.privacy.guarantee import NEIGHBOURS
from discreet.privacy.ledger import Ledger
from discreet.schema import Schema
from discreet.storage.addresses import Address

RELEASED = ("the schema", "the parameters of the model", "its noisy answers", "the receipt and the card")


def rehearse(estimator: Any) -> None:
    """Raise what a fit would refuse before it is paid: it is tried on a table that has the columns and no record."""
    from sklearn.base import clone

    from discreet.sources.memory import MemorySource

    clone(estimator).fit_from(MemorySource({name: [] for name in estimator.schema.all_names}))


def show_dry_run(
    estimator: Any, data: Path | Address, out: Path, ledger: Ledger | None, place: Place | None, as_json: bool
) -> None:
    """Print the plan of a fit whose checks have all passed; nothing is charged, written or read."""
    schema: Schema = estimator.schema
    if as_json:
        emit(_plan(estimator, schema, data, out, ledger))
        return
    say("Dry run: all checks passed; nothing was charged or written, and no value of the data was read.", style="bold")
    unread = f"; not read: {', '.join(schema.ignore)}" if schema.ignore else ""
    say(f"Reads       {data}: {', '.join(schema.names)}, and {schema.target} as the class{unread}")
    say(f"Trains      {estimator.kind} for {len(schema.classes)} classes")
    say(f"Spends      ε = {shown(estimator.epsilon)}, δ = 0, if {NEIGHBOURS[schema.adjacency]}; kept if the fit fails")
    if schema.chosen is not None:
        say("            besides what choosing the columns has cost, which the guarantee counts in")
    say(f"Releases    {out}: {', '.join(RELEASED)}; nothing else")
    if not schema.is_public:
        say("The schema is a draft: a model made with it has no guarantee.", style="yellow")
    if len(schema.classes) == 1:
        say("The schema has one class only: a model has nothing to tell apart.", style="yellow")
    if ledger is not None:
        say(f"{in_words(ledger, place)} There is room for this.")
    elif place is not None:
        say(f"Ledger {place} would be made, and has room for this.")
    else:
        say("No ledger: what is spent would be noted nowhere (--ledger FILE --limit NUMBER).", style="yellow")


def _plan(estimator: Any, schema: Schema, data: Path | Address, out: Path, ledger: Ledger | None) -> dict[str, Any]:
    return {
        "dry_run": True,
        "reads": {"data": str(data), "columns": schema.names, "target": schema.target, "ignored": list(schema.ignore)},
        "model": estimator.kind,
        "spends": {"epsilon": str(estimator.epsilon), "delta": 0, "adjacency": schema.adjacency.value},
        "releases": {"out": str(out), "entries": list(RELEASED)},
        "schema_hash": schema.hash,
        "is_public": schema.is_public,
        "ledger": as_dict(ledger),
    }
