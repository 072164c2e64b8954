"""How far long work is, and how long it will take; on a terminal only, and never in the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from discreet.cli.outputs import notes

Told = Callable[[str, int, int], None]
"""Is told what is being done, how many steps are done, and of how many."""


@contextmanager
def progress_bars() -> Iterator[Told]:
    """A bar for each piece of work, from when it is first heard of."""
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
