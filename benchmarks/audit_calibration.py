"""How often the auditor accuses mechanisms whose law is exact: never more often than its confidence allows.

Each audit is small (a few thousand runs), and the claim is the exact loss. The result is committed:

    python benchmarks/audit_calibration.py --audits 1000

The confidence is .9, so that up to a tenth of the audits may be wrong: at .999 the bounds are wider, and nothing could
be seen. Noise is seeded, so that the result can be repeated.
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
from scipy.stats import binom

import discreet.audit
from discreet.audit import audit
from discreet.privacy.randomness import as_rng

RESULTS = Path(__file__).parent / "results" / "audit_calibration.csv"
CONFIDENCE, RUNS = 0.9, 3000

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
LOSSES = (0.5, 1.0, 2.0)


def main() -> None:
    """Audit in turn and write one line per mechanism."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=1000)
    wanted = parser.parse_args().audits
    alarms, audits = dict.fromkeys(CASES, 0), dict.fromkeys(CASES, 0)
    largest = dict.fromkeys(CASES, 0.0)
    began = time.process_time()
    for seed in range(wanted):
        name = list(CASES)[seed % len(CASES)]
        epsilon = LOSSES[seed // len(CASES) % len(LOSSES)]
        make, adjacency = CASES[name]
        report = audit(
            make(epsilon, as_rng(seed)),
            epsilon,
            adjacency=adjacency,
            confidence=CONFIDENCE,
            most_runs=RUNS,
            minutes=600,
            seed=seed,
        )
        audits[name] += 1
        alarms[name] += report.refuted
        largest[name] = max(largest[name], report.bound / epsilon)
        if seed % 50 == 49 or seed + 1 == wanted:
            write(audits, alarms, largest)
            print(f"{seed + 1} audits, {sum(alarms.values())} alarms, {time.process_time() - began:.0f} s", flush=True)


def write(audits: dict[str, int], alarms: dict[str, int], largest: dict[str, float]) -> None:
    """The results so far."""
    heads = [
        "code",
        "mechanism",
        "audits",
        "confidence",
        "runs per audit",
        "alarms",
        "alarms allowed",
        "largest bound / loss",
    ]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        for name, count in audits.items():
            row = [code(), name, count, CONFIDENCE, RUNS, alarms[name], allowed(count), f"{largest[name]:.3f}"]
            writer.writerow(row)
        total = sum(audits.values())
        most = max(largest.values())
        writer.writerow([code(), "all", total, CONFIDENCE, RUNS, sum(alarms.values()), allowed(total), f"{most:.3f}"])


def code() -> str:
    """A hash of the auditor's source, so that a reader can tell which code was tried."""
    whole = hashlib.sha256()
    for path in sorted(Path(discreet.audit.__file__).parent.rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]


def allowed(audits: int) -> int:
    """The number of alarms that honest bounds exceed with probability .001 at most."""
    return int(binom.ppf(0.999, audits, 1 - CONFIDENCE))


if __name__ == "__main__":
    main()
