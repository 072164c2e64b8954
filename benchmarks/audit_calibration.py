"""How often the auditor accuses mechanisms whose law is exact, and how close its bounds come to their loss.

    PYTHONPATH=src python benchmarks/audit_calibration.py --audits 1000 --minutes 8   again, until all are done
    PYTHONPATH=src python benchmarks/audit_calibration.py --tightness 40000           bounds with so many runs

*False alarms*: the claim is the exact loss, so every alarm is false; at a confidence of .9 a tenth of the audits may be
wrong, at .99 a hundredth. At .999 nothing could be seen in so few audits. An auditor that finds nothing would pass
that, so every tenth round of audits has a positive control: the same mechanism and number of runs, with half the loss
as the claim. *Tightness*: the same search, with many runs, at confidence .999.

Audits are short because the mechanisms are functions of small tables, called in this process; all stages of an audit
run. Noise is seeded, so that results can be repeated. Every audit is a line of results/audit_calibration.csv, and
results/audit_calibration.md sums them up; audits of another version of the search are made again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, binom

import discreet.audit
from discreet import Numeric, Schema
from discreet.audit import audit
from discreet.privacy.randomness import as_rng

RESULTS = Path(__file__).parent / "results"
KEPT = RESULTS / "audit_calibration.csv"
CONFIDENCES, RUNS, CONTROLLED = (0.9, 0.99), 6000, 10
"""Stated confidences, runs of each audit, and how many rounds of audits there are to one with positive controls."""
SCHEMA = Schema([Numeric("a", 0.0, 1.0)], target="label", classes=[0, 1])
SURE = 0.999
"""Of what is said about the rate of alarms."""


def code() -> str:
    """A hash of the auditor's source, so that a reader can tell which code was tried."""
    whole = hashlib.sha256()
    for path in sorted(Path(discreet.audit.__file__).parent.rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]


CODE = code()
"""Of the source as it was when this process began."""

Mechanism = Callable[[Any, Any], Any]


def laplace(epsilon: float, rng: Any) -> Mechanism:
    """The noisy number of records."""
    return lambda X, y: len(y) + int(rng.discrete_laplace(1 / epsilon, (1,))[0])


def histogram(epsilon: float, rng: Any) -> Mechanism:
    """The noisy number of records per class: a record is in one cell, or, if its label is unlisted, in none."""

    def run(X: Any, y: Any) -> Any:
        return np.array([np.sum(y == 0), np.sum(y == 1)]) + rng.discrete_laplace(1 / epsilon, (2,))

    return run


def permute_and_flip(epsilon: float, rng: Any) -> Mechanism:
    """The class with most records, or one that has few less: a count is monotonic, so the scale is 1 / epsilon."""

    def run(X: Any, y: Any) -> Any:
        scores = np.array([np.sum(y == 0), np.sum(y == 1)], dtype=np.int64)
        return {"chosen": int(rng.noisy_max(scores, 1 / epsilon))}

    return run


def randomized_response(epsilon: float, rng: Any) -> Mechanism:
    """The label of each record, flipped with a probability; the number of records is public."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))

    def run(X: Any, y: Any) -> Any:
        flipped = rng.integers(1 << 30, (len(y),)) >= keep * (1 << 30)
        return [int((label == 1) != flip) for label, flip in zip(y, flipped, strict=True)]

    return run


def composition(epsilon: float, rng: Any) -> Mechanism:
    """A count, a histogram and a choice, each at a third of the loss."""
    parts = [each(epsilon / 3, rng) for each in (laplace, histogram, permute_and_flip)]
    return lambda X, y: [part(X, y) for part in parts]


CASES: dict[str, tuple[Callable[[float, Any], Mechanism], str]] = {
    "discrete Laplace": (laplace, "add-remove"),
    "histogram": (histogram, "add-remove"),
    "permute and flip": (permute_and_flip, "add-remove"),
    "randomized response": (randomized_response, "replace-one"),
    "composition": (composition, "add-remove"),
}
LOSSES, CLOSE = (1.0, 2.0, 3.0), (0.5, 1.0, 2.0)
"""Losses of the mechanisms whose alarms are counted, and of those whose bounds are compared with the loss."""
HEADS = ["search", "seed", "mechanism", "loss", "confidence", "runs", "alarm", "bound", "caught at half the claim"]


def calibrated(wanted: int, start: int, minutes: float) -> None:
    """Audit mechanisms, losses and confidences in turn, as far as the time goes; one line per audit."""
    done, end = _kept(), time.monotonic() + 60 * minutes
    new: dict[int, dict[str, Any]] = {}
    for seed in (*range(start, wanted), *range(start)):
        if seed in done:
            continue
        if time.monotonic() > end:
            break
        new[seed] = _row(seed)
    whole = {**_kept(), **new}  # another process may have made others meanwhile
    rows = [whole[seed] for seed in sorted(whole)]
    with KEPT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    KEPT.with_suffix(".md").write_text(_summary(rows), encoding="utf-8")
    print(len(rows), "audits,", sum(int(row["alarm"]) for row in rows), "alarms")


def _kept() -> dict[int, dict[str, Any]]:
    """The audits that were made before by this search, by their seeds."""
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="", encoding="utf-8") as file:
        own = [row for row in csv.DictReader(file) if row.get("search") == CODE]
    return {int(row["seed"]): dict(row) for row in own}


def _row(seed: int) -> dict[str, Any]:
    """One audit at the exact loss, and perhaps one at half of it."""
    turn, place = divmod(seed, len(CASES))
    name = list(CASES)[place]
    turn, confidence = turn // len(CONFIDENCES), CONFIDENCES[turn % len(CONFIDENCES)]
    epsilon = LOSSES[turn % len(LOSSES)]
    report = _audited(name, epsilon, epsilon, seed, confidence, RUNS)
    caught = ""
    if turn % CONTROLLED == 0:
        caught = str(int(_audited(name, epsilon, epsilon / 2, seed, confidence, RUNS).refuted))
    values = [CODE, seed, name, epsilon, confidence, report.runs, int(report.refuted), f"{report.bound:.4f}", caught]
    return dict(zip(HEADS, values, strict=True))


def _audited(name: str, epsilon: float, claim: float, seed: int, confidence: float, runs: int) -> Any:
    """The report of one audit of a mechanism of this loss."""
    make, adjacency = CASES[name]
    options: dict[str, Any] = {"adjacency": adjacency, "confidence": confidence, "most_runs": runs, "seed": seed}
    return audit(make(epsilon, as_rng(seed)), claim, schema=SCHEMA, minutes=600, **options)


def _summary(rows: list[dict[str, Any]]) -> str:
    """A table of alarms and controls, per confidence and mechanism."""
    lines = [
        "# False alarms of the auditor",
        "",
        f"{len(rows)} audits of mechanisms whose loss is exactly the claim, of up to {RUNS} runs each, with search "
        f"`{CODE}`. Made by `PYTHONPATH=src python benchmarks/audit_calibration.py --audits {len(rows)}`.",
        "*Allowed* is what an auditor that errs as often as its confidence allows exceeds with probability .001. "
        "*Rate at most* has confidence .999. *Caught*, as a control: the same audits, where half the loss is claimed.",
        "",
        "| confidence | mechanism | audits | alarms | allowed | rate at most | largest bound / loss | caught |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for confidence in CONFIDENCES:
        for name in (*CASES, "all"):
            own = [row for row in rows if float(row["confidence"]) == confidence and name in (row["mechanism"], "all")]
            controls = [int(row[HEADS[-1]]) for row in own if row[HEADS[-1]] != ""]
            alarms = sum(int(row["alarm"]) for row in own)
            most = max((float(row["bound"]) / float(row["loss"]) for row in own), default=0.0)
            facts = [confidence, name, len(own), alarms, allowed(len(own), confidence), at_most(alarms, len(own))]
            lines.append(f"| {' | '.join(map(str, facts))} | {most:.3f} | {sum(controls)} of {len(controls)} |")
    return "\n".join(lines) + "\n"


def tight(runs: int) -> None:
    """The bound of one long audit of each mechanism, as a share of its loss."""
    rows = []
    for name in CASES:
        for epsilon in CLOSE:
            began = time.process_time()
            report = _audited(name, epsilon, epsilon, 0, 0.999, runs)
            seconds = time.process_time() - began
            facts = [name, epsilon, report.runs, f"{report.bound:.3f}", f"{report.bound / epsilon:.3f}"]
            rows.append(f"| {' | '.join(map(str, facts))} | {'yes' if report.refuted else 'no'} | {seconds:.0f} |")
            print(rows[-1], flush=True)
    lines = [
        "# How close the auditor's bounds come",
        "",
        "One audit of each mechanism at its exact loss, with confidence .999, by the search of the audits themselves: "
        f"no pair and no event is picked. Search `{CODE}`. Made by `PYTHONPATH=src python "
        f"benchmarks/audit_calibration.py --tightness {runs}`; seconds are those of the processor.",
        "",
        "| mechanism | loss | runs | bound | bound / loss | accused | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    (RESULTS / "audit_tightness.md").write_text("\n".join([*lines, *rows]) + "\n", encoding="utf-8")


def allowed(audits: int, confidence: float) -> int:
    """The number of alarms that honest bounds exceed with probability .001 at most."""
    return int(binom.ppf(SURE, audits, 1 - confidence))


def at_most(alarms: int, audits: int) -> str:
    """Clopper and Pearson's upper bound on the rate of alarms."""
    return f"{beta.ppf(SURE, alarms + 1, audits - alarms) if alarms < audits else 1.0:.3f}"


def main() -> None:
    """Count alarms, or measure how close bounds come."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--audits", type=int, default=0, help="number of audits of exact mechanisms")
    parser.add_argument("--start", type=int, default=0, help="the audit to begin with, for a second process")
    parser.add_argument("--minutes", type=float, default=600.0, help="time after which no further audit is begun")
    parser.add_argument("--tightness", type=int, default=0, help="runs of each long audit")
    options = parser.parse_args()
    if options.audits:
        calibrated(options.audits, options.start, options.minutes)
    if options.tightness:
        tight(options.tightness)


if __name__ == "__main__":
    main()
