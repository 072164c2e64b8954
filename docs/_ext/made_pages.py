"""Pages that are made, not written: the help of every command, the committed results, the changelog, the names.

They are written to docs/_made before the build reads its sources, so they cannot fall behind the code. Links from
pages to committed results lead to their pages here, and guides end with their transcripts.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parents[1]
ROOT = HERE.parent
RESULTS = ROOT / "benchmarks" / "results"
MADE = HERE / "_made"
WIDTH = 100


def commands() -> Iterator[tuple[str, str]]:
    """Every command and its help, as the terminal prints it."""
    os.environ["TERM"] = "dumb"
    import typer

    from discreet.cli.application import app

    root = typer.main.get_command(app)

    def walk(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
        context = click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH)
        yield context.command_path, command.get_help(context)
        for inner, below in getattr(command, "commands", {}).items():
            if not below.hidden:
                yield from walk(below, inner, context)

    return walk(root, "discreet", None)


def commands_page() -> str:
    """One section per command: what `--help` says."""
    parts = [
        "# Command line\n",
        "Made from the help of the commands. Exit status: 0 done, 1 a refutation by `audit` or a defect, "
        "2 a mistake (one line with the remedy; nothing was charged), 130 interrupted.\n",
    ]
    for name, text in commands():
        depth = "#" * min(len(name.split()) + 1, 4)
        parts.append(f"{depth} {name}\n\n```text\n{_plain(text).rstrip()}\n```\n")
    return "\n".join(parts)


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def copy_results() -> None:
    """The committed results of benchmarks, with their pictures, and a page that lists them."""
    for path in sorted(RESULTS.rglob("*")):
        if path.suffix in {".md", ".png", ".svg", ".csv"}:
            there = MADE / "benchmarks" / path.relative_to(RESULTS)
            there.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                there.write_text(_for_the_site(path.read_text(encoding="utf-8"), path), encoding="utf-8")
            else:
                shutil.copyfile(path, there)


def _for_the_site(text: str, path: Path) -> str:
    """Named places become targets of links, links to files that have no page their names, and no level is skipped."""

    def replaced(found: re.Match[str]) -> str:
        target = found[2].split("#")[0]
        inside = (path.parent / target).resolve()
        has_page = inside.suffix in {".md", ".png", ".svg"} and inside.is_relative_to(RESULTS) and inside.exists()
        return found[0] if has_page or ":" in target or not target else f"{found[1]} (`{Path(target).name}`)"

    text = re.sub(r"(?<!!)\[([^\]]+)\]\(([^)]+)\)", replaced, text)
    text = re.sub(r"\]\(#(section-\d+)\)", rf"](#{_prefix(path)}\1)", text)
    text = re.sub(r'(?m)^(#+ )<a name="([^"]+)"></a>', rf"({_prefix(path)}\2)=\n\1", text)
    return text if re.search(r"(?m)^## ", text) else re.sub(r"(?m)^##(#+ )", r"#\1", text)


def _prefix(path: Path) -> str:
    return path.relative_to(RESULTS).with_suffix("").as_posix().replace("/", "-") + "-"


def results_page() -> str:
    """The list of results, with the first sentence of each."""
    rows = []
    for path in sorted(RESULTS.rglob("*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ").strip()
        rows.append(f"- [{title}](benchmarks/{path.relative_to(RESULTS).as_posix()})")
    pages = "\n".join(
        f"benchmarks/{path.relative_to(RESULTS).with_suffix('').as_posix()}" for path in sorted(RESULTS.rglob("*.md"))
    )
    return (
        "# Benchmarks\n\nThe last results, as they are committed in `benchmarks/results`, each with the command "
        "that made it. The data are public, and the scores are not themselves private. "
        "Times are ratios measured in one run.\n\n"
        + "\n".join(rows)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    )


def changelog_page() -> str:
    """CHANGELOG.md with links that hold on the site."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.sub(r"\]\(docs/", "](../", text)


def make(_app: Any) -> None:
    """Write every made page."""
    for folder in ("benchmarks",):
        shutil.rmtree(MADE / folder, ignore_errors=True)
    MADE.mkdir(exist_ok=True)
    copy_results()
    flower = (ROOT / "examples" / "flower" / "README.md").read_text(encoding="utf-8")
    pages = {
        "flower": "---\norphan: true\n---\n\n" + flower,
        "commands": commands_page(),
        "results": results_page(),
        "changelog": changelog_page(),
    }
    for name, text in pages.items():
        path = MADE / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _point_to_made_pages(app: Any, docname: str, source: list[str]) -> None:
    """Links to committed results, written so that they hold in the repository, lead to their pages on the site."""
    depth = "../" * docname.count("/")
    if not docname.startswith("_made/"):
        source[0] = re.sub(r"\]\((?:\.\./)+benchmarks/results/", f"]({depth}_made/benchmarks/", source[0])
        source[0] = source[0].replace("](../examples/flower/README.md)", f"]({depth}_made/flower.md)")
        source[0] = re.sub(r"\]\((?:\.\./)+CHANGELOG\.md", f"]({depth}_made/changelog.md", source[0])


SEEN = """

## What you will see

The whole page, as a terminal shows it. The noise is drawn anew each time.

```{{literalinclude}} transcripts/{name}.txt
:language: text
```
"""


def _show_transcript(app: Any, docname: str, source: list[str]) -> None:
    """A guide that was followed as a stranger would (tests/support/transcripts.py) ends with its transcript."""
    folder, _, name = docname.rpartition("/")
    if folder == "guides" and (HERE / "guides" / "transcripts" / f"{name}.txt").exists():
        source[0] += SEEN.format(name=name)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", make, priority=1)
    app.connect("source-read", _point_to_made_pages)
    app.connect("source-read", _show_transcript)
    return {"version": "1", "parallel_read_safe": True}
