"""Every block of code and every command of the site runs as printed.

A page's blocks run in order, in a folder of their own that has what `discreet demo` made: `python` blocks share their
names, `sh` blocks are commands. Pages that need a server say here which test runs them. The ten tasks also have
transcripts (support/transcripts.py), which show what their pages say.
"""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.command import run_script
from support.transcripts import TASKS, blocks, commands, follow, prompted, statements, stranger

DOCS = Path(__file__).parents[1] / "docs"
ELSEWHERE = {
    "accounts": "tests/privacy/accounts",
    "comparing": "tests/test_docs.py",
    "engines": "tests/engines",
    "guides/add-a-mechanism": "tests/test_site.py",
    "guides/ask-the-service": "tests/service/test_guides.py",
    "guides/audit-a-claim": "tests/test_site.py",
    "guides/deploy": "tests/service/test_guides.py",
    "papers": "tests/research",
    "service": "tests/service",
}
"""Pages whose blocks need a shell, a server, minutes or other packages, and the tests that run them."""
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
            run_script("\n".join(line for line in text.splitlines() if not line.startswith(DONE)))


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


@pytest.mark.slow
def test_a_mechanism_is_added_as_the_page_says() -> None:
    with stranger(None, False) as (folder, environment):
        there = folder / "discreet-sources"
        for name in ("src", "tests"):
            shutil.copytree(DOCS.parent / name, there / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(DOCS.parent / "pyproject.toml", there)
        environment["PYTHONPATH"] = str(there / "src")
        shown = follow(DOCS / "guides" / "add-a-mechanism.md", folder, environment, done=("pip ", "tar "))
    assert any("9 passed" in output for _, output in shown), shown


@pytest.mark.slow
def test_a_rival_is_audited_as_the_page_says() -> None:
    """In an environment that pip makes here; so this needs a package index."""
    with stranger(None, False) as (folder, environment):
        shown = follow(DOCS / "guides" / "audit-a-claim.md", folder, environment, done=DONE)
        assert (folder / "report").exists()
    assert any(output.rstrip().endswith("status 1") for _, output in shown), shown


TRANSCRIPTS = sorted(path.stem for path in (DOCS / "guides" / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_the_transcript_of_a_task_is_that_of_its_page(name: str) -> None:
    """All that the page says to type, in order, and no names of a machine; the build shows it at the page's end."""
    page = DOCS / "guides" / f"{name}.md"
    text = (DOCS / "guides" / "transcripts" / f"{name}.txt").read_text(encoding="utf-8")
    place = 0
    for language, block in blocks(page):
        if language == "sql":
            typed = [f"$ psql --quiet <<'EOF'\n> {block.splitlines()[0]}"]
        elif language == "sh":
            typed = [prompted(each, "$ ", "> ") for each in commands(block)]
        else:
            typed = [prompted(each, ">>> ", "... ") for each in statements(block)]
        for each in typed:
            assert each + "\n" in text[place:], f"make the transcript anew (support/transcripts.py): {each}"
            place = text.index(each + "\n", place) + len(each)
    assert not re.search(r"/tmp|/root|Traceback|dsc_\w", text)
    assert len(text.splitlines()) < 400


def test_the_index_of_guides_lists_the_ten_tasks() -> None:
    index = (DOCS / "guides" / "index.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in TASKS)
    assert len(TASKS) == 10
    assert set(TRANSCRIPTS) == set(TASKS)
