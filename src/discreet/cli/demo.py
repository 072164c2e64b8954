"""`discreet demo`: train, explain and plot on data that come with scikit-learn."""

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
from discreet.cli.folder import make_folder
from discreet.cli.outputs import advise, check_out, emit, printable, save_figure, say, tabulate, tabulate_receipt
from discreet.cli.progress import progress_bars
from discreet.datasets import Columns, built_in
from discreet.errors import MissingExtra
from discreet.schema import Schema
from discreet.storage.writing import whole_file

NAMES = ("breast-cancer", "digits", "iris", "wine")
EPSILONS = (0.1, 0.3, 1.0, 3.0, math.inf)
DRAWS = 5
"""Number of noise draws that each entry of the table averages over: few, so that the demo takes seconds."""


FILES = ("model.json", "schema.json", "train.csv", "new.csv", "demo.png")
"""What the demo writes."""


@dataclass(frozen=True)
class SplitData:
    """A data set, split for training and testing."""

    name: str
    schema: Schema
    train: Columns
    train_labels: Any
    test: Columns
    test_labels: Any


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write into: picture, model, schema and data.")] = Path(
        "discreet-demo"
    ),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train, explain and plot on built-in public data: no files, no network.

    \b
    Example:
      discreet demo --out discreet-demo
    """
    make_folder(out)
    for name in FILES:
        check_out(out / name, force=force)
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


def _split(name: str) -> SplitData:
    """Two thirds of the records to train and one third to test, always the same ones."""
    from sklearn.model_selection import train_test_split

    X, y, schema = built_in(name)
    first, second = train_test_split(np.arange(len(y)), test_size=1 / 3, random_state=0, stratify=y)
    train, test = ({column: values[rows] for column, values in X.items()} for rows in (first, second))
    return SplitData(name, schema, train, y[first], test, y[second])


def _scores(sets: list[SplitData]) -> Iterator[dict[str, Any]]:
    """Accuracy on the test records: of the largest class, of our model at each epsilon, and of scikit-learn's."""
    from sklearn.naive_bayes import GaussianNB

    from discreet.models.auto.auto import Auto

    with progress_bars() as told:
        for number, each in enumerate(sets):
            told("training", number, len(sets))
            values, counts = np.unique(each.train_labels.astype(str), return_counts=True)
            row: dict[str, Any] = {"data": each.name, "records": len(each.train_labels)}
            row["majority"] = float(np.mean(each.test_labels == values[counts.argmax()]))
            row["auto"] = {}
            for epsilon in EPSILONS:
                draws = 1 if math.isinf(epsilon) else DRAWS
                models = [Auto(each.schema, epsilon=epsilon, random_state=seed) for seed in range(draws)]
                accuracy = [
                    model.fit(each.train, each.train_labels).score(each.test, each.test_labels) for model in models
                ]
                row["auto"][str(epsilon)] = float(np.mean(accuracy))
            reference = GaussianNB().fit(_matrix(each.train), each.train_labels)
            row["gaussian_nb"] = float(reference.score(_matrix(each.test), each.test_labels))
            yield row


def _matrix(columns: Columns) -> Any:
    return np.column_stack(list(columns.values()))


def _secure_model(each: SplitData) -> Any:
    """One model as an owner would release it: secure noise, epsilon 1."""
    from discreet.models.auto.auto import Auto

    return Auto(each.schema, epsilon=1).fit(each.train, each.train_labels)


def _write(model: Any, each: SplitData, out: Path) -> list[Path]:
    """Write model, schema and data, and the picture if matplotlib is installed; returns the files."""
    model.save(out / "model.json", overwrite=True)
    each.schema.save(out / "schema.json")
    _write_table(out / "train.csv", each.train, {each.schema.target: each.train_labels})
    _write_table(out / "new.csv", each.test, {})
    written = [out / name for name in FILES[:-1]]
    try:
        save_figure(model.plot(10), out / "demo.png")
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


def _written(epsilon: float) -> str:
    return "∞" if math.isinf(epsilon) else f"{epsilon:g}"


def _show(model: Any, scores: list[dict[str, Any]], written: list[Path], out: Path) -> None:
    heads = ["data", "n", "trivial", *(f"ε={_written(each)}" for each in EPSILONS), "sklearn"]
    rows = [
        [row["data"], str(row["records"]), f"{row['majority']:.3f}"]
        + [f"{score:.3f}" for score in row["auto"].values()]
        + [f"{row['gaussian_nb']:.3f}"]
        for row in scores
    ]
    tabulate("Fraction of test records that auto gets right", heads, rows, right=heads[1:])
    say(
        "auto: the model that is picked for each data set and ε, from public facts. n: training records. "
        "trivial: always the largest class. sklearn: GaussianNB, which is not private."
    )
    say(
        "The data are public. The scores are computed on real test records and are not themselves private. At a "
        f"finite ε each is a mean over {DRAWS} draws of noise, seeded so that the table can be repeated. These data "
        "sets are small: with more records, the same ε costs less accuracy."
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
