"""`discreet federated`: one model from parties that share no rows, by files that can be sent by mail."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import in_words, paying
from discreet.cli.outputs import advise, check_out, emit, say, shown, tabulate
from discreet.cli.progress import counting
from discreet.cli.train import public_schema
from discreet.errors import DiscreetError, ParameterError
from discreet.privacy.epsilon import as_epsilon, total


def key(
    out: Annotated[Path, typer.Option(help="The file for the secret key; keep it.", show_default=False)],
    as_json: options.Json = False,
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
    schema: options.Schema,
    epsilon: options.Epsilon,
    party: Annotated[
        list[str],
        typer.Option(
            help="A party: NAME, or NAME=KEY for a secure sum, or NAME=COLUMN,COLUMN if it has these columns only.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The invitation file to write.", show_default=False)],
    trust: Annotated[
        str, typer.Option(help="nobody: each answer is private by itself; sum: only the sum of all answers is.")
    ] = "nobody",
    honest: Annotated[
        int | None, typer.Option(help="For a sum: at least this many parties are honest; default: all but one.")
    ] = None,
    model: Annotated[str, typer.Option(help="naive-bayes or one-rule.")] = "naive-bayes",
    adjacency: options.Adjacency = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write an invitation: what every party is asked, and what the answers cost. Reads no data.

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
    check_out(out, inputs.schema_file(schema), force=force)
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
    data: options.Data,
    party: Annotated[str, typer.Option(help="Your name in the invitation.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The message file to write, for the aggregator.", show_default=False)],
    ledger: options.Ledger,
    limit: options.Limit = None,
    secret: Annotated[Path | None, typer.Option("--key", help="Your secret key file, for a secure sum.")] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=KEY",
            help="A public key that another party told you; an invitation with another key is refused.",
        ),
    ] = None,
    compared: Annotated[
        bool, typer.Option("--checked", help="You have compared the invitation's hash with the other parties.")
    ] = False,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Answer an invitation: write one message, where the records are, and charge the party's own ledger.

    \b
    Example, after `discreet federated invite`:
      discreet federated answer invitation.json discreet-demo/train.csv --party north \\
        --out north.msg --ledger north.jsonl --limit 1
    """
    from discreet.federated import Invitation, Party
    from discreet.federated.masks import KeyPair

    with paying(ledger, "no answer was written") as payment:
        invited = Invitation.load(invitation)
        if invited.trust == "sum":
            _check_sum(invited, secret)
        pair = KeyPair.from_file(secret) if secret is not None else None
        told = {name: value for name, _, value in (each.partition("=") for each in known or [])}
        public = invited.schema_of(party)
        check_out(out, *inputs.data_files(data), invitation, ledger, secret, force=force)
        read = inputs.as_written(public, delimiter, decimal, encoding)
        source = inputs.open_data(data, table, dialect=read.dialect)
        inputs.check_structure(source, data, read, table)
        cost = total([step.epsilon for step in invited.steps(party)])
        asked = "the invitation's epsilon of ", "ask the inviter for a smaller one"
        account = payment.open(limit, cost or invited.epsilon, public.adjacency, *asked)
        assert account is not None, "the option is required"
        with counting(source):
            message = Party(party, source, account, key=pair, known=told, checked=compared).answer(invited)
        message.save(out)
        payment.outcome = f"the answer is in {out}"
        if as_json:
            spent = {"limit": str(account.limit), "spent": str(account.spent)}
            about = {"out": str(out), "round": invited.round, "party": party}
            emit({**about, "bytes": out.stat().st_size, "ledger": spent})
        else:
            say(f"Answer written to {out}: send it to the aggregator. {in_words(account, ledger)}")


def _check_sum(invitation: Any, secret: Path | None) -> None:
    """Ask the party to compare the invitation with the others; ParameterError if there is no secret key."""
    listed = ", ".join(each.name for each in invitation.parties)
    advise(
        f"This is a secure sum of {listed}; it counts on {invitation.honest} of them to be honest. Ask the others "
        f"whether their invitation has the same hash: {invitation.hash[:16]}"
    )
    if secret is None:
        raise ParameterError("this invitation is for a secure sum; give your secret key: --key FILE")


def combine(
    messages: Annotated[list[Path], typer.Argument(help="The parties' message files.", show_default=False)],
    invitation: Annotated[Path, typer.Option(help="The invitation file.", show_default=False)],
    out: options.ModelOut,
    state: Annotated[Path | None, typer.Option(help="A file that keeps what was added, to add more later.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Combine the parties' answers into one model. Reads no record and costs nothing.

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
            advise(f"{path}: the answer of {message.party} is in {state} already")
            continue
        try:
            aggregator.add(message)
        except DiscreetError as error:
            raise type(error)(f"{path}: {error}") from None
    model = aggregator.model()
    model.save(out, overwrite=True)
    if as_json:
        emit({"out": str(out), "answered": aggregator.answered, "missing": aggregator.missing, **card(model)})
        return
    say(model.guarantee_.statement(), style="bold")
    if aggregator.missing:
        advise(f"No answer came from: {', '.join(aggregator.missing)}")
    say(f"Model of {len(aggregator.answered)} parties written to {out}. Next: discreet card {out}")


def _parties(given: list[str], trust: str) -> tuple[list[str], dict[str, str], dict[str, Any]]:
    """The parties' names, their keys by name (NAME=KEY) and their columns by name (NAME=column,column)."""
    names, keys, columns = [], {}, {}
    for each in given:
        name, equals, value = each.partition("=")
        names.append(name)
        if equals and trust == "sum":
            keys[name] = value
        elif equals:
            columns[name] = value.split(",")
    if columns and len(columns) != len(names):
        raise ParameterError("some parties have columns and others do not; name those of each party: --party NAME=a,b")
    return names, keys, columns
