"""What a job costs: in a child that is forked from a prepared process, and in one that is started anew.

`python benchmarks/service_jobs.py` gives the same jobs to both, one after another, and prints for each way the seconds
of processor per job (children and preparer, as the system counts them), how long an answer took, and how long it took
until the next child was ready. What it takes to prepare the first child is printed apart.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from discreet.service.snapshots import write_snapshot
from discreet.service.spares import Nursery, Spare
from discreet.sources.file import open_file
from service_worlds import SCHEMA, lines

COUNT = {"kind": "count", "queries": [{"by": [{"column": "smoker"}]}]}
REQUESTS: dict[str, dict[str, Any]] = {
    "count": COUNT,
    "one-rule": {"kind": "train", "model": "one-rule"},
    "auto": {"kind": "train", "model": "auto"},
}


def used() -> float:
    """Seconds of processor of all processes that were started here, and of theirs, as far as they have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure(folder: Path, name: str, number: int, *, forks: bool) -> str:
    """One line: so many jobs of a kind in one way."""
    request = {**REQUESTS[name], "epsilon": "1"}
    job = {"kind": request["kind"], "request": request, "epsilon": "1", "schema": SCHEMA.to_dict(), "seconds": 60}
    job["snapshot"] = str(folder / "table.parquet")
    costs, answers, waits = [], [], []
    for jobs in (0, number):  # without any, for what is not of a job
        before, nursery = used(), Nursery(folder, forks=forks)
        spare = Spare(nursery)
        spare.wait_until_ready()
        for _ in range(jobs):
            began = time.monotonic()
            told = spare.ask(job)
            answers.append(time.monotonic() - began)
            assert "content" in told, told
            spare.wait_until_ready()
            waits.append(time.monotonic() - began)
        spare.close()
        nursery.close()
        costs.append(used() - before)
    times = f"{statistics.median(answers):.3f} | {statistics.median(waits):.3f}"
    way = "forked" if forks else "started anew"
    return f"| {name} | {way} | {number} | {(costs[1] - costs[0]) / number:.3f} | {times} | {costs[0]:.2f} |"


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=40, help="forked jobs of each kind")
    parser.add_argument("--anew", type=int, default=4, help="jobs of each kind in processes that are started anew")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "table.csv").write_text("\n".join(lines()) + "\n", encoding="utf-8")
        write_snapshot(open_file(folder / "table.csv"), SCHEMA, folder / "table.parquet")
        print("| job | child | jobs | processor s per job | answer s | next ready s | processor s to prepare |")
        print("|---|---|---:|---:|---:|---:|---:|")
        for kind in REQUESTS:
            for forks, number in ((False, given.anew), (True, given.jobs)):
                print(measure(folder, kind, number, forks=forks), flush=True)


if __name__ == "__main__":
    main()
