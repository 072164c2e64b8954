"""The page docs/audited.md, from recipes and kept results; `audits.py` writes it."""

from __future__ import annotations

import math
from typing import Any

HEAD = """\
# What was audited, and what was found

Every line is one run of `discreet audit` on a recipe (for what is ours, of the same audit from Python, up to the first
finding): the target, its parameters, the exact claim and the adjacency. No pair of neighbours and no event was picked
by hand. A bound holds with confidence 0.999 for all that one audit found.
*Nothing found* is never *private*: it says what an attack of that length did not find. Times are those of a machine
with two cores; other work may have run on it. That a target refuses a table (an empty one, say) is no finding here.

The libraries below are good software whose authors document their assumptions; where an assumption is documented, it is
listed as a limit, and the recipe keeps to it. A finding says that the stated ε does not hold as stated, for the version
and the parameters given, and how to see it oneself.

Made by `PYTHONPATH=src:tests python benchmarks/audits.py`; the reports are in `benchmarks/results/audits.json`.
*Known* is the loss that was shown or computed by hand, where it is known (∞: something is published without noise).
To repeat one: `discreet audit benchmarks/lies/NAME.json --minutes 1.5 --python ENVIRONMENT/bin/python`, with
`PYTHONPATH=benchmarks/lies`; `python benchmarks/environments.py` makes the environments.
"""
PARTS = {
    "Libraries": ("diffprivlib", "interpret"),
    "Published algorithms, as published": ("paper",),
    "Mutants of ours": ("mutant",),
}
WORDS = {
    "Libraries": "",
    "Published algorithms, as published": (
        "`discreet.research.papers` reproduces these; each says itself that its authors' claim does not hold, and "
        "charges infinity.\n\n"
    ),
    "Mutants of ours": (
        "Changes that break our own guarantee, with our own checks of prices and limits switched off: the audit has to "
        "notice from outside. `tests/support/mutants.py` makes them; the replay of the tests, which sees what enters "
        "the noise, catches all of them but those of files, of a count for free, of a share "
        "used twice and of trees as if dealt, on which it was not tried. They are audited with `--strict`, as our "
        "models must refuse no record, up to the first finding; seconds are those of the processor. Rounds of a choice "
        "at the price of all are a small part of what naive Bayes spends: its loss is 2.4 where 2 is claimed, and no "
        "event of so many runs shows more than 2; the selector alone, with the same change, is caught.\n\n"
    ),
}


def page(recipes: dict[str, dict[str, Any]], results: dict[str, Any], search: str) -> str:
    """The whole page; `search` is the version of the auditor's source today."""
    parts = [HEAD, _versions(recipes, results, search)]
    for title, prefixes in PARTS.items():
        names = [name for name in recipes if name.startswith(prefixes)]
        done = [name for name in names if name in results]
        table = _mutants if title.startswith("Mutants") else _lies
        parts.append(f"## {title}\n\n{WORDS[title]}{table(done, recipes, results)}")
        if len(done) < len(names):
            left = ", ".join(_left(name, recipes[name]) for name in sorted(set(names) - set(done)))
            parts.append(f"No result is kept of these, so nothing is said here about what an audit finds: {left}.\n")
    return "\n".join(parts)


def _versions(recipes: dict[str, dict[str, Any]], results: dict[str, Any], search: str) -> str:
    """Which results are of the search of today, and which are older."""
    known = [name for name in recipes if name in results]
    older = [name for name in known if results[name].get("search") != search]
    words = (
        f"The column *search* is the version of the search: a hash of the auditor's source, `{search}` today. "
        f"{len(known) - len(older)} of {len(known)} rows are of it"
    )
    if not older:
        return f"{words}.\n"
    return f"{words}; the others are older, those without a version oldest: today's may find more or less.\n"


def _search(result: dict[str, Any]) -> str:
    return str(result.get("search", "–"))[:6]


def _left(name: str, recipe: dict[str, Any]) -> str:
    """What was not audited; of what is not ours to change, with what is known of it."""
    return name if name.startswith("mutant") else f"{name} (known: {recipe['about']['lie']})"


def _lies(names: list[str], recipes: dict[str, dict[str, Any]], results: dict[str, Any]) -> str:
    """What is claimed and found, a paragraph per recipe, after a table."""
    lines = [
        "| recipe | version | claim | neighbours | found | known | seconds | date | search |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    told = []
    for name in names:
        about, result = recipes[name]["about"], results[name]
        version = f"{about['package']} {about['version']}"
        row = (name, version, _claim(recipes[name]), recipes[name]["adjacency"], _found(result))
        row += (_known(about["expected"]), _seconds(result))
        lines.append(f"| {' | '.join(row)} | {result['date']} | {_search(result)} |")
        told.append(_paragraph(name, about, result))
    return "\n".join(lines) + "\n\n" + "\n".join(told)


def _paragraph(name: str, about: dict[str, Any], result: dict[str, Any]) -> str:
    lines = [
        f"**{name}**: {about['title']}.",
        f"- Claim: {about['claim']}.",
        f"- Documented limits: {about['limits']}.",
    ]
    lines.append(f"- What is known: {about['lie']}.")
    if about.get("note"):
        lines.append(f"- Note: {about['note']}.")
    shown: dict[str, dict[str, Any]] = {}
    for finding in result.get("findings", []):
        shown.setdefault(finding["stage"], finding)
    for finding in shown.values():
        pair = finding["pair"]
        where = f" ({pair['words']}{'' if pair['within'] else '; outside the schema'})" if pair else ""
        loss = "" if finding["stage"] == "ledger" else f", ε ≥ {_floored(finding['epsilon'])}"
        lines.append(f"- Found by *{finding['stage']}*{loss}: {finding['event']}{where}.")
    if not shown:
        lines.append(f"- {_found(result)[0].upper()}{_found(result)[1:]}.")
    return "\n".join(lines) + "\n"


def _mutants(names: list[str], recipes: dict[str, dict[str, Any]], results: dict[str, Any]) -> str:
    """A line per mutant, with the time until it was caught."""
    lines = [
        "| change | model | claim | neighbours | found | by | runs | seconds to detection | date | search |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    caught: dict[str, list[bool]] = {}
    for name in names:
        recipe, result = recipes[name], results[name]
        given = recipe["parameters"]
        caught.setdefault(given["change"], []).append(bool(result.get("refuted")))
        stage, seconds = _detection(result)
        row = (recipe["about"]["lie"], given["model"], _claim(recipe), recipe["adjacency"], _found(result), stage)
        lines.append(f"| {' | '.join(row)} | {result['runs']} | {seconds} | {result['date']} | {_search(result)} |")
    both = f"{sum(map(sum, caught.values()))} of {len(names)} pairs of a change and a model"
    changes = f"{sum(map(any, caught.values()))} of {len(caught)} changes"
    return "\n".join(lines) + f"\n\nCaught: {changes} on one model at least, and {both}, of those with a result.\n"


def _detection(result: dict[str, Any]) -> tuple[str, str]:
    """The first stage that found something, and the seconds of the processor until it ended."""
    for stage in result.get("stages", []):
        if stage["findings"]:
            return stage["name"], f"{result['processor seconds']:.0f}"
    return "–", "–"


def _claim(recipe: dict[str, Any]) -> str:
    return f"ε = {recipe['claim']:g}" + (f", δ = {recipe['delta']:g}" if recipe.get("delta") else "")


def _found(result: dict[str, Any]) -> str:
    if "error" in result:
        return f"not audited: {result['error']}"
    if not result["refuted"]:
        return f"tried with {result['runs']} runs, nothing found"
    if "more than one fit" in result["verdict"]:
        return "the account forgets"
    how = ", by refusing a table" if "by refusing" in result["verdict"] else ""
    return f"ε ≥ {_floored(result['epsilon'])}{how}"


def _floored(epsilon: float | str) -> str:
    return "∞" if epsilon == "inf" else f"{math.floor(float(epsilon) * 100) / 100:.2f}"


def _known(expected: float | str | None) -> str:
    """The loss that was shown or computed by hand; ∞ if something is published without noise."""
    return "–" if expected is None else "∞" if expected == "inf" else f"{float(expected):.2f}"


def _seconds(result: dict[str, Any]) -> str:
    return f"{result.get('processor seconds', result['seconds']):.0f}"
