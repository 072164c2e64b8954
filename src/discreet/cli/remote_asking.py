"""`discreet remote train`, `score`, `count` and `quote`: asking a service, which charges the accounts there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import options
from discreet.cli import remote_options as remote
from discreet.cli.count import read_questions, tabulate_answer
from discreet.cli.outputs import advise, check_out, emit, say
from discreet.errors import FileError, ParameterError
from discreet.privacy.epsilon import as_release_epsilon

if TYPE_CHECKING:
    from discreet.client import RemoteDataset, RemoteJob

KINDS = ("auto", "naive-bayes", "one-rule", "decision-tree", "random-forest", "svm")
"""The models that a service trains."""


def quote(
    dataset: remote.Dataset,
    request: Annotated[Path, typer.Argument(help="A JSON file with a request; - reads standard input.")],
    project: remote.Project = None,
    version: remote.Version = None,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Say what a request would cost and give; nothing is charged. `train`, `score` and `count` have --quote for it.

    \b
    Example, with {"kind": "train", "model": "auto", "epsilon": "1"} in request.json:
      discreet remote quote patients request.json
    """
    content = _read_request(request)
    with remote.connected(url, insecure) as client:
        table = client.dataset(remote.checked_name(dataset, "data set"), project=project, version=version)
        _show_quote(table.quote(content), as_json)


def _read_request(path: Path) -> dict[str, Any]:
    text = sys.stdin.read(2_000_000) if str(path) == "-" else path.read_text(encoding="utf-8")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError(f"{path} is not JSON; need a request, such as {EXAMPLE}") from None
    if not isinstance(content, dict):
        raise FileError(f"{path} is not a request; need one such as {EXAMPLE}")
    return content


EXAMPLE = '{"kind": "train", "model": "auto", "epsilon": "1"}'


def train(
    dataset: remote.Dataset,
    epsilon: options.Epsilon,
    out: Annotated[
        Path | None, typer.Option(help="The model file to write; `discreet predict` reads it.", show_default=False)
    ] = None,
    model: Annotated[str, typer.Option(help=f"The kind of model: {', '.join(KINDS)}.")] = "auto",
    settings: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="A parameter of the named model; repeat for more."),
    ] = None,
    quoted: remote.Quote = False,
    no_wait: remote.NoWait = False,
    timeout: remote.Timeout = None,
    key: remote.Key = None,
    project: remote.Project = None,
    version: remote.Version = None,
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Ask for a model, wait for it, and write it to a file. Without --out it is kept at the service (`fetch`).

    \b
    Example:
      discreet remote train patients --epsilon 1 --quote
      discreet remote train patients --epsilon 1 --out model.json
      discreet remote train patients --epsilon 1 --model decision-tree --with max_depth=3 --no-wait
    """
    parameters = _parameters(model, settings or [])
    request = {"kind": "train", "model": model, "epsilon": _price(epsilon), "parameters": parameters}
    if out is not None:
        check_out(out, force=force)
    with remote.connected(url, insecure) as client:
        table = client.dataset(remote.checked_name(dataset, "data set"), project=project, version=version)
        job = _ended(table, request, key, timeout, quoted=quoted, no_wait=no_wait, as_json=as_json)
        if job is None:
            return
        card = client.release(str(job.release)) if out is None else remote.written(client, str(job.release), out)
    if as_json:
        remote.emit_job(job, out=None if out is None else str(out), card=card["card"])
        return
    say(_statement(card["card"]), style="bold")
    where = f"fetch it: discreet remote fetch {job.release} --out model.json" if out is None else f"written to {out}"
    say(f"Model {job.release}: {where}.")


def score(
    dataset: remote.Dataset,
    release: remote.Release,
    epsilon: options.Epsilon,
    quoted: remote.Quote = False,
    no_wait: remote.NoWait = False,
    timeout: remote.Timeout = None,
    key: remote.Key = None,
    project: remote.Project = None,
    version: remote.Version = None,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Ask how accurate a released model is on a data set: a noisy accuracy, which is paid for.

    \b
    Example:
      discreet remote score patients 0b0a5f0e-8f4f-4f0f-9df0-93b1c0a6f001 --epsilon 0.1
    """
    request = {"kind": "score", "release": remote.checked_name(release, "release"), "epsilon": _price(epsilon)}
    with remote.connected(url, insecure) as client:
        table = client.dataset(remote.checked_name(dataset, "data set"), project=project, version=version)
        job = _ended(table, request, key, timeout, quoted=quoted, no_wait=no_wait, as_json=as_json)
        if job is None:
            return
        found = job.content()
    if as_json:
        remote.emit_job(job, score=found)
        return
    bounds = f"between {found['lower']:.3f} and {found['upper']:.3f}"
    say(f"Accuracy {found['accuracy']:.3f}, {bounds} (confidence {found['confidence']:g}).")
    say(_statement(found), style="bold")


def count(
    dataset: remote.Dataset,
    epsilon: options.Epsilon,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="PREDICATE", help="Which records: 'age between 40 60'; repeat, and all must hold."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN[:BINS]", help="A count for each category, class or interval; repeat to cross."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="A JSON file with a list of questions instead, each with where and by.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the answers to a JSON file.", show_default=False)] = None,
    quoted: remote.Quote = False,
    no_wait: remote.NoWait = False,
    timeout: remote.Timeout = None,
    key: remote.Key = None,
    project: remote.Project = None,
    version: remote.Version = None,
    force: options.Force = False,
    url: remote.Url = None,
    insecure: remote.Insecure = False,
    as_json: options.Json = False,
) -> None:
    """Ask how many records there are: noisy counts with 95 % intervals. Predicates are those of `discreet count`.

    \b
    Example:
      discreet remote count patients --where "age between 40 60" --by diagnosis --epsilon 0.1
    """
    from discreet.released.answers import Answers

    price = _price(epsilon)
    if out is not None:
        check_out(out, questions, force=force)
    with remote.connected(url, insecure) as client:
        table = client.dataset(remote.checked_name(dataset, "data set"), project=project, version=version)
        asked = read_questions(where or [], by or [], questions, table.schema)
        request = {"kind": "count", "epsilon": price, "queries": [each.to_plain() for each in asked]}
        job = _ended(table, request, key, timeout, quoted=quoted, no_wait=no_wait, as_json=as_json)
        if job is None:
            return
        answers = Answers.from_dict(job.content())
        if out is not None:
            remote.written(client, str(job.release), out)
    if as_json:
        remote.emit_job(job, out=None if out is None else str(out), answers=answers.to_dict())
        return
    for answer in answers.answers:
        tabulate_answer(answer, answers.schema)
    say(answers.guarantee.statement(), style="bold")
    if out is not None:
        say(f"Answers written to {out}.")


def _ended(
    table: RemoteDataset,
    request: dict[str, Any],
    key: str | None,
    timeout: float | None,
    *,
    quoted: bool,
    no_wait: bool,
    as_json: bool,
) -> RemoteJob | None:
    """The job that was asked for, at its end; None if only a quote or the job itself was wanted, which is shown."""
    if quoted:
        _show_quote(table.quote(request), as_json)
        return None
    job = remote.submitted(table, request, key)
    if no_wait:
        _show_asked(job, as_json)
        return None
    return remote.ended(job, timeout)


def _price(epsilon: str) -> str:
    """The exact epsilon, checked here so that a slip does not travel."""
    return str(as_release_epsilon(epsilon))


def _parameters(model: str, settings: list[str]) -> dict[str, Any]:
    from discreet.models import MODELS
    from discreet.models.parameter_texts import read_settings

    if model not in KINDS:
        raise ParameterError(f"--model={model!r}; need one of: {', '.join(KINDS)}")
    try:
        return read_settings(settings, MODELS[model], model)
    except ParameterError as error:
        raise ParameterError(f"--with {error}") from None


def _statement(card: dict[str, Any]) -> str:
    """The words of the guarantee, as the release has them."""
    guarantee = card.get("guarantee") or {}
    return str(guarantee.get("statement", "")) or "See the card of the release for its guarantee."


def _show_asked(job: Any, as_json: bool) -> None:
    if as_json:
        remote.emit_job(job)
    else:
        say(f"Job {job.id} is {job.state}. Next: discreet remote wait {job.id}")


def _show_quote(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        emit(found)
        return
    say(
        f"Price: ε = {found['price']}. "
        + ("There is enough." if found["enough"] else "An account has too little left.")
    )
    left = ", ".join(f"{name} {amount}" for name, amount in found["remaining"].items())
    say(f"Would remain: {left}. It takes {found['slot_seconds']:g} s once it starts.")
    say("A rule approves it at once." if found["approved_by_rule"] else "An owner has to approve it.")
    expected = found["expected"]
    if "accuracy" in expected:
        guess = " (a guess)" if expected.get("is_guess") else ""
        about = f"about {expected['accuracy']:.2f}, between {expected['low']:.2f} and {expected['high']:.2f}"
        say(f"Expected accuracy of {expected['model']}: {about}{guess}.")
    for number, each in enumerate(expected.get("queries", []), 1):
        say(
            f"Question {number}: {each['cells']} cells, each within {each['margin']:g} of the truth in 95 of 100 cases."
        )
    if "margin" in expected:
        say(f"Both numbers of the score are within {expected['margin']:g} of the truth in 95 of 100 cases.")
    if not expected:
        advise("What to expect is not known: the owner has not declared the number of records.")
