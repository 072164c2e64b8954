"""Ten messy tables, each taken from a file to an honest statement by the documented commands alone.

Per table: split, schema draft, schema edit (with the answers that a person would give who knows what such tables can
hold), schema check --values, train (auto), card, score. What ends the way is the verdict of `discreet score`: how much
better than a guess the model is, with an interval, or that it is worth nothing, and why.
`python benchmarks/messy_tables.py` writes results/messy_tables.md. Tables are generated, so nothing here is private;
the noise is that of every user, secure, so the figures differ a little from run to run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from discreet.cli import app

RESULTS = Path(__file__).parent / "results" / "messy_tables.md"
EPSILON = "1"
Columns = dict[str, Any]


@dataclass(frozen=True)
class Messy:
    """A table, what is wrong with it, and how a person answers `schema edit`.

    `answers` are given for the marks they name; all other entries are confirmed, which is right for generated tables.
    """

    name: str
    trouble: str
    make: Callable[[np.random.Generator], str]
    answers: dict[str, str] = field(default_factory=dict)
    train: tuple[str, ...] = ()
    expected: str = "Better than a guess"


def _ill(rng: np.random.Generator, rows: int, share: float = 0.4) -> Columns:
    """Columns of a small clinic: age and dose tell something about the finding, sex and ward little."""
    age = np.clip(rng.normal(55, 15, rows), 18, 95).round().astype(int)
    dose = rng.uniform(0, 10, rows).round(2)
    score = (age - 55) / 15 + (dose - 5) / 3 + 0.6 * rng.normal(size=rows)
    ill = score > np.quantile(score, 1 - share)
    sex, ward = rng.choice(["F", "M"], rows), rng.choice(["A", "B", "C"], rows)
    return {"age": age, "dose": dose, "sex": sex, "ward": ward, "ill": np.where(ill, "yes", "no")}


def _csv(columns: Columns, delimiter: str = ",", decimal: str = ".") -> str:
    def text(value: Any) -> str:
        return str(value).replace(".", decimal) if isinstance(value, float | np.floating) else str(value)

    rows = zip(*columns.values(), strict=True)
    return "\n".join([delimiter.join(columns), *(delimiter.join(map(text, row)) for row in rows)]) + "\n"


def _identifiers(rng: np.random.Generator) -> str:
    columns = _ill(rng, 3000)
    numbers = rng.permutation(10**6)[:3000]
    return _csv({"patient": [f"P{number:07}" for number in numbers], "insurance": numbers * 13, **columns})


def _dates(rng: np.random.Generator) -> str:
    days = np.datetime64("2019-01-01") + rng.integers(0, 1800, 3000)
    born = np.datetime64("1940-01-01") + rng.integers(0, 20000, 3000)
    return _csv({"admitted": days.astype(str), "born": born.astype(str), **_ill(rng, 3000)})


def _codes(rng: np.random.Generator) -> str:
    columns = _ill(rng, 3000)
    codes = [f"{letter}{number:02}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for number in range(100)]
    columns["diagnosis"] = rng.choice(codes, 3000)
    columns["clinic"] = rng.choice([101, 102, 205, 300], 3000)
    return _csv({"diagnosis": columns["diagnosis"], "clinic": columns["clinic"], **columns})


def _missing_target(rng: np.random.Generator) -> str:
    columns = _ill(rng, 3000)
    columns["ill"] = np.where(rng.random(3000) < 0.3, "", columns["ill"])
    lost = rng.random(3000) < 0.1
    columns["dose"] = [("" if gone else str(each)) for each, gone in zip(columns["dose"], lost, strict=True)]
    return _csv(columns)


def _swapped(rng: np.random.Generator) -> str:
    """Classes and categories are spelled in several ways, and not as the documentation of the table has them."""
    columns = _ill(rng, 3000)
    spelled = {"yes": ["Yes", "YES ", "y"], "no": ["No", "NO", "n"]}
    columns["ill"] = [spelled[each][rng.integers(3)] for each in columns["ill"]]
    columns["sex"] = np.where(columns["sex"] == "F", "female", "male")
    return _csv(columns)


def _wide(rng: np.random.Generator) -> str:
    columns = _ill(rng, 2000)
    others = {f"lab{place:03}": rng.normal(100, 20, 2000).round(1) for place in range(200)}
    return _csv({**others, **columns})


def _long(rng: np.random.Generator) -> str:
    return _csv(_ill(rng, 100_000))


def _no_signal(rng: np.random.Generator) -> str:
    """A semicolon file whose class has nothing to do with its columns."""
    columns = _ill(rng, 3000)
    columns["ill"] = rng.permutation(columns["ill"])
    return _csv(columns, ";")


TABLES = (
    Messy("identifiers", "two columns of identifiers", _identifiers, {"insurance.lower": "i"}),
    Messy("dates", "dates of admission and of birth", _dates),
    Messy("codes", "2,600 diagnosis codes, and clinics that are numbers", _codes),
    Messy("decimal-commas", "decimal commas", lambda rng: _csv(_ill(rng, 3000), ";", ",")),
    Messy("missing-target", "3 in 10 records have no class, 1 in 10 no dose", _missing_target),
    Messy(
        "swapped-spelling",
        "the owner declares the documented spelling, which the file does not have",
        _swapped,
        {"classes": "= no; yes", "sex.categories": "= F; M"},
        expected="Worth nothing",
    ),
    Messy("wide", "205 columns, 2,000 records", _wide),
    Messy("long", "100,000 records", _long),
    Messy(
        "imbalanced",
        "1 in 20 records is ill",
        lambda rng: _csv(_ill(rng, 20_000, 0.05)),
        train=("--class-weight", "balanced"),
    ),
    Messy("semicolon", "semicolons, and a class that no column tells", _no_signal, expected="Worth nothing"),
)


class Owner:
    """Types commands, and keeps what was typed and what was said."""

    def __init__(self) -> None:
        self.typed: list[str] = []

    def run(self, *words: str, answers: str | None = None) -> str:
        """The standard output of a command, which must succeed."""
        self.typed.append(shlex.join(["discreet", *words]))
        done = CliRunner().invoke(app, list(words), input=answers)
        if done.exit_code != 0:
            raise SystemExit(f"{self.typed[-1]}: status {done.exit_code}\n{done.output}")
        return done.stdout

    def edit(self, draft: str, answers: dict[str, str]) -> list[str]:
        """Answer every entry of a draft; returns the answers that were not y."""
        ignored = {mark.rpartition(".")[0] for mark, answer in answers.items() if answer == "i"}
        marks = json.loads(Path(draft).read_text(encoding="utf-8"))["from_data"]
        given = [
            answers.get(mark, "y") for mark in marks if mark in answers or mark.rpartition(".")[0] not in ignored
        ]  # of a column that was left out, nothing more is asked
        self.run("schema", "edit", draft, answers="\n".join(given) + "\n")
        left = json.loads(Path(draft).read_text(encoding="utf-8")).get("from_data")
        if left:
            raise SystemExit(f"{draft}: {left} are not confirmed")
        return [f"{mark}: {answers[mark]}" for mark in marks if mark in answers]


def travelled(table: Messy) -> Iterator[str]:
    """The lines of the report on one table; runs in the current folder."""
    rng = np.random.default_rng(7)
    name = f"{table.name}.csv"
    Path(name).write_text(table.make(rng), encoding="utf-8")
    owner = Owner()
    owner.run("split", name, "--test", "0.3")
    train, test = f"{table.name}.train.csv", f"{table.name}.test.csv"
    drafted = json.loads(owner.run("schema", "draft", train, "--target", "ill", "--out", "s.json", "--force", "--json"))
    changed = owner.edit("s.json", table.answers)
    seen = json.loads(owner.run("schema", "check", "s.json", train, "--values", "--json"))
    ledger = f"{table.name}.jsonl"
    paid = ("--ledger", ledger)
    model = f"{table.name}.json"
    given = ("--schema", "s.json", "--epsilon", EPSILON, "--out", model, *table.train, *paid, "--limit", "2")
    owner.run("train", train, *given)
    card = json.loads(owner.run("card", model, "--json"))
    scored = json.loads(owner.run("score", model, test, "--epsilon", EPSILON, *paid, "--json"))
    yield f"\n## {table.name}: {table.trouble}\n"
    yield "```"
    yield from owner.typed
    yield "```"
    told = [each for each in drafted["findings"] if each["remark"] or each["proposal"] == "ignore"]
    for each in told[:6]:
        yield f"- `schema draft` on `{each['column']}`: {each['taken_for']} ({each['remark']}); {each['proposal']}."
    if changed:
        yield f"- Answers other than y: {'; '.join(changed)}."
    yield f"- `schema check --values`, for the owner only: {seen['verdict']}"
    yield f"- Columns: {len(card['attributes'])} asked. Remarks: {'; '.join(card['remarks']) or 'none'}."
    yield f"- Accuracy {scored['accuracy']:.3f}, between {scored['lower']:.3f} and {scored['upper']:.3f}."
    yield f"- **{scored['verdict']}**"
    if not scored["verdict"].startswith(table.expected):
        yield f"- NOT AS EXPECTED: {table.expected}"


def main() -> None:
    """Take every table on its way, and write the results file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=[table.name for table in TABLES])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    lines = [
        "# Ten messy tables, from file to statement\n",
        "Command: `python benchmarks/messy_tables.py`. Tables are generated; ε = 1 for the model and ε = 1 for the",
        "score, per record, under add-remove, both in one ledger; other records are scored than were trained on.",
        "`schema edit` was answered y where nothing else is said.",
    ]
    print("\n".join(lines))
    out = options.out.resolve()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for table in TABLES:
            if options.tables is None or table.name in options.tables:
                for line in travelled(table):
                    print(line, flush=True)
                    lines.append(line)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
