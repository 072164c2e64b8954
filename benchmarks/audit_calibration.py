"""How often the auditor accuses mechanisms whose law is exact, and how close its bounds come to their loss.

    PYTHONPATH=src python benchmarks/audit_calibration.py --audits 1000        false alarms, and what half a claim shows
    PYTHONPATH=src python benchmarks/audit_calibration.py --tightness 200000   bounds with so many runs

*False alarms*: the claim is the exact loss, so every alarm is false; at a confidence of .9 a tenth of the audits may be
wrong, at .99 a hundredth. At .999 nothing could be seen in so few audits. As a control, every fifth audit is repeated
with half the loss as the claim: what is caught there shows that alarms are possible. *Tightness*: the same search, with
many runs. Noise is seeded, so that results can be repeated. Both are committed in results/.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta, binom

import discreet.audit
from discreet.audit import audit
from discreet.privacy.randomness import as_rng

RESULTS = Path(__file__).parent / "results"
CONFIDENCES, RUNS, CONTROLLED = (0.9, 0.99), 1500, 5
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
LOSSES = (1.0, 2.0, 3.0)
Key = tuple[str, float]
"""A mechanism and a confidence."""


def calibrated(wanted: int) -> None:
    """Audit mechanisms, losses and confidences in turn; write one line per mechanism and confidence."""
    audits, alarms, controls, caught = Counter[Key](), Counter[Key](), Counter[Key](), Counter[Key]()
    largest: dict[Key, float] = {}
    began = time.process_time()
    for seed in range(wanted):
        name = list(CASES)[seed % len(CASES)]
        confidence = CONFIDENCES[seed // len(CASES) % len(CONFIDENCES)]
        epsilon = LOSSES[seed // len(CASES) // len(CONFIDENCES) % len(LOSSES)]
        key = (name, confidence)
        report = _audited(name, epsilon, epsilon, seed, confidence, RUNS)
        audits[key] += 1
        alarms[key] += report.refuted
        largest[key] = max(largest.get(key, 0.0), report.bound / epsilon)
        if seed // (len(CASES) * len(CONFIDENCES)) % CONTROLLED == 0:
            controls[key] += 1
            caught[key] += _audited(name, epsilon, epsilon / 2, seed, confidence, RUNS).refuted
        if seed % 50 == 49 or seed + 1 == wanted:
            _write_alarms(audits, alarms, controls, caught, largest)
            print(f"{seed + 1} audits, {alarms.total()} alarms, {time.process_time() - began:.0f} s", flush=True)


def _audited(name: str, epsilon: float, claim: float, seed: int, confidence: float, runs: int) -> Any:
    """The report of one audit of a mechanism of this loss."""
    make, adjacency = CASES[name]
    options: dict[str, Any] = {"adjacency": adjacency, "confidence": confidence, "most_runs": runs, "seed": seed}
    return audit(make(epsilon, as_rng(seed)), claim, minutes=600, **options)


def _write_alarms(
    audits: Counter[Key],
    alarms: Counter[Key],
    controls: Counter[Key],
    caught: Counter[Key],
    largest: dict[Key, float],
) -> None:
    """The results so far; lines for all mechanisms together at the end."""
    rows = []
    for confidence in CONFIDENCES:
        for name in (*CASES, "all"):
            keys = [key for key in audits if key[1] == confidence and name in (key[0], "all")]
            of, wrong = sum(audits[key] for key in keys), sum(alarms[key] for key in keys)
            half = f"{sum(caught[key] for key in keys)} of {sum(controls[key] for key in keys)}"
            most = max((largest[key] for key in keys), default=0.0)
            facts = [wrong, allowed(of, confidence), at_most(wrong, of), f"{most:.3f}", half]
            rows.append([CODE, name, of, confidence, RUNS, *facts])
    heads = ["code", "mechanism", "audits", "confidence", "runs per audit", "alarms", "alarms allowed"]
    heads += [f"rate of alarms at most (confidence {SURE})", "largest bound / loss", "caught at half the claim"]
    _write("audit_calibration.csv", heads, rows)


def tight(runs: int) -> None:
    """The bound of one long audit of each mechanism, as a share of its loss."""
    rows = []
    for name in CASES:
        for epsilon in LOSSES[:2]:
            began = time.process_time()
            report = _audited(name, epsilon, epsilon, 0, 0.999, runs)
            seconds = time.process_time() - began
            share = report.bound / epsilon
            rows.append([CODE, name, epsilon, 0.999, report.runs, f"{report.bound:.3f}", f"{share:.3f}"])
            rows[-1] += [str(report.refuted), f"{seconds:.0f}"]
            print(*rows[-1][1:], flush=True)
    heads = ["code", "mechanism", "loss", "confidence", "runs", "bound", "bound / loss", "refuted", "seconds"]
    _write("audit_tightness.csv", heads, rows)


def _write(name: str, heads: list[str], rows: Iterable[list[Any]]) -> None:
    with (RESULTS / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)


def allowed(audits: int, confidence: float) -> int:
    """The number of alarms that honest bounds exceed with probability .001 at most."""
    return int(binom.ppf(SURE, audits, 1 - confidence))


def at_most(alarms: int, audits: int) -> str:
    """Clopper and Pearson's upper bound on the rate of alarms."""
    return f"{beta.ppf(SURE, alarms + 1, audits - alarms) if alarms < audits else 1.0:.4f}"


def main() -> None:
    """Count alarms, or measure how close bounds come."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--audits", type=int, default=0, help="number of audits of exact mechanisms")
    parser.add_argument("--tightness", type=int, default=0, help="runs of each long audit")
    options = parser.parse_args()
    if options.audits:
        calibrated(options.audits)
    if options.tightness:
        tight(options.tightness)


if __name__ == "__main__":
    main()
