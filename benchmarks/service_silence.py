"""What an analyst could learn about one record from everything but the noisy answers: status, bytes, headers, times.

Pairs of services run on neighbouring tables: one has a record that lies far outside of all the others. An attacker who
knows both tables asks each service the same, in random order: reads of every kind, quotes and counts whose predicates
fit that record alone, requests that are refused, and jobs from the request to the release. A classifier is trained on
some pairs and has to tell, on another pair, from which table an answer came; a service's own speed is no clue, since it
never meets the services that it is tested on. Without a leak its AUC is 1/2. The times are taken beside those of a call
that has nothing to do with data, sent just before. Refusals have to be equal byte for byte. What was released is left
out: it is noisy, and paid for.

`python benchmarks/service_silence.py --requests 10000` prints the AUC of each kind of call and of all. The bar is 0.52.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import tempfile
import time
import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from service_worlds import Service, lines, service

CANARY = "100,F,yes,yes"
"""The record that one table of each pair has, and that alone has this age."""
ALONE = {"column": "age", "between": [100, 100]}
COUNT = {"kind": "count", "epsilon": "1/1000", "queries": [{"where": [ALONE]}]}
BAD = {"kind": "count", "epsilon": "1/1000", "queries": [{"where": [{"column": "age", "equals": "x"}, ALONE]}]}
LEFT_OUT = ("date",)
"""Headers that are not compared: the time of day."""
Features = dict[str, float]


@dataclass
class Seen:
    """Features of every answer, the table and the pair it came from, by kind of call; and bodies of refusals."""

    rows: dict[str, list[tuple[Features, int, int]]] = field(default_factory=lambda: defaultdict(list))
    refusals: dict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))


def timed(client: httpx.Client, method: str, path: str, **sent: Any) -> tuple[httpx.Response, Features]:
    """An answer, and what can be seen of it from outside."""
    started = time.perf_counter()
    client.get("/health/live")
    beside = time.perf_counter() - started
    started = time.perf_counter()
    answer = client.request(method, path, **sent)
    passed = time.perf_counter() - started
    headers = sorted(f"{name}:{value}" for name, value in answer.headers.items() if name not in LEFT_OUT)
    known = hash(tuple(headers)) % 10_007
    return answer, {
        "status": answer.status_code,
        "bytes": len(answer.content),
        "headers": known,
        "seconds": passed,
        "slower": passed - beside,
    }


def asked(request: dict[str, Any]) -> dict[str, Any]:
    """The body of a quote or a job."""
    return {"dataset": "patients", "request": request}


def call(client: httpx.Client, kind: str) -> tuple[httpx.Response, Features]:
    """One call of this kind."""
    match kind:
        case "jobs" | "accounts" | "releases":
            return timed(client, "GET", f"/{kind}?limit=1" if kind != "accounts" else "/accounts")
        case "schema" | "dummy" | "versions":
            return timed(client, "GET", f"/datasets/patients/{kind}")
        case "quote":
            return timed(client, "POST", "/quotes", json=asked(COUNT))
        case "refused":
            return timed(client, "POST", "/quotes", json=asked(BAD))
        case _:
            key = {"Idempotency-Key": str(uuid.uuid4())}
            return timed(client, "POST", "/jobs", json=asked(COUNT), headers=key)


KINDS = ("jobs", "accounts", "releases", "schema", "dummy", "versions", "quote", "refused")


def job(client: httpx.Client) -> Features:
    """A job from its request to its release: how long it waited, how long it took, how it ended."""
    answer, features = call(client, "job")
    facts = answer.json()
    started = time.monotonic()
    while facts["state"] in ("reserved", "running"):
        time.sleep(0.1)
        facts = client.get(f"/jobs/{facts['id']}").json()
    took = time.monotonic() - started
    return {**features, "took": took, "released": float(facts["state"] == "released"), "described": len(str(facts))}


def attack(pairs: list[list[Service]], requests: int, minutes: float, seed: int) -> Seen:
    """Ask all services in random order, a job now and then, until there are enough answers or the time is over."""
    seen, draw, end = Seen(), random.Random(seed), time.monotonic() + 60 * minutes
    with contextlib.ExitStack() as stack:
        clients = [[stack.enter_context(each.client(each.analysts[0])) for each in pair] for pair in pairs]
        while len(seen) < requests and time.monotonic() < end:
            order = [(pair, table) for pair in range(len(pairs)) for table in (0, 1)]
            draw.shuffle(order)
            kind = draw.choice(KINDS) if draw.random() < 0.985 else "job"
            for pair, table in order:
                client = clients[pair][table]
                if kind == "job":
                    seen.rows[kind].append((job(client), table, pair))
                    continue
                answer, features = call(client, kind)
                seen.rows[kind].append((features, table, pair))
                if not answer.is_success:
                    seen.refusals[kind].add(answer.content)
    return seen


def score(rows: list[tuple[Features, int, int]], kinds: list[int] | None = None) -> float:
    """The AUC on each pair of a classifier that was trained on the others, averaged."""
    names = sorted({name for features, _, _ in rows for name in features})
    table = np.array([[features.get(name, np.nan) for name in names] for features, _, _ in rows])
    if kinds is not None:
        table = np.column_stack([table, kinds])
    truth, pair = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    found = []
    for held in np.unique(pair):
        model = HistGradientBoostingClassifier(max_depth=3, max_iter=60, random_state=0)
        model.fit(table[pair != held], truth[pair != held])
        found.append(roc_auc_score(truth[pair == held], model.predict_proba(table[pair == held])[:, 1]))
    return float(np.mean(found))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=60, help="stop after this time, with what there is")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.pairs < 2:
        parser.error("need at least 2 pairs: one is held out")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        pairs = [
            [
                stack.enter_context(service(Path(folder) / f"{pair}-{table}", lines() + [CANARY] * table))
                for table in (0, 1)
            ]
            for pair in range(given.pairs)
        ]
        seen = attack(pairs, given.requests, given.minutes, given.seed)
    print(f"{len(seen)} requests, {given.pairs} pairs of services, neighbouring tables\n")
    print("| call | requests | AUC |\n|---|---|---|")
    for kind, rows in sorted(seen.rows.items()):
        print(f"| {kind} | {len(rows)} | {score(rows):.3f} |")
    rows = [row for kind in sorted(seen.rows) for row in seen.rows[kind]]
    kinds = [number for number, kind in enumerate(sorted(seen.rows)) for _ in seen.rows[kind]]
    print(f"| all | {len(rows)} | {score(rows, kinds):.3f} |")
    same = all(len(bodies) == 1 for bodies in seen.refusals.values())
    print(f"\nRefusals are equal byte for byte: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
