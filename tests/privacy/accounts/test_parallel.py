"""Many at once: threads and processes that ask for the last units, and processes that are killed."""

import os
import signal
import subprocess
import sys
import threading
import time

from discreet.errors import BudgetError
from discreet.privacy.accounts import reading, writing
from discreet.privacy.accounts.verification import verify
from support.account_databases import BOOKS, standing


def test_the_last_units_are_sold_once(engine, four):
    """64 threads ask for the last 10 units: exactly 10 get one."""
    got, refused, barrier = [], [], threading.Barrier(64)

    def ask(number):
        barrier.wait()
        try:
            with writing(engine) as connection:
                BOOKS.reserve(connection, four, 1, "add-remove", "a model", f"r{number}")
            got.append(number)
        except BudgetError:
            refused.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (10, 54)
    assert all(standing(engine, each) == (10, 10, 0, 0) for each in four)
    with reading(engine) as connection:
        assert verify(connection).whole


BUYER = """
import sys, uuid
from discreet.errors import BudgetError
from discreet.privacy.accounts import Books, engine_for, writing
engine = engine_for(sys.argv[1])
while True:
    name = str(uuid.uuid4())
    try:
        with writing(engine) as connection:
            Books().reserve(connection, [1, 2, 3, 4], "0.001", "add-remove", "a model", name)
        with writing(engine) as connection:
            Books().spend(connection, name)
        print("spent", flush=True)
    except BudgetError:
        break
"""


def test_killed_processes_leave_whole_accounts(engine, four, address):
    """What a process was told is spent is spent, and nothing more than the limit, whenever it is killed."""
    with writing(engine) as connection:
        BOOKS.set_limit(connection, four[3], "0.15")
    told, started = 0, time.monotonic()
    while standing(engine, four[3])[3] > 0 and time.monotonic() - started < 60:
        buyers = [
            subprocess.Popen([sys.executable, "-c", BUYER, address], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        time.sleep(1.7)
        for buyer in buyers:
            os.kill(buyer.pid, signal.SIGKILL)
            told += buyer.communicate()[0].count(b"spent\n")
    limit, reserved, spent, _ = standing(engine, four[3])
    assert told / 1000 <= spent
    assert reserved + spent <= limit
    with reading(engine) as connection:
        verification = verify(connection)
    assert verification.whole, verification.problems
