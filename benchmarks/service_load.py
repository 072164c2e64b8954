"""How many requests a service answers: reservations, and what people look at, by clients that ask all the time.

Each client is an analyst with a token of their own, in a thread; `--clients 32` of them ask for a count that the rule
of the grant approves, so that each answer is one reservation on four accounts, committed. Then they look at jobs and
budgets. Prints requests per second, and the 50th, 95th and 99th percentile of their times.
`python benchmarks/service_load.py` uses SQLite, `--database postgresql://…` a database that is empty. No worker runs
meanwhile.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np

from service_worlds import Service, lines, service

COUNT = {"kind": "count", "epsilon": "1/1000000", "queries": [{"where": [{"column": "sex", "equals": "F"}]}]}


def reserve(client: httpx.Client) -> httpx.Response:
    """One reservation."""
    body = {"dataset": "patients", "request": COUNT}
    return client.post("/jobs", json=body, headers={"Idempotency-Key": str(uuid.uuid4())})


def look(client: httpx.Client) -> httpx.Response:
    """The newest jobs."""
    return client.get("/jobs")


def budget(client: httpx.Client) -> httpx.Response:
    """One's own accounts."""
    return client.get("/accounts")


def measure(made: Service, call: Callable[[httpx.Client], httpx.Response], clients: int, seconds: float) -> str:
    """One line: rate, percentiles and statuses."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    end = time.monotonic() + seconds

    def work(token: str) -> None:
        with made.client(token) as client:
            while time.monotonic() < end:
                started = time.perf_counter()
                answer = call(client)
                times.append(time.perf_counter() - started)
                statuses[answer.status_code] += 1

    threads = [threading.Thread(target=work, args=(token,)) for token in made.analysts[:clients]]
    started = time.monotonic()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    passed = time.monotonic() - started
    low, high, highest = (float(np.percentile(times, part)) for part in (50, 95, 99))
    told = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
    name = call.__name__
    return f"| {name} | {len(times) / passed:.0f} | {low:.3f} | {high:.3f} | {highest:.3f} | {told} |"


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--database", default=None, help="postgresql://… of an empty database; default: SQLite")
    given = parser.parse_args()
    kind = "PostgreSQL" if given.database else "SQLite"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "load"
        with service(place, lines(), database=given.database, analysts=given.clients, worker=False) as made:
            print(f"{kind}, {given.clients} clients, {given.seconds:g} s each\n")
            print("| call | per second | p50 s | p95 s | p99 s | statuses |\n|---|---|---|---|---|---|")
            for call in (reserve, look, budget):
                print(measure(made, call, given.clients, given.seconds), flush=True)


if __name__ == "__main__":
    main()
