"""A table of Spark: records are coded and added up where they are, and nothing but sums of integers comes back."""

from __future__ import annotations

import contextlib
import uuid
import warnings
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, FileError, MissingExtra, ParameterError
from discreet.records.encoding import Cells
from discreet.records.tables import check_names
from discreet.records.values import Columns
from discreet.schema import Schema
from discreet.sources import Task
from discreet.sources.exact import ExactRows, ExactStatistics
from discreet.sources.spark_package import zipped_package
from discreet.sources.spark_sql import Selected, refuse_dates, select_codes
from discreet.sources.spark_values import expression, structure_of, value_blocks
from discreet.sources.spark_workers import (
    ANSWER,
    Adding,
    Coding,
    Counting,
    Folding,
    Layout,
    Tables,
    Trying,
    added,
    stored_rows,
)

Result = TypeVar("Result")

LONG = 1 << 16
"""Answers of more bytes than this are added up by workers first, so that many partitions do not fill the memory of the
driver; a second stage takes a fraction of a second."""
ADDERS = 8
"""Number of partitions in which long answers are added up."""
COLUMN = f"{ANSWER} binary"
GONE = "Spark does not answer, or its session was stopped; start a session, and check its address and its workers"


class SparkSource:
    """A DataFrame of Spark, or a table that a session knows, on a classic session or through Spark Connect.

    Guarantee  sums of integers over all records (counts, and what a task adds up) leave the cluster, and nothing else
               about a record, unless `stream` is set; they are exact, and as private as any exact answer. A lost
               executor or a repeated attempt of a task changes no sum.
    Proof      records are coded by SQL or by records/encoding.py in Python workers (spark_sql.py, spark_workers.py);
               each partition gives one array of integers. Spark takes the result of one attempt of each partition, and
               computes a partition that was lost again from its input. Integers add exactly and in any order, so the
               result depends on the records in the partitions alone, not on their order.
    Rests on   a DataFrame that gives the same records whenever a partition is computed again. A plan with `rand()` or
               another expression that Spark knows to be nondeterministic is refused (on a classic session; Connect does
               not say). Files must not be rewritten, and a table read by JDBC must not change, while a fit runs; tables
               with snapshots (Delta, Iceberg) are read in one version. The record that is protected is a row of this
               DataFrame: if a join, `sample` or `limit` in its plan lets one person change several rows, the guarantee
               is for each of these rows by itself.
    Test       tests/engines/test_spark_sessions.py, tests/engines/test_spark_values.py,
               tests/engines/test_spark_lost_executors.py

    Workers need Python, numpy and pyarrow, as for all Arrow functions of Spark; this package is sent to them as one
    file and imported from it. (Functions cannot be sent by themselves: what they refer to has locks and caches.) Codes
    for `fold` are kept in the executors' memory or local disks (`persist`) between passes, until the fit ends or the
    source is no longer used. What Spark itself logs is up to the owner of the session: its messages may quote values.

    Parameters
    ----------
    data : a DataFrame of Spark, or a session that has `table`.
    table : the name of a table or view, with its catalog and schema if needed ("registry.patients").
    stream : whether codes of records may travel to this process: for a forest of several greedy trees, for a perturbed
        table, and for speed, if they fit into memory.
    cache : whether codes are kept between passes.

    Examples
    --------
    >>> source = SparkSource(session, table="registry.patients")  # doctest: +SKIP
    >>> NaiveBayes(schema, epsilon=1).fit_from(source)  # doctest: +SKIP
    """

    def __init__(self, data: Any, *, table: str | None = None, stream: bool = False, cache: bool = True) -> None:
        self._data, self._table, self._stream, self._cache = data, table, stream, cache
        self._opened: tuple[Any, dict[str, str]] | None = None
        self._tried = False
        self._kept: tuple[Selected, Any] | None = None
        self._release: Callable[[], None] = lambda: None

    def __repr__(self) -> str:
        return "SparkSource(values hidden)"

    def __enter__(self) -> SparkSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drop the codes that are kept in the cluster. The session is not stopped."""
        self._kept = None
        self._release()

    def finish(self) -> None:
        """A fit has ended: nothing is kept for another one."""
        self.close()

    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._open()[1])

    def check(self, schema: Schema) -> None:
        """Check names and types of the columns, and that workers can run this package; no value is looked at."""
        frame, types = self._open()
        check_names(list(types), [*schema.names, schema.target], schema)
        refuse_dates(schema, types)
        if _is_stopped(frame.sparkSession):
            raise FileError(GONE)
        if not self._tried:
            self._try(frame.sparkSession, self._selected([], schema).layout)
            self._tried = True

    def try_task(self, task: Task) -> None:
        """See that a worker has the packages that a task needs."""
        self._try(self._open()[0].sparkSession, task, "a package of discreet's own, such as scikit-learn or narwhals")

    def count(self, cells: Sequence[Cells], schema: Schema) -> ExactStatistics:
        """Count in the workers; only counts come back."""
        tables = Tables(schema, tuple(cells))
        if self._keeps(cells, schema):
            return tables.statistics(self._folded(cells, schema, tables))
        selected = self._selected(cells, schema)
        counts = _quietly(lambda: self._sum(_mapped(self._coded(selected), Counting(selected.layout)), tables.size))
        return tables.statistics(counts)

    def fold(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        """Run the task on coded blocks in the workers; only its sums come back."""
        return self._folded(cells, schema, task)

    @property
    def sums_only(self) -> bool:
        """Whether records stay in Spark."""
        return not self._stream

    def check_rows(self) -> None:
        """Raise ParameterError unless codes of records may travel: asked before the charge by models that need them."""
        if not self._stream:
            raise ParameterError(
                "this needs codes or values of single records, which stay in Spark; let them travel to this process "
                "(stream=True, --stream), or train any model but a forest of several greedy trees"
            )

    def rows(self, cells: Sequence[Cells], schema: Schema) -> Iterator[ExactRows]:
        """The codes of the records, batch by batch, as few bytes each as will do; only with `stream`."""
        self.check_rows()
        selected = self._selected(cells, schema)
        stored = _quietly(lambda: iter(_mapped(self._coded(selected), Coding(selected.layout)).toLocalIterator()))
        while (row := _quietly(lambda: next(stored, None))) is not None:
            yield stored_rows(row[0], selected.layout)

    def structure(self) -> Columns:
        """The columns without a record."""
        return structure_of(self._open()[1])

    def values(self, names: Sequence[str], numbers: Collection[str] = ()) -> Iterator[Columns]:
        """The values of some columns, block by block, in any order; only with `stream`."""
        self.check_rows()
        frame, types = self._open()
        places = {name: f"c{place}" for place, name in enumerate(types)}
        wanted = [f"{expression(places[name], types[name])} AS v{at}" for at, name in enumerate(names)]
        stored = _quietly(lambda: iter(frame.selectExpr(*wanted).toLocalIterator()))
        return value_blocks(iter(lambda: _quietly(lambda: next(stored, None)), None), names, types)

    def _open(self) -> tuple[Any, dict[str, str]]:
        """The DataFrame with columns c0, c1, ..., and the types of the columns by their names; opened once."""
        if self._opened is None:
            frame = _opened(self._data, self._table)
            fields = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
            names = [name for name, _ in fields]
            if len({*names}) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise DataError(f"the data frame has two columns named {twice!r}; rename or drop one")
            _refuse_chance(frame)
            # by position: names may hold dots and quotes, and Spark does not tell upper from lower case
            self._opened = frame.toDF(*(f"c{place}" for place in range(len(names)))), dict(fields)
        return self._opened

    def _try(self, session: Any, sent: Layout | Task, lacking: str = "numpy or pyarrow") -> None:
        """Send the package to the workers, and see that one of them can use it: before anything is charged."""
        try:
            with _tagged(session), _without_warnings():
                _send_package(session)
                _mapped(session.range(0, 1, 1, 1), Trying(sent)).collect()
            return
        except Exception as error:
            message = _unusable(error, lacking)
        raise FileError(message)

    def _selected(self, cells: Sequence[Cells], schema: Schema) -> Selected:
        types = self._open()[1]
        return select_codes(cells, schema, types, {name: f"c{place}" for place, name in enumerate(types)})

    def _coded(self, selected: Selected) -> Any:
        return self._open()[0].selectExpr(*selected.expressions)

    def _keeps(self, cells: Sequence[Cells], schema: Schema) -> bool:
        if self._kept is None:
            return False
        layout = self._kept[0].layout
        return layout.schema == schema and {*cells} <= {*layout.cells}

    def _stored(self, cells: Sequence[Cells], schema: Schema) -> tuple[Selected, Any]:
        """Blocks of codes, kept in the cluster if the source may; those of other cells are dropped."""
        if self._kept is not None and self._keeps(cells, schema):
            return self._kept
        selected = self._selected(cells, schema)
        stored = _mapped(self._coded(selected), Coding(selected.layout))
        if self._cache:
            self.close()
            stored = stored.persist()
            self._kept = selected, stored
            self._release = weakref.finalize(self, _unpersist, stored)
        return selected, stored

    def _folded(self, cells: Sequence[Cells], schema: Schema, task: Task) -> NDArray[np.int64]:
        def folded() -> NDArray[np.int64]:
            selected, stored = self._stored(cells, schema)
            return self._sum(_mapped(stored, Folding(selected.layout, tuple(cells), task)), task.size)

        return _quietly(folded)

    def _sum(self, answers: Any, size: int) -> NDArray[np.int64]:
        """The sum of the answers of all partitions."""
        if 8 * size > LONG:
            answers = _mapped(answers.repartition(ADDERS), Adding(size))
        with _tagged(answers.sparkSession), _without_warnings():
            return added((row[0] for row in answers.collect()), size)


def _opened(data: Any, table: str | None) -> Any:
    """The DataFrame itself, or the table that the session knows; its types are known then."""
    try:
        from pyspark.errors import AnalysisException
    except ImportError:
        raise MissingExtra("spark") from None
    if hasattr(data, "mapInArrow") == (table is not None):
        raise ParameterError("need a DataFrame of Spark without `table`, or a session with table=NAME")
    try:
        with _without_warnings():
            frame = data if table is None else data.table(table)
            _ = frame.schema
        return frame
    except AnalysisException:
        message = (
            "the data frame refers to something that the session does not know; make it again"
            if table is None
            else f"table {table!r} is not a table or view that the session knows; need a name that SHOW TABLES lists, "
            "with its schema in front, or parquet.`/path/of/a/folder`"
        )
    except Exception as error:
        message = _unusable(error)
    raise FileError(message)


def _refuse_chance(frame: Any) -> None:
    """Raise DataError if Spark says that the plan of a DataFrame is nondeterministic; Connect does not say."""
    plan = getattr(frame, "_jdf", None)
    if plan is not None and not _quietly(lambda: plan.queryExecution().analyzed().deterministic(), GONE):
        raise DataError(
            "the data frame is computed by chance (rand, uuid, ...), and a lost executor would change its records; "
            "write it to a table first, and train on that"
        )


_SENT: set[str] = set()
"""The sessions that have the package."""


def _send_package(session: Any) -> None:
    """Send this package to the workers of a session, once: it stays there as long as the session."""
    context = getattr(session, "_sc", None)  # None for Connect, where it cannot be asked for
    name = session.session_id if context is None else context.applicationId
    if name not in _SENT:
        session.addArtifacts(str(zipped_package()), pyfile=True)
        _SENT.add(name)


def _is_stopped(session: Any) -> bool:
    context = getattr(session, "_sc", None)
    return bool(session.is_stopped if context is None else context._jsc is None)


def _mapped(frame: Any, work: Callable[[Any], Iterator[Any]]) -> Any:
    """The answers of workers that do this work; it is sent by its name, and found there in the package."""

    def answers(batches: Any) -> Any:
        return work(batches)

    with _without_warnings():
        return frame.mapInArrow(answers, COLUMN)


@contextlib.contextmanager
def _tagged(session: Any) -> Iterator[None]:
    """What runs inside is cancelled in the cluster when the user interrupts it."""
    tag = f"discreet-{uuid.uuid4()}"
    session.addTag(tag)
    try:
        yield
    except KeyboardInterrupt:
        with contextlib.suppress(Exception):
            session.interruptTag(tag)
        raise
    finally:
        with contextlib.suppress(Exception):
            session.removeTag(tag)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Without remarks of Spark on versions of other packages."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _unpersist(stored: Any) -> None:
    with contextlib.suppress(Exception):
        stored.unpersist()


def _unusable(error: Exception, lacking: str = "numpy or pyarrow") -> str:
    """What to say if Spark cannot do anything. Its own message is not passed on."""
    text = str(error)
    if "PYTHON_VERSION_MISMATCH" in text:
        return "the workers of Spark run another version of Python; set PYSPARK_PYTHON to one like that of this process"
    if "ModuleNotFoundError" in text or "ImportError" in text:
        return f"the workers of Spark lack {lacking}; install it, or set PYSPARK_PYTHON to a Python that has it"
    return GONE


UNREAD = "the table could not be read by Spark to its end; check its session, its workers and their memory"


def _quietly(run: Callable[[], Result], message: str = UNREAD) -> Result:
    """Run something in Spark. Its messages are not passed on: they may quote a row."""
    try:
        return run()
    except Exception:
        pass
    raise FileError(message)
