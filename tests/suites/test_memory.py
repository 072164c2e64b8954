"""Commands on tables of any size need the memory of a few blocks: what they hold does not grow with the records."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Categorical, NaiveBayes, Numeric, Schema

SCHEMA = Schema(
    [*(Numeric(f"x{place}", 0, 1, grid=1000) for place in range(9)), Categorical("c", ["a", "b"])],
    "y",
    ["no", "yes"],
    adjacency="replace-one",
)
FEW, MANY = 500_000, 3_000_000
GROWTH = 150
"""Megabytes by which the peak may grow from FEW to MANY records; as doubles, those between them are 200."""
PEAK = """
import resource, sys
from discreet.cli.application import app
try:
    app(sys.argv[1:])
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def write(path, rows):
    rng, writer = np.random.default_rng(0), None
    for _ in range(0, rows, FEW // 2):
        table = pa.table(
            {f"x{place}": rng.random(FEW // 2) for place in range(9)}
            | {name: rng.choice(texts, FEW // 2) for name, texts in (("c", ["a", "b"]), ("y", ["no", "yes"]))}
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("large")
    write(path / "many.parquet", MANY)
    NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit(write(path / "few.parquet", FEW)).save(path / "m.json")
    SCHEMA.save(path / "s.json")
    return path


def peak(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return int(done.stderr.split()[-1])


COMMANDS = {
    "predict to Parquet": ["predict", "m.json", "DATA", "--out", "p.parquet", "--proba", "--force"],
    "predict to CSV": ["predict", "m.json", "DATA", "--out", "p.csv", "--keep", "x1", "--force"],
    "score": ["score", "m.json", "DATA", "--epsilon", "1"],
    "perturb": ["perturb", "DATA", "--schema", "s.json", "--epsilon", "9", "--seed", "1", "--out", "q.csv", "--force"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_memory_does_not_grow_with_the_records(command, folder):
    few, many = (
        peak(folder, *(name if word == "DATA" else word for word in COMMANDS[command]))
        for name in ("few.parquet", "many.parquet")
    )
    assert many < few + GROWTH, (few, many)
