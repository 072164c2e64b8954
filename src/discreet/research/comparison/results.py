"""The file of runs: each run adds its row as it ends, so nothing is lost when a comparison is stopped or killed."""

from __future__ import annotations

import csv
import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from discreet.errors import FileError, MissingExtra
from discreet.research.comparison.grid import Run
from discreet.storage.locking import lock_module


class Measured(NamedTuple):
    """The measurements of one run."""

    accuracy: float
    fit_seconds: float
    predict_seconds: float
    balanced_accuracy: float | None = None
    """Mean over the classes in the test of the fraction that is found; None in files of earlier versions."""
    rarest_recall: float | None = None
    """The fraction of the rarest class that is found; None if the test has none of it."""


class Content(NamedTuple):
    """The version and the data that made a run: if either differs, the run has to be repeated."""

    version: str
    data_hash: str


COLUMNS = (*Run._fields, *Content._fields, *Measured._fields)
EARLIER = COLUMNS[:-2]
"""The columns of files of earlier versions, which have the accuracy alone; new rows give such a file all columns."""
_INTEGERS = {"folds", "seed", "repeat", "fold"}

Rows = dict[tuple[Run, Content], Measured]


class ResultsFile:
    """A growing CSV file of runs; settings, version and data identify a row.

    If a comparison was killed while it wrote, the incomplete last line does not count and is cut off before the next
    row is added. A file with any other unreadable line is refused and left unchanged.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def read(self) -> Rows:
        """All rows, including those of other versions and other data; empty if there is no file yet."""
        try:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        except (OSError, UnicodeDecodeError):
            raise FileError(f"cannot read {self.path} as text; name another file for the results") from None
        whole, newline, _ = text.rpartition("\n")
        lines = list(csv.reader(io.StringIO(whole + newline)))
        if not lines:
            if text and not ",".join(COLUMNS).startswith(text):
                raise self._strange()
            return {}
        if tuple(lines[0]) not in (COLUMNS, EARLIER):
            raise self._strange()
        rows: Rows = {}
        for number, line in enumerate(lines[1:], 2):
            try:
                key, measured = _parsed(line, lines[0])
            except ValueError:
                raise FileError(
                    f"{self.path}: line {number} is not a valid run; correct the line or delete it"
                ) from None
            rows[key] = measured
        return rows

    def _strange(self) -> FileError:
        return FileError(
            f"{self.path} is not a file of runs, or it has another version: its first line must be "
            f"{','.join(COLUMNS)}; name another file, this one was not changed"
        )

    @contextmanager
    def appending(self) -> Iterator[_Appender]:
        """Open the file to add rows; a second comparison that wants to write is refused. The folder is created."""
        locks = lock_module(self.path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+", encoding="utf-8", newline="") as file:
                try:
                    locks.flock(file, locks.LOCK_EX | locks.LOCK_NB)
                except OSError:
                    raise FileError(f"{self.path} is in use by another comparison; wait for it") from None
                self.read()  # raises if the file is unreadable
                _cut(file)
                _widen(file)
                appender = _Appender(file)
                yield appender
                appender.wait_for_disk()
        except OSError as error:
            raise FileError(f"cannot write {self.path}: {error.strerror}; check the path and the free space") from None

    def write_parquet(self, path: str | Path) -> None:
        """The same rows as a Parquet file, each column with its type."""
        try:
            import duckdb
        except ImportError:
            raise MissingExtra("duckdb") from None
        kinds = {name: "INTEGER" if name in _INTEGERS else "VARCHAR" for name in (*Run._fields, *Content._fields)}
        kinds |= dict.fromkeys(Measured._fields, "DOUBLE")
        with TemporaryDirectory(dir=Path(path).parent) as folder, duckdb.connect() as connection:
            whole = Path(folder) / "runs.parquet"
            with self.path.open(encoding="utf-8") as file:
                own = {*file.readline().rstrip("\n").split(",")}
            kinds = {name: kind for name, kind in kinds.items() if name in own}
            rows = connection.read_csv(str(self.path), header=True, dtype=kinds)
            rows.write_parquet(str(whole))
            whole.replace(path)


class _Appender:
    """Hands each row to the operating system at once, so that it survives the end of the process.

    It waits for the disk once a second and at the end, because that takes longer than many runs.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._safe_at = time.monotonic()

    def add(self, run: Run, content: Content, measured: Measured) -> None:
        """Write one row, with all digits of what was scored."""
        times = f"{measured.fit_seconds:.6f}", f"{measured.predict_seconds:.6f}"
        more = ["" if each is None else repr(each) for each in (measured.balanced_accuracy, measured.rarest_recall)]
        row = [*run, *content, repr(measured.accuracy), *times, *more]
        csv.writer(self._file, lineterminator="\n").writerow(row)
        self._file.flush()
        if time.monotonic() - self._safe_at > 1:
            self.wait_for_disk()

    def wait_for_disk(self) -> None:
        """Return when all rows are on the disk."""
        os.fsync(self._file.fileno())
        self._safe_at = time.monotonic()


def _cut(file: IO[str]) -> None:
    """Cut off an incomplete last line; write the header if nothing is left."""
    file.seek(0)
    whole, newline, _ = file.read().rpartition("\n")
    kept = len((whole + newline).encode())
    file.seek(0)
    file.truncate(kept)
    file.seek(0, os.SEEK_END)
    if kept == 0:
        file.write(",".join(COLUMNS) + "\n")
        file.flush()


def _widen(file: IO[str]) -> None:
    """Give a file of an earlier version all columns."""
    file.seek(0)
    first, *rows = file.read().splitlines()
    if first == ",".join(EARLIER):
        wide = [",".join(COLUMNS), *(f"{row},," for row in rows)]
        file.seek(0)
        file.truncate()
        file.write("\n".join(wide) + "\n")
        file.flush()
    file.seek(0, os.SEEK_END)


def _parsed(line: list[str], names: list[str]) -> tuple[tuple[Run, Content], Measured]:
    fields = dict(zip(names, line, strict=True))
    run = Run(*(int(fields[name]) if name in _INTEGERS else fields[name] for name in Run._fields))  # type: ignore[arg-type]
    accuracy, *times = (float(fields[name]) for name in ("accuracy", "fit_seconds", "predict_seconds"))
    more = [fields.get(name, "") for name in ("balanced_accuracy", "rarest_recall")]
    measured = Measured(accuracy, *times, *(float(each) if each else None for each in more))
    if not 0 <= measured.accuracy <= 1:
        raise ValueError("an accuracy is a number from 0 to 1")
    return (run, Content(fields["version"], fields["data_hash"])), measured
