"""Many analysts at once, for a while: does a service answer all of them, and never with an error of its own?

    python benchmarks/service_crowd.py --analysts 1000 --minutes 10 [--postgres | --database postgresql://…]

Each analyst has a token and a connection of their own, pauses for `--pause` seconds on average between two requests,
and looks at jobs and budgets, reads schemas, asks for quotes, and for counts that the rule of the grant approves. A
worker runs beside it, one job after another, so the queue grows meanwhile, as in a hospital on a Monday. Prints numbers
and times by kind of request, and ends with status 1 if any answer was a 5xx or did not come. The bar: none, with 1,000
analysts for 10 minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from service_load import COUNT, postgres
from service_worlds import Service, lines, service

KINDS = {"jobs": 30, "accounts": 15, "schema": 10, "datasets": 10, "quote": 20, "count": 15}
"""What an analyst does next, by weight."""


async def call(client: httpx.AsyncClient, kind: str) -> httpx.Response:
    """One request of this kind."""
    body = {"dataset": "patients", "request": COUNT}
    match kind:
        case "quote":
            return await client.post("/quotes", json=body)
        case "count":
            return await client.post("/jobs", json=body, headers={"Idempotency-Key": str(uuid.uuid4())})
        case "schema":
            return await client.get("/datasets/patients/schema")
        case _:
            return await client.get(f"/{kind}")


class Crowd:
    """What all analysts met."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        self.statuses: dict[str, Counter[str]] = defaultdict(Counter)

    async def analyst(self, made: Service, token: str, pause: float, end: float) -> None:
        """One analyst until the end."""
        draw = random.Random(token)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=made.url + "/api/v1", headers=headers, timeout=60) as client:
            await asyncio.sleep(draw.uniform(0, pause))
            while time.monotonic() < end:
                kind = draw.choices([*KINDS], [*KINDS.values()])[0]
                started = time.perf_counter()
                try:
                    status = str((await call(client, kind)).status_code)
                except httpx.HTTPError as error:
                    status = type(error).__name__
                self.times[kind].append(time.perf_counter() - started)
                self.statuses[kind][status] += 1
                await asyncio.sleep(draw.expovariate(1 / pause))

    async def run(self, made: Service, pause: float, seconds: float) -> None:
        """All analysts at once."""
        end = time.monotonic() + seconds
        await asyncio.gather(*(self.analyst(made, token, pause, end) for token in made.analysts))

    def table(self) -> list[str]:
        """A line for each kind of request."""
        rows = ["| request | number | p50 s | p95 s | p99 s | statuses |", "|---|---|---|---|---|---|"]
        for kind in KINDS:
            if times := self.times[kind]:
                ranks = " | ".join(f"{np.percentile(times, part):.3f}" for part in (50, 95, 99))
                told = ", ".join(f"{status}: {number}" for status, number in sorted(self.statuses[kind].items()))
                rows.append(f"| {kind} | {len(times)} | {ranks} | {told} |")
        return rows

    def broken(self) -> int:
        """Answers that were an error of the service, or did not come."""
        return sum(
            number
            for each in self.statuses.values()
            for status, number in each.items()
            if not status.isdecimal() or int(status) >= 500
        )


def main() -> None:
    """Run and print."""
    parser: Any = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=20, help="seconds between two requests of one analyst")
    parser.add_argument("--database", default=None, help="postgresql://… of an empty database; default: SQLite")
    parser.add_argument("--postgres", action="store_true", help="start a server of PostgreSQL, and use it")
    given = parser.parse_args()
    crowd = Crowd()
    own = postgres() if given.postgres else contextlib.nullcontext(given.database)
    with tempfile.TemporaryDirectory() as folder, own as address:
        place = Path(folder) / "crowd"
        with service(place, lines(), database=address, analysts=given.analysts) as made:
            begun = time.monotonic()
            asyncio.run(crowd.run(made, given.pause, 60 * given.minutes))
            passed = time.monotonic() - begun
    number = sum(map(len, crowd.times.values()))
    kind = "PostgreSQL" if address else "SQLite"
    print(f"{kind}: {given.analysts} analysts for {passed:.0f} s, {number} requests, {number / passed:.0f} a second\n")
    print("\n".join(crowd.table()))
    print(f"\nAnswers with 5xx, or none: {crowd.broken()}")
    sys.exit(1 if crowd.broken() else 0)


if __name__ == "__main__":
    main()
