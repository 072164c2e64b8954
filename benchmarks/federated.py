"""Federated training: accuracy of local noise and of a secure sum beside training at one place, hostile parties, speed.

Decides whether a secure sum is as accurate as training at one place (bar .005), and what local noise costs.
`python benchmarks/federated.py --data DIR --reference FILE --repeats 50` made results/federated.md; FILE has the
results of the authors' program of Marchioro et al. 2022.
Public data only: rows are counted without noise, the models' noise is seeded, and the scores are not private.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from discreet import Ledger, NaiveBayes, datasets
from discreet.federated.aggregator import Aggregator
from discreet.federated.gossip import default_rounds, push_pull, push_sum
from discreet.federated.invitation import invite
from discreet.federated.message import Message
from discreet.federated.party import Party
from discreet.federated.simulate import PublicTable, Setting
from discreet.sources.memory import MemorySource

RESULTS = Path(__file__).parent / "results"
THEIRS = {"house-votes-84": "votes", "mushroom": "mushroom", "adult": "adult"}
MANY = (10, 100, 1000)
TESTED = 2000


def table_of(name: str, directory: str) -> PublicTable:
    """A data set, ready to be divided."""
    return PublicTable(*datasets.load(name, directory), most_tested=TESTED)


def equal_in_law(directory: str, repeats: int) -> list[str]:
    """Secure sum beside training at one place; the bar is a difference of at most .005."""
    lines = [
        "| data set | ε | one place | N = 10 | N = 100 | N = 1000 | largest difference | bar .005 |",
        "|---" * 8 + "|",
    ]
    for name in ("adult", "mushroom", "skin"):
        table = table_of(name, directory)
        for epsilon in (0.1, 1.0):
            central = table.run(Setting("central", 1, epsilon), repeats)
            sums = [table.run(Setting("secure-sum", many, epsilon), repeats) for many in MANY]
            apart = max(abs(each.accuracy - central.accuracy) for each in sums)
            cells = " | ".join(f"{each.accuracy:.4f} ± {each.error:.4f}" for each in (central, *sums))
            lines.append(f"| {name} | {epsilon:g} | {cells} | {apart:.4f} | {'✓' if apart <= 0.005 else '✗'} |")
            print(lines[-1], flush=True)
    return lines


def local_noise(directory: str, repeats: int, theirs: dict[tuple[str, float, int], float]) -> list[str]:
    """Local noise beside the reference code of Marchioro et al. 2022, which guarantees nothing (docs/proofs.md)."""
    lines = [
        "| data set | ε | N | one place | secure sum | local noise | tables asked | reference code | bar |",
        "|---" * 9 + "|",
    ]
    for name in ("house-votes-84", "mushroom", "adult"):
        table = table_of(name, directory)
        for epsilon in (0.1, 1.0, 10.0):
            central = table.run(Setting("central", 1, epsilon), repeats)
            for many in MANY if name != "house-votes-84" else MANY[:2]:
                summed = table.run(Setting("secure-sum", many, epsilon), repeats)
                local = table.run(Setting("local-noise", many, epsilon), repeats)
                bar = ""
                if (name, epsilon, many) == ("mushroom", 1.0, 100):
                    bar = f"≥ .90 {'✓' if local.accuracy >= 0.9 else '✗'}"
                other = theirs.get((THEIRS[name], epsilon, many))
                cells = " | ".join(f"{each.accuracy:.3f} ± {each.error:.3f}" for each in (central, summed, local))
                shown = "–" if other is None else f"{other:.3f}"
                lines.append(f"| {name} | {epsilon:g} | {many} | {cells} | {local.tables} | {shown} | {bar} |")
                print(lines[-1], flush=True)
    return lines


def reference(path: Path | None) -> dict[tuple[str, float, int], float]:
    """Accuracy of the authors' code by data set, ε and number of nodes; none without a file."""
    if path is None:
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if line["kind"] == "federated" and line["eps"] != "none"]
    return {
        (line["dataset"], float(line["eps"]), int(float(line["nodes"]))): float(line["test_acc_mean"]) for line in lines
    }


def partitions(directory: str, repeats: int) -> list[str]:
    """Local noise at ε = 1 among 100 parties, however the rows are divided."""
    lines = ["| data set | sizes | labels | local noise | secure sum |", "|---" * 5 + "|"]
    for name in ("mushroom", "adult"):
        table = table_of(name, directory)
        for sizes, skew in (("equal", None), ("uniform", None), ("exponential", None), ("exponential", 0.1)):
            found = [table.run(Setting(kind, 100, 1.0, sizes, skew), repeats) for kind in ("local-noise", "secure-sum")]
            cells = " | ".join(f"{each.accuracy:.3f} ± {each.error:.3f}" for each in found)
            lines.append(f"| {name} | {sizes} | {'alike' if skew is None else f'Dirichlet {skew}'} | {cells} |")
            print(lines[-1], flush=True)
    return lines


def combining(directory: str) -> list[str]:
    """Seconds to read, check and add 1,000 messages of the mushroom schema; the bar is 2."""
    X, y, schema = datasets.load("mushroom", directory)
    names = [f"party {number}" for number in range(1000)]
    invitation = invite(schema, 1, names)
    few = {column: values[:8] for column, values in X.items()}
    sent = []
    for number, name in enumerate(names):
        message = Party(name, MemorySource(few, y[:8]), Ledger(1), random_state=number).answer(invitation)
        sent.append(message.to_bytes())
    start = time.perf_counter()
    aggregator = Aggregator(invitation)
    for each in sent:
        aggregator.add(Message.from_bytes(each, invitation))
    aggregator.model()
    seconds = time.perf_counter() - start
    return [f"| 1,000 messages of the mushroom schema combined ({len(sent[0]):,} bytes each) | {seconds:.2f} s | < 2 s "
            f"{'✓' if seconds < 2 else '✗'} |"]  # fmt: skip


def answering(directory: str, rows: int = 1_000_000) -> list[str]:
    """Seconds of a party's answer over a million rows, beside a fit of NaiveBayes; the bar is a factor of 1.5."""
    X, y, schema = datasets.load("adult", directory)
    picked = np.random.default_rng(0).integers(len(y), size=rows)
    source: Any = MemorySource({name: values[picked] for name, values in X.items()}, y[picked])
    invitation = invite(schema.replace(records=rows), 1, ["north", "south"])
    fits, answers = [], []
    for _ in range(3):
        start = time.perf_counter()
        NaiveBayes(invitation.schema, epsilon=1, random_state=0).fit_from(source)
        middle = time.perf_counter()
        Party("north", source, Ledger(1), random_state=0).answer(invitation)
        fits.append(middle - start)
        answers.append(time.perf_counter() - middle)
    ratio = min(answers) / min(fits)
    return [f"| a party's answer over {rows:,} rows of adult (a local fit: {min(fits):.2f} s) | {min(answers):.2f} s | "
            f"≤ 1.5 fits: {ratio:.2f} {'✓' if ratio <= 1.5 else '✗'} |"]  # fmt: skip


def gossiping() -> list[str]:
    """Seconds and error of gossip among 10,000 nodes with the cells of the mushroom schema."""
    values = np.random.default_rng(0).normal(10, 40, (10_000, 250))
    lines = []
    for name, spread in (("push-sum", push_sum), ("push-pull", push_pull)):
        rounds = default_rounds(10_000, name)
        start = time.perf_counter()
        trace = spread(values, rounds, seed=0)
        seconds = time.perf_counter() - start
        lines.append(f"| {name} among 10,000 nodes, 250 cells, {rounds} rounds (error left {trace.errors[-1]:.0e}) | "
                     f"{seconds:.1f} s | |")  # fmt: skip
    return lines


def main() -> None:
    """Measure, print, and write benchmarks/results/federated.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("DISCREET_DATA"), help="directory with schemas.json")
    parser.add_argument("--repeats", type=int, default=50, help="draws of test rows, partition and noise (default 50)")
    parser.add_argument("--reference", type=Path, help="CSV with the results of the authors' code, to show beside ours")
    options = parser.parse_args()
    if options.data is None:
        parser.error("no data directory: set DISCREET_DATA or give --data")
    speed = [
        "| what | measured | bar |",
        "|---|---|---|",
        *combining(options.data),
        *answering(options.data),
        *gossiping(),
    ]
    print("\n".join(speed), flush=True)
    half, theirs = max(1, options.repeats // 2), reference(options.reference)
    parts = [
        HEADER.format(repeats=options.repeats),
        "## A secure sum is training at one place\n", *equal_in_law(options.data, options.repeats),
        "\n## Local noise, and the reference code\n", REMARK, *local_noise(options.data, half, theirs),
        "\n## However the rows are divided (ε = 1, 100 parties)\n", *partitions(options.data, half),
        "\n## Speed\n", *speed,
    ]  # fmt: skip
    (RESULTS / "federated.md").write_text("\n".join(parts) + "\n", encoding="utf-8")


HEADER = """# Federated training

Command: `python benchmarks/federated.py --data DIR --reference FILE --repeats {repeats}`. Public data: rows are counted
in the clear, noise is seeded, and these scores are not themselves private. Mean accuracy and standard error over
{repeats} draws (in the second and third table half as many) of the test rows (10 %, at most 2,000), the partition and
the noise; the test rows are the same for every column. Add-remove, naive Bayes with its defaults. The secure sum adds
the Pólya shares of all N parties, of which all but one carry the whole noise. Seconds are of a machine with two cores
that was busy with other work.
"""

REMARK = """The reference code is that of Marchioro et al. 2022 (20 runs, equal sizes, its own split). Its noise follows
the data at hand, so that it guarantees nothing; where it looks better at a small ε, it has too little noise.
"""

if __name__ == "__main__":
    main()
