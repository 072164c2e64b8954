"""Ctrl-C while an engine reads: a real signal to a process of its own; what was charged is kept, and said."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet import Categorical, Numeric, Schema

ROWS = 200_000
"""Records of one part of a table; there are so many parts that nobody waits for the last."""
PARTS = 2_000
SCHEMA = Schema([Numeric("age", 0, 100), Categorical("sex", ["F", "M"])], "ill", ["no", "yes"], records=10**8)


def compressed(folder: Path) -> list[str]:
    line = b"40,F,no\n50,M,yes\n"
    member = gzip.compress(line * (ROWS // 2), 1)
    (folder / "t.csv.gz").write_bytes(gzip.compress(b"age,sex,ill\n") + member * PARTS)
    return ["t.csv.gz"]


def parquet(folder: Path) -> list[str]:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (folder / "t").mkdir()
    columns = {"age": [40, 50] * (ROWS // 2), "sex": ["F", "M"] * (ROWS // 2), "ill": ["no", "yes"] * (ROWS // 2)}
    pq.write_table(pa.table(columns), folder / "part")
    for number in range(PARTS):
        (folder / "t" / f"{number}.parquet").symlink_to(folder / "part")
    return ["t"]


def database(folder: Path) -> list[str]:
    duckdb = pytest.importorskip("duckdb")
    rows = "SELECT range % 100 AS age, 'F' AS sex, 'no' AS ill FROM range(10000000000)"
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.execute(f"CREATE VIEW t AS {rows}")
    return ["t.duckdb", "--table", "t"]


def wait_for(happened, seconds=60):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


@pytest.mark.parametrize("made", [compressed, parquet, database])
def test_an_interruption_while_records_are_read_keeps_and_names_the_charge(made, tmp_path):
    data = made(tmp_path)
    SCHEMA.save(tmp_path / "s.json")
    ledger = tmp_path / "l.jsonl"
    command = [sys.executable, "-m", "discreet.cli", "train", *data, "--schema", "s.json", "--epsilon", "1"]
    command += [
        "--out",
        "m.json",
        "--model",
        "naive-bayes",
        "--with",
        "select=none",
        "--ledger",
        ledger.name,
        "--limit",
        "2",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        try:
            wait_for(
                lambda: process.poll() is not None or (ledger.exists() and len(ledger.read_text().split("\n")) > 2)
            )
            time.sleep(0.3)  # it was charged: now it reads
            process.send_signal(signal.SIGINT)
            out, told = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 130, told
    assert out == ""
    (line,) = [each for each in told.splitlines() if "interrupted" in each]
    assert line == "interrupted; no model was written; ledger l.jsonl was charged 1 and keeps it (1 of 2 spent)"
    assert "Traceback" not in told
    assert not (tmp_path / "m.json").exists()
    charges = [json.loads(each) for each in ledger.read_text().splitlines()[1:]]
    assert len(charges) == 1
