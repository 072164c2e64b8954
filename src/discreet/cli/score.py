"""`discreet score`: show how good a model is, in numbers that can be published. Every check comes before the charge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import Payment, as_dict, paying
from discreet.cli.outputs import (
    advise,
    check_out,
    check_picture,
    emit,
    save_figure,
    say,
    tabulate,
    tabulate_receipt,
)
from discreet.cli.progress import counting
from discreet.errors import ParameterError
from discreet.pictures.figure import new_figure
from discreet.privacy.epsilon import as_epsilon
from discreet.privacy.ledger import Ledger
from discreet.schema import Schema
from discreet.sources import check_rows

VAGUE = 0.2
"""An interval that is wider than this says little; then a remark says what would narrow it."""

SHOWN = "the accuracy was shown"

OPTIMISTIC = "On records that the model was trained on, all figures are too good: score others (`discreet split`)."
MOST_SHOWN = 12
"""Up to this many classes, the matrix is printed; of more, --json and --plot have it."""


def score(
    model: options.Model,
    data: options.Data,
    epsilon: options.Epsilon,
    adjacency: options.Adjacency = None,
    confidence: Annotated[float, typer.Option(help="Confidence of each interval.")] = 0.95,
    only: Annotated[
        str | None, typer.Option(help="accuracy: spend all of epsilon on the accuracy.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="A picture of the matrix to write: .png, .svg or .pdf.", show_default=False)
    ] = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    ledger: options.OptionalLedger = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Publish how good a model is on private records: noisy numbers, for one charge of their own.

    Shown are the accuracy, the balanced accuracy (the mean over classes of the fraction that is found), the sensitivity
    (recall), specificity and precision of each class, and the confusion matrix, with intervals. Records whose label is
    not one of the model's classes are not counted, and columns that are not in its schema are not read. If the records
    were also used for training, the figures are too good; give the ledger of that data, since both losses add up.

    \b
    Example, after `discreet demo`:
      discreet score discreet-demo/model.json discreet-demo/train.csv \\
        --epsilon 1 --ledger ledger.jsonl --limit 2
      discreet score discreet-demo/model.json discreet-demo/train.csv \\
        --epsilon 1 --plot confusion.png
    """
    from discreet.evaluation import check_options, evaluate_from

    with paying(ledger, "no accuracy was shown") as payment:
        loss = as_epsilon(epsilon)
        trained = inputs.load_model(model)
        schema: Schema = trained.schema_ if adjacency is None else trained.schema_.replace(adjacency=adjacency)
        given: dict[str, Any] = {
            "epsilon": loss,
            "adjacency": schema.adjacency,
            "confidence": confidence,
            "only": only,
            "random_state": seed,
        }
        _check_picture(plot, only, schema, [model, *inputs.data_files(data), ledger], force)
        read = inputs.as_written(schema, delimiter, decimal, encoding)
        source = inputs.open_data(data, table, stream=stream, dialect=read.dialect)
        check_rows(source, sums=trained.by_record)
        inputs.check_labelled(source, data, read, table)
        check_options(trained, **given)
        payment.open(limit, loss, schema.adjacency)
        optimism = _optimism(payment.ledger, trained.kind, schema.target)
        with counting(source):
            found = evaluate_from(trained, source, ledger=payment.ledger, **given)
        if as_json:
            judged = {"verdict": _verdict(found, trained)}
            emit({**found.to_dict(), **judged, "remark": optimism, "ledger": as_dict(payment.ledger)})
            payment.outcome = SHOWN
        else:
            _show(found, payment, optimism, _verdict(found, trained))
        if plot is not None and found.confusion is not None:
            save_figure(found.confusion.plot(), plot)
            advise(f"Picture written to {plot}")


def _check_picture(plot: Path | None, only: str | None, schema: Schema, given: list[Any], force: bool) -> None:
    """Raise, before anything is paid, unless a picture that is asked for can be drawn and written."""
    from discreet.evaluation.confusion import MOST_CLASSES

    if plot is None:
        return
    check_picture("--plot", plot)
    if only is not None:
        raise ParameterError("--plot draws the confusion matrix, which --only accuracy leaves out; give one of the two")
    if len(schema.classes) > MOST_CLASSES:
        raise ParameterError(
            f"--plot={plot}: {len(schema.classes)} classes are too many for a matrix; need at most {MOST_CLASSES}"
        )
    check_out(plot, *given, force=force)
    new_figure()  # raises if matplotlib is missing


def _optimism(ledger: Ledger | None, kind: str, target: str) -> str:
    """What can be said about training rows: only what the ledger, which is public to its owner, was charged for."""
    names = [] if ledger is None else [name for name, _ in ledger.entries]
    trained = [name for name in names if name.endswith(f" for {target}") and name.partition(" ")[0] == kind]
    if not trained:
        return OPTIMISTIC
    return (
        f"This ledger was charged for training: {trained[-1]}. If that was this model, on these very records, all "
        "figures are too good, and say little about other records: score it on others (`discreet split`)."
    )


def _verdict(found: Any, trained: Any) -> str | None:
    """Whether the model is worth anything; None if only the accuracy was asked."""
    from discreet.evaluation.verdict import verdict

    return None if found.confusion is None else verdict(found.confusion, getattr(trained, "remarks_", ()))


def _show(found: Any, payment: Payment, optimism: str, judged: str | None) -> None:
    bounds = f"between {found.lower:.3f} and {found.upper:.3f}"
    say(f"Accuracy {found.value:.3f}, {bounds} on these records (confidence {found.confidence:g}).")
    payment.outcome = SHOWN
    say(
        f"Noisy numbers: {found.right} right, {found.wrong} wrong, both within {found.margin} of the truth with that "
        "confidence. This interval is for the accuracy on these records; it says nothing about other records."
    )
    if found.confusion is not None:
        _show_confusion(found.confusion)
    if judged is not None:
        say(judged, style="bold")
    say(optimism, style="yellow")
    say(found.guarantee.statement(), style="bold")
    tabulate_receipt(found.receipt.charges)
    payment.say_state()
    if found.upper - found.lower > VAGUE:
        advise("The interval is wide: too few records for this epsilon. A larger epsilon or more records narrow it.")


def _show_confusion(found: Any) -> None:
    say(f"Of records like these: accuracy {found.accuracy}, balanced accuracy {found.balanced_accuracy}.")
    heads = ["class", "records", "sensitivity", "specificity", "precision"]
    rows = [
        [str(each.label), str(each.records), str(each.sensitivity), str(each.specificity), str(each.precision)]
        for each in found.by_class
    ]
    title = f"Classes; each interval by itself has confidence {found.confidence:g}, for noise and for sampling"
    tabulate(title, heads, rows, right=heads[1:])
    if len(found.classes) <= MOST_SHOWN:
        names = [str(label) for label in found.classes]
        matrix = [[name, *map(str, row)] for name, row in zip(names, found.counts, strict=True)]
        tabulate(f"Noisy counts, each within {found.margin} of the truth", ["true \\ predicted", *names], matrix, names)
    rarest = found.rarest
    if rarest.sensitivity.upper < 1 / len(found.classes):
        advise(
            f"The rarest class, {rarest.label}, is hardly found ({rarest.sensitivity.value:.0%} of its records). "
            "Train with --class-weight balanced to find more of it, at the price of false alarms."
        )
