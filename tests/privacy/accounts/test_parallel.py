"""Many at once: threads and processes that ask for the last units, and processes that are killed."""

import os
import select
import signal
import threading
import time
import uuid

import pytest
from sqlalchemy import text

from discreet.errors import BudgetError
from discreet.privacy.accounts import engine_for, reading, writing
from discreet.privacy.accounts.books import MADE
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


def heard_first(reader, children):
    """How many bytes arrive first, however long a busy machine takes; 0 if all children have ended by themselves."""
    end = time.monotonic() + 120
    ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while not select.select([reader], [], [], 0.02)[0]:
        if all(os.waitid(os.P_PID, child, ended) for child in children):
            return 0
        assert time.monotonic() < end
    return len(os.read(reader, 1 << 16))


def test_killed_processes_leave_whole_accounts(engine, four, address):
    """What a process was told is spent is spent, and nothing more than the limit, whenever it is killed."""
    with writing(engine) as connection:
        BOOKS.set_limit(connection, four[3], "0.2")
    reader, told = os.pipe()
    heard = 0
    for turn in range(12):
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                buy(address, told)
            children.append(child)
        heard += heard_first(reader, children)
        time.sleep(0.007 * turn)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    os.close(told)
    with os.fdopen(reader, "rb") as file:
        heard += len(file.read())
    limit, reserved, spent, _ = standing(engine, four[3])
    assert 0 < heard <= spent * 1000
    assert reserved + spent <= limit
    with reading(engine) as connection:
        verification = verify(connection)
    assert verification.whole, verification.problems


def test_one_reservation_made_by_two_at_once_is_made_once(engine, four):
    """The second waits for the first, which it could not see when it began, and is refused."""
    if engine.dialect.name == "sqlite":
        pytest.skip("a writer to SQLite begins when no other writes")
    said = []

    def second():
        try:
            with writing(engine) as connection:
                BOOKS.reserve(connection, four, 1, "add-remove", "a model", "same")
        except BudgetError as error:
            said.append(str(error))

    other = threading.Thread(target=second)
    with writing(engine) as connection:
        BOOKS.reserve(connection, four, 1, "add-remove", "a model", "same")
        other.start()
        wait_for_a_lock(engine)
    other.join()
    assert said == [MADE]
    assert all(standing(engine, each) == (10, 1, 0, 9) for each in four)


def test_who_waited_sees_what_was_moved_meanwhile(engine, four):
    """A transaction that began before another moved the last units finds them moved, and the chain goes on."""
    if engine.dialect.name == "sqlite":
        pytest.skip("a writer to SQLite begins when no other writes")
    said = []

    def second(epsilon):
        try:
            with writing(engine) as connection:
                connection.execute(text("SELECT 1"))
                BOOKS.reserve(connection, four, epsilon, "add-remove", "a model", f"r{epsilon}")
        except BudgetError as error:
            said.append(str(error))

    others = [threading.Thread(target=second, args=(each,)) for each in (1, 2)]
    with writing(engine) as connection:
        BOOKS.reserve(connection, four, 8, "add-remove", "a model", "first")
        for each in others:
            each.start()
        wait_for_a_lock(engine, len(others))
    for each in others:
        each.join()
    assert len(said) == 1
    assert standing(engine, four[0])[1] in (9, 10)
    with reading(engine) as connection:
        assert verify(connection).whole


def wait_for_a_lock(engine, number=1):
    """Wait until so many other connections wait for a lock."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = :base")
    end = time.monotonic() + 120
    with engine.connect() as connection:
        while connection.execute(waiting, {"base": engine.url.database}).scalar() < number:
            assert time.monotonic() < end
            connection.rollback()
            time.sleep(0.01)
