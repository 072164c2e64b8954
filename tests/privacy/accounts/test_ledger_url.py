"""Ledgers that stand on accounts: charged before data are read, never refunded, shared, not to be copied."""

import contextlib
import copy
import os
import pickle
import shutil
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from sklearn.base import clone

from discreet import Ledger, NaiveBayes
from discreet.errors import BudgetError, FileError, ParameterError
from discreet.privacy.accounts import reading, writing
from discreet.privacy.accounts.verification import verify
from discreet.privacy.ledger.address import AccountAddress
from discreet.privacy.ledger.database import OpenAccounts
from discreet.privacy.receipt import Charge
from support.account_databases import BOOKS, clinic, standing


@pytest.fixture
def url(address, engine, four):
    """The address of a data set whose population has limit 10, with a data set and a project."""
    return f"{address}#clinic/visits"


def pay(ledger, epsilon, adjacency="add-remove", name="a model", **more):
    ledger.charge(name, [Charge("q", "m", Fraction(epsilon), 1, 1.0)], adjacency, **more)


def test_all_named_accounts_pay(url, engine, four):
    ledger = Ledger(url=url)
    assert (ledger.limit, ledger.spent, ledger.remaining, ledger.adjacency) == (10, 0, 10, "add-remove")
    pay(ledger, "1/3")
    third = Fraction(333333334, 10**9)
    assert (ledger.spent, ledger.remaining, ledger.is_kept) == (third, 10 - third, True)
    assert ledger.entries == [("a model", third)]
    assert [standing(engine, each)[2] for each in four] == [third, third, 0, 0]
    assert repr(ledger) == "Ledger(limit=10, spent=0.333334, adjacency='add-remove')"
    assert ledger.head == Ledger(url=url).head
    with reading(engine) as connection:
        assert verify(connection, [ledger.head]).whole


def test_the_account_with_the_least_left_decides(url, engine, four):
    with writing(engine) as connection:
        BOOKS.reserve(connection, four[:1], 9, "add-remove", "of others", "r1")
    ledger = Ledger(url=url)
    assert (ledger.limit, ledger.spent, ledger.remaining) == (10, 0, 1)
    with pytest.raises(BudgetError, match="costs epsilon=2, the ledger has 1 of 10 left"):
        pay(ledger, 2)
    with pytest.raises(BudgetError):
        ledger.check(Fraction(2), "add-remove")
    ledger.check(Fraction(1), "add-remove")
    assert ledger.entries == []


def test_a_charge_counts_under_the_populations_adjacency(address, engine):
    clinic(engine, adjacency="replace-one")
    ledger = Ledger(url=f"{address}#clinic")
    pay(ledger, 1)
    assert ledger.spent == 2
    clinic(engine, name="other")
    with pytest.raises(BudgetError, match="bounds no loss"):
        pay(Ledger(url=f"{address}#other"), 1, "replace-one")


def test_a_name_can_be_paid_once(url):
    pay(Ledger(url=url), 1, name="an answer", once=True)
    with pytest.raises(BudgetError, match="only once"):
        pay(Ledger(url=url), 1, name="an answer", once=True)
    pay(Ledger(url=url), 1, name="a model")
    pay(Ledger(url=url), 1, name="a model")


@pytest.mark.parametrize("first", ["", "/visits", "/visits/heart"])
@pytest.mark.parametrize("second", ["", "/visits", "/visits/heart"])
def test_a_name_is_paid_once_whichever_accounts_pay(address, four, first, second):
    """Two answers of one name would have one mask: their difference would be seen without it."""
    pay(Ledger(url=f"{address}#clinic{first}"), 1, name="an answer", once=True)
    with pytest.raises(BudgetError, match="only once"):
        pay(Ledger(url=f"{address}#clinic{second}"), 1, name="an answer", once=True)


def test_a_name_is_paid_once_by_two_at_a_time(url, monkeypatch):
    """Both look for the name before either of them enters it, if nothing keeps them apart."""
    look, both = OpenAccounts.has, threading.Barrier(2)

    def has(self, name):
        found = look(self, name)
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(1)
        return found

    def attempt(ledger):
        try:
            pay(ledger, 1, name="an answer", once=True)
        except BudgetError:
            return "refused"
        return "paid"

    monkeypatch.setattr(OpenAccounts, "has", has)
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(attempt, [Ledger(url=url), Ledger(url=url)]))
    assert sorted(outcomes) == ["paid", "refused"]


def test_a_charge_is_committed_before_data_are_read(url, engine, four, schema, records):
    """A source that looks at the accounts when it is opened finds the charge there, and it stays after a failure."""
    from discreet.sources.memory import MemorySource

    columns = {name: values for name, values in records.items() if name != schema.target}
    source = MemorySource(columns, records[schema.target])
    seen = []

    class Looking(MemorySource):
        def count(self, *given):
            seen.append(standing(engine, four[1])[2])
            raise RuntimeError

    looking = Looking(columns, records[schema.target])
    with pytest.raises(RuntimeError):
        NaiveBayes(schema, epsilon=1).fit_from(looking, ledger=Ledger(url=url))
    assert seen == [1]
    NaiveBayes(schema, epsilon=1).fit_from(source, ledger=Ledger(url=url))
    assert standing(engine, four[1])[2] == 2


def test_copies_spend_from_the_same_accounts(url, engine, four, schema):
    ledger = Ledger(url=url)
    assert copy.copy(ledger) is copy.deepcopy(ledger) is ledger
    assert clone(NaiveBayes(schema)) is not None
    with pytest.raises(BudgetError, match="url="):
        pickle.dumps(ledger)


def test_processes_share_the_accounts(url, engine, four):
    """Also a forked copy of an open ledger: what it spends is in the database."""
    ledger = Ledger(url=url)
    pay(ledger, 1)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                for _ in range(3):
                    pay(ledger, "0.75")
                os._exit(0)
            except BudgetError:
                os._exit(3)
            except BaseException:
                os._exit(1)
        children.append(child)
    codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
    assert codes <= {0, 3}
    assert ledger.spent == 10
    assert len(ledger.entries) == 13
    assert ledger.charged_here(ledger.account) == [1]


def test_a_killed_process_loses_nothing_that_was_charged(url, engine):
    ledger, (reader, told) = Ledger(url=url), os.pipe()
    child = os.fork()
    if child == 0:
        while True:
            pay(ledger, "0.01")
            os.write(told, b".")
    os.read(reader, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(told)
    with os.fdopen(reader, "rb") as file:
        heard = 1 + len(file.read())
    assert heard <= ledger.spent * 100 <= heard + 1


def test_an_older_copy_is_noticed(address, engine, four, tmp_path):
    if engine.dialect.name != "sqlite":
        pytest.skip("a file is put back")
    path, ledger = address.removeprefix("sqlite:///"), Ledger(url=f"{address}#clinic")
    pay(ledger, 1)
    engine.dispose()
    ledger._store._engine.dispose()  # the last connection puts everything into the file
    shutil.copy(path, tmp_path / "old")
    pay(ledger, 1)
    engine.dispose()
    ledger._store._engine.dispose()
    shutil.copy(tmp_path / "old", path)
    with pytest.raises(FileError, match="older copy"):
        pay(ledger, 1)
    with pytest.raises(FileError, match="older copy"):
        _ = ledger.account


def test_an_older_copy_is_noticed_by_a_ledger_that_was_only_opened(address, engine, four, tmp_path):
    """It knows its accounts by their numbers, which may be those of others in another database."""
    if engine.dialect.name != "sqlite":
        pytest.skip("a file is put back")
    path = address.removeprefix("sqlite:///")
    engine.dispose()
    shutil.copy(path, tmp_path / "old")
    clinic(engine, name="other")
    ledger = Ledger(url=f"{address}#other/visits")
    engine.dispose()
    ledger._store._engine.dispose()
    shutil.copy(tmp_path / "old", path)
    clinic(engine, name="strangers", limit=100)
    with pytest.raises(FileError, match="older copy"):
        pay(ledger, 1)


def test_a_connection_lost_at_the_end_may_count(url, engine, monkeypatch):
    from sqlalchemy import Connection
    from sqlalchemy.exc import OperationalError

    ledger = Ledger(url=url)

    def lose(connection):
        raise OperationalError("", {}, Exception("server closed the connection"))

    monkeypatch.setattr(Connection, "_commit_impl", lose)
    with pytest.raises(FileError, match="no data was read, but the charge may count: see discreet budget show"):
        pay(ledger, 1)


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("", "names no account"),
        ("#", "names no account"),
        ("#nobody", "there is no population nobody"),
        ("#clinic/nothing", "there is no data set nothing"),
        ("#clinic/visits/none", "there is no project none"),
        ("#clinic//heart", "need a population"),
        ("#a/b/c/d", "need a population"),
    ],
)
def test_wrong_addresses_are_refused(address, engine, four, fragment, words):
    with pytest.raises(ParameterError, match=words):
        Ledger(url=f"{address}{fragment}")


def test_other_arguments_do_not_go_with_a_url(url):
    for wrong in ({"limit": 1}, {"path": "x"}, {"adjacency": "add-remove"}):
        with pytest.raises(ParameterError, match="leave out"):
            Ledger(url=url, **wrong)
    with pytest.raises(ParameterError, match="need a text"):
        Ledger(url=3)


def test_a_database_without_accounts_is_refused(tmp_path):
    with pytest.raises(FileError, match="there is no database"):
        Ledger(url=f"sqlite:///{tmp_path}/new.db#clinic")
    assert not (tmp_path / "new.db").exists()
    (tmp_path / "new.db").touch()
    with pytest.raises(FileError, match="has no accounts yet"):
        Ledger(url=f"sqlite:///{tmp_path}/new.db#clinic")


def test_passwords_are_never_shown():
    address = AccountAddress.parsed("postgresql://ann:secret@db.example/money?password=secret#a%2Fb/c d")
    assert str(address) == "postgresql://db.example/money#a%2Fb/c d"
    assert address.names == ("a/b", "c d")
    assert "secret" not in repr(address)
    with pytest.raises(FileError) as caught:
        Ledger(url="postgresql://ann:secret@localhost:1/money#clinic")
    assert "secret" not in str(caught.value)
