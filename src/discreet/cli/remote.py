"""`discreet remote`: what an analyst sees of a service: data sets, jobs, releases and budgets."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli import remote_options as remote
from discreet.cli.outputs import advise, check_out, emit, say, tabulate
from discreet.cli.tables import check_table, write_csv, write_table
from discreet.errors import ParameterError
from discreet.storage.writing import whole_file

AT_ONCE = 500
"""Records in one call; the service takes 1,000, and 1,000,000 bytes."""


def login(
    url: Annotated[str, typer.Argument(help="The address of the service.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="Your name there; then your password makes a token.")] = None,
    days: Annotated[int, typer.Option(min=1, max=366, help="How long a token that is made here lasts.")] = 90,
    insecure: remote.Insecure = False,
) -> None:
    """Sign in: keep a token for this service, in a file that only you can read.

    Paste a token of yours from the service's page, or give --name and your password. Both are asked for without being
    shown; a script gives one line on standard input. The environment variable DISCREET_TOKEN needs no signing in.

    \b
    Example:
      discreet remote login https://privacy.example.org --name ann
      discreet remote login https://privacy.example.org < token.txt
    """
    from discreet.client.credentials import checked_token, keep, sign_in
    from discreet.client.transport import checked_address

    address = checked_address(url, insecure=insecure)
    secret = _secret("Token" if name is None else "Password")
    if name is not None:
        label = f"discreet remote on {socket.gethostname()}"[:100]
        secret = sign_in(address, name, secret, label=label, days=days, insecure=insecure)
    me = checked_token(address, secret, insecure=insecure)
    path = keep(address, secret)
    say(f"Signed in to {address} as {me['name']} (scopes: {', '.join(me['scopes'])}).")
    advise(f"The token is in {path}, which only you can read.")


def _secret(what: str) -> str:
    """One line that is not shown."""
    line = typer.prompt(what, hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.readline(1000)
    if not line.strip():
        raise ParameterError(f"no {what.lower()} was given; type it, or give it on standard input")
    return str(line).strip("\r\n")


def logout(url: remote.Url = None) -> None:
    """Forget the token of a service on this machine. Revoke it on the service's page if others may know it.

    \b
    Example:
      discreet remote logout --url https://privacy.example.org
    """
    from discreet.client.credentials import forget

    address = forget(url)
    say("There was no token to forget." if address is None else f"The token for {address} is forgotten here.")


def datasets(url: remote.Url = None, insecure: remote.Insecure = False, as_json: options.Json = False) -> None:
    """List the data sets that you may ask.

    \b
    Example:
      discreet remote datasets --json
    """
    with remote.connected(url, insecure) as client:
        found = client.datasets()
    if as_json:
        emit(found)
        return
    rows = [[str(each["name"]), str(each["title"]), str(len(each.get("versions") or []))] for each in found]
    tabulate("Data sets", ["name", "title", "versions"], rows, ["versions"])


def schema(
    dataset: remote.Dataset,
    out: Annotated[Path | None, typer.Option(help="The schema file to write; default: standard output.")] = None,
    version: remote.Version = None,
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
) -> None:
    """Show the public schema of a data set as JSON, or write it to a file that other commands read.

    \b
    Example:
      discreet remote schema patients --out patients.json
    """
    if out is not None:
        check_out(out, force=force)
    with remote.connected(url, insecure) as client:
        found = client.dataset(remote.checked_name(dataset, "data set"), version=version).schema
    if out is None:
        emit(found.to_dict())
        return
    found.save(out)
    say(f"Schema written to {out}.")


def dummy(
    dataset: remote.Dataset,
    rows: Annotated[int, typer.Option(min=1, max=1000, help="How many rows.")] = 100,
    out: Annotated[Path | None, typer.Option(help="The CSV file to write; default: standard output.")] = None,
    version: remote.Version = None,
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
) -> None:
    """Get made-up rows, drawn from the schema alone: to write code against. They say nothing about the data.

    \b
    Example:
      discreet remote dummy patients --rows 20 --out dummy.csv
    """
    if out is not None:
        check_out(out, force=force)
    with remote.connected(url, insecure) as client:
        text = client.dataset(remote.checked_name(dataset, "data set"), version=version).dummy_csv(rows)
    if out is None:
        typer.echo(text, nl=False)
        return
    with whole_file(out) as file:
        file.write(text)
    say(f"{rows} made-up rows written to {out}.")


def budget(url: remote.Url = None, insecure: remote.Insecure = False, as_json: options.Json = False) -> None:
    """Show what is left on your accounts.

    \b
    Example:
      discreet remote budget --json
    """
    with remote.connected(url, insecure) as client:
        found = client.budget()
    if as_json:
        emit(found)
        return
    heads = ["limit", "reserved", "spent", "remaining"]
    rows = [[f"{each['kind']} {each['name']}", *(str(each[head]) for head in heads)] for each in found]
    tabulate("Budget, in ε", ["account", *heads], rows, heads)


def jobs(
    state: Annotated[str | None, typer.Option(help="Only in this state, such as released.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Only of this data set.")] = None,
    most: Annotated[int, typer.Option(min=1, help="At most this many, the newest.")] = 20,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """List your jobs, newest first.

    \b
    Example:
      discreet remote jobs --state released
    """
    with remote.connected(url, insecure) as client:
        found = [job.facts for job in islice(client.jobs(state=state, dataset=dataset), most)]
    if as_json:
        emit(found)
        return
    for each in found:
        released = "" if each["release"] is None else f", release {each['release']}"
        say(f"{each['id']}  {each['state']}: {each['kind']} of {each['dataset']}, ε = {each['price']}{released}")
    if not found:
        advise("There are none.")


def wait(
    job: remote.Job,
    timeout: remote.Timeout = None,
    out: Annotated[Path | None, typer.Option(help="Write what is released to this file.")] = None,
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Wait for a job, and write what it released. Status 2 if it ended without a release, or after the timeout.

    \b
    Example:
      discreet remote wait 6f1c2f7e-5d0a-4a53-9c1a-0d9b8f6f2a11 --out model.json
    """
    if out is not None:
        check_out(out, force=force)
    with remote.connected(url, insecure) as client:
        found = remote.ended(client.job(remote.checked_name(job, "job")), timeout)
        if out is not None:
            remote.written(client, str(found.release), out)
    if as_json:
        remote.emit_job(found, out=None if out is None else str(out))
    else:
        say(f"Released: {found.release}." + ("" if out is None else f" It is in {out}."))


def cancel(
    job: remote.Job, url: remote.Url = None, insecure: remote.Insecure = False, as_json: options.Json = False
) -> None:
    """Cancel a job that has not started; what was reserved for it is returned.

    \b
    Example:
      discreet remote cancel 6f1c2f7e-5d0a-4a53-9c1a-0d9b8f6f2a11
    """
    with remote.connected(url, insecure) as client:
        found = client.job(remote.checked_name(job, "job")).cancel()
    if as_json:
        remote.emit_job(found)
    else:
        say(f"Job {found.id} is {found.state}; nothing was spent.")


def releases(url: remote.Url = None, insecure: remote.Insecure = False, as_json: options.Json = False) -> None:
    """List what was released to you, newest first.

    \b
    Example:
      discreet remote releases --json
    """
    with remote.connected(url, insecure) as client:
        found = client.releases()
    if as_json:
        emit(found)
        return
    for each in found:
        said = f"{each['kind']} of {each['dataset']}, ε = {each['epsilon']}, since {each['released_at']}"
        say(f"{each['id']}  {said}")
    if not found:
        advise("There are none.")


def fetch(
    release: remote.Release,
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Write the file of a release: a model that `discreet predict` and `discreet card` read, a score, or counts.

    \b
    Example:
      discreet remote fetch 0b0a5f0e-8f4f-4f0f-9df0-93b1c0a6f001 --out model.json
    """
    check_out(out, force=force)
    with remote.connected(url, insecure) as client:
        card = remote.written(client, remote.checked_name(release, "release"), out)
    if as_json:
        emit({**card, "out": str(out)})
    else:
        say(f"The {card['kind']} of {card['dataset']} is in {out}; its hash is that of its card.")


def predict(
    release: remote.Release,
    data: options.DataInFile,
    out: Annotated[
        Path | None, typer.Option(help="The .csv or .parquet file to write; default: CSV to standard output.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class.")] = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: with --out a summary, else a list.")] = False,
) -> None:
    """Classify the records of a file by a released model, at the service, which neither stores nor logs them.

    The records leave this machine. If that is not wanted, `fetch` the model and use `discreet predict`.

    \b
    Example:
      discreet remote predict 0b0a5f0e-8f4f-4f0f-9df0-93b1c0a6f001 new.csv --proba
    """
    if out is not None:
        check_out(out, data)
        check_table(out)
    with remote.connected(url, insecure) as client:
        model = inputs_of(client, remote.checked_name(release, "release"))
        rows = [row for part in _records(data, model) for row in client.predict(release, part)]
    names = ["prediction", *(f"p({label})" for label in model.classes_.tolist() if proba and model.probabilistic)]
    columns = {name: [_cell(row, name) for row in rows] for name in names}
    if out is not None:
        import numpy as np

        write_table(out, [columns], {name: np.array(values) for name, values in columns.items()})
    if as_json:
        emit({"out": str(out), "rows": len(rows)} if out is not None else rows)
    elif out is None:
        write_csv(sys.stdout, [columns], names)
    else:
        advise(f"{len(rows)} predictions written to {out}")


def inputs_of(client: Any, release: str) -> Any:
    """The model, for the names of its columns: only these are sent."""
    import json

    from discreet.models.loading import from_dict

    return from_dict(json.loads(client.content(release)), f"release {release}")


def _records(data: Path, model: Any) -> Iterator[list[dict[str, Any]]]:
    """The records of a file, in parts, with the model's columns alone; what is missing is left out."""
    from discreet.sources import as_records, finish

    source = inputs.open_data(data, None)
    try:
        records = as_records(source)
        inputs.structure_of(records, data, model.schema_)
        for block in records.values(list(model.schema_.names), model.schema_.numeric_names):
            plain = {name: values.tolist() for name, values in block.items()}
            whole = [
                {name: value for name, value in zip(plain, row, strict=True) if value is not None and value == value}
                for row in zip(*plain.values(), strict=True)
            ]
            yield from (whole[start : start + AT_ONCE] for start in range(0, len(whole), AT_ONCE))
    finally:
        finish(source)


def _cell(row: dict[str, Any], name: str) -> Any:
    return row["prediction"] if name == "prediction" else row["probabilities"][name[2:-1]]
