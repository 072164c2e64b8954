"""`discreet train`: make a model file from a data file. Every check comes before the charge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import inputs, options
from discreet.cli.accounts import Payment, as_dict, open_ledger, paying
from discreet.cli.dry_run import rehearse, show_dry_run
from discreet.cli.outputs import advise, check_out, emit, say, say_remarks, tabulate_receipt
from discreet.cli.progress import counting
from discreet.errors import ParameterError, SchemaError
from discreet.privacy.epsilon import Epsilon, as_epsilon
from discreet.privacy.ledger import Ledger
from discreet.schema import Schema
from discreet.sources import check_rows
from discreet.storage.addresses import Address

KINDS = ("auto", "naive-bayes", "one-rule", "decision-tree", "random-forest", "svm", "bee-rules")
"""The names of the models, written here so that --help does not load them."""


def train(
    data: options.Data,
    out: options.ModelOut,
    schema: options.OptionalSchema = None,
    epsilon: options.OptionalEpsilon = None,
    model: Annotated[str, typer.Option(help=f"The kind of model: {', '.join(KINDS)}.")] = "auto",
    adjacency: options.Adjacency = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="NAME=VALUE", help="A parameter of the named model, such as max_depth=3; repeat for more."
        ),
    ] = None,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(metavar="WEIGHT", help="balanced, to find rare classes too; or CLASS=NUMBER; repeat for more."),
    ] = None,
    table: options.DataTable = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: options.Stream = False,
    ledger: options.OptionalLedger = None,
    limit: options.Limit = None,
    seed: options.Seed = None,
    draft_ok: options.DraftOk = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be read, spent and released, and stop: no value is read.")
    ] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Search bee-rules on unperturbed data: no guarantee.")] = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train a differentially private model from a file or a database table.

    Only noisy numbers go into the model; the data stay where they are. Parquet files with the same columns are one
    table: give their folder, or a pattern in quotes, such as 'visits/*.parquet'. Without --model, auto picks a decision
    tree, a linear model or naive Bayes by the schema, epsilon and the number of records, and says why. bee-rules are
    searched on a table that `discreet perturb` wrote, with its receipt beside it; they keep the guarantee of that
    table.

    \b
    Parameters for --with, for instance (a wrong name lists all parameters of a model; auto has none):
      naive-bayes    select=none, numeric=gaussian, bins=8, temperature=1
      one-rule       bins=8
      decision-tree  structure=greedy, max_depth=3, thresholds=15
      random-forest  n_trees=3, max_depth=3
      svm            select=8, leaves=0, knots=4, ranges=none
      bee-rules      strategy=one-rule, n_rules=3
    --class-weight is for auto, naive-bayes, decision-tree, random-forest and, for two classes, svm.

    \b
    Example, after `discreet demo`:
      discreet train discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --epsilon 1 --out m.json --ledger ledger.jsonl --limit 2
      discreet train discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --epsilon 1 --out tree.json --model decision-tree --with max_depth=3 \\
        --class-weight balanced
      discreet train discreet-demo/train.csv --schema discreet-demo/schema.json \\
        --epsilon 1 --out m2.json --dry-run
      discreet train postgresql://host/database --table clinic.patients --schema schema.json \\
        --epsilon 1 --out m.json --model naive-bayes
      discreet train spark://host:7077 --table registry.patients --schema schema.json \\
        --epsilon 1 --out m.json --model decision-tree
    """
    if model == "bee-rules":
        price = epsilon, adjacency, ledger, limit, dry_run or None
        _weights(class_weight, model)
        if isinstance(data, Address):
            raise ParameterError(f"--model bee-rules is searched on a file that `discreet perturb` wrote; got {data}")
        written = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
        _train_rules(data, out, schema, settings or [], seed, clear, force, as_json, price, written)
        return
    if schema is None or epsilon is None or clear:
        missing = "--clear is for --model bee-rules" if clear else "add --schema FILE and --epsilon NUMBER"
        raise ParameterError(f"--model {model} needs a schema and an epsilon; {missing}")
    with paying(ledger, "no model was written") as payment:
        loss = as_epsilon(epsilon)
        public = inputs.as_written(public_schema(schema, adjacency, draft_ok), delimiter, decimal, encoding)
        weighing = _weights(class_weight, model)
        estimator = _estimator(model, settings or [], seed, schema=public, epsilon=loss, **weighing)
        check_out(out, *inputs.data_files(data), inputs.schema_file(schema), ledger, force=force)
        source = inputs.open_data(data, table, stream=stream, dialect=public.dialect)
        if not estimator.by_counts:
            check_rows(source, sums=estimator.by_sums)
        inputs.check_structure(source, data, public, table)
        if dry_run:
            account = open_ledger(ledger, limit, loss, public.adjacency, make=False)
            rehearse(estimator)
            show_dry_run(estimator, data, out, account, ledger, as_json)
            return
        payment.open(limit, loss, public.adjacency)
        if not as_json:
            _hint(loss, public, is_kept=ledger is not None)
        with counting(source):
            estimator.fit_from(source, ledger=payment.ledger)
        estimator.save(out, overwrite=True)  # checked above; it is paid for now
        payment.outcome = f"the model is in {out}"
        if as_json:
            emit(_report(estimator, out, payment.ledger))
        else:
            _show(estimator, out, payment)


def _hint(loss: Epsilon, schema: Schema, *, is_kept: bool) -> None:
    """Say what an epsilon means where it is large, too small for the records, or noted nowhere."""
    from discreet.advice.meaning import hints

    for hint in hints(loss, schema.records, schema.adjacency.distance, is_kept=is_kept):
        advise(hint)


def _show(estimator: Any, out: Path, payment: Payment) -> None:
    say(estimator.guarantee_.statement(), style="bold")
    if hasattr(estimator, "picked_"):
        say(estimator.picked_.statement())
    tabulate_receipt(estimator.receipt_.charges)
    say_remarks(estimator.remarks_, estimator.unchecked_)
    payment.say_state()
    say(f"Model written to {out}. Next: discreet card {out}")


def public_schema(name: str, adjacency: str | None, draft_ok: bool) -> Schema:
    """The schema of a file; a draft is refused unless `draft_ok` is set."""
    schema = inputs.load_schema(name, adjacency)
    if not schema.is_public and not draft_ok:
        some = ", ".join(schema.from_data[:3]) + (", ..." if len(schema.from_data) > 3 else "")
        raise SchemaError(
            f"{name} is a draft: {len(schema.from_data)} entries were read from the data ({some}); confirm or replace "
            'each and remove it from "from_data", or give --draft-ok if the data are public (no guarantee)'
        )
    return schema


def _train_rules(
    data: Path,
    out: Path,
    schema: str | None,
    settings: list[str],
    seed: int | None,
    clear: bool,
    force: bool,
    as_json: bool,
    unwanted: tuple[object, ...],
    written: dict[str, str | None],
) -> None:
    """Train rules on a perturbed table, or on unperturbed data; this costs no epsilon."""
    from discreet.cli.train_rules import PRICELESS, fit_rules

    if any(each is not None for each in unwanted):
        raise ParameterError(PRICELESS)
    check_out(out, data, None if schema is None else inputs.schema_file(schema), force=force)
    estimator = fit_rules(_estimator("bee-rules", settings, seed), data, schema, clear, written)
    estimator.save(out, overwrite=True)
    if as_json:
        emit(_report(estimator, out, None))
        return
    say(estimator.guarantee_.statement(), style="bold")
    say(f"Model written to {out}. Next: discreet explain {out}")


def _estimator(name: str, settings: list[str], seed: int | None, **given: Any) -> Any:
    """The model with its parameters, which are checked."""
    from discreet.models import MODELS
    from discreet.models.parameter_texts import parameters_of, read_settings

    if name not in MODELS:
        raise ParameterError(f"--model={name!r}; need one of: {', '.join(MODELS)}")
    if settings and not set(parameters_of(MODELS[name])) - {"class_weight"}:
        raise ParameterError(
            f"--with {settings[0]!r}: {name} takes no parameters except --class-weight; name a model that does, such "
            "as --model decision-tree"
        )
    estimator = MODELS[name](given.get("schema", "from-data"))
    try:
        estimator.set_params(**read_settings(settings, MODELS[name], name))
    except ParameterError as error:
        raise ParameterError(f"--with {error}") from None
    estimator.set_params(random_state=seed, **given)
    estimator.check_parameters()  # before a ledger is opened
    return estimator


def _weights(given: list[str] | None, model: str) -> dict[str, Any]:
    """The weights of the classes, as the parameter of a model; none if none were given."""
    from discreet.models.parameter_texts import read_weights

    if not given:
        return {}
    if model in ("one-rule", "bee-rules"):
        raise ParameterError(
            f"--class-weight: {model} weighs no classes; use auto, naive-bayes, decision-tree, random-forest or svm"
        )
    return {"class_weight": read_weights(given)}


def _report(model: Any, out: Path, ledger: Ledger | None) -> dict[str, Any]:
    """The result for scripts."""
    from discreet.models.saving import card

    return {"out": str(out), **card(model), "ledger": as_dict(ledger)}
