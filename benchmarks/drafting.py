"""Drafting a schema from a large CSV file beside DuckDB's own SUMMARIZE of it: time and peak memory.

Decides whether `discreet schema draft` survives a real file: at most 1.5 times as long as SUMMARIZE, and 1 GB.
`python benchmarks/drafting.py` made results/drafting.md; --megabytes and --rounds change its size.
Contestants take turns, each in a process of its own. Wall-clock time depends on what else the machine does; processor
time, which is shown too, depends on it far less. Compare the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "drafting.md"
HEAD = "patient_id,visited,age,weight,glucose,pressure,sex,ward,region,icd,note,dose,flag,batch,ill\n"
WORDS = np.array(["pain", "mild", "severe", "none", "chest", "left", "right", "knee", "back", "stable", "follow", "up"])
BARS = {"wall": 1.5, "memory": 1000.0}


def write(path: Path, megabytes: float) -> int:
    """A table of patients with every kind of column that a draft has to recognise; returns the number of records."""
    generator, done = np.random.default_rng(0), 0
    with path.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        while file.tell() < megabytes * 1e6:
            rows = 20_000
            columns = _columns(generator, done, rows)
            file.writelines(",".join(map(str, values)) + "\n" for values in zip(*columns, strict=True))
            done += rows
    return done


def _columns(generator: Any, start: int, rows: int) -> list[Any]:
    draw = generator.integers
    letters = [chr(65 + code) for code in draw(0, 26, rows)]
    return [
        [f"P{number:09d}" for number in range(start, start + rows)],
        [
            f"20{y:02d}-{m:02d}-{d:02d}"
            for y, m, d in zip(draw(10, 26, rows), draw(1, 13, rows), draw(1, 29, rows), strict=True)
        ],
        draw(18, 95, rows).tolist(),
        [f"{value:.1f}" for value in generator.normal(75, 12, rows)],
        [f"{value:.3f}" for value in generator.gamma(9, 0.6, rows)],
        draw(90, 190, rows).tolist(),
        generator.choice(["F", "M"], rows).tolist(),
        [f"ward {number}" for number in draw(0, 40, rows)],
        [f"region-{number}" for number in draw(0, 200, rows)],
        [f"{a}{b:02d}.{c}" for a, b, c in zip(letters, draw(0, 100, rows), draw(0, 10, rows), strict=True)],
        [" ".join(words) for words in WORDS[draw(0, len(WORDS), (rows, 5))]],
        [
            "" if gap else f"{value:.2f}"
            for gap, value in zip(draw(0, 3, rows) == 0, generator.random(rows), strict=True)
        ],
        draw(0, 2, rows).tolist(),
        ["A7"] * rows,
        generator.choice(["no", "yes"], rows).tolist(),
    ]


def summarize(path: str) -> Any:
    """DuckDB's own look at the file."""
    import duckdb

    return len(duckdb.connect().execute("SUMMARIZE SELECT * FROM read_csv(?)", [path]).fetchall())


def draft(path: str) -> Any:
    """Our draft."""
    from discreet.records.file_drafts import draft_file

    return {finding.column: finding.taken_for for finding in draft_file(path, "ill").findings}


CONTESTANTS = {"SUMMARIZE of DuckDB": summarize, "discreet schema draft": draft}


def measure(name: str, path: Path) -> dict[str, Any]:
    """Seconds on the clock, seconds of processors and peak memory in MB of one contestant, in a process of its own."""
    given = [sys.executable, __file__, "--contestant", name, "--file", str(path)]
    found: dict[str, Any] = json.loads(subprocess.run(given, check=True, capture_output=True, text=True).stdout)
    return found


def run_one(name: str, path: str) -> None:
    """What the process of a contestant does: run, and print what it took."""
    start = time.perf_counter()
    found = CONTESTANTS[name](path)
    wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    memory = used.ru_maxrss / 1024
    print(json.dumps({"wall": wall, "processor": used.ru_utime + used.ru_stime, "memory": memory, "found": found}))


def report(best: dict[str, dict[str, Any]], megabytes: float, records: int, rounds: int) -> str:
    """The table, the ratios and whether the bars are met."""
    theirs, ours = best.values()
    ratios = {kind: ours[kind] / theirs[kind] for kind in ("wall", "processor")}
    met = ratios["wall"] <= BARS["wall"] and ours["memory"] <= BARS["memory"]
    lines = [
        "# Drafting a schema from a large file",
        "",
        f"`python benchmarks/drafting.py --megabytes {megabytes:g} --rounds {rounds}`: {records:,} records.",
        f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end; the fastest of {rounds} runs of each.",
        "",
        "| | seconds | seconds of processors | peak memory, MB |",
        "|---|--:|--:|--:|",
        *(
            f"| {name} | {each['wall']:.1f} | {each['processor']:.1f} | {each['memory']:.0f} |"
            for name, each in best.items()
        ),
        f"| ratio | {ratios['wall']:.2f} | {ratios['processor']:.2f} | |",
        "",
        f"Bars: a ratio of at most {BARS['wall']} on the clock, and {BARS['memory']:.0f} MB. "
        + ("Both are met." if met else "Not both are met in this run."),
        "",
        "Taken for: " + ", ".join(f"{name} {kind}" for name, kind in ours["found"].items()) + ".",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Write the file, let the contestants take turns, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--contestant", choices=list(CONTESTANTS))
    parser.add_argument("--file")
    given = parser.parse_args()
    if given.contestant:
        run_one(given.contestant, given.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patients.csv"
        records = write(path, given.megabytes)
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTESTANTS}
        for _ in range(given.rounds):
            for name, done in runs.items():
                done.append(measure(name, path))
    best = {
        name: {**done[0], **{kind: min(each[kind] for each in done) for kind in ("wall", "processor", "memory")}}
        for name, done in runs.items()
    }
    text = report(best, given.megabytes, records, given.rounds)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
