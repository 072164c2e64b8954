"""`discreet split`: one part of a file to train on, one to score on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import options
from discreet.cli.outputs import advise, check_out, emit, say
from discreet.cli.progress import progress_bars
from discreet.errors import ParameterError
from discreet.sources.file import is_list

PRIVATE = (
    "Both parts hold exact records: keep them as private as the file. Charge both to the ledger of these data; "
    "the losses of a model and of its score add up. If the schema declares a number of records, that is of the whole "
    "file: correct it for the part to train on."
)


def split(
    data: options.DataInFile,
    test: Annotated[
        str, typer.Option(help="The probability with which a record goes to the test part, such as 0.2 or 1/3.")
    ] = "0.2",
    out_train: Annotated[
        Path | None, typer.Option(help="The file to train on.  [default: data.train.csv]", show_default=False)
    ] = None,
    out_test: Annotated[
        Path | None, typer.Option(help="The file to score on.  [default: data.test.csv]", show_default=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeatable lots.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Divide a CSV (also .csv.gz) or Parquet file by lot into a part to train on and a part to score on.

    Each record draws a lot of its own and lands in exactly one part, unchanged; files larger than memory are copied
    block by block. Nothing is told about the records, and nothing is charged. A model is scored on records that it was
    not trained on, or its figures are too good.

    \b
    Example, after `discreet demo`:
      discreet split discreet-demo/train.csv --test 0.2
      discreet train discreet-demo/train.train.csv --schema discreet-demo/schema.json \\
        --epsilon 1 --out m.json --ledger ledger.jsonl --limit 2
      discreet score m.json discreet-demo/train.test.csv --epsilon 1 --ledger ledger.jsonl
    """
    from discreet.evaluation.splitting import as_part, check_names, split_file
    from discreet.privacy.randomness import as_rng
    from discreet.records.csv_opening import ending_of
    from discreet.records.files import checked

    part = as_part(test)
    as_rng(seed)
    if is_list(data):
        raise ParameterError(f"{data} stands for several files; split one file at a time")
    source = checked(data)
    ending = ending_of(source)
    first, second = (
        given or source.with_name(f"{source.name.removesuffix(ending)}.{name}{ending}")
        for given, name in ((out_train, "train"), (out_test, "test"))
    )
    check_names(source, first, second)
    for out in (first, second):
        check_out(out, source, force=force)
    try:
        with progress_bars() as told:
            split_file(source, part, first, second, random_state=seed, told=lambda *far: told("splitting", *far))
    except KeyboardInterrupt:
        advise("interrupted; neither part was written")
        raise typer.Exit(130) from None
    if as_json:
        emit({"train": str(first), "test": str(second), "probability": str(part), "seeded": seed is not None})
        return
    say(f"To train on: {first}. To score on: {second}.")
    say(PRIVATE)
