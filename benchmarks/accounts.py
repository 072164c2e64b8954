"""Do accounts hold when processes are killed at any statement, and how many reservations do they take per second?

    python benchmarks/accounts.py [--reservations 100000] [--processes 8] [--seconds 10] [--databases sqlite postgresql]

Killing: processes reserve on four accounts, then spend (and tell that they released) or give back. Each kills itself by
SIGKILL at a random statement, about once in `--kill` statements, and is started again. The limit is below what is
asked, so that the accounts run out. Then: what was spent and reserved against the limits, what was told to be released
against what was spent, and the chain, computed again.
Speed: 32 threads of one process, and 4 threads in each of 8 processes, reserve on four accounts for some seconds; all
on one population, so that nothing runs in parallel. The baseline locks and updates the same four rows and adds one,
with neither turns nor a chain. PostgreSQL is started here, with fsync. Other load on the machine slows all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import random
import signal
import struct
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, event, func, select

from discreet.errors import BudgetError
from discreet.privacy.accounts import Books, engine_for, migrate, reading, writing
from discreet.privacy.accounts.tables import accounts, reservations
from discreet.privacy.accounts.verification import verify

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
RESULTS = Path(__file__).parent / "results" / "accounts.md"
BOOKS = Books()
UNIT = "0.000001"
FRESH = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC


def prepare(url: str, limit: str) -> list[int]:
    """A population, a data set, a project and a grant; only the grant has this limit."""
    engine = engine_for(url)
    migrate(engine)
    with writing(engine) as connection:
        first = BOOKS.open_account(connection, "population", "clinic", 10**5, adjacency="add-remove")
        others = [BOOKS.open_account(connection, kind, "x", 10**5, population=first) for kind in ("dataset", "project")]
        ids = [first, *others, BOOKS.open_account(connection, "grant", "x", limit, population=first)]
    engine.dispose()
    return ids


def buy(url: str, ids: list[int], told: int, counts: mmap.mmap, place: int, kill: int) -> None:
    """Reserve, and spend or give back, until killed; in a process of its own."""
    dice, engine = random.Random(os.urandom(8)), engine_for(url)

    def perhaps_die(*_: object) -> None:
        if dice.randrange(kill) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for moment in ("before_cursor_execute", "after_cursor_execute", "commit"):
        event.listen(engine, moment, perhaps_die)
    while True:
        name = str(uuid.uuid4())
        try:
            with writing(engine) as connection:
                BOOKS.reserve(connection, ids, UNIT, "add-remove", "a model", name)
            spends = dice.random() < 0.8
            with writing(engine) as connection:
                (BOOKS.spend if spends else BOOKS.give_back)(connection, name)
            if spends:
                os.write(told, f"{name}\n".encode())  # data would be read now: it is a release
        except BudgetError:
            pass
        asked = struct.unpack_from("q", counts, 8 * place)[0]
        struct.pack_into("q", counts, 8 * place, asked + 1)


def killing(url: str, number: int, processes: int, kill: int, minutes: float, folder: str) -> dict[str, object]:
    """Run the processes until so many reservations were asked for, or the time is over; start whoever was killed."""
    ids = prepare(url, f"{number * 6 // 10}e-6")
    counts, path = mmap.mmap(-1, 8 * processes), Path(folder) / "released"
    told, causes = (os.open(each, FRESH) for each in (path, Path(folder) / "causes"))
    running: dict[int, int] = {}
    killed, started = 0, time.monotonic()
    end = started + 60 * minutes

    def start(place: int) -> None:
        child = os.fork()
        if child == 0:
            try:
                buy(url, ids, told, counts, place, kill)
            except BaseException as error:
                os.write(causes, f"{type(error).__name__}: {str(error).splitlines()[0][:200]}\n".encode())
            os._exit(1)
        running[child] = place

    for place in range(processes):
        start(place)
    failed = 0
    while sum(struct.unpack(f"{processes}q", counts[:])) < number and time.monotonic() < end:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            time.sleep(0.005)
            continue
        killed += os.WIFSIGNALED(status)
        failed += not os.WIFSIGNALED(status)
        start(running.pop(child))
    for child in running:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    for cause, number_of in Counter((Path(folder) / "causes").read_text().splitlines()).most_common():
        print(f"{number_of} failed: {cause}", flush=True)
    seconds = time.monotonic() - started
    asked = sum(struct.unpack(f"{processes}q", counts[:]))
    return {"asked": asked, "killed": killed + len(running), "failed": failed, "seconds": seconds, **judge(url, path)}


def judge(url: str, path: Path) -> dict[str, object]:
    """What the accounts say afterwards."""
    engine = engine_for(url)
    released = path.read_text().split()
    with reading(engine) as connection:
        states = dict(map(tuple, connection.execute(select(reservations.c.id, reservations.c.state))))
        over = accounts.c.reserved_nano + accounts.c.spent_nano > accounts.c.limit_nano
        overspent = connection.execute(select(func.count()).where(over)).scalar_one()
        least = connection.execute(select(accounts.c.spent_nano).where(accounts.c.kind == "grant")).scalar_one()
        verification = verify(connection)
    engine.dispose()
    kept = list(states.values())
    return {
        "overspent": overspent,
        "unspent": sum(states.get(name) != "spent" for name in released),
        "released": len(released),
        "made": len(kept),
        "spent": kept.count("spent"),
        "left": kept.count("reserved"),
        "sum": least == kept.count("spent") * 1000,
        "whole": verification.whole,
        "entries": sum(each.entries for each in verification.populations),
    }


def reserve(engine: Engine, ids: list[int]) -> None:
    """As the books do it."""
    with writing(engine) as connection:
        BOOKS.reserve(connection, ids, UNIT, "add-remove", "a model", str(uuid.uuid4()))


def reserve_naively(engine: Engine, ids: list[int]) -> None:
    """The baseline: one account after another, and a row."""
    with engine.begin() as connection:
        for each in ids:
            asked = select(accounts.c.limit_nano, accounts.c.spent_nano).where(accounts.c.id == each)
            limit, spent = connection.execute(asked.with_for_update()).one()
            assert spent + 1000 <= limit
            more = accounts.c.reserved_nano + 1000
            connection.execute(accounts.update().where(accounts.c.id == each).values(reserved_nano=more))
        facts = {"id": str(uuid.uuid4()), "population_id": ids[0], "name": "a model", "epsilon": UNIT, "nano": 1000}
        row = {**facts, "account_ids": "[1,2,3,4]", "state": "reserved", "created_at": "now"}
        connection.execute(reservations.insert().values(**row))


def reserve_for(
    url: str, ids: list[int], threads: int, seconds: float, way: Callable[[Engine, list[int]], None]
) -> list[float]:
    """How long each reservation took, from asking to commit."""
    engine, took, barrier = engine_for(url), [], threading.Barrier(threads)

    def ask() -> None:
        mine = []
        barrier.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.monotonic()
            way(engine, ids)
            mine.append(time.monotonic() - begun)
        took.extend(mine)

    working = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    engine.dispose()
    return took


def speed(
    url: str, processes: int, threads: int, seconds: float, folder: str, way: Callable[[Engine, list[int]], None]
) -> dict[str, float]:
    """Reservations per second, and how long the slowest of a hundred took."""
    ids = prepare(url, str(10**5))
    children = []
    for place in range(processes):
        child = os.fork()
        if child == 0:
            took = reserve_for(url, ids, threads, seconds, way)
            (Path(folder) / f"took{place}").write_text("\n".join(map(str, took)))
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    texts = [(Path(folder) / f"took{place}").read_text() for place in range(processes)]
    took = sorted(float(line) for text in texts for line in text.split())
    rank = {name: took[min(len(took) - 1, int(share * len(took)))] for name, share in (("p50", 0.5), ("p99", 0.99))}
    return {"rate": len(took) / seconds, **rank, "worst": took[-1]}


CONTESTANTS = (("", 1, 32, reserve), (", baseline", 1, 32, reserve_naively), ("", 8, 4, reserve))


@contextlib.contextmanager
def databases(kinds: list[str]):
    """A function that makes a new database of a kind."""
    from support.account_databases import new_address
    from support.postgres_server import server

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        running = stack.enter_context(server(fsync="on")) if "postgresql" in kinds else None
        address = f"postgresql://owner@/postgres?host={running}"
        yield folder, lambda kind: new_address(kind, folder, address)


def report(command: str, killed: dict[str, dict], fast: dict[tuple, dict]) -> str:
    """The results as a page."""
    lines = [
        "# Accounts",
        "",
        f"`{command}`",
        "",
        f"{os.cpu_count()} processors, PostgreSQL with fsync, SQLite FULL.",
        "",
    ]
    if killed:
        lines += ["## Processes killed at random statements", "", "| | " + " | ".join(killed) + " |"]
        lines += ["|---|" + "---:|" * len(killed)]
        words = {
            "asked": "reservations asked for", "made": "of them made", "killed": "processes killed by SIGKILL",
            "failed": "processes that failed", "overspent": "**accounts above their limit**",
            "released": "told to be released", "unspent": "**of them not spent**", "spent": "spent",
            "left": "left reserved by the killed", "sum": "the account's sum is that of its reservations",
            "entries": "entries in the chain", "whole": "**the chain and all balances verify**", "seconds": "seconds",
        }  # fmt: skip
        for key, word in words.items():
            lines.append(f"| {word} | " + " | ".join(_told(each[key]) for each in killed.values()) + " |")
        lines.append("")
    if fast:
        lines += ["## Reservations on four accounts of one population", ""]
        lines += ["| database | processes × threads | per second | p50, ms | p99, ms | slowest, ms |"]
        lines += ["|---|---|---:|---:|---:|---:|"]
        for (kind, processes, threads), each in fast.items():
            times = " | ".join(f"{each[name] * 1000:.0f}" for name in ("p50", "p99", "worst"))
            lines.append(f"| {kind} | {processes} × {threads} | {each['rate']:.0f} | {times} |")
        lines.append("")
    return "\n".join(lines)


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:,.0f}" if isinstance(value, float) else f"{value:,}"


def main() -> None:
    """Run it all, and write the results."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reservations", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--kill", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=600, help="end the killing after this time, and judge")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    killed, fast = {}, {}
    with databases(given.databases) as (folder, new):
        for kind in given.databases:
            if given.seconds:
                for name, processes, threads, way in CONTESTANTS:
                    key = f"{kind}{name}", processes, threads
                    fast[key] = speed(new(kind), processes, threads, given.seconds, folder, way)
                    print(*key, fast[key], flush=True)
            if given.reservations:
                killed[kind] = killing(
                    new(kind), given.reservations, given.processes, given.kill, given.minutes, folder
                )
                print(kind, killed[kind], flush=True)
    options = " ".join(sys.argv[1:])
    given.out.write_text(report(f"python benchmarks/accounts.py {options}".strip(), killed, fast), encoding="utf-8")
    wrong = [kind for kind, each in killed.items() if each["overspent"] or each["unspent"] or not each["whole"]]
    sys.exit(f"accounts did not hold: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
