"""How far long work has come, shown on a terminal only; and what is said if it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from discreet.cli.outputs import advise, notes
from discreet.sources import Source
from discreet.sources.csv import CsvSource
from discreet.sources.parquet import ParquetSource

Told = Callable[[str, int, int], None]
"""Called with the name of the work, the number of steps that are done, and their total."""


@contextmanager
def progress_bars() -> Iterator[Told]:
    """Show one bar per piece of work, from the first call that names it."""
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
    )
    bars: dict[str, Any] = {}
    with progress.Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as shown:

        def told(work: str, done: int, of: int) -> None:
            if work not in bars:
                bars[work] = shown.add_task(work)
            shown.update(bars[work], completed=done, total=of)

        yield told


@contextmanager
def counting(source: Source, words: str = "counting, adding noise") -> Iterator[None]:
    """Show on the owner's terminal that records are read and, of files, what part: of their bytes or records."""
    with notes.status(words) as shown:
        if notes.is_terminal and isinstance(source, ParquetSource | CsvSource):
            source.told = lambda done, of: shown.update(f"{words}: {percent(done, of)}")
        yield


def percent(done: int, of: int) -> str:
    """A part in words: 100 % only if nothing is left.

    >>> percent(1, 3), percent(999, 1000), percent(5, 5), percent(0, 0)
    ('33 %', '99 %', '100 %', '100 %')
    """
    return f"{100 * done // of if of else 100} %"


@contextmanager
def resumable(place: Path) -> Iterator[None]:
    """Around work that keeps each run as it ends: an interruption says where the runs are and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        advise(f"interrupted; what was run is in {place}: the same command goes on from there")
        raise typer.Exit(130) from None
