"""What the documents show must work as printed."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import discreet
from discreet.errors import MissingExtra
from discreet.models.auto.pick import ENOUGH, FEW_COLUMNS
from support.command import run_script

ROOT = Path(__file__).parents[1]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(discreet.__path__, "discreet.")
    if not module.name.endswith(("__main__", "migrations.env"))  # env is run by Alembic, and by nothing else
]


def blocks(name: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingExtra as error:
        pytest.skip(str(error))
    assert doctest.testmod(module).failed == 0


def public_names() -> dict[str, object]:
    """The public classes and functions of discreet and of its public rooms."""
    names = {name: getattr(discreet, name) for name in discreet.__all__}
    for room in discreet._ROOMS:
        names |= {f"{room}.{name}": getattr(names[room], name) for name in names[room].__all__}
    return {name: found for name, found in names.items() if inspect.isclass(found) or inspect.isfunction(found)}


@pytest.mark.parametrize("name", public_names())
def test_a_public_name_has_an_example_and_a_line_in_the_reference(name: str) -> None:
    """The examples run above; docs/_ext/check_site.py looks at the pages that are made of them."""
    assert ">>> " in (inspect.getdoc(public_names()[name]) or "")
    reference = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    listed = "evaluate" if name == "evaluation.evaluate" else name  # one function under two names
    assert f"\n   {listed}\n" in reference


def test_python_example_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = "\n".join(blocks("README.md", "python"))
    exec(compile(example, "README.md", "exec"), {})
    assert (tmp_path / "model.json").exists()


@pytest.mark.slow
def test_commands_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All commands, in order, in a folder of their own, after the demo."""
    monkeypatch.chdir(tmp_path)
    (commands,) = blocks("README.md", "sh")
    run_script(f"discreet demo\n{commands}")
    assert {"draft.json", "model.json", "model.png"} <= {path.name for path in tmp_path.iterdir()}


def test_the_table_of_the_readme_is_that_of_the_benchmark() -> None:
    text = (ROOT / "benchmarks" / "results" / "frontier.md").read_text(encoding="utf-8")
    cells: dict[str, list[tuple[float, float, bool, float]]] = {}
    for line in text.split("## Declared")[1].split("\n## ")[0].splitlines():
        entries = [entry.strip() for entry in line.strip("|").split("|")]
        if line.startswith("| ") and entries[0] != "data set":
            numbers = float(entries[2]), float(entries[6].split()[0]), "✓" in entries[7], float(entries[8])
            cells.setdefault(entries[1], []).append(numbers)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for epsilon, found in cells.items():
        auto, rival, ahead, ceiling = (sum(each) for each in zip(*found, strict=True))
        n = len(found)
        row = f"| {epsilon} | {auto / n:.3f} | {rival / n:.3f} | {ahead} of {n} | {ceiling / n:.3f} |"
        assert row in readme, row


def test_links_of_the_documents_lead_somewhere() -> None:
    written = (path for path in (ROOT / "docs").rglob("*.md") if not {"_made", "_build"} & set(path.parts))
    documents = [path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *written)]
    for name in documents:
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text(encoding="utf-8")):
            is_made = "_made" in Path(target).parts  # by the build of the site, which checks these links
            assert is_made or ((ROOT / name).parent / target).exists(), f"{name} links to {target}"


NAMED = re.compile(r"\b((?:[a-z_0-9]+/)*test_[a-z_0-9]+\.py)((?:::| *:\s+)(test_[a-z_0-9]+))?")
SAYING = [ROOT / "docs" / "proofs.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "src").rglob("*.py"))]


@pytest.mark.parametrize("path", SAYING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_tests_that_a_proof_names_exist(path: Path) -> None:
    for name, _, test in NAMED.findall(path.read_text(encoding="utf-8")):
        named = ROOT / "tests" / name.removeprefix("tests/")
        assert named.exists(), f"{path} names {name}"
        assert not test or f"def {test}(" in named.read_text(encoding="utf-8"), f"{name} has no {test}"


@pytest.mark.parametrize("name", ["docs/models/auto.md", "docs/comparing.md"])
def test_the_rule_of_auto_is_the_one_that_documents_state(name: str) -> None:
    text = " ".join((ROOT / name).read_text(encoding="utf-8").split())
    assert FEW_COLUMNS == 3
    assert "up to three columns" in text
    assert f"from {ENOUGH:g} · K² · √w on" in text


def test_the_code_that_documents_name_exists() -> None:
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        if path.name == "CHANGELOG.md":
            continue
        for name in re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py|(?:[a-z_]+/)+)`", path.read_text(encoding="utf-8")):
            places = (ROOT, ROOT / "src" / "discreet", ROOT / "tests")
            assert any((place / name).exists() for place in places), f"{path} names {name}"


@pytest.mark.slow
def test_commands_of_the_document_on_comparing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first commands for compare, reproduce and advise."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISCREET_DATA", "")
    texts = blocks("docs/comparing.md", "sh")
    lines = [line for text in texts for line in text.replace("\\\n", " ").splitlines()]
    commands = [line for line in lines if line.startswith("discreet ")]
    assert {line.split()[1] for line in commands} == {"split", "train", "score", "compare", "reproduce", "advise"}
    run_script("\n".join(["discreet demo", *(line for line in commands if "--full" not in line)]))
    assert (tmp_path / "comparison" / "report.html").exists()
    assert (tmp_path / "vaidya" / "report.html").exists()
    assert (tmp_path / "advice.png").exists()
    assert (tmp_path / "confusion.png").exists()
