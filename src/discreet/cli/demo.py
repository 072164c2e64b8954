"""`discreet demo`: trains, explains and plots on data that ship inside scikit-learn."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from discreet.cli import options
from discreet.cli.explain import save_picture
from discreet.cli.outputs import advise, emit, notes, printable, say, shown, tabulate, tabulate_receipt
from discreet.datasets import Columns, built_in
from discreet.errors import FileError, MissingExtra
from discreet.schema import Schema
from discreet.storage.writing import whole_file

NAMES = ("breast-cancer", "digits", "iris", "wine")
EPSILONS = (0.1, 0.3, 1.0, 3.0, math.inf)
DRAWS = 20
"""Noise draws that an entry of the table averages over."""


@dataclass(frozen=True)
class Halves:
    """A data set, split for training and testing."""

    name: str
    schema: Schema
    train: Columns
    train_labels: Any
    test: Columns
    test_labels: Any


def demo(
    out: Annotated[Path, typer.Option(help="The folder for picture, model, schema and data.")] = Path("discreet-demo"),
    as_json: options.Json = False,
) -> None:
    """Train, explain and plot on built-in public data: no files, no network.

    \b
    Example:
      discreet demo --out discreet-demo
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make folder {out}: {error.strerror}; choose another with --out") from None
    sets = [_split(name) for name in NAMES]
    scores = list(_scores(sets))
    model = _secure_model(sets[0])
    written = _write(model, sets[0], out)
    if as_json:
        emit(
            {
                "scores": scores,
                "guarantee": model.guarantee_.to_dict(),
                "files": [str(path) for path in written],
            }
        )
    else:
        _show(model, scores, written, out)


def _split(name: str) -> Halves:
    """Two thirds to train, one third to test, always the same ones."""
    from sklearn.model_selection import train_test_split

    X, y, schema = built_in(name)
    first, second = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y)
    halves = [{column: values[rows] for column, values in X.items()} for rows in (first, second)]
    return Halves(name, schema, halves[0], y[first], halves[1], y[second])


def _scores(sets: list[Halves]) -> Iterator[dict[str, Any]]:
    """Accuracy on the test third: always the largest class, ours at each epsilon, and scikit-learn's."""
    from rich.progress import Progress
    from sklearn.naive_bayes import GaussianNB

    from discreet.models.naive_bayes.naive_bayes import NaiveBayes

    with Progress(console=notes, transient=True, disable=not notes.is_terminal) as progress:
        task = progress.add_task("training", total=len(sets) * len(EPSILONS))
        for each in sets:
            values, counts = np.unique(each.train_labels.astype(str), return_counts=True)
            row: dict[str, Any] = {"data": each.name, "records": len(each.train_labels)}
            row["majority"] = float(np.mean(each.test_labels == values[counts.argmax()]))
            row["naive_bayes"] = {}
            for epsilon in EPSILONS:
                draws = 1 if math.isinf(epsilon) else DRAWS
                models = [NaiveBayes(each.schema, epsilon=epsilon, random_state=seed) for seed in range(draws)]
                accuracy = [
                    model.fit(each.train, each.train_labels).score(each.test, each.test_labels) for model in models
                ]
                row["naive_bayes"][str(epsilon)] = float(np.mean(accuracy))
                progress.advance(task)
            reference = GaussianNB().fit(_matrix(each.train), each.train_labels)
            row["gaussian_nb"] = float(reference.score(_matrix(each.test), each.test_labels))
            yield row


def _matrix(columns: Columns) -> Any:
    return np.column_stack(list(columns.values()))


def _secure_model(each: Halves) -> Any:
    """One model as an owner would release it: secure noise, epsilon 1."""
    from discreet.models.naive_bayes.naive_bayes import NaiveBayes

    return NaiveBayes(each.schema, epsilon=1).fit(each.train, each.train_labels)


def _write(model: Any, each: Halves, out: Path) -> list[Path]:
    """Model, schema, the two halves of the data, and the picture if matplotlib is there."""
    model.save(out / "model.json")
    each.schema.save(out / "schema.json")
    _write_table(out / "train.csv", each.train, {each.schema.target: each.train_labels})
    _write_table(out / "new.csv", each.test, {})
    written = [out / name for name in ("model.json", "schema.json", "train.csv", "new.csv")]
    try:
        save_picture(model, out / "demo.png", top=10)
    except MissingExtra as error:
        advise(f"No picture: {error}")
        return written
    return [out / "demo.png", *written]


def _write_table(path: Path, columns: Columns, labels: Columns) -> None:
    table = {**columns, **labels}
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*(values.tolist() for values in table.values()), strict=True))


def _show(model: Any, scores: list[dict[str, Any]], written: list[Path], out: Path) -> None:
    heads = ["data", "n", "trivial", *(f"ε={shown(each)}" for each in EPSILONS), "sklearn"]
    rows = [
        [row["data"], str(row["records"]), f"{row['majority']:.3f}"]
        + [f"{score:.3f}" for score in row["naive_bayes"].values()]
        + [f"{row['gaussian_nb']:.3f}"]
        for row in scores
    ]
    tabulate("Share of test records that a private naive Bayes gets right", heads, rows, right=heads[1:])
    say("n: training records. trivial: always the largest class. sklearn: GaussianNB, which is not private.")
    say(
        "The data are public. The scores are computed on real test records and are not themselves private. At a "
        f"finite ε each is a mean over {DRAWS} draws of noise, seeded so that the table can be repeated. These data "
        "sets are small: the same ε costs less accuracy the more records there are."
    )
    say()
    say(f"One model as an owner would release it, with secure noise ({scores[0]['data']}, ε = 1):", style="bold")
    say(model.guarantee_.statement())
    say()
    typer.echo(printable(model.explain(5)))
    say()
    tabulate_receipt(model.receipt_.charges)
    say(f"Written: {', '.join(map(str, written))}")
    say(f"Next: discreet card {out / 'model.json'}")
    say(f"      discreet predict {out / 'model.json'} {out / 'new.csv'} --proba")
