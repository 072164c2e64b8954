"""What the commands of `discreet remote` share: the connection, identifiers, and how a job is waited for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.outputs import advise, emit
from discreet.errors import FileError, ParameterError
from discreet.storage.writing import whole_file

if TYPE_CHECKING:
    from discreet.client import Client, RemoteDataset, RemoteJob

Dataset = Annotated[str, typer.Argument(help="The name of a data set.", show_default=False)]
Job = Annotated[str, typer.Argument(help="The identifier of a job.", show_default=False)]
Release = Annotated[str, typer.Argument(help="The identifier of a release.", show_default=False)]
Url = Annotated[
    str | None,
    typer.Option(
        "--url", help="The service; default: DISCREET_URL, else where you signed in last.", show_default=False
    ),
]
Insecure = Annotated[
    bool, typer.Option("--insecure", help="Allow http to another machine, where the token can be read on the way.")
]
Project = Annotated[str | None, typer.Option(help="The project that pays, if you have several.")]
Version = Annotated[int | None, typer.Option(min=1, help="The version of the data set; default: the newest.")]
Quote = Annotated[bool, typer.Option("--quote", help="Only say what it would cost and give; nothing is asked.")]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Print the job and end; `discreet remote wait` goes on.")]
Timeout = Annotated[
    float | None, typer.Option(min=0.0, help="Seconds to wait at most; the job goes on.", show_default=False)
]
Key = Annotated[
    str | None,
    typer.Option(help="A text of your own: the same key gives the same job, which is paid once.", show_default=False),
]


@contextmanager
def connected(url: str | None, insecure: bool) -> Iterator[Client]:
    """A client of the service that is named, or was signed in to last."""
    from discreet.client import Client
    from discreet.client.credentials import connection

    address, token = connection(url, insecure=insecure)
    with Client(address, token, insecure=insecure) as client:
        yield client


def checked_name(name: str, what: str) -> str:
    """A name that goes into an address; anything that would lead elsewhere is refused here."""
    if not name or not all(letter.isalnum() or letter in "-_." for letter in name) or name.startswith("."):
        raise ParameterError(f"{what} {name!r}; need letters, digits and - _ . as `discreet remote` lists them")
    return name


def submitted(table: RemoteDataset, request: dict[str, Any], key: str | None) -> RemoteJob:
    """Ask for something. If no answer comes, say by which key it can be asked again without paying twice."""
    import uuid

    from discreet.client import RefusedError

    key = key or str(uuid.uuid4())
    try:
        job = table.submit(request, key=key)
    except RefusedError as error:
        if error.status and error.status < 500:
            raise
        text = f"{error}; it may have been asked: the same command with --key {key} asks it once"
        raise RefusedError(text, status=error.status) from None
    advise(f"job {job.id}: {job.state}, ε = {job.facts['price']}")
    if job.state == "requested":
        advise("An owner has to approve it; Ctrl-C ends the waiting, not the job.")
    return job


def ended(job: RemoteJob, timeout: float | None) -> RemoteJob:
    """Wait for a job; whoever interrupts it is told how to go on."""
    try:
        return job.wait(timeout)
    except KeyboardInterrupt:
        advise(f"The job goes on: discreet remote wait {job.id}")
        raise typer.Exit(130) from None


def emit_job(job: RemoteJob, **more: Any) -> None:
    """A job for scripts."""
    emit({**job.facts, **more})


def written(client: Client, release: str, out: Path) -> dict[str, Any]:
    """Write the file of a release, if it is what its card says; returns the card."""
    card = client.release(release)
    content = client.content(release)
    if hashlib.sha256(content).hexdigest() != card["content_hash"]:
        raise FileError(
            f"release {release} is not what its card says: its hash differs; fetch it again, or ask the owner"
        )
    if card["kind"] == "train":
        from discreet.models.loading import from_dict

        from_dict(json.loads(content), f"release {release}")
    with whole_file(out, binary=True) as file:
        file.write(content)
    return card
