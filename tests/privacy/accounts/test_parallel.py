"""Many at once: threads and processes that ask for the last units, and processes that are killed."""

import os
import signal
import threading
import time
import uuid

from discreet.errors import BudgetError
from discreet.privacy.accounts import engine_for, reading, writing
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


def buy(address, told):
    """Reserve and spend until nothing is left, and tell of each that was spent; in a process of its own."""
    try:
        engine = engine_for(address)
        while True:
            name = str(uuid.uuid4())
            with writing(engine) as connection:
                BOOKS.reserve(connection, [1, 2, 3, 4], "0.001", "add-remove", "a model", name)
            with writing(engine) as connection:
                BOOKS.spend(connection, name)
            os.write(told, b".")
    except BudgetError:
        os._exit(0)
    except BaseException:
        os._exit(1)


def test_killed_processes_leave_whole_accounts(engine, four, address):
    """What a process was told is spent is spent, and nothing more than the limit, whenever it is killed."""
    with writing(engine) as connection:
        BOOKS.set_limit(connection, four[3], "0.2")
    reader, told = os.pipe()
    for turn in range(12):
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                buy(address, told)
            children.append(child)
        time.sleep(0.1 + 0.017 * turn)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    os.close(told)
    with os.fdopen(reader, "rb") as file:
        heard = len(file.read())
    limit, reserved, spent, _ = standing(engine, four[3])
    assert 0 < heard <= spent * 1000
    assert reserved + spent <= limit
    with reading(engine) as connection:
        verification = verify(connection)
    assert verification.whole, verification.problems
