"""Audit the collection of known lies, and write docs/audited.md from what was found.

Every recipe in `lies/` is attacked by the command `discreet audit`, with no pair of neighbours and no event picked by
hand. Others' libraries run in the environments of `environments.py`. Published algorithms as we reproduce them, and
mutants of ours, are attacked by the same audit from Python, in this process, up to the first finding.

    PYTHONPATH=src:tests python benchmarks/audits.py --minutes 1                 all, then writes the page
    PYTHONPATH=src:tests python benchmarks/audits.py --only diffprivlib          some; results of the others are kept
    PYTHONPATH=src:tests python benchmarks/audits.py --only mutant --stale       those without a result of this search
    PYTHONPATH=src:tests python benchmarks/audits.py --write                     the page alone, from kept results

Results are kept in results/audits.json, one entry per recipe, each with the version of the search: a hash of the
auditor's source. The exit status is not 0 if a lie that is known by hand was audited and not found.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import environments

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE / "lies"))
RESULTS = HERE / "results" / "audits.json"
PAGE = HERE.parent / "docs" / "audited.md"


def search() -> str:
    """The version of the search: a hash of the auditor's source."""
    whole = hashlib.sha256()
    for path in sorted((HERE.parent / "src" / "discreet" / "audit").rglob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:12]


SEARCH = search()
"""Of the source as it was when this process began."""


def mutants() -> dict[str, dict[str, Any]]:
    """Recipes of all mutants: each change on the models that it concerns."""
    from support.mutants import CASES

    found = {}
    for case in CASES:
        parameters = {"change": case.change, "model": case.model, "options": case.options, "epsilon": case.epsilon}
        about = {"title": f"{case.change} in {case.model}", "environment": "ours", "lie": case.words}
        found[f"mutant-{case.change}-{case.model}".replace(" ", "-")] = {
            "target": "support.mutants:Mutant",
            "parameters": parameters,
            "schema": case.schema.to_dict(),
            "form": "records",
            "claim": case.epsilon,
            "adjacency": case.adjacency,
            "about": about,
        }
    return found


def recipes() -> dict[str, dict[str, Any]]:
    """All recipes by name: those of the folder, then the mutants."""
    files = sorted((HERE / "lies").glob("*.json"))
    return {**{path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}, **mutants()}


def run(name: str, recipe: dict[str, Any], minutes: float, processes: int) -> dict[str, Any]:
    """Audit one recipe by the command line; the report with when it was made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.json"
        path.write_text(json.dumps(recipe), encoding="utf-8")
        command = [sys.executable, "-m", "discreet.cli", "audit", str(path), "--minutes", str(minutes), "--json"]
        command += ["--processes", str(processes)]
        command += ["--within"]  # libraries document that they refuse NaN
        command += ["--python", str(environments.create(recipe["about"]["environment"]))]
        found = os.pathsep.join([str(HERE / "lies"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
        began = time.monotonic()
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": found}, capture_output=True, text=True, check=False
        )
    if done.returncode not in (0, 1) or not done.stdout.strip():
        return {"error": (done.stderr or done.stdout).strip().splitlines()[-1], "date": today()}
    report = json.loads(done.stdout)
    for finding in report["findings"]:
        finding.pop("repeat", None)
    spent = round(time.monotonic() - began, 1)
    return {**report, "date": today(), "search": SEARCH, "whole seconds": spent, "minutes": minutes}


def run_here(name: str, recipe: dict[str, Any], minutes: float, runs: int) -> dict[str, Any]:
    """Audit what is ours in this process, up to the first finding; times are those of the processor. Our models must
    refuse no record, so that a refusal of a mutant counts."""
    from discreet import Schema
    from discreet.audit import audit

    schema = Schema.from_dict(recipe["schema"]).replace(adjacency=recipe["adjacency"])
    module, _, kind = recipe["target"].partition(":")
    made = getattr(importlib.import_module(module), kind)
    mutant = name.startswith("mutant")
    began = time.process_time()
    report = audit(
        lambda: made(schema, **recipe["parameters"]),
        recipe["claim"],
        adjacency=recipe["adjacency"],
        schema=schema,
        form=recipe.get("form"),
        strict=mutant,
        within=not mutant,
        first=True,
        most_runs=runs,
        minutes=minutes,
        seed=1,
    )
    spent = round(time.process_time() - began, 1)
    limits = {"most runs": runs, "minutes": minutes}
    return {**report.to_dict(), "date": today(), "search": SEARCH, "processor seconds": spent, **limits}


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def kept() -> dict[str, Any]:
    """The results of earlier runs."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}


def main() -> None:
    """Audit, keep, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--only", default="", help="audit the recipes whose names begin with this")
    parser.add_argument("--minutes", type=float, default=1.0, help="time for each audit")
    parser.add_argument("--runs", type=int, default=30_000, help="the most runs for each paper and mutant")
    parser.add_argument("--missed", action="store_true", help="only those that no kept result refutes")
    parser.add_argument("--stale", action="store_true", help="only those without a kept result of this search")
    parser.add_argument("--stop", type=float, default=600.0, help="minutes after which no further audit is begun")
    parser.add_argument("--processes", type=int, default=2, help="processes that run a target at once")
    parser.add_argument("--write", action="store_true", help="write the page from kept results, and audit nothing")
    options = parser.parse_args()
    chosen, end = recipes(), time.monotonic() + 60 * options.stop
    for name, recipe in chosen.items():
        if options.write or not name.startswith(options.only) or time.monotonic() > end:
            continue
        if options.missed and kept().get(name, {}).get("refuted"):
            continue
        if options.stale and kept().get(name, {}).get("search") == SEARCH:
            continue
        if recipe["about"]["environment"] == "ours":
            result = run_here(name, recipe, options.minutes, options.runs)
        else:
            result = run(name, recipe, options.minutes, options.processes)
        print(name, result.get("verdict", result.get("error")), flush=True)
        if "error" in result:
            continue  # what could not be audited says nothing
        RESULTS.write_text(json.dumps({**kept(), name: result}, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    import audits_page

    PAGE.write_text(audits_page.page(chosen, kept(), SEARCH), encoding="utf-8")
    missed = [name for name in chosen if is_known(chosen[name]) and not kept().get(name, {"refuted": True})["refuted"]]
    if missed:
        sys.exit(f"known lies that were audited and not found: {', '.join(missed)}")


def is_known(recipe: dict[str, Any]) -> bool:
    """Whether the loss that is known by hand is above the claim."""
    return float(recipe["about"].get("expected") or 0) > recipe["claim"]


if __name__ == "__main__":
    main()
