"""`discreet federated`: one model from parties that share no rows, by files that can be sent by mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs
from discreet.cli.accounts import in_words, open_ledger, paying
from discreet.cli.outputs import advise, check_out, emit, notes, say, shown, tabulate
from discreet.cli.train import public_schema
from discreet.errors import DiscreetError, ParameterError
from discreet.privacy.epsilon import as_epsilon, total
from discreet.sources.file import open_file

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def key(
    out: Annotated[Path, typer.Option(help="The file for the secret key; keep it.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Make a key pair for a secure sum; prints the public key, which goes to the inviter.

    \b
    Example:
      discreet federated key --out north.key
    """
    from discreet.federated.masks import KeyPair

    check_out(out)
    pair = KeyPair.generate()
    pair.to_file(out)
    if as_json:
        emit({"out": str(out), "public": pair.public})
    else:
        say(pair.public)
        advise(f"Secret key written to {out}: keep it, and send the public key above to the inviter.")


def invite(
    schema: Annotated[str, typer.Option(help="What is public: a schema file.", show_default=False)],
    epsilon: Annotated[str, typer.Option(help="The privacy loss, for instance 1 or 1/3.", show_default=False)],
    party: Annotated[
        list[str],
        typer.Option(
            help="A party's name; NAME=KEY for a secure sum, NAME=column,column if it has only these.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The invitation file to write.", show_default=False)],
    trust: Annotated[str, typer.Option(help="nobody: each answer is private; sum: only their sum is.")] = "nobody",
    honest: Annotated[int | None, typer.Option(help="For a sum: honest parties; default: all but one.")] = None,
    model: Annotated[str, typer.Option(help="naive-bayes or one-rule.")] = "naive-bayes",
    adjacency: Annotated[str | None, typer.Option(help="add-remove or replace-one; default: the schema's.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write an invitation: what is asked of every party, and at what price. Reads no data.

    \b
    Example, after `discreet demo`:
      discreet federated invite --schema discreet-demo/schema.json --epsilon 1 \\
        --party north --party south --out invitation.json
    """
    from discreet.federated import invite as invited

    public = public_schema(schema, adjacency, draft_ok=False)
    names, keys, columns = _parties(party, trust)
    invitation = invited(
        public, as_epsilon(epsilon), columns or names, trust=trust, model=model, keys=keys or None, honest=honest
    )
    check_out(out, Path(schema.partition("#")[0]), force=force)
    invitation.save(out)
    if as_json:
        emit(
            {
                "out": str(out),
                "round": invitation.round,
                "hash": invitation.hash,
                "parties": names,
                "questions": len(invitation.questions),
                "epsilon": str(invitation.epsilon),
            }
        )
        return
    rows = [[repr(each.query), shown(each.epsilon)] for each in invitation.questions]
    tabulate(f"Round {invitation.round}", ["question", "ε"], rows, right=["ε"])
    say(f"Invitation to {len(names)} parties written to {out}. Each answers: discreet federated answer {out} DATA ...")


def answer(
    invitation: Annotated[Path, typer.Argument(help="The invitation file.", show_default=False)],
    data: Annotated[Path, typer.Argument(help="A .csv, .parquet or .duckdb file.", show_default=False)],
    party: Annotated[str, typer.Option(help="Your name in the invitation.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The message file to write, for the aggregator.", show_default=False)],
    ledger: Annotated[Path, typer.Option(help="A file that keeps what was spent on these data.", show_default=False)],
    limit: Annotated[str | None, typer.Option(help="The most that the ledger may ever spend; set once.")] = None,
    secret: Annotated[Path | None, typer.Option("--key", help="Your secret key file, for a secure sum.")] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=KEY", help="Another party's public key as it told you; refused if not the same."),
    ] = None,
    compared: Annotated[
        bool, typer.Option("--checked", help="You have compared the invitation's hash with the other parties.")
    ] = False,
    table: Annotated[str | None, typer.Option(help="The table, if the data file is a .duckdb file.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Answer an invitation: one message, made where the records are; the party's own ledger is charged.

    \b
    Example, after `discreet federated invite`:
      discreet federated answer invitation.json discreet-demo/train.csv --party north \\
        --out north.msg --ledger north.jsonl --limit 1
    """
    from discreet.federated import Invitation, Party
    from discreet.federated.masks import KeyPair

    invited = Invitation.load(invitation)
    if invited.trust == "sum":
        listed = ", ".join(each.name for each in invited.parties)
        advise(f"A sum of {listed}, {invited.honest} of them honest. Invitation {invited.hash[:16]}: the same to all?")
    if invited.trust == "sum" and secret is None:
        raise ParameterError("this invitation is for a secure sum; give your secret key: --key FILE")
    pair = KeyPair.from_file(secret) if secret is not None else None
    told = {name: value for name, _, value in (each.partition("=") for each in known or [])}
    public = invited.schema_of(party)
    check_out(out, data, invitation, ledger, secret, force=force)
    source = open_file(data, table)
    inputs.check_structure(source, data, public)
    cost = total([step.epsilon for step in invited.steps(party)])
    asked = "the invitation's epsilon of ", "ask the inviter for a smaller one"
    account = open_ledger(ledger, limit, cost or invited.epsilon, public.adjacency, *asked)
    assert account is not None, "the option is required"
    with paying(account, ledger, "no answer was written"):
        with notes.status("counting, adding noise"):
            message = Party(party, source, account, key=pair, known=told, checked=compared).answer(invited)
        message.save(out)
    if as_json:
        emit(
            {
                "out": str(out),
                "round": invited.round,
                "party": party,
                "bytes": out.stat().st_size,
                "ledger": {"limit": str(account.limit), "spent": str(account.spent)},
            }
        )
        return
    say(f"Answer written to {out}: send it to the aggregator. {in_words(account, ledger)}")


def combine(
    messages: Annotated[list[Path], typer.Argument(help="The parties' message files.", show_default=False)],
    invitation: Annotated[Path, typer.Option(help="The invitation file.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The model file to write.", show_default=False)],
    state: Annotated[Path | None, typer.Option(help="A file that keeps what was added, to go on later.")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Combine the parties' answers into one model. Sees no record and costs nothing.

    \b
    Example, after `discreet federated answer`:
      discreet federated combine north.msg south.msg --invitation invitation.json --out model.json
    """
    from discreet.federated import Aggregator, Invitation, Message
    from discreet.models.saving import card

    invited = Invitation.load(invitation)
    check_out(out, invitation, state, *messages, force=force)
    aggregator = Aggregator(invited, state)
    there = set(aggregator.answered)
    for path in messages:
        message = Message.load(path, invited)
        if message.party in there:
            advise(f"{path}: {message.party} is in {state} already")
            continue
        try:
            aggregator.add(message)
        except DiscreetError as error:
            raise type(error)(f"{path}: {error}") from None
    model = aggregator.model()
    model.save(out)
    if as_json:
        emit({"out": str(out), "answered": aggregator.answered, "missing": aggregator.missing, **card(model)})
        return
    say(model.guarantee_.statement(), style="bold")
    if aggregator.missing:
        advise(f"Without an answer from: {', '.join(aggregator.missing)}")
    say(f"Model of {len(aggregator.answered)} parties written to {out}. Next: discreet card {out}")


def _parties(given: list[str], trust: str) -> tuple[list[str], dict[str, str], dict[str, Any]]:
    """Names, with keys (NAME=KEY) or columns (NAME=column,column)."""
    names, keys, columns = [], {}, {}
    for each in given:
        name, equals, value = each.partition("=")
        names.append(name)
        if equals and trust == "sum":
            keys[name] = value
        elif equals:
            columns[name] = value.split(",")
    if columns and len(columns) != len(names):
        raise ParameterError("some parties have columns and others none; name the columns of each: --party NAME=a,b")
    return names, keys, columns
