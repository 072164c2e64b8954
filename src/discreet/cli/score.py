"""`discreet score`: show a test accuracy that can be published. Every check comes before the charge."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import Payment, as_dict, paying
from discreet.cli.outputs import advise, emit, say, tabulate_receipt
from discreet.cli.progress import counting
from discreet.privacy.epsilon import as_epsilon
from discreet.schema import Schema
from discreet.sources import check_rows

VAGUE = 0.2
"""An interval that is wider than this says little; then a remark says what would narrow it."""

SHOWN = "the accuracy was shown"


def score(
    model: options.Model,
    data: options.Data,
    epsilon: options.Epsilon,
    adjacency: options.Adjacency = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval around the accuracy.")] = 0.95,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    ledger: options.OptionalLedger = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Publish how accurate a model is on private records: a noisy accuracy, which is charged by itself.

    Only noisy numbers are shown. Records whose label is not one of the model's classes are not counted, and columns
    that are not in its schema are not read. If the records were also used for training, give the ledger of that data.

    \b
    Example, after `discreet demo`:
      discreet score discreet-demo/model.json discreet-demo/train.csv \\
        --epsilon 1 --ledger ledger.jsonl --limit 2
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
            "random_state": seed,
        }
        read = inputs.as_written(schema, delimiter, decimal, encoding)
        source = inputs.open_data(data, table, stream=stream, dialect=read.dialect)
        check_rows(source, sums=trained.by_record)
        inputs.check_labelled(source, data, read, table)
        check_options(trained, **given)
        payment.open(limit, loss, schema.adjacency)
        with counting(source):
            found = evaluate_from(trained, source, ledger=payment.ledger, **given)
        if as_json:
            emit({**found.to_dict(), "ledger": as_dict(payment.ledger)})
            payment.outcome = SHOWN
        else:
            _show(found, payment)


def _show(found: Any, payment: Payment) -> None:
    bounds = f"between {found.lower:.3f} and {found.upper:.3f}"
    say(f"Accuracy {found.value:.3f}, {bounds} (confidence {found.confidence:g}).")
    payment.outcome = SHOWN
    say(
        f"Noisy numbers: {found.right} right, {found.wrong} wrong, both within {found.margin} of the truth with that "
        "confidence. The interval is for the accuracy on these records; it says nothing about other records."
    )
    say(found.guarantee.statement(), style="bold")
    tabulate_receipt(found.receipt.charges)
    payment.say_state()
    if found.upper - found.lower > VAGUE:
        advise("The interval is wide: too few records for this epsilon. A larger epsilon or more records narrow it.")
