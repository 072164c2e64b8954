"""Executors are killed in the midst of a pass: it is computed again exactly, or the fit fails closed."""

import os
import signal
import time

import numpy as np
import pyarrow as pa
import pytest

from discreet import Ledger, NaiveBayes
from discreet.errors import FileError
from discreet.sources.fingerprints import Fingerprinted
from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support import spark
from support.agreement import Recounted
from support.spark_clinic import CELLS, SCHEMA, table


@pytest.fixture(scope="module")
def cluster(workers_python):
    """Two executors in processes of their own, which can be killed one by one."""
    with spark.classic("local-cluster[2,1,1024]") as started:
        yield started


def killing(marks, times):
    """A function for mapInArrow that passes batches on, and kills its executor in the midst of some partitions."""

    def passed_on(batches):
        import os
        import signal
        import time
        from pathlib import Path

        for place, batch in enumerate(batches):
            yield batch
            taken = len(list(Path(marks).iterdir()))
            if place == 1 and taken < times:
                (Path(marks) / str(os.getpid())).touch()
                daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
                executor = int(daemon.rpartition(")")[2].split()[1])
                os.kill(executor, signal.SIGKILL)
                time.sleep(30)

    return passed_on


def failing_frame(session, marks, times):
    """The table, whose computation kills executors this many times."""
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
    data = session.createDataFrame(table()).repartition(3)
    return data.mapInArrow(killing(str(marks), times), data.schema)


def test_a_killed_executor_changes_no_count(cluster, tmp_path):
    source = SparkSource(failing_frame(cluster, tmp_path, times=1))
    source.check(SCHEMA)
    counted = source.count(CELLS, SCHEMA).counts
    assert len(list(tmp_path.iterdir())) == 1
    expected = MemorySource(table()).count(CELLS, SCHEMA).counts
    for each in CELLS:
        np.testing.assert_array_equal(counted[each], expected[each])


def test_a_killed_executor_changes_no_sum_nor_what_is_kept(cluster, tmp_path):
    """One executor dies while codes are made and kept, another between two passes over them."""
    task = Fingerprinted(Recounted(tuple(CELLS), SCHEMA))
    expected = MemorySource(table()).fold(CELLS, SCHEMA, task)
    source = SparkSource(failing_frame(cluster, tmp_path, times=1))
    source.check(SCHEMA)
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)
    assert len(list(tmp_path.iterdir())) == 1
    kill_an_executor(cluster)
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)
    counted = source.count(CELLS, SCHEMA).counts
    assert [int(counted[each].sum()) for each in CELLS] == [int((expected_labels() < 2).sum())] * 2
    source.close()
    np.testing.assert_array_equal(source.fold(CELLS, SCHEMA, task), expected)


def expected_labels():
    return np.array([{"no": 0, "yes": 1}.get(label, 2) for label in table()["y"].to_pylist()])


def kill_an_executor(session):
    def parent(batches):
        import os
        from pathlib import Path

        for _ in batches:
            pass
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="utf-8")
        yield pa.RecordBatch.from_pydict({"pid": [int(daemon.rpartition(")")[2].split()[1])]})

    (row,) = session.range(0, 1, 1, 1).mapInArrow(parent, "pid long").collect()
    os.kill(row.pid, signal.SIGKILL)
    time.sleep(1)


def test_executors_that_always_die_end_the_fit(cluster, tmp_path):
    """It fails closed: charged, and without a word about the cause."""
    ledger = Ledger(2)
    source = SparkSource(failing_frame(cluster, tmp_path, times=100))
    with pytest.raises(FileError, match="could not be read by Spark to its end") as caught:
        NaiveBayes(SCHEMA, epsilon=1, random_state=0).fit_from(source, ledger=ledger)
    assert ledger.spent > 0
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
