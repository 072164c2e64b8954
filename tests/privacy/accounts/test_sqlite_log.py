"""The log of SQLite: nothing that was charged is lost when locks were dropped or the log was removed."""

import os
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Ledger
from discreet.errors import FileError
from discreet.privacy.accounts import engine_for, reading, sqlite_log, writing
from discreet.privacy.receipt import Charge

PAYING = """
import sys
from fractions import Fraction
from discreet import Ledger
from discreet.privacy.receipt import Charge
ledger = Ledger(url=sys.argv[1])
ledger.charge("another", [Charge("q", "m", Fraction(1), 1, 1.0)], "add-remove")
print(ledger.spent)
"""


@pytest.fixture(autouse=True)
def nothing_lost(monkeypatch):
    """What a test loses is not lost to the next."""
    monkeypatch.setattr(sqlite_log, "_LOST", set())


def file_of(file_address: str) -> Path:
    return Path(file_address.removeprefix("sqlite:///"))


def pay(ledger: Ledger, epsilon: int = 1) -> None:
    ledger.charge("a model", [Charge("q", "m", Fraction(epsilon), 1, 1.0)], "add-remove")


def spent_after_another_paid(url: str) -> int:
    """What another program finds spent, after it paid 1, too, and closed the file."""
    done = subprocess.run([sys.executable, "-c", PAYING, url], check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_two_ledgers_and_another_program_lose_nothing(file_address):
    """A second ledger on a file must not drop the locks of the first: the other program would remove its log."""
    url = f"{file_address}#clinic/visits"
    ledger = Ledger(url=url)
    pay(ledger)
    second = Ledger(url=url)
    assert spent_after_another_paid(url) == 2
    pay(ledger)
    assert spent_after_another_paid(url) == 4
    pay(second)
    assert spent_after_another_paid(url) == 6


def test_a_lost_log_is_noticed_and_nothing_is_charged(file_address):
    """Something else in this program read the file, as a copy would, and with it went the locks."""
    url = f"{file_address}#clinic/visits"
    ledger = Ledger(url=url)
    pay(ledger)
    file_of(file_address).read_bytes()
    assert spent_after_another_paid(url) == 2
    for _ in range(2):
        with pytest.raises(FileError, match="start the program again"):
            pay(ledger)
    with pytest.raises(FileError, match="start the program again"):
        Ledger(url=url)
    assert spent_after_another_paid(url) == 3


@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_lost_in_the_middle_is_an_error_after_the_commit(file_address, replaced):
    engine, log = engine_for(file_address), Path(f"{file_of(file_address)}-wal")

    def lose():
        with writing(engine) as connection:
            connection.exec_driver_sql("CREATE TABLE more (id INTEGER)")
            log.unlink()
            if replaced:
                log.touch()

    with pytest.raises(FileError, match="removed while"):
        lose()
    with pytest.raises(FileError, match="removed while"), reading(engine):
        pass
    engine.dispose()


def test_a_file_is_made_for_its_owner_alone_and_never_opened_again(tmp_path, monkeypatch):
    path = tmp_path / "accounts.db"
    sqlite_log.make(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    opened_again = []
    open_file = os.open

    def watched(*given, **more):
        found = open_file(*given, **more)
        opened_again.append(found)
        return found

    monkeypatch.setattr(os, "open", watched)
    sqlite_log.make(path)
    assert not opened_again
    with pytest.raises(FileError, match="is a folder"):
        sqlite_log.make(tmp_path)
    with pytest.raises(FileError, match="check the path"):
        sqlite_log.make(tmp_path / "nowhere" / "accounts.db")


def test_a_file_without_a_log_is_used_without_one(file_address):
    """Some file systems cannot have a log that processes share."""
    engine = engine_for(file_address)
    with reading(engine) as connection:
        connection.info[sqlite_log._LOG] = None
        sqlite_log.check(connection)
    engine.dispose()
