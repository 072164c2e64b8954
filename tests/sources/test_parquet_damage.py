"""Parquet files with a damaged byte in their description: an error, or what pyarrow reads, and never the end of the
process, which pyarrow's own answers about columns would be."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.records.parquet_soundness import is_sound

ATTEMPTS = """
import io, sys
from fractions import Fraction
from pathlib import Path

from discreet import Categorical, NaiveBayes, Numeric, Schema, open_file
from discreet.errors import DiscreetError
from discreet.evaluation.splitting import _split_parquet
from discreet.privacy.randomness import as_rng
from discreet.records.parquet_runs import write_runs
from discreet.sources import kernels

path, loops, bit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
found = kernels.Kernels(kernels._add_numbers, kernels._add_places, write_runs) if loops == "loops" else None
kernels.kernels = lambda batches: found
schema = Schema([Numeric("age", -3, 3), Categorical("ward", ["u", "v", "w"])], "ill", ["a", "b"], records=120)
whole = path.read_bytes()
outcomes = {"fitted": 0, "refused": 0}
for place in range(len(whole) - 8 - int.from_bytes(whole[-8:-4], "little"), len(whole) - 8):
    path.write_bytes(bytes([*whole[:place], whole[place] ^ 1 << bit, *whole[place + 1 :]]))
    try:
        NaiveBayes(schema, epsilon=1).fit_from(open_file(path))
        outcomes["fitted"] += 1
    except DiscreetError:
        outcomes["refused"] += 1
    try:
        _split_parquet(path, Fraction(1, 2), [io.BytesIO(), io.BytesIO()], as_rng(1), lambda *_: None)
    except (DiscreetError, OSError):
        pass
print(outcomes)
"""


def write(path):
    """Two row groups; numbers as they are, texts with a dictionary, and sizes of levels, which pyarrow checks."""
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "age": pa.array(rng.normal(size=120).astype(np.float32)),
            "ward": pa.array(rng.choice(["u", "v", "w"], 120)),
            "ill": pa.array(rng.choice(["a", "b"], 120)),
        }
    )
    pq.write_table(table, path, row_group_size=60, use_dictionary=["ward", "ill"], compression="snappy")


@pytest.mark.parametrize(("loops", "bit"), [("loops", 0), ("loops", 5), ("numpy", 1)])
def test_no_damaged_byte_ends_the_process(tmp_path, loops, bit):
    """Of each byte of the description one bit is turned."""
    write(tmp_path / "t.parquet")
    command = [sys.executable, "-c", ATTEMPTS, str(tmp_path / "t.parquet"), loops, str(bit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "'fitted': 0" not in done.stdout
    assert "'refused': 0" not in done.stdout


def test_a_file_that_is_whole_is_sound_and_an_empty_one_too(tmp_path):
    write(tmp_path / "t.parquet")
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert is_sound(file.metadata, (tmp_path / "t.parquet").stat().st_size, ["age", "ward"], [0, 1])
    assert not is_sound(file.metadata, 100, ["age", "ward"], [0, 1])  # columns would lie behind the end of the file
    pq.write_table(file.read().slice(0, 0), tmp_path / "empty.parquet")
    file = pq.ParquetFile(tmp_path / "empty.parquet")
    assert is_sound(file.metadata, 100, ["age"], range(file.metadata.num_row_groups))
