"""A disk that is really full, under SQLite and under PostgreSQL: what was told to be spent stays spent."""

import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from sqlalchemy import select

from discreet.errors import FileError
from discreet.privacy.accounts import reading, writing
from discreet.privacy.accounts.tables import reservations
from discreet.privacy.accounts.verification import verify
from support.account_databases import BOOKS, clinic, new_address, opened, standing
from support.postgres_server import server, start, stop

SIZES = {"sqlite": "3m", "postgresql": "110m"}


@pytest.fixture(params=["sqlite", "postgresql"])
def disk(request):
    """The kind of database, and a small file system of its own; needs root."""
    place = Path(tempfile.mkdtemp(prefix="disk-"))
    place.chmod(0o755)  # the server runs as another user
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZES[request.param]},mode=755", "tmpfs", str(place)]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        place.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        yield request.param, place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
        place.rmdir()


def fill(place):
    """Take all the space that is left; returns the file that does."""
    path = place / "ballast"
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    return path


def charge_until_refused(engine, four, most=3000, refusals=40):
    """The names of what was told to be spent, and how often it was refused."""
    told, refused = [], []
    for number in range(most):
        try:
            with writing(engine) as connection:
                BOOKS.charge(connection, four, "0.001", "add-remove", "x" * 900, f"r{number}")
            told.append(f"r{number}")
        except FileError as error:
            refused.append(str(error))
        if len(refused) == refusals:
            break
    return told, refused


def held(engine, four, told, refused):
    """All that was told is spent, the account counts it, and the chain is whole."""
    with reading(engine) as connection:
        spent = set(connection.execute(select(reservations.c.id).where(reservations.c.state == "spent")).scalars())
        verification = verify(connection)
    assert verification.whole, verification.problems
    assert spent >= {*told}
    assert len(spent) <= len(told) + len(refused)  # a commit whose answer was lost may count
    assert all(standing(engine, account)[2] * 1000 == len(spent) for account in four)


def test_what_was_spent_on_a_full_disk_stays_spent(disk):
    kind, place = disk
    if kind == "sqlite":
        run(f"sqlite:///{place}/accounts.db", place, lambda: None)
        return
    with server(fsync="on", within=place) as home:
        address = f"postgresql://owner@/postgres?host={home}"

        def restart():
            stop(home)
            start(home, "on")

        run(new_address("postgresql", None, address), place, restart)


def run(url, place, restart):
    """Charge, fill the disk, charge until it is refused, make room, and look."""
    with opened(url) as engine:
        four = clinic(engine, limit=100)
        with writing(engine) as connection:
            BOOKS.charge(connection, four, "0.001", "add-remove", "before", "before")
        ballast = fill(place)
        begun = time.monotonic()
        told, refused = charge_until_refused(engine, four)
        assert refused, "the disk was never full"
        assert time.monotonic() - begun < 300
        assert not any("r0" in text or "x" * 9 in text for text in refused)
        ballast.unlink()
        engine.dispose()
        restart()
        held(engine, four, ["before", *told], refused)
        with writing(engine) as connection:
            BOOKS.charge(connection, four, "0.001", "add-remove", "after", "after")
        held(engine, four, ["before", *told, "after"], refused)
