"""How many requests a service answers: reservations, and what people look at, by clients that ask all the time.

Each client is an analyst with a token of their own, in a thread; `--clients 32` of them ask for a count that the rule
of the grant approves, so that each answer is one reservation on four accounts, committed. Then they look at jobs and
budgets. Prints requests per second, the 50th, 95th and 99th percentile of their times, how long a processor worked for
each request in the web process, how many processors did other work meanwhile (a server of PostgreSQL, for one), and how
many were stolen by other guests of the same machine; both slow all of it.
`python benchmarks/service_load.py` uses SQLite, `--postgres` a server that is started here with fsync, `--database
postgresql://…` a database that is empty. No worker runs meanwhile. The clients are a process of their own, and share
the processors with the service.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from service_worlds import Service, lines, service

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
COUNT = {"kind": "count", "epsilon": "1/1000000", "queries": [{"where": [{"column": "sex", "equals": "F"}]}]}
ASKED = json.dumps({"dataset": "patients", "request": COUNT})


class Caller:
    """An analyst who keeps one connection open; plainer than a library, so that the service has the processors."""

    def __init__(self, made: Service, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(made.url).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def send(self, method: str, path: str, body: str | None = None, **headers: str) -> int:
        """The status of the answer, after all of it was read."""
        self._connection.request(method, f"/api/v1{path}", body, {**self._headers, **headers})
        answer = self._connection.getresponse()
        answer.read()
        return answer.status


def reserve(caller: Caller) -> int:
    """One reservation."""
    return caller.send("POST", "/jobs", ASKED, **{"Idempotency-Key": str(uuid.uuid4())})


def look(caller: Caller) -> int:
    """The newest jobs."""
    return caller.send("GET", "/jobs")


def budget(caller: Caller) -> int:
    """One's own accounts."""
    return caller.send("GET", "/accounts")


def busy(web: int) -> tuple[float, float, float, float]:
    """Seconds that the processors worked here: in all, in the web process, in this process; and that were stolen."""
    tick = os.sysconf("SC_CLK_TCK")
    counted = [int(each) for each in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
    own = Path(f"/proc/{web}/stat").read_text().rsplit(")", 1)[1].split()
    worked, stolen = sum(counted[:3] + counted[5:7]) / tick, counted[7] / tick
    return worked, (int(own[11]) + int(own[12])) / tick, time.process_time(), stolen


def measure(made: Service, call: Callable[[Caller], int], clients: int, seconds: float) -> str:
    """One line: rate, percentiles, work and statuses."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    end, before = time.monotonic() + seconds, busy(made.web[0].pid)

    def work(token: str) -> None:
        caller = Caller(made, token)
        while time.monotonic() < end:
            started = time.perf_counter()
            status = call(caller)
            times.append(time.perf_counter() - started)
            statuses[status] += 1

    threads = [threading.Thread(target=work, args=(token,)) for token in made.analysts[:clients]]
    started = time.monotonic()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    passed = time.monotonic() - started
    low, high, highest = (float(np.percentile(times, part)) for part in (50, 95, 99))
    told = ", ".join(f"{status}: {number}" for status, number in sorted(statuses.items()))
    whole, web, own, stolen = (new - old for new, old in zip(busy(made.web[0].pid), before, strict=True))
    work_done = f"{1000 * web / len(times):.1f} | {(whole - web - own) / passed:.2f} | {stolen / passed:.2f}"
    rates = f"{len(times) / passed:.0f} | {low:.3f} | {high:.3f} | {highest:.3f}"
    return f"| {call.__name__} | {rates} | {work_done} | {told} |"


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """The address of a server that is started here, with fsync."""
    from support.postgres_server import server

    with server(fsync="on") as folder:
        yield f"postgresql://owner@/postgres?host={folder}"


def main() -> None:
    """Run and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--calls", type=int, default=3, help="1: reservations only")
    parser.add_argument("--database", default=None, help="postgresql://… of an empty database; default: SQLite")
    parser.add_argument("--postgres", action="store_true", help="start a server of PostgreSQL, and use it")
    given = parser.parse_args()
    sys.setswitchinterval(0.001)
    own = postgres() if given.postgres else contextlib.nullcontext(given.database)
    with tempfile.TemporaryDirectory() as folder, own as address:
        kind, place = "PostgreSQL" if address else "SQLite", Path(folder) / "load"
        with service(place, lines(), database=address, analysts=given.clients, worker=False) as made:
            print(f"{kind}, {given.clients} clients, {given.seconds:g} s each\n")
            print("| call | per second | p50 s | p95 s | p99 s | web ms | other processors | stolen | statuses |")
            print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
            for call in (reserve, look, budget)[: given.calls]:
                print(measure(made, call, given.clients, given.seconds), flush=True)


if __name__ == "__main__":
    main()
