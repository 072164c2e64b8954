"""Every block of code and every command of the site runs as printed.

A page's blocks run in order, in a folder of their own that has what `discreet demo` made: `python` blocks share their
names, `sh` blocks are commands. Pages that need a server say here which test runs them.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.command import run_script

DOCS = Path(__file__).parents[1] / "docs"
ELSEWHERE = {
    "accounts": "tests/privacy/accounts",
    "comparing": "tests/test_docs.py",
    "engines": "tests/engines",
    "guides/ask-the-service": "tests/client/test_client.py",
    "papers": "tests/research",
    "service": "tests/service",
}
"""Pages whose blocks need a server, minutes or other packages, and the tests that run them."""
LONG = {
    "start",
    "guides/analyst",
    "guides/reproduce-a-table",
    "guides/three-parties",
    "models/bee-rules",
    "models/local-perturbation",
}
"""Pages that take more than a few seconds."""
DONE = ("pip install ", "discreet demo")
"""What is done before a page: its environment and the demo's folder."""
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def pages() -> dict[str, list[tuple[str, str]]]:
    """The pages that were written and have blocks, with these."""
    found = {}
    for path in sorted(DOCS.rglob("*.md")):
        name = path.relative_to(DOCS).with_suffix("").as_posix()
        blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
        if blocks and not name.startswith(("_made", "_build")) and not {name, name.split("/")[0]} & set(ELSEWHERE):
            found[name] = blocks
    return found


PAGES = pages()
NOTEBOOKS = sorted((DOCS.parent / "examples" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run_script("discreet demo")
    return folder / "discreet-demo"


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in PAGES])
def test_a_page_works_as_printed(
    name: str, demonstrated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_DATA", "")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shutil.copytree(demonstrated, tmp_path / "discreet-demo")
    names: dict[str, object] = {}
    for language, text in PAGES[name]:
        if language == "python":
            exec(compile(text, f"docs/{name}.md", "exec"), names)
        else:
            run_script(
                "\n".join(line for line in text.splitlines() if not line.startswith(("pip install ", "discreet demo")))
            )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_DATA", "")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:
        assert not cell.get("outputs"), "notebooks are committed without outputs"
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), path.name, "exec"), names)


def test_pages_that_run_elsewhere_name_tests_that_exist() -> None:
    for test in ELSEWHERE.values():
        assert (DOCS.parent / test).exists()


def test_the_guides_are_among_the_pages() -> None:
    assert {"start", "guides/officer", "guides/parquet", "concepts/budgets", "models/auto"} <= set(PAGES)
