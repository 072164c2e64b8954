"""What an analyst could learn about one record from everything but the noisy answers: status, bytes, headers, times.

Pairs of neighbouring tables: one has a record that lies far outside of all the others. An attacker who knows both
tables asks for each the same, in random order: reads of every kind, quotes and counts whose predicates fit that record
alone, requests that are refused, and jobs from the request to the release. A classifier is trained on some pairs and
has to tell, on another pair, from which table an answer came. Without a leak its AUC is 1/2. The times are taken beside
those of a call that has nothing to do with data, sent just before. Refusals have to be equal byte for byte. What was
released is left out: it is noisy, and paid for.

All tables are in one service, which of a pair was registered first is drawn by lot, and their names are equally long:
what tells two answers apart is then the table. With `--apart` each table has a service of its own; which of a pair is
started first is drawn by lot.

Answers about one table are not independent draws: services differ in speed by chance, and the length of what is told
about the last job stays until the next one. So chance moves the AUC by more than the number of requests suggests, and
an AUC below 1/2 is chance as well: what was learned from some pairs is the other way round on another. Hence beside
each AUC: its standard error over the pairs that were held out, and the share of all ways to exchange the two labels
within pairs whose AUC is as far from 1/2 as the true one (an exact test, since a lot gave the labels; with n pairs it
is at least 1 / 2^(n-1)). A slot has to be long enough for the machine: a job that overruns it fails, which is a bit
that the documentation names, so the number of jobs that failed is printed too.

`python benchmarks/service_silence.py --requests 10000` prints the AUC of each kind of call and of all. The bar is 0.52.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from service_worlds import SCHEMA, Service, lines, service, started

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
    """Features of every answer, the table and the pair it came from, by kind of call; and bodies of refusals, by kind
    of call and status: 429 comes where the calls are too many, whatever they ask."""

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


class Target(NamedTuple):
    """A table that is attacked, and where."""

    client: httpx.Client
    dataset: str

    def asked(self, request: dict[str, Any]) -> dict[str, Any]:
        """The body of a quote or a job."""
        return {"dataset": self.dataset, "request": request}


def call(target: Target, kind: str) -> tuple[httpx.Response, Features]:
    """One call of this kind."""
    client = target.client
    match kind:
        case "jobs" | "releases":
            return timed(client, "GET", f"/{kind}?limit=1&dataset={target.dataset}")
        case "accounts":
            return timed(client, "GET", "/accounts")
        case "schema" | "dummy" | "versions":
            return timed(client, "GET", f"/datasets/{target.dataset}/{kind}")
        case "quote":
            return timed(client, "POST", "/quotes", json=target.asked(COUNT))
        case "refused":
            return timed(client, "POST", "/quotes", json=target.asked(BAD))
        case _:
            key = {"Idempotency-Key": str(uuid.uuid4())}
            return timed(client, "POST", "/jobs", json=target.asked(COUNT), headers=key)


KINDS = ("jobs", "accounts", "releases", "schema", "dummy", "versions", "quote", "refused")


def job(target: Target) -> Features:
    """A job from its request to its release: how long it waited, how long it took, how it ended."""
    answer, features = call(target, "job")
    facts = answer.json()
    started = time.monotonic()
    while facts["state"] in ("reserved", "running"):
        time.sleep(0.1)
        facts = target.client.get(f"/jobs/{facts['id']}").json()
    took = time.monotonic() - started
    return {**features, "took": took, "released": float(facts["state"] == "released"), "described": len(str(facts))}


def attack(pairs: list[list[Target]], requests: int, rounds: int, minutes: float, seed: int) -> Seen:
    """Ask for all tables in random order, in some rounds for jobs, until there is enough or no time."""
    seen, draw, end = Seen(), random.Random(seed), time.monotonic() + 60 * minutes
    all_rounds = -(-requests // (2 * len(pairs)))
    with_jobs = {*draw.sample(range(all_rounds), min(rounds, all_rounds))}
    for number in range(all_rounds):
        if time.monotonic() > end:
            break
        order = [(pair, table) for pair in range(len(pairs)) for table in (0, 1)]
        draw.shuffle(order)
        kind = "job" if number in with_jobs else draw.choice(KINDS)
        for pair, table in order:
            target = pairs[pair][table]
            if kind == "job":
                seen.rows[kind].append((job(target), table, pair))
                continue
            answer, features = call(target, kind)
            seen.rows[kind].append((features, table, pair))
            if not answer.is_success:
                seen.refusals[f"{kind}, status {answer.status_code}"].add(answer.content)
    return seen


@contextlib.contextmanager
def together(folder: Path, pairs: int, slot: float, seed: int) -> Iterator[list[list[Target]]]:
    """Pairs of tables in one service; a lot says which of a pair has the record and which is registered first."""
    draw = random.Random(seed + 1)
    with started(folder / "service", slot=slot) as made, made.client(made.analysts[0]) as client:
        found = []
        for pair in range(pairs):
            names = [f"table-{pair}{letter}" for letter in "ab"]
            draw.shuffle(names)
            for table in draw.sample((0, 1), 2):
                path = folder / f"{names[table]}.csv"
                path.write_text("\n".join(lines() + [CANARY] * table) + "\n", encoding="utf-8")
                made.register(names[table], path, SCHEMA)
            found.append([Target(client, name) for name in names])
        yield found


@contextlib.contextmanager
def apart(folder: Path, pairs: int, slot: float, seed: int) -> Iterator[list[list[Target]]]:
    """Pairs of services with one table each; a lot says which of a pair is started first."""
    draw = random.Random(seed + 1)
    with contextlib.ExitStack() as stack:

        def target(pair: int, table: int) -> Target:
            place = folder / f"{pair}-{table}"
            made: Service = stack.enter_context(service(place, lines() + [CANARY] * table, slot=slot))
            return Target(stack.enter_context(made.client(made.analysts[0])), "patients")

        started = [{table: target(pair, table) for table in draw.sample((0, 1), 2)} for pair in range(pairs)]
        yield [[each[0], each[1]] for each in started]


class Score(NamedTuple):
    """How well an attacker does: AUC, its standard error over pairs, and the share of exchanged labels as far off."""

    auc: float
    error: float
    chance: float

    def __str__(self) -> str:
        return f"{self.auc:.3f} | {self.error:.3f} | {self.chance:.2f}"


def score(rows: list[tuple[Features, int, int]], kinds: list[int] | None = None) -> Score:
    """The AUC on each pair of a classifier that was trained on the others, and what chance does to it."""
    names = sorted({name for features, _, _ in rows for name in features})
    table = np.array([[features.get(name, np.nan) for name in names] for features, _, _ in rows])
    if kinds is not None:
        table = np.column_stack([table, kinds])
    truth, pair = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    true, *others = (
        aucs(table, truth ^ np.isin(pair, np.flatnonzero([0, *exchanged])), pair)
        for exchanged in itertools.product((0, 1), repeat=len(np.unique(pair)) - 1)
    )
    off = [abs(np.mean(each) - 0.5) for each in (true, *others)]
    chance = np.mean([each >= off[0] - 1e-12 for each in off])
    return Score(float(np.mean(true)), float(np.std(true, ddof=1) / len(true) ** 0.5), float(chance))


def aucs(table: np.ndarray, truth: np.ndarray, pair: np.ndarray) -> list[float]:
    """The AUC on each pair of a classifier that was trained on the others."""
    found = []
    for held in np.unique(pair):
        model = HistGradientBoostingClassifier(max_depth=3, max_iter=60, random_state=0)
        model.fit(table[pair != held], truth[pair != held])
        found.append(roc_auc_score(truth[pair == held], model.predict_proba(table[pair == held])[:, 1]))
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=60, help="stop after this time, with what there is")
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=12, help="rounds that ask for a job of each table")
    parser.add_argument("--slot", type=float, default=4.0)
    parser.add_argument("--apart", action="store_true", help="a service for each table")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.pairs < 2:
        parser.error("need at least 2 pairs: one is held out")
    with tempfile.TemporaryDirectory() as name:
        where = Path(name), given.pairs, given.slot, given.seed
        with apart(*where) if given.apart else together(*where) as pairs:
            seen = attack(pairs, given.requests, given.jobs, given.minutes, given.seed)
    design = "a service for each table" if given.apart else "one service"
    print(f"{len(seen)} requests, {given.pairs} pairs of neighbouring tables, {design}, slots of {given.slot:g} s")
    failed = [sum(not row["released"] for row, table, _ in seen.rows["job"] if table == each) for each in (0, 1)]
    print(f"jobs that failed: {failed[0]} without the record, {failed[1]} with it, of {len(seen.rows['job'])}\n")
    print("| call | requests | AUC | standard error | as far off by chance |\n|---|---:|---:|---:|---:|")
    for kind, rows in sorted(seen.rows.items()):
        print(f"| {kind} | {len(rows)} | {score(rows)} |")
    rows = [row for kind in sorted(seen.rows) for row in seen.rows[kind]]
    kinds = [number for number, kind in enumerate(sorted(seen.rows)) for _ in seen.rows[kind]]
    print(f"| **all** | {len(rows)} | {score(rows, kinds)} |")
    same = all(len(bodies) == 1 for bodies in seen.refusals.values())
    print(f"\nRefusals are equal byte for byte: {'yes' if same else 'NO'}")
    for kind, bodies in seen.refusals.items():
        if len(bodies) > 1:
            print(f"- {kind}: " + "; ".join(sorted(body.decode() for body in bodies)[:4]))


if __name__ == "__main__":
    main()
