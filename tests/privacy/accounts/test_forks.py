"""Forked processes: what they charge is on the disk, whatever their parent does meanwhile."""

import os
import threading
from fractions import Fraction

import pytest

from discreet import Ledger
from discreet.errors import FileError
from discreet.privacy.accounts import database, engine_for, forking, reading, writing
from discreet.privacy.accounts.forking import Gate
from discreet.privacy.receipt import Charge

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def pay(ledger, epsilon=1):
    ledger.charge("a model", [Charge("q", "m", Fraction(epsilon), 1, 1.0)], "add-remove")


def forked(action):
    """Run an action in a forked process; its exit code: 0, or 3 after a FileError, or 1."""
    child = os.fork()
    if child:
        return child
    try:
        action()
        os._exit(0)
    except FileError:
        os._exit(3)
    except BaseException:
        os._exit(1)


def code_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_keeps_what_it_charges_when_its_parent_closes_the_file(file_address):
    ledger, (closed, closing), (paid, paying) = Ledger(url=f"{file_address}#clinic/visits"), os.pipe(), os.pipe()
    pay(ledger)

    def charge():
        pay(ledger)
        os.write(paying, b".")
        os.read(closed, 1)
        pay(ledger, 2)

    child = forked(charge)
    os.read(paid, 1)
    ledger._store._engine.dispose()
    os.write(closing, b".")
    assert code_of(child) == 0
    assert Ledger(url=f"{file_address}#clinic/visits").spent == 4


def test_a_fork_waits_for_a_transaction_of_another_thread(file_address):
    engine, inside, leave = engine_for(file_address), threading.Event(), threading.Event()

    def write():
        with writing(engine) as connection:
            connection.exec_driver_sql("CREATE TABLE more (id INTEGER)")
            inside.set()
            leave.wait(120)

    def look():
        assert database._GATE.is_safe
        with reading(engine) as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM more").scalar() == 0

    thread = threading.Thread(target=write)
    thread.start()
    inside.wait(120)
    threading.Timer(0.3, leave.set).start()
    assert code_of(forked(look)) == 0
    assert leave.is_set()
    thread.join()
    with reading(engine) as connection:  # the parent goes on
        assert connection.exec_driver_sql("SELECT count(*) FROM more").scalar() == 0
    engine.dispose()


def test_a_child_of_a_transaction_refuses_to_use_a_file(file_address):
    engine = engine_for(file_address)

    def use():
        assert not database._GATE.is_safe
        with reading(engine):
            pass

    with writing(engine) as connection:
        child = forked(use)
        connection.exec_driver_sql("CREATE TABLE more (id INTEGER)")
        assert code_of(child) == 3
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM more").scalar() == 0
    engine.dispose()


def test_a_fork_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(forking, "PATIENCE", 0.1)
    gate, inside, leave = Gate(), threading.Event(), threading.Event()

    def stay():
        with gate:
            inside.set()
            leave.wait(120)

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait(120)
    assert not gate.before()
    leave.set()
    thread.join()
    gate.in_child()
    assert not gate.is_safe
    assert gate.before()
    gate.in_child()
    assert not gate.is_safe  # nor does a child of that child


def test_transactions_wait_for_a_fork_but_not_for_themselves():
    gate, passed = Gate(), threading.Event()

    def go():
        with gate:
            passed.set()

    assert gate.before()
    thread = threading.Thread(target=go)
    thread.start()
    assert not passed.wait(0.2)
    gate.in_parent()
    assert passed.wait(120)
    thread.join()
    with gate:
        assert not gate.before()
        with gate:  # a second one of the same thread
            pass
        gate.in_parent()
    assert gate.before()
    gate.in_parent()
