"""What a command takes for its data: nothing is overwritten, no password is shown, however an address is spelled."""

from importlib.util import find_spec

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Categorical, Schema, load
from discreet.storage.addresses import Address, as_address
from support.command import refused, run

SCHEMA = Schema([Categorical("c", ["a", "b"])], "y", ["no", "yes"], records=40, adjacency="replace-one")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    SCHEMA.save("s.json")
    (tmp_path / "data").mkdir()
    for name in ("1", "2"):
        pq.write_table(pa.table({"c": ["a", "b"] * 10, "y": ["no", "yes"] * 10}), f"data/{name}.parquet")
    return tmp_path


def train(data, *more, status=0, out="m.json"):
    return run("train", data, "--schema", "s.json", "--epsilon", "1", "--out", out, *more, status=status)


@pytest.mark.parametrize("data", ["data", "data/*.parquet"])
def test_a_file_of_the_list_is_not_overwritten(folder, data):
    train(data)
    before = (folder / "data/2.parquet").read_bytes()
    for command in (
        ("train", data, "--schema", "s.json", "--epsilon", "1", "--force"),
        ("predict", "m.json", data),
    ):
        result = run(*command, "--out", "data/2.parquet", status=2)
        assert "would overwrite an input" in result.stderr
    assert (folder / "data/2.parquet").read_bytes() == before
    assert load("m.json").receipt_.epsilon == 1


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_is_not_this_folder(folder, monkeypatch, name):
    monkeypatch.chdir(folder / "data")
    SCHEMA.save("s.json")
    refused(train, name, words=["the name is empty; need a file"])


def test_strange_names_of_files_are_refused_in_one_line(folder):
    (folder / "loop.parquet").symlink_to("loop.parquet")
    refused(train, "loop.parquet", words=["no such file"])
    for pattern in ("***", "**", "a**", "**.parquet"):  # other files from Python 3.13 on, so none for all
        refused(train, pattern, words=["no file has such a name; check the pattern"])


SPELLED = [
    "postgresql+psycopg://ann:secret@host/db",
    "POSTGRESQL://ann:secret@host/db",
    "jdbc:postgresql://host/db?password=secret",
    "postgresql:/ann:secret@host/db",
    "postgresql://ann:secret",
    "postgresql://ann:secret/db",
    "postgresql://host/db;password=secret",
    "host=db.example password=secret",
    "host=db.example PASSWORD = secret",
    "://ann:secret@host",
    "mysql://ann:secret@host/db",
]


@pytest.mark.parametrize("address", SPELLED)
def test_no_spelling_of_an_address_shows_its_password(folder, address):
    found = as_address(address)
    assert "secret" not in f"{found} {found!r} {found.scheme}"
    remedy = [";"] if find_spec("psycopg") else []  # without the driver, some are told what to install
    refused(train, address, words=remedy, secrets=["secret"])
    refused(train, address, "--table", "t", "--model", "naive-bayes", words=remedy, secrets=["secret"])


def test_hosts_and_ports_are_shown():
    for address in ("postgresql://[::1]:5433/db", "postgresql://a.example:1,b.example:2/db", "postgresql:///db"):
        assert str(Address(address)) == address
    assert as_address("data/visits 2024:1.csv") is None
