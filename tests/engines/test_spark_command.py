"""`discreet train` with the address of Spark: one line for each mistake, nothing of Spark on the terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from discreet import DecisionTree, Ledger, NaiveBayes
from discreet.sources.memory import MemorySource
from discreet.storage.addresses import Address
from support import spark
from support.spark_clinic import CANARY, SCHEMA, table

pytestmark = pytest.mark.usefixtures("workers_python")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a schema and a folder of Parquet files."""
    monkeypatch.chdir(tmp_path)
    SCHEMA.save("schema.json")
    (tmp_path / "parquet").mkdir()
    for place in range(2):
        pq.write_table(table().slice(place * 20_000, 20_000), tmp_path / "parquet" / f"{place}.parquet")
    return tmp_path


def run(address, *extra, status=0, name=None, environment=()):
    """The command in a process of its own, as users run it."""
    name = f"parquet.`{Path.cwd() / 'parquet'}`" if name is None else name
    command = [sys.executable, "-m", "discreet.cli", "train", address, "--table", name, "--schema", "schema.json"]
    command += ["--epsilon", "1", "--out", "m.json", "--ledger", "l.jsonl", "--limit", "2", *extra]
    kept = {key: value for key, value in os.environ.items() if key != "PYSPARK_PYTHON"}
    done = subprocess.run(
        command, capture_output=True, text=True, env={**kept, **dict(environment)}, check=False, timeout=300
    )
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert CANARY not in done.stdout + done.stderr
    return done


def refused(*arguments, words=(), **given):
    done = run(*arguments, status=2, **given)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr, done.stderr
    assert not Path("m.json").exists()
    assert not Path("l.jsonl").exists() or Ledger.open("l.jsonl").spent == 0


def test_models_are_those_from_memory_and_spark_says_nothing(here):
    for kind, model in (("naive-bayes", NaiveBayes), ("decision-tree", DecisionTree)):
        done = run("spark://local[2]", "--model", kind, "--seed", "3", "--json", "--force", "--limit", "2")
        assert done.stderr == ""
        json.loads(done.stdout)
        expected = model(SCHEMA, epsilon=1, random_state=3).fit_from(MemorySource(table()))
        expected.save("expected.json", overwrite=True)
        assert Path("m.json").read_text() == Path("expected.json").read_text()


def test_connect(here, tmp_path_factory):
    with spark.connect_server(tmp_path_factory.mktemp("connect")) as address:
        refused(address, "--model", "naive-bayes", name="nowhere", words=["'nowhere'"])
        assert run(f"{address}/;user_id=ann", "--model", "naive-bayes").stderr == ""


def test_mistakes_are_one_line(here, tmp_path):
    nobody = spark.free_port()
    refused(f"spark://127.0.0.1:{nobody}", words=["nobody answers at spark://127.0.0.1"])
    refused(f"sc://127.0.0.1:{nobody}/;token={CANARY}", words=["nobody answers at sc://127.0.0.1"])
    refused("spark://local[2]", "--model", "naive-bayes", name="nowhere", words=["'nowhere'", "SHOW TABLES"])
    refused("spark://local[two]", words=["master", "spark://local[two]"])
    refused("spark://local[2]", name="", words=["--table"])


@pytest.mark.parametrize(
    ("told", "words"),
    [(None, "there is none"), ('openjdk version "11.0.2"', "newer Java than 11"), ('openjdk version "99"', "Java 99")],
)
def test_java_that_is_missing_too_old_or_too_new(here, tmp_path, told, words):
    (tmp_path / "bin").mkdir()
    if told is not None:
        (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\necho '{told}' >&2\n[ \"$1\" = -version ]\n")
        (tmp_path / "bin" / "java").chmod(0o755)
    refused("spark://local[2]", environment={"JAVA_HOME": str(tmp_path)}.items(), words=[words, "17 or 21"])


def test_addresses_show_no_token():
    assert str(Address("sc://host:443/;token=secret;use_ssl=true")) == "sc://host:443"
    assert "secret" not in repr(Address("sc://host/;x-token=secret"))
    assert str(Address("spark://local[2]")) == "spark://local[2]"
